//! The replay of a strategy on a recorded space, for so many evaluations or for so long.

use super::recording::Recording;
use super::run::{Run, score};
use super::time_scale::TimeScale;
use crate::search::{Chosen, PriorResults, Search, Setting, Step};
use std::sync::Arc;
use std::time::Instant;

/// Runs a strategy until its budget is used up or the space is.
pub fn replay(
    recording: &Recording,
    strategy: &Chosen,
    priors: &Arc<[PriorResults]>,
    budget: u64,
    seed: u64,
) -> Run {
    let setting = setting(recording, priors, seed).budget(budget);
    replay_while(recording, strategy, &setting, |_| true)
}

/// Runs a strategy as long as time is left on a scale, as a session with a budget of time does:
/// strategies are not told how many evaluations there will be. It ends early where the optimum is
/// found, since nothing after that changes the score.
pub fn replay_over_time(
    scale: &TimeScale<'_>,
    strategy: &Chosen,
    priors: &Arc<[PriorResults]>,
    seed: u64,
) -> Run {
    let recording = scale.recording();
    let setting = setting(recording, priors, seed);
    let mut spent = 0.0;
    replay_while(recording, strategy, &setting, |run| {
        let (Some((codes, time)), Some(strategy)) =
            (run.evaluations.last(), run.strategy_ms.last())
        else {
            return true;
        };
        spent += strategy + recording.cost(codes).unwrap_or_default();
        spent < scale.budget_ms() && time.is_none_or(|time| time > recording.best)
    })
}

fn setting(recording: &Recording, priors: &Arc<[PriorResults]>, seed: u64) -> Setting {
    Setting::new(Arc::clone(&recording.space))
        .seed(seed)
        .prior_results(Arc::clone(priors))
}

/// Runs a strategy until its budget is used up, the space is, or the condition does not hold.
fn replay_while(
    recording: &Recording,
    strategy: &Chosen,
    setting: &Setting,
    mut goes_on: impl FnMut(&Run) -> bool,
) -> Run {
    let mut run = Run {
        seed: setting.seed,
        evaluations: Vec::new(),
        strategy_ms: Vec::new(),
        held_out_error: None,
    };
    let mut since = Instant::now();
    let mut search = Search::new(strategy, setting);
    while goes_on(&run)
        && let Step::Measure(codes) = search.step()
    {
        run.strategy_ms.push(since.elapsed().as_secs_f64() * 1e3);
        let time = recording.time(&codes);
        since = Instant::now();
        search.tell(&codes, score(time));
        run.evaluations.push((codes, time));
    }
    run.held_out_error = search.held_out_error();
    run
}
