//! Prior results of a job's kernel on other devices and for other problem sizes, for a warm start:
//! the entries of the lockfile, and the journals of earlier sessions.

use super::journal::{Place, Recalled, Recorded, recall};
use super::plan::Job;
use crate::lockfile_store;
use cltune_core::select::{Table, problem_distance};
use cltune_search::{PriorResults, Score, Status};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

/// The results that a search starts from, the most similar place first.
#[derive(Debug, Default)]
pub(crate) struct WarmStart {
    pub(crate) results: Vec<PriorResults>,
    /// Where they are from, a line for each set of prior results, that with the most results first.
    pub(crate) places: Vec<String>,
    /// The lockfile's entry for the job itself.
    pub(crate) own: Option<Vec<i64>>,
}

/// The results that the journals in `state` and the lockfile have of this job's declaration.
///
/// Journals of the job's own device and problem are left out, so that tuning again is a search of
/// its own; the lockfile's entry is not, so that a better existing entry is not lost.
pub(crate) fn prior_results(job: &Job, state: &Path, lockfile: &Path) -> WarmStart {
    let model = &job.declaration.model;
    // A lockfile that cannot be read, or does not fit, was refused before the search.
    let table = match lockfile_store::read(lockfile) {
        Ok(Some(lockfile)) => lockfile.table(model).unwrap_or(Table::EMPTY),
        _ => Table::EMPTY,
    };
    let mut all = recall(state, &job.declaration);
    all.retain(|recalled| recalled.place != Place::of(job));
    add(&mut all, &table);
    let own = all.iter().find(|recalled| recalled.place == Place::of(job));
    let own = own.and_then(|own| Some(own.results.first()?.codes.clone()));
    all.retain(|recalled| recalled.results.iter().any(|of| of.time_us.is_some()));
    all.sort_by(|a, b| {
        let (a, b) = (distance(job, &a.place), distance(job, &b.place));
        a.0.cmp(&b.0).then_with(|| a.1.total_cmp(&b.1))
    });
    let priors = all.iter().map(|recalled| prior(&recalled.results));
    let priors: Vec<PriorResults> = priors.collect();
    let counts = priors.iter().map(|prior| prior.results.len());
    let mut places: Vec<(usize, &Place)> = counts.zip(all.iter().map(|of| &of.place)).collect();
    places.sort_by_key(|(count, _)| Reverse(*count));
    let places = places.into_iter();
    WarmStart {
        places: places
            .map(|(count, place)| describe(job, place, count))
            .collect(),
        results: priors,
        own,
    }
}

/// Adds the lockfile's entries, each to the results of its place.
fn add(all: &mut Vec<Recalled>, table: &Table) {
    for result in table.results.iter() {
        let device = &table.devices[usize::from(result.device)];
        let place = Place {
            platform: device.platform.to_string(),
            device: device.name.to_string(),
            problem: result.problem.to_vec(),
        };
        let entry = Recorded {
            codes: result.values.to_vec(),
            status: Status::Ok,
            time_us: Some(result.time_us),
            ..Recorded::default()
        };
        match all.iter_mut().find(|recalled| recalled.place == place) {
            // The entry is the choice among its own journal's results.
            Some(same) if same.results.iter().any(|of| of.codes == entry.codes) => {}
            Some(same) => same.results.push(entry),
            None => all.push(Recalled {
                place,
                sessions: Vec::new(),
                results: vec![entry],
            }),
        }
    }
}

/// The distance of a place: of the device (the same, the same platform, another), then of the
/// problem size.
fn distance(job: &Job, place: &Place) -> (u8, f64) {
    let device = match (
        place.platform == job.device.platform,
        place.device == job.device.name,
    ) {
        (true, true) => 0,
        (true, false) => 1,
        (false, _) => 2,
    };
    (device, problem_distance(&place.problem, &job.dims))
}

fn describe(job: &Job, place: &Place, count: usize) -> String {
    let plural = if count == 1 { "" } else { "s" };
    let problem = job.declaration.model.describe_problem(&place.problem);
    format!("{count} result{plural} on {} for {problem}", place.device)
}

fn prior(results: &[Recorded]) -> PriorResults {
    // A configuration that was measured in several sessions counts with its last result.
    let last = results.iter().map(|of| (&of.codes, of.time_us));
    let last: BTreeMap<&Vec<i64>, Option<f64>> = last.collect();
    let results = last.into_iter();
    PriorResults {
        results: results
            .map(|(codes, time)| (codes.clone(), Score::of(time)))
            .collect(),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/prior_results.rs"]
mod tests;
