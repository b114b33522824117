//! The known name nearest to a mistyped one.

/// The candidate nearest to `name`, if one is near enough to be meant.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = name.to_lowercase().chars().collect();
    let tolerated = (wanted.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| {
            // A short name has every other short name within reach; those are no suggestion.
            *distance <= tolerated && *distance < candidate.chars().count()
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The least number of insertions, deletions and substitutions of characters (Levenshtein 1966).
fn distance(a: &[char], b: &str) -> usize {
    let mut row: Vec<usize> = (0..=a.len()).collect();
    for (i, b) in b.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, a) in a.iter().enumerate() {
            let substituted = diagonal + usize::from(*a != b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[a.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let names = ["WG", "WPT", "block_size_x", "n"];
        assert_eq!(nearest("WTP", names), None);
        assert_eq!(nearest("WPTS", names), Some("WPT"));
        assert_eq!(nearest("wg", names), Some("WG"));
        assert_eq!(nearest("blok_sizex", names), Some("block_size_x"));
        assert_eq!(nearest("z", names), None);
        assert_eq!(nearest("threads", names), None);
    }
}
