//! Prior results of a job's kernel on other devices and for other problem sizes, for a warm start:
//! the entries of the lockfile, the journals of earlier sessions, and what the database of template
//! defaults has for it.

use super::journal::{LeftOut, Place, Recalled, Recorded, recall};
use super::stale::StaleEntry;
use crate::lockfile_store;
use crate::plan::Job;
use cltune_core::measure::Objective;
use cltune_core::select::{
    Table, TunedDevice, TunedResult, candidates, device_distance, problem_distance,
};
use cltune_search::{PriorResults, Score, Status};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The results that a search starts from: the database's values, then the most similar place first.
#[derive(Debug, Default)]
pub(crate) struct WarmStart {
    pub(crate) results: Vec<PriorResults>,
    /// Where they are from, a line for each set of prior results: that of the job itself from
    /// another version of the kernel, then that with the most results first.
    pub(crate) places: Vec<String>,
    /// The journals whose results are not among these: newer releases wrote to them, or they cannot
    /// be read.
    pub(crate) left_out: BTreeSet<LeftOut>,
    /// The lockfile's entry for the job itself.
    pub(crate) own: Option<Vec<i64>>,
    /// Where that has none: what calls get from its other entries or from the database of template
    /// defaults, by the selection rule.
    pub(crate) selected: Option<Vec<i64>>,
}

/// The time of a configuration that was not measured. A score has one, which means nothing in a set
/// of one configuration.
const UNKNOWN: Score = Score::Time(1.0);

/// What a search starts from at one place.
struct Source<'a> {
    place: &'a Place,
    results: PriorResults,
    /// Whether this is a stale entry, of which nothing but the values counts.
    is_stale: bool,
}

/// The results that the journals in `state` and the lockfile have of this job's declaration, and the
/// values of stale entries where there are no results. `defaults` are those of the job's template.
///
/// Journals of the job's own device and problem are left out, so that tuning again is a search of
/// its own; the lockfile's entry is not, so that a better existing entry is not lost.
pub(super) fn prior_results(
    job: &Job,
    state: &Path,
    lockfile: &Path,
    stale: &[StaleEntry],
    defaults: &Table,
) -> WarmStart {
    let model = &job.declaration.model;
    // A lockfile that cannot be read was refused before the search. Of one with a value that no
    // parameter takes nothing is used here: prior results are a help, and no result.
    let (table, measures) = match lockfile_store::read(lockfile) {
        Ok(Some(lockfile)) => (
            lockfile.table(model).unwrap_or(Table::EMPTY),
            lockfile.measures(model),
        ),
        _ => (Table::EMPTY, Vec::new()),
    };
    let here = Place::of(job);
    let mut left_out = BTreeSet::new();
    let mut all = recall(state, &job.declaration, &mut left_out);
    // Damage is told of by the search whose journal it is: prior results are a help, and no result.
    left_out.retain(|journal| !matches!(journal, LeftOut::Damaged { .. }));
    all.retain(|recalled| !recalled.place.is(&here));
    let is_alike = measures.iter().map(|of| *of == job.declaration.measure);
    add(&mut all, table.results.iter().zip(is_alike), &table.devices);
    let own = all.iter().find(|recalled| recalled.place.is(&here));
    let own = own.and_then(|own| Some(own.results.first()?.codes.clone()));
    let objective = job.declaration.measure.objective;
    all.retain(|recalled| recalled.results.iter().any(|of| of.time_us.is_some()));
    let info = job.device.info();
    let known = all.iter().map(|recalled| Source {
        place: &recalled.place,
        results: prior(&recalled.results, objective),
        is_stale: false,
    });
    let is_known = |place: &Place| all.iter().any(|recalled| recalled.place.is(place));
    let stale = stale.iter().filter(|entry| !is_known(&entry.place));
    let stale = stale.map(|entry| Source {
        place: &entry.place,
        results: alone(entry.codes.clone()),
        is_stale: true,
    });
    let mut sources: Vec<Source> = known.chain(stale).collect();
    let distance = |place: &Place| {
        let is_other = !place.device.key().is(info.key());
        let device = device_distance(&place.device, &info);
        let problem = problem_distance(&place.problem, &job.dims);
        // A device of another type comes last.
        (device.is_none(), is_other, device, problem)
    };
    sources.sort_by(|a, b| {
        let order = distance(a.place).partial_cmp(&distance(b.place));
        order.unwrap_or(Ordering::Equal)
    });
    let is_own = |source: &Source| source.is_stale && source.place.is(&here);
    let own_stale = sources.iter().filter(|source| is_own(source)).count();
    let mut places: Vec<&Source> = sources.iter().collect();
    places.sort_by_key(|source| (!is_own(source), Reverse(source.results.results.len())));
    let mut places: Vec<String> = places.iter().map(|source| describe(job, source)).collect();
    let mut results: Vec<PriorResults> = sources.into_iter().map(|source| source.results).collect();
    // What calls get if this is what is known of the kernel, and not its declared default.
    let get = |known| {
        let all = candidates(model, &info, &job.dims, known, &Table::EMPTY);
        let selected = all.with_database(defaults).selected();
        selected.filter(|selected| selected.known.is_some())
    };
    if let Some(of_database) = get(&Table::EMPTY) {
        // Behind the values that this very place had, which the sort has put first.
        results.insert(own_stale, alone(of_database.codes.into_owned()));
        places.push("1 result in the database of template defaults".to_owned());
    }
    let selected = get(&table).filter(|_| own.is_none());
    let selected = selected.map(|selected| selected.codes.into_owned());
    WarmStart {
        results,
        places,
        left_out,
        own,
        selected,
    }
}

