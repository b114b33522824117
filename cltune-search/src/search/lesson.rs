//! What is known of the same kernel elsewhere.

use super::strategy::Score;

/// How many configurations a search starts with for each lesson, and for all lessons at most.
const STARTS: (usize, usize) = (3, 9);

/// Results of the same kernel on another device, or for another problem size.
///
/// A search begins with the fastest of them. How much of the rest holds here as well is for the
/// strategy to find out; `bayes` does, the others do not ask.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lesson {
    /// Configurations (codes in the order of the space's parameters) and what became of them.
    /// Those that are not in the space may still say something about those that are.
    pub results: Vec<(Vec<i64>, Score)>,
}

impl Lesson {
    /// Those that did not fail with their times, the fastest first; equals in the order of codes.
    pub(super) fn by_time(&self) -> Vec<(f64, &[i64])> {
        let timed = self.results.iter();
        let timed = timed.filter_map(|(codes, score)| Some((score.time()?, codes.as_slice())));
        let mut timed: Vec<(f64, &[i64])> = timed.collect();
        timed.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(b.1)));
        timed
    }
}

/// The configurations to start with: the best of each lesson, then the second best of each, and
/// so on.
pub(super) fn starts(lessons: &[Lesson]) -> Vec<Vec<i64>> {
    let sorted: Vec<Vec<(f64, &[i64])>> = lessons.iter().map(Lesson::by_time).collect();
    let mut starts: Vec<Vec<i64>> = Vec::new();
    for rank in 0..STARTS.0 {
        for lesson in &sorted {
            if let Some((_, codes)) = lesson.get(rank)
                && starts.len() < STARTS.1
                && !starts.iter().any(|start| start == codes)
            {
                starts.push(codes.to_vec());
            }
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_starts_with_the_best_of_each_lesson_in_turn() {
        let lesson = |times: &[(i64, f64)]| Lesson {
            results: times
                .iter()
                .map(|(code, time)| (vec![*code], Score::of(Some(*time))))
                .collect(),
        };
        let lessons = [
            lesson(&[(1, 5.0), (2, 3.0), (3, f64::NAN), (4, 9.0), (5, 10.0)]),
            lesson(&[(7, 2.0), (2, 1.0)]),
        ];
        assert_eq!(starts(&lessons), [[2], [1], [7], [4]]);
        assert!(starts(&[]).is_empty());
        assert!(starts(&vec![lesson(&[(1, 1.0)]); 40]).len() == 1);
    }
}
