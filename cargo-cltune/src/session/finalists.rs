//! The choice between close configurations: the best are verified on every draw, then timed again in turns.
//! One that fails there is out for good, and the next best take its place.

use super::evaluation::Evaluation;
use super::workers::{MeasurementWorker, WorkerError};
use crate::interrupt;
use cltune_runtime::tuning::{Compared, FinalistRule, Finalists};
use std::collections::HashMap;
use std::time::Duration;

const RULE: FinalistRule = FinalistRule {
    few: 5,
    noise: 1.1,
    close: 1.02,
    many: 16,
};
/// A configuration must be this much faster than another to be preferred for its time.
const TIE: f64 = 0.99;
/// After Ctrl-C, what is not verified by then is not chosen.
const AFTER_INTERRUPT: Duration = Duration::from_secs(10);

/// The chosen configuration and the default, timed in the same rounds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) codes: Vec<i64>,
    pub(crate) time_us: f64,
    /// `None` when the default fails.
    pub(crate) default_us: Option<f64>,
}

/// A configuration that may be chosen.
struct Candidate {
    codes: Vec<i64>,
    time_us: f64,
    /// What it uses of the device: local memory, then work-items of a work-group.
    resources: (u64, usize),
}

/// What says whether finalists are right, and how fast.
pub(crate) trait Judge {
    /// What is wrong with a configuration on any draw; `None` where it is right on all.
    ///
    /// # Errors
    /// Nothing can be said any more: the device is lost, or Ctrl-C was pressed.
    fn verify(&mut self, codes: &[i64]) -> Result<Option<Evaluation>, WorkerError>;

    /// Times configurations in turns; of those that fail, why.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    fn compare(&mut self, codes: &[Vec<i64>]) -> Result<Compares, WorkerError>;
}

/// Of each configuration the times, or why it has none.
pub(crate) type Compares = Vec<Result<Compared, Evaluation>>;

impl Judge for MeasurementWorker {
    fn verify(&mut self, codes: &[i64]) -> Result<Option<Evaluation>, WorkerError> {
        self.verify(codes)
    }

    fn compare(&mut self, codes: &[Vec<i64>]) -> Result<Compares, WorkerError> {
        self.compare(codes)
    }
}

/// Chooses the best of all `results` (codes and first time): verifies the finalists and the default on every
/// draw, and times them in turns. `reject` is told of those that fail, which are out; then those are the
/// finalists that are best without them. `None` when none is left. What would be chosen is shown to `sound`, which
/// may know why it must not be.
///
/// Where nobody can judge any more, the fastest of those that held has to do. Where none has held yet, it is
/// the fastest by its first time, verified on one draw, unless Ctrl-C was pressed: then there is time to go on
/// later.
pub(crate) fn choose(
    mut judge: Option<&mut dyn Judge>,
    default: &[i64],
    results: &[(Vec<i64>, f64)],
    mut sound: impl FnMut(&[i64]) -> Result<(), Evaluation>,
    mut reject: impl FnMut(&[i64], &Evaluation),
) -> Option<Choice> {
    let mut finalists = Finalists::new(RULE, default, results.iter().cloned());
    let mut compared = HashMap::new();
    loop {
        let choice = best_finalist(
            &mut judge,
            default,
            &mut finalists,
            &mut compared,
            &mut reject,
        )?;
        let Err(unsound) = sound(&choice.codes) else {
            return Some(choice);
        };
        finalists.fails(&choice.codes);
        reject(&choice.codes, &unsound);
    }
}

/// The best of the finalists, as [`choose`] says.
fn best_finalist(
    judge: &mut Option<&mut dyn Judge>,
    default: &[i64],
    finalists: &mut Finalists,
    compared: &mut HashMap<Vec<i64>, Compared>,
    reject: &mut impl FnMut(&[i64], &Evaluation),
) -> Option<Choice> {
    loop {
        let Some(judge) = judge.as_deref_mut() else {
            return by_first_times(finalists.left(), default);
        };
        let mut failed = Vec::new();
        let judged = judge_finalists(judge, finalists, compared, &mut failed);
        for (codes, measured) in &failed {
            reject(codes, measured);
        }
        if let Err(error) = judged {
            let held = finalists.contenders();
            let mut left = finalists.left().to_vec();
            if matches!(error, WorkerError::Interrupted) || !held.is_empty() {
                left.retain(|(codes, _)| held.contains(codes));
            }
            return by_first_times(&left, default);
        }
        if failed.is_empty() {
            let contenders = finalists.contenders().into_iter();
            let candidates = contenders.filter_map(|codes| {
                let compared = compared.get(&codes)?;
                Some(Candidate::new(codes, *compared))
            });
            return best(&candidates.collect::<Vec<_>>(), default);
        }
    }
}

