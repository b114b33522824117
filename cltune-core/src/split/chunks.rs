//! A share in chunks, so that a device computes one while others are on their way.

use super::{Share, Span};

/// Cuts a share into at most `most` chunks of whole work-groups, in ascending order, all of one
/// size but for the last, which may be smaller: two sizes are prepared for and no more. Together
/// they own what the share owns. A share that is not of whole work-groups is one chunk.
pub fn chunks(share: Share, granule: i64, most: i64) -> Vec<Share> {
    let computed = share.computed;
    let granule = granule.max(1);
    let groups = computed.len / granule;
    if most <= 1 || groups <= 1 || computed.len % granule != 0 {
        return vec![share];
    }
    let most = most.min(groups);
    let size = (groups / most + i64::from(groups % most != 0)) * granule;
    let mut chunks = Vec::new();
    let mut start = computed.start;
    while start < computed.end() {
        let len = size.min(computed.end() - start);
        let computed = Span { start, len };
        let owned = common(computed, share.owned);
        if owned.len > 0 {
            chunks.push(Share {
                owned,
                computed,
                ..share
            });
        }
        start = computed.end();
    }
    chunks
}

/// The positions of both spans.
fn common(a: Span, b: Span) -> Span {
    let start = a.start.max(b.start);
    Span {
        start,
        len: a.end().min(b.end()) - start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(owned: (i64, i64), computed: (i64, i64)) -> Share {
        let span = |(start, len)| Span { start, len };
        Share {
            member: 1,
            owned: span(owned),
            computed: span(computed),
        }
    }

    #[test]
    fn pieces_are_of_one_size_and_a_rest() {
        let chunks = chunks(share((16, 304), (0, 320)), 32, 4);
        let spans: Vec<_> = chunks
            .iter()
            .map(|chunk| (chunk.owned.start, chunk.owned.len, chunk.computed.len))
            .collect();
        assert_eq!(
            spans,
            [(16, 80, 96), (96, 96, 96), (192, 96, 96), (288, 32, 32)]
        );
    }

    #[test]
    fn what_is_no_whole_work_group_stays_whole() {
        let small = share((0, 50), (0, 50));
        assert_eq!(chunks(small, 64, 4), [small]);
        assert_eq!(chunks(small, 50, 4), [small]);
        assert_eq!(chunks(small, 10, 1), [small]);
    }
}
