//! Shares from factors: whole work-groups for each device, and the residue.

use super::Span;

/// What a device brings to a division.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// The part of the problem that it is to get; 0 for none. Those of all members need not sum up
    /// to 1.
    pub factor: f64,
    /// How many positions of the divided dimension one of its work-groups covers, at least 1.
    pub granule: i64,
    /// Whether it can compute the whole problem at once where that is no multiple of `granule`.
    pub takes_whole: bool,
}

/// What a device computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The position of the device among the members.
    pub member: usize,
    /// What it computes for the result. No position is owned by two devices.
    pub owned: Span,
    /// What it computes: a multiple of its granule, so it may reach into what another device owns.
    /// It is the whole problem, whether or not that is a multiple, where the problem is smaller
    /// than the granule or the member takes the whole.
    pub computed: Span,
}

/// Divides `span`, which is part of a problem of `total` positions, in proportion to the members'
/// factors: whole work-groups for each (equations 5 to 7 of the paper), and the residue to the one
/// that has the least extra work with it (equations 8 and 9).
///
/// The equations compare work in work-items. The same work-items take a slow device longer than a
/// fast one, so here extra work is weighed with the time that it takes, which is the same where
/// devices are equally fast: a CPU that computes a hundredth of the problem is not given a GPU's
/// work-group because it would fill its own better.
///
/// The shares are in the order of the members, which is that of what they own; together they own
/// the span, or a beginning of it: where whole work-groups for the residue would be more than there
/// is of the problem, it is left for a division of its own. Members with nothing to do have no
/// share. There are none at all when no factor is positive or the span is empty.
pub fn divide(span: Span, total: i64, members: &[Member]) -> Vec<Share> {
    let able = |member: &&Member| member.factor.is_finite() && member.factor > 0.0;
    let sum: f64 = members
        .iter()
        .filter(able)
        .map(|member| member.factor)
        .sum();
    if span.len <= 0 || sum <= 0.0 {
        return Vec::new();
    }
    let mut residue = span.len;
    let mut lens = vec![0; members.len()];
    for (len, member) in lens
        .iter_mut()
        .zip(members)
        .filter(|(_, member)| able(member))
    {
        let granule = member.granule.max(1);
        let groups = (span.len as f64 * (member.factor / sum) / granule as f64).floor();
        // Rounding may have made the factors' sum a little larger than 1.
        *len = (groups as i64).min(residue / granule) * granule;
        residue -= *len;
    }
    let heir = members
        .iter()
        .enumerate()
        .filter(|(_, member)| able(member))
        .map(|(position, member)| (position, extra(residue, member.granule), member.factor))
        .min_by(|(_, a, of_a), (_, b, of_b)| {
            let by_time = (*a as f64 / of_a).total_cmp(&(*b as f64 / of_b));
            by_time.then(a.cmp(b))
        });
    let mut excess = 0;
    if let (Some((position, extra, _)), true) = (heir, residue > 0) {
        let granule = members[position].granule.max(1);
        let is_too_much = lens[position].saturating_add(extra) > total;
        if is_too_much && granule <= total && !members[position].takes_whole {
            lens[position] += residue / granule * granule;
        } else {
            lens[position] += residue;
            excess = extra - residue;
        }
    }
    let heir = heir.map(|(position, ..)| position);
    let mut start = span.start;
    let mut shares = Vec::new();
    for (member, len) in lens.into_iter().enumerate().filter(|(_, len)| *len > 0) {
        let owned = Span { start, len };
        let excess = if heir == Some(member) { excess } else { 0 };
        shares.push(Share {
            member,
            owned,
            computed: widened(owned, excess, total),
        });
        start = owned.end();
    }
    shares
}

/// How many positions a device computes for a residue: whole work-groups (equation 9a).
fn extra(residue: i64, granule: i64) -> i64 {
    let granule = granule.max(1);
    let groups = residue / granule + i64::from(residue % granule != 0);
    groups.saturating_mul(granule)
}

