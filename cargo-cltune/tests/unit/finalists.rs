//! Unit tests of `session::finalists`.

use super::*;

fn results(times: &[f64]) -> Vec<(Vec<i64>, Cost)> {
    let numbered = times.iter().enumerate();
    numbered
        .map(|(i, time)| (vec![i as i64], Cost::of_time(*time)))
        .collect()
}

fn chosen(candidates: &[(f64, u64)]) -> Option<(i64, Option<f64>)> {
    let numbered = candidates.iter().enumerate();
    let candidates: Vec<Candidate> = numbered
        .filter(|(_, (time, _))| *time > 0.0)
        .map(|(i, (time_us, local_mem))| Candidate {
            codes: vec![i as i64],
            cost: Cost::of_time(*time_us),
            figure: *time_us,
            resources: (*local_mem, 64),
        })
        .collect();
    best(&candidates, &[0]).map(|choice| {
        (
            choice.codes[0],
            choice.default.map(|default| default.time_us),
        )
    })
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
    /// The energy of each, joules, where it is measured.
    energies: Vec<f64>,
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
            energies: Vec::new(),
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
        let choice = choose(
            Some(self),
            &[0],
            Objective::Time,
            &results,
            sound,
            |codes, _| {
                rejected.push(codes[0]);
            },
        );
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
                samples_us: vec![time_us; 11],
                energies_j: match self.energies.get(codes[0] as usize) {
                    Some(energy_j) => vec![*energy_j; 11],
                    None => Vec::new(),
                },
                local_mem: 0,
                work_items: 64,
            })
        });
        Ok(times.collect())
    }
}

#[test]
fn the_objective_decides_and_both_costs_are_kept() {
    let (times, energies) = ([4.0, 1.0, 2.0, 3.0], [4.0, 8.0, 3.0, 1.0]);
    for (by, best) in [
        (Objective::Time, 1),
        (Objective::Energy, 3),
        // 16, 8, 6 and 3.
        (Objective::EnergyDelay, 3),
    ] {
        let mut judge = Made::new(&times, &[]);
        judge.energies = energies.to_vec();
        let costs = times.iter().zip(energies).enumerate();
        let results: Vec<_> = costs
            .map(|(at, (time_us, energy_j))| {
                let cost = Cost {
                    time_us: *time_us,
                    energy_j: Some(energy_j),
                };
                (vec![at as i64], cost)
            })
            .collect();
        let chosen = choose(
            Some(&mut judge),
            &[0],
            by,
            &results,
            objector(vec![]),
            |_, _| {},
        );
        let chosen = chosen.unwrap();
        assert_eq!(chosen.codes, [best], "{by}");
        let expected = results[best as usize].1;
        assert_eq!(
            (chosen.cost, chosen.default),
            (expected, Some(results[0].1))
        );
        let finalist = chosen.finalists.iter().find(|of| of.codes == [best]);
        let finalist = finalist.unwrap();
        assert_eq!(finalist.energies_j, [energies[best as usize]; 11]);
        assert_eq!(finalist.samples_us, [times[best as usize]; 11]);
        // What was measured first has to do without a judge.
        let first = choose(None, &[0], by, &results, objector(vec![]), |_, _| {});
        assert_eq!(first.unwrap().cost, expected);
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
    let choice = choose(
        None,
        &[0],
        Objective::Time,
        &results(&[2.0, 1.0]),
        all,
        |_, _| {},
    );
    assert_eq!(choice, None);
}

#[test]
fn without_a_judge_the_first_times_have_to_do_but_not_of_what_was_wrong() {
    let choice = choose(
        None,
        &[0],
        Objective::Time,
        &results(&[2.0, 1.0, 3.0]),
        objector(vec![]),
        |_, _| {},
    )
    .unwrap();
    let default_us = choice.default.map(|default| default.time_us);
    assert_eq!((choice.codes, default_us), (vec![1], Some(2.0)));
    let by = Objective::Time;
    let none = choose(None, &[0], by, &[], objector(vec![]), |_, _| {});
    assert_eq!(none, None);
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
