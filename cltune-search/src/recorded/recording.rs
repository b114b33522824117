//! Recorded spaces: the results of every configuration.

use super::measurements::{Measurements, ParseError, RecordedResult, is_time};
use super::values::Values;
use crate::search::{PriorResults, Score};
use crate::space::{Space, SpaceParameter};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// So often Kernel Tuner launches each configuration to time it, unless told otherwise; a file that
/// has no single runs is taken to be of as many.
const LAUNCHES: f64 = 7.0;

/// A space with the time of each configuration.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    /// The file's name without its endings.
    pub name: String,
    /// What was recorded, as a space.
    pub space: Arc<Space>,
    /// The values of each parameter.
    values: Vec<Values>,
    outcomes: HashMap<Vec<i64>, RecordedOutcome>,
    /// The best time, milliseconds.
    pub best: f64,
    /// Whether it says of any configuration how long it took to compile. Where it does not, the
    /// costs of evaluations leave compiling out.
    pub has_compile_times: bool,
}

/// What became of a configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordedOutcome {
    /// Milliseconds; `None` where it failed.
    pub(super) time: Option<f64>,
    /// Milliseconds that it took to compile and to run it, for all launches together.
    pub(super) cost: f64,
}

/// Why a recording cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// A configuration has two results.
    #[error(transparent)]
    Content(#[from] ParseError),
    /// A warm start from a recording of something else.
    #[error(
        "{}: its parameters are {there}, and those of {} are {here}; a warm start needs the same \
         kernel recorded on another device",
        other.display(),
        path.display()
    )]
    OtherParameters {
        /// The recording that is searched.
        path: PathBuf,
        /// The one that was to be learned from.
        other: PathBuf,
        /// The parameters of the first.
        here: String,
        /// The parameters of the second.
        there: String,
    },
    /// Nothing was measured.
    #[error(
        "{}: no configuration is recorded in it: it has a header and nothing else",
        path.display()
    )]
    NoResult {
        /// The recording.
        path: PathBuf,
    },
    /// There is nothing to find.
    #[error("{}: every configuration failed, so there is no optimum to look for", path.display())]
    AllFailed {
        /// The recording.
        path: PathBuf,
    },
    /// Searches over time cannot be told apart here.
    #[error(
        "{}: too small for a score over time: random search has to evaluate {evaluations} of \
         {configurations} configurations for 95 % of the way from the median to the optimum, and is sure \
         to have the optimum then; record more of the space, or compare by the number of evaluations",
        path.display()
    )]
    TooSmall {
        /// The recording.
        path: PathBuf,
        /// How many configurations it has.
        configurations: usize,
        /// How many of them random search has to evaluate.
        evaluations: usize,
    },
    /// There is nothing to gain over the median.
    #[error(
        "{}: half of the configurations that work, or more, are as fast as the optimum, so there is no \
         way from the median to the optimum that a score could measure",
        path.display()
    )]
    Flat {
        /// The recording.
        path: PathBuf,
    },
}

impl Recording {
    /// Of what a file has.
    ///
    /// # Errors
    /// A configuration has two results, or every one failed.
    pub fn new(file: &Measurements) -> Result<Self, RecordingError> {
        let results = &file.results;
        if results.is_empty() {
            return Err(RecordingError::NoResult {
                path: file.path.clone(),
            });
        }
        let columns = 0..file.parameters.len();
        let values: Vec<Values> = columns
            .map(|column| Values::of(results.iter().map(|result| &*result.values[column])))
            .collect();
        let compile_times = results.iter().filter_map(|result| result.build_ms);
        let (count, sum) = compile_times.fold((0, 0.0), |(count, sum), ms| (count + 1, sum + ms));
        let usual_compile_time = if count > 0 {
            sum / f64::from(count)
        } else {
            0.0
        };
        let mut outcomes: HashMap<Vec<i64>, RecordedOutcome> =
            HashMap::with_capacity(results.len());
        for result in results {
            let codes = values.iter().zip(&result.values);
            let codes = codes.map(|(values, text)| values.code(text));
            let codes = codes.collect::<Option<Vec<i64>>>();
            let outcome = RecordedOutcome {
                time: result.time_ms,
                cost: result.build_ms.unwrap_or(usual_compile_time) + launches_ms(result),
            };
            let before = codes.and_then(|codes| outcomes.insert(codes, outcome));
            if before.is_some_and(|before| before.time != result.time_ms) {
                let problem = "a configuration for a second time, with another result";
                return Err(file.error(result.position.clone(), problem).into());
            }
        }
        let all_failed = || RecordingError::AllFailed {
            path: file.path.clone(),
        };
        let working = outcomes.values().filter_map(|outcome| outcome.time);
        let best = working.min_by(f64::total_cmp).ok_or_else(all_failed)?;
        let parameters = file.parameters.iter().zip(&values);
        let parameters = parameters.map(|(name, values)| {
            SpaceParameter::listed(name.clone(), values.domain.codes().collect())
        });
        let configurations: Vec<Vec<i64>> = outcomes.keys().cloned().collect();
        // Every configuration is of its own domains.
        let space = Space::from_configurations(parameters.collect(), &configurations)
            .ok_or_else(all_failed)?;
        Ok(Self {
            path: file.path.clone(),
            name: file.name(),
            space: Arc::new(space),
            values,
            outcomes,
            best,
            has_compile_times: count > 0,
        })
    }