/// A span with `excess` more positions, before it as far as there are any.
fn widened(span: Span, excess: i64, total: i64) -> Span {
    let len = span.len.saturating_add(excess).min(total.max(span.len));
    let start = span.start.saturating_sub(len - span.len).max(0);
    Span { start, len }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members<const N: usize>(of: [(f64, i64); N]) -> [Member; N] {
        of.map(|(factor, granule)| Member {
            factor,
            granule,
            takes_whole: false,
        })
    }

    fn lens(shares: &[Share]) -> Vec<(usize, i64)> {
        shares
            .iter()
            .map(|share| (share.member, share.owned.len))
            .collect()
    }

    const WHOLE: Span = Span { start: 0, len: 512 };

    #[test]
    fn shares_are_whole_work_groups() {
        // The paper's example: 204.8 and 307.2 work-items of 512.
        let shares = divide(WHOLE, 512, &members([(0.4, 64), (0.6, 64)]));
        assert_eq!(lens(&shares), [(0, 192), (1, 320)]);
        assert!(shares.iter().all(|share| share.owned == share.computed));
    }

    #[test]
    fn the_residue_goes_where_it_is_the_least_extra_work() {
        // 3 x 80 and 4 x 64: 16 are left, which is one work-group of either.
        let shares = divide(WHOLE, 512, &members([(0.5, 80), (0.5, 64)]));
        assert_eq!(lens(&shares), [(0, 240), (1, 272)]);
        // It computes a whole work-group, which reaches into the other's share.
        assert_eq!(
            shares[1].computed,
            Span {
                start: 192,
                len: 320
            }
        );
        // A device that is far slower has more work with fewer work-items.
        let shares = divide(WHOLE, 512, &members([(0.02, 4), (0.98, 64)]));
        assert_eq!(lens(&shares), [(0, 8), (1, 504)]);
    }

    #[test]
    fn what_is_done_again_elsewhere_may_reach_beyond_its_span() {
        let span = Span {
            start: 100,
            len: 50,
        };
        let shares = divide(span, 512, &members([(1.0, 64)]));
        assert_eq!(shares[0].owned, span);
        assert_eq!(shares[0].computed, Span { start: 86, len: 64 });
        // At the beginning there is nothing before it.
        let shares = divide(Span { start: 0, len: 50 }, 512, &members([(1.0, 64)]));
        assert_eq!(shares[0].computed, Span { start: 0, len: 64 });
        // A problem smaller than a work-group.
        let shares = divide(Span { start: 0, len: 50 }, 50, &members([(1.0, 64)]));
        assert_eq!(shares[0].computed, Span { start: 0, len: 50 });
    }

    #[test]
    fn what_whole_work_groups_do_not_cover_is_left_for_another_division() {
        let whole = Span { start: 0, len: 100 };
        let one = members([(1.0, 64)]);
        let shares = divide(whole, 100, &one);
        let begin = Span { start: 0, len: 64 };
        assert_eq!((shares[0].owned, shares[0].computed), (begin, begin));
        let rest = Span { start: 64, len: 36 };
        let shares = divide(rest, 100, &one);
        let last = Span { start: 36, len: 64 };
        assert_eq!((shares[0].owned, shares[0].computed), (rest, last));
        // Two devices, of which none gets a work-group by its factor.
        assert_eq!(
            lens(&divide(whole, 100, &members([(0.5, 64), (0.5, 64)]))),
            [(0, 64)]
        );
        // A kernel that looks where the problem ends needs no second launch.
        let takes_whole = one.map(|member| Member {
            takes_whole: true,
            ..member
        });
        assert_eq!(divide(whole, 100, &takes_whole)[0].computed, whole);
    }

    #[test]
    fn nobody_able_means_no_shares() {
        for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(divide(WHOLE, 512, &members([(factor, 64)])), []);
        }
        assert_eq!(divide(WHOLE, 512, &[]), []);
        let nothing = Span { start: 7, len: 0 };
        assert_eq!(divide(nothing, 512, &members([(1.0, 64)])), []);
    }
}