/// Adds the lockfile's entries, each to the results of its place. One that was not measured alike
/// has a time that does not compare with these: it stands alone, where its place has none.
fn add<'a>(
    all: &mut Vec<Recalled>,
    results: impl Iterator<Item = (&'a TunedResult, bool)>,
    devices: &[TunedDevice],
) {
    for (result, is_alike) in results {
        let device = &devices[usize::from(result.device)];
        let place = Place {
            device: device.clone(),
            problem: result.problem.to_vec(),
        };
        let entry = Recorded {
            codes: result.values.to_vec(),
            status: Status::Ok,
            time_us: Some(result.time_us),
            ..Recorded::default()
        };
        match all.iter_mut().find(|recalled| recalled.place.is(&place)) {
            // The entry is the choice among its own journal's results.
            Some(same) => {
                // A journal of an earlier release does not describe its device.
                same.place = place;
                if is_alike && !same.results.iter().any(|of| of.codes == entry.codes) {
                    same.results.push(entry);
                }
            }
            None => all.push(Recalled {
                place,
                sessions: Vec::new(),
                repeatability: None,
                results: vec![entry],
            }),
        }
    }
}

/// A configuration whose time is of something else: it is tried, and compared with nothing.
fn alone(codes: Vec<i64>) -> PriorResults {
    PriorResults {
        results: vec![(codes, UNKNOWN)],
    }
}

fn describe(job: &Job, source: &Source<'_>) -> String {
    let count = source.results.results.len();
    let what = match count {
        _ if source.is_stale => "the values of another version of the kernel".to_owned(),
        1 => "1 result".to_owned(),
        _ => format!("{count} results"),
    };
    let problem = job
        .declaration
        .model
        .describe_problem(&source.place.problem);
    format!("{what} on {} for {problem}", source.place.device.name)
}

/// By what the objective wants least of; where that is known of none, by the times: each place has
/// a scale of its own.
fn prior(results: &[Recorded], objective: Objective) -> PriorResults {
    let figure = |of: &Recorded, by: Objective| {
        let cost = of.cost()?;
        by.figure(cost.time_us, cost.energy_j)
    };
    let is_known = results.iter().any(|of| figure(of, objective).is_some());
    let by = if is_known { objective } else { Objective::Time };
    // A configuration that was measured in several sessions counts with its last result. One that
    // works, and whose figure is not known beside others', says nothing.
    let figures = results.iter().map(|of| (of, figure(of, by)));
    let says = figures.filter(|(of, figure)| figure.is_some() == of.time_us.is_some());
    let last = says.map(|(of, figure)| (&of.codes, figure));
    let last: BTreeMap<&Vec<i64>, Option<f64>> = last.collect();
    let results = last.into_iter();
    PriorResults {
        results: results
            .map(|(codes, figure)| (codes.clone(), Score::of(figure)))
            .collect(),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/prior_results.rs"]
mod tests;