    /// The time of a configuration, milliseconds; `None` where it failed.
    pub fn time(&self, codes: &[i64]) -> Option<f64> {
        self.outcomes.get(codes)?.time
    }

    /// How long it took to evaluate a configuration, milliseconds: to compile it, and to run it
    /// for all launches of its measurement together. `None` for a configuration of another space.
    ///
    /// A failed configuration has the cost of compiling. One without a compile time, in a file that
    /// has others', is taken to need their mean; launches that the file does not have one by one
    /// are taken to be seven, as many as Kernel Tuner makes unless told otherwise.
    pub fn cost(&self, codes: &[i64]) -> Option<f64> {
        Some(self.outcomes.get(codes)?.cost)
    }

    /// Of every configuration, in no useful order.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = RecordedOutcome> {
        self.outcomes.values().copied()
    }

    /// Where it was read.
    pub(super) fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// The codes of a configuration whose parameters have these values, as texts; `None` where it
    /// is not recorded.
    pub fn codes(&self, value: impl Fn(&str) -> Option<String>) -> Option<Vec<i64>> {
        let parameters = self.space.parameters().iter().zip(&self.values);
        let codes = parameters.map(|(parameter, values)| values.code(&value(&parameter.name)?));
        let codes = codes.collect::<Option<Vec<i64>>>()?;
        self.outcomes.contains_key(&codes).then_some(codes)
    }

    /// What a recording of the same kernel on another device teaches about this one's space.
    /// Configurations with a value that does not occur here are left out.
    ///
    /// # Errors
    /// [`RecordingError::OtherParameters`] where the parameters have other names.
    pub fn prior_results(&self, other: &Self) -> Result<PriorResults, RecordingError> {
        let names = |of: &Self| -> Vec<String> {
            let parameters = of.space.parameters().iter();
            parameters.map(|p| p.name.to_string()).collect()
        };
        let (here, there) = (names(self), names(other));
        let columns = here
            .iter()
            .map(|name| there.iter().position(|other| other == name))
            .collect::<Option<Vec<usize>>>()
            .filter(|columns| columns.len() == there.len())
            .ok_or_else(|| RecordingError::OtherParameters {
                path: self.path.clone(),
                other: other.path.clone(),
                here: here.join(", "),
                there: there.join(", "),
            })?;
        // The same value may have another code in a recording with other values.
        let translate = |there: &[i64]| -> Option<Vec<i64>> {
            let values = columns.iter().zip(&self.values);
            values
                .map(|(column, values)| values.code(&other.values[*column].text(there[*column])?))
                .collect()
        };
        let mut results: Vec<(Vec<i64>, Score)> = other
            .outcomes
            .iter()
            .filter_map(|(codes, outcome)| {
                // Recordings are in milliseconds, scores in microseconds.
                let score = Score::of(outcome.time.map(|ms| ms * 1e3));
                Some((translate(codes)?, score))
            })
            .collect();
        // A hash map's order is another in each run.
        results.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(PriorResults { results })
    }

    /// The fraction of the optimum of every configuration, the lowest first; 0 where it failed.
    pub fn fractions(&self) -> Vec<f64> {
        let times = self.outcomes.values().map(|outcome| outcome.time);
        let fractions = times.map(|time| time.map_or(0.0, |time| self.best / time));
        let mut fractions: Vec<f64> = fractions.collect();
        fractions.sort_by(f64::total_cmp);
        fractions
    }

    /// The value that the code of a parameter stands for, as the file has it; `None` for a code of
    /// none. Parameters count from 0.
    pub fn value(&self, parameter: usize, code: i64) -> Option<String> {
        self.values.get(parameter)?.text(code)
    }
}