/// Verifies the finalists that have not held yet, then times all in turns, unless they were. Those that fail
/// are no finalists any more; they are added to `failed`, also where an error follows.
fn judge_finalists(
    judge: &mut dyn Judge,
    finalists: &mut Finalists,
    compared: &mut HashMap<Vec<i64>, Compared>,
    failed: &mut Vec<(Vec<i64>, Evaluation)>,
) -> Result<(), WorkerError> {
    while let Some(codes) = finalists.next().map(<[i64]>::to_vec) {
        if interrupt::since().is_some_and(|since| since > AFTER_INTERRUPT) {
            return Err(WorkerError::Interrupted);
        }
        match judge.verify(&codes)? {
            None => finalists.holds(&codes),
            Some(measured) => {
                finalists.fails(&codes);
                failed.push((codes, measured));
            }
        }
    }
    let contenders = finalists.contenders();
    if contenders.iter().all(|codes| compared.contains_key(codes)) {
        return Ok(());
    }
    // Times of different rounds do not compare.
    compared.clear();
    let times = judge.compare(&contenders)?;
    for (codes, times) in contenders.into_iter().zip(times) {
        match times {
            Ok(times) => drop(compared.insert(codes, times)),
            Err(measured) => {
                finalists.fails(&codes);
                failed.push((codes, measured));
            }
        }
    }
    Ok(())
}

/// The best by the times of the search.
fn by_first_times(results: &[(Vec<i64>, f64)], default: &[i64]) -> Option<Choice> {
    let candidates = results.iter().map(|(codes, time_us)| Candidate {
        codes: codes.clone(),
        time_us: *time_us,
        resources: (0, 0),
    });
    best(&candidates.collect::<Vec<_>>(), default)
}

impl Candidate {
    fn new(codes: Vec<i64>, compared: Compared) -> Self {
        Self {
            codes,
            time_us: compared.time_us,
            resources: (compared.local_mem, compared.work_items),
        }
    }
}