/// How long a configuration ran, for all launches together, milliseconds.
fn launches_ms(result: &RecordedResult) -> f64 {
    let samples = result.samples_ms.iter().filter(|sample| is_time(**sample));
    let measured: f64 = samples.sum();
    if measured > 0.0 {
        measured
    } else {
        LAUNCHES * result.time_ms.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cltune_core::parameter::Fraction;
    use std::path::Path;

    fn parse(text: &str) -> Result<Recording, String> {
        let file = super::super::parse(Path::new("a/space.csv.gz"), text);
        let file = file.map_err(|error| error.to_string())?;
        Recording::new(&file).map_err(|error| error.to_string())
    }

    #[test]
    fn rows_become_configurations_with_times() {
        let recording = parse(
            "X,KIND,SHARE,time_ms,compile_ms,error\r\n2,a,0.5,1.5,3,\n4,b,0.25,,,timeout\n4,a,0.5,NaN,,\n\n2,b,0.5,inf,,\n",
        );
        let recording = recording.unwrap();
        assert_eq!(recording.name, "space");
        assert_eq!(recording.space.count(), 4);
        assert_eq!(recording.best, 1.5);
        let [quarter, half] = [0.25, 0.5].map(|share| Fraction::of(share).code());
        assert_eq!(recording.time(&[2, 0, half]), Some(1.5));
        for failed in [[4, 1, quarter], [4, 0, half], [2, 1, half], [9, 9, 9]] {
            assert_eq!(recording.time(&failed), None);
        }
        assert_eq!(recording.fractions(), [0.0, 0.0, 0.0, 1.0]);
        let values = [(0, 2), (1, 0), (2, half)].map(|(at, code)| recording.value(at, code));
        assert_eq!(values.map(Option::unwrap), ["2", "a", "0.5"]);
        assert_eq!((recording.value(1, 2), recording.value(3, 0)), (None, None));
    }

    #[test]
    fn an_evaluation_costs_compiling_and_all_launches() {
        let csv = parse("X,time_ms,compile_ms\n1,2,30\n2,,10\n3,4,\n4,,\n5,1,-3\n").unwrap();
        assert!(csv.has_compile_times);
        let costs: Vec<f64> = (1..=5).map(|x| csv.cost(&[x]).unwrap()).collect();
        assert_eq!(costs, [44.0, 10.0, 48.0, 20.0, 27.0]);
        assert_eq!(csv.cost(&[6]), None);
        let cache = r#"{"tune_params_keys": ["X"], "cache": {
            "1": {"X": 1, "time": 2.0, "times": [3.0, 1.0, 2.0], "compile_time": 5.0},
            "2": {"X": 2, "__error__": "CompilationFailedConfig", "compile_time": 7.0}}}"#;
        let cache = parse(cache).unwrap();
        assert_eq!([1, 2].map(|x| cache.cost(&[x]).unwrap()), [11.0, 7.0]);
        let none = parse("X,time_ms\n1,2\n2,\n").unwrap();
        assert!(!none.has_compile_times);
        assert_eq!([1, 2].map(|x| none.cost(&[x]).unwrap()), [14.0, 0.0]);
    }

    #[test]
    fn configurations_are_found_by_the_texts_of_their_values() {
        let recording = parse("KIND,X,time_ms\na,1,1\nb,2,2\n").unwrap();
        let codes = |kind: &str, x: &str| {
            let text = |name: &str| Some(if name == "X" { x } else { kind }.to_owned());
            recording.codes(text)
        };
        assert_eq!(codes("b", "2"), Some(vec![1, 2]));
        assert_eq!(codes("a", "2"), None);
        assert_eq!(codes("c", "1"), None);
        assert_eq!(recording.codes(|_| None), None);
    }

    #[test]
    fn another_recording_is_understood_by_names_and_values() {
        let here = parse("KIND,X,time_ms\na,1,1\nb,2,2\n").unwrap();
        let there = parse("X,KIND,time_ms\n2,b,4\n2,a,\n3,a,1\n1,c,1\n").unwrap();
        let prior = here.prior_results(&there).unwrap();
        let expected = [
            (vec![0, 2], Score::Failed),
            (vec![1, 2], Score::Time(4000.0)),
        ];
        assert_eq!(prior.results, expected);
        let other = parse("X,SORT,time_ms\n2,b,4\n").unwrap();
        let error = here.prior_results(&other).unwrap_err().to_string();
        assert!(
            error.contains("X, SORT") && error.contains("KIND, X"),
            "{error}"
        );
    }

    #[test]
    fn what_cannot_be_replayed_is_an_error() {
        for (text, says) in [
            ("X,Y\n1,2\n", ":1: there is no column `time_ms` among X, Y"),
            (
                "X,time_ms\n1,2\n1,3\n",
                ":3: a configuration for a second time, with another result",
            ),
            ("X,time_ms\n1,\n", "every configuration failed"),
            ("X,time_ms\n", "no configuration is recorded"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(says), "{text:?}: {error}");
        }
        // The same row again says nothing new.
        assert_eq!(parse("X,time_ms\n1,2\n1,2\n").unwrap().space.count(), 1);
    }
}