/// Of those that are as good as the fastest, the default; else the one that needs least.
fn best(candidates: &[Candidate], default: &[i64]) -> Option<Choice> {
    let times = candidates.iter().map(|candidate| candidate.time_us);
    let fastest = times.reduce(f64::min)?;
    let mut tied = candidates.iter();
    let is_default = |candidate: &Candidate| candidate.codes == default;
    let tied: Vec<&Candidate> = tied
        .by_ref()
        .filter(|candidate| fastest >= candidate.time_us * TIE)
        .collect();
    let chosen = tied
        .iter()
        .find(|candidate| is_default(candidate))
        .or_else(|| {
            tied.iter().min_by(|a, b| {
                let resources = a.resources.cmp(&b.resources);
                resources.then_with(|| a.time_us.total_cmp(&b.time_us))
            })
        })?;
    let default = candidates.iter().find(|candidate| is_default(candidate));
    Some(Choice {
        codes: chosen.codes.clone(),
        time_us: chosen.time_us,
        default_us: default.map(|default| default.time_us),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(times: &[f64]) -> Vec<(Vec<i64>, f64)> {
        let numbered = times.iter().enumerate();
        numbered.map(|(i, time)| (vec![i as i64], *time)).collect()
    }

    fn chosen(candidates: &[(f64, u64)]) -> Option<(i64, Option<f64>)> {
        let numbered = candidates.iter().enumerate();
        let candidates: Vec<Candidate> = numbered
            .filter(|(_, (time, _))| *time > 0.0)
            .map(|(i, (time_us, local_mem))| Candidate {
                codes: vec![i as i64],
                time_us: *time_us,
                resources: (*local_mem, 64),
            })
            .collect();
        best(&candidates, &[0]).map(|choice| (choice.codes[0], choice.default_us))
    }

    #[test]
    fn a_tie_goes_to_the_default_then_to_what_needs_less() {
        assert_eq!(chosen(&[(1.0, 9), (0.995, 0)]), Some((0, Some(1.0))));
        assert_eq!(
            chosen(&[(2.0, 0), (0.9, 9), (0.8, 9)]),
            Some((2, Some(2.0)))
        );
        assert_eq!(
            chosen(&[(2.0, 0), (0.803, 4), (0.8, 9)]),
            Some((1, Some(2.0)))
        );
        assert_eq!(
            chosen(&[(2.0, 0), (0.803, 9), (0.8, 9)]),
            Some((2, Some(2.0)))
        );
        assert_eq!(chosen(&[]), None);
        // A default that failed.
        assert_eq!(chosen(&[(0.0, 0), (3.0, 0)]), Some((1, None)));
    }

    /// A judge for whom the time of configuration `i` is the number of that position.
    struct Made {
        times: Vec<f64>,
        /// Those that are wrong on another draw.
        wrong: Vec<i64>,
        /// Those that fail when they are timed in turns.
        crash: Vec<i64>,
        /// How many more answers there are.
        answers: usize,
        /// The error after that.
        error: fn() -> WorkerError,
        /// What must not be chosen for another reason.
        unsound: Vec<i64>,
        /// What was asked.
        asked: Vec<String>,
    }

    /// What says that these must not be chosen.
    fn objector(unsound: Vec<i64>) -> impl FnMut(&[i64]) -> Result<(), Evaluation> {
        move |codes| {
            if unsound.contains(&codes[0]) {
                Err(Evaluation::Unsound("race".into()))
            } else {
                Ok(())
            }
        }
    }

    impl Made {
        fn new(times: &[f64], wrong: &[i64]) -> Self {
            Self {
                times: times.to_vec(),
                wrong: wrong.to_vec(),
                crash: Vec::new(),
                answers: usize::MAX,
                error: || WorkerError::Refused("gone".into()),
                unsound: Vec::new(),
                asked: Vec::new(),
            }
        }

        fn ask(&mut self, what: String) -> Result<(), WorkerError> {
            self.asked.push(what);
            self.answers = self.answers.checked_sub(1).ok_or_else(self.error)?;
            Ok(())
        }

        /// What is chosen of all, and what is rejected.
        fn choose(&mut self) -> (Option<i64>, Vec<i64>) {
            let (mut rejected, results) = (Vec::new(), results(&self.times));
            let sound = objector(self.unsound.clone());
            let choice = choose(Some(self), &[0], &results, sound, |codes, _| {
                rejected.push(codes[0]);
            });
            (choice.map(|choice| choice.codes[0]), rejected)
        }
    }

    fn wrong() -> Evaluation {
        Evaluation::Crashed("wrong".into())
    }

    impl Judge for Made {
        fn verify(&mut self, codes: &[i64]) -> Result<Option<Evaluation>, WorkerError> {
            self.ask(format!("verify {}", codes[0]))?;
            Ok(self.wrong.contains(&codes[0]).then(wrong))
        }

        fn compare(&mut self, codes: &[Vec<i64>]) -> Result<Compares, WorkerError> {
            let names: Vec<String> = codes.iter().map(|codes| codes[0].to_string()).collect();
            self.ask(format!("compare {}", names.join(" ")))?;
            let times = codes.iter().map(|codes| {
                if self.crash.contains(&codes[0]) {
                    return Err(wrong());
                }
                let time_us = self.times[codes[0] as usize];
                Ok(Compared {
                    time_us,
                    interval_us: (time_us, time_us),
                    local_mem: 0,
                    work_items: 64,
                })
            });
            Ok(times.collect())
        }
    }

    #[test]
    fn what_is_wrong_on_another_draw_is_out_and_the_next_best_is_tried() {
        // The fastest fail, and the right one is not within their reach.
        let mut judge = Made::new(&[9.0, 1.0, 1.05, 3.0, 3.1, 5.0], &[1, 2]);
        assert_eq!(judge.choose(), (Some(3), vec![1, 2]));
        let asked = [
            "verify 0",
            "verify 1",
            "verify 2",
            "verify 3",
            "verify 4",
            "compare 0 3 4",
        ];
        assert_eq!(judge.asked, asked);
        // Nothing wrong is chosen where all are.
        let mut judge = Made::new(&[2.0, 1.0, 3.0], &[0, 1, 2]);
        assert_eq!(judge.choose(), (None, vec![0, 1, 2]));
        // Nor a default that is.
        let mut judge = Made::new(&[1.0, 2.0], &[0]);
        assert_eq!(judge.choose(), (Some(1), vec![0]));
    }

    #[test]
    fn what_fails_in_turns_is_out_as_well() {
        let mut judge = Made::new(&[9.0, 1.0, 3.0], &[]);
        judge.crash = vec![1];
        assert_eq!(judge.choose(), (Some(2), vec![1]));
        // Those that were not timed in the same rounds are timed again.
        assert_eq!(judge.asked.last().unwrap(), "compare 0 2");
        // Where nobody is added, the rounds stand.
        let mut judge = Made::new(&[1.2, 1.0, 1.05], &[]);
        judge.crash = vec![2];
        assert_eq!(judge.choose(), (Some(1), vec![2]));
        assert_eq!(judge.asked.last().unwrap(), "compare 0 1 2");
    }

    #[test]
    fn what_is_unsound_is_out_and_the_next_best_is_tried() {
        // What is near the next best is verified then; the rounds stand where nobody is added.
        let mut judge = Made::new(&[9.0, 1.0, 3.0, 3.1], &[]);
        judge.unsound = vec![1];
        assert_eq!(judge.choose(), (Some(2), vec![1]));
        assert_eq!(judge.asked.last().unwrap(), "compare 0 2 3");
        let mut judge = Made::new(&[9.0, 1.0, 1.02], &[]);
        judge.unsound = vec![1];
        assert_eq!(judge.choose(), (Some(2), vec![1]));
        assert_eq!(judge.asked.last().unwrap(), "compare 0 1 2");
        // Where nothing else is left, nothing is chosen, also without a judge.
        let mut judge = Made::new(&[2.0, 1.0], &[0]);
        judge.unsound = vec![1];
        assert_eq!(judge.choose(), (None, vec![0, 1]));
        let all = objector(vec![0, 1]);
        let choice = choose(None, &[0], &results(&[2.0, 1.0]), all, |_, _| {});
        assert_eq!(choice, None);
    }

    #[test]
    fn without_a_judge_the_first_times_have_to_do_but_not_of_what_was_wrong() {
        let choice = choose(
            None,
            &[0],
            &results(&[2.0, 1.0, 3.0]),
            objector(vec![]),
            |_, _| {},
        )
        .unwrap();
        assert_eq!((choice.codes, choice.default_us), (vec![1], Some(2.0)));
        assert_eq!(choose(None, &[0], &[], objector(vec![]), |_, _| {}), None);
        // The device is lost after two answers: the default held, the fastest was wrong.
        let mut judge = Made::new(&[9.0, 1.0, 2.0], &[1]);
        judge.answers = 2;
        assert_eq!(judge.choose(), (Some(0), vec![1]));
        // It is lost at once.
        let mut judge = Made::new(&[9.0, 1.0, 2.0], &[1]);
        judge.answers = 0;
        assert_eq!(judge.choose(), (Some(1), vec![]));
        // It is lost after the fastest was wrong, and nothing has held.
        let mut judge = Made::new(&[9.0, 1.0, 2.0], &[0, 1]);
        judge.answers = 2;
        assert_eq!(judge.choose(), (Some(2), vec![0, 1]));
        // Ctrl-C: nothing that did not hold.
        let mut judge = Made::new(&[9.0, 1.0, 2.0], &[1]);
        judge.answers = 0;
        judge.error = || WorkerError::Interrupted;
        assert_eq!(judge.choose(), (None, vec![]));
        judge.answers = 1;
        assert_eq!(judge.choose(), (Some(0), vec![]));
    }
}
