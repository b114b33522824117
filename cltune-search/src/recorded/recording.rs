//! Recorded spaces: the results of every configuration.

use super::measurements::{Measurements, ParseError};
use super::values::Values;
use crate::search::{PriorResults, Score};
use crate::space::{Space, SpaceParameter};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

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
    /// Milliseconds; `None` for configurations that failed.
    times: HashMap<Vec<i64>, Option<f64>>,
    /// The best time, milliseconds.
    pub best: f64,
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
    /// There is nothing to find.
    #[error("{}: every configuration failed, so there is no optimum to look for", path.display())]
    AllFailed {
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
        let columns = 0..file.parameters.len();
        let values: Vec<Values> = columns
            .map(|column| Values::of(results.iter().map(|result| &*result.values[column])))
            .collect();
        let mut times: HashMap<Vec<i64>, Option<f64>> = HashMap::with_capacity(results.len());
        for result in results {
            let codes = values.iter().zip(&result.values);
            let codes = codes.map(|(values, text)| values.code(text));
            let codes = codes.collect::<Option<Vec<i64>>>();
            let before = codes.and_then(|codes| times.insert(codes, result.time_ms));
            if before.is_some_and(|before| before != result.time_ms) {
                let problem = "a configuration for a second time, with another result";
                return Err(file.error(result.position.clone(), problem).into());
            }
        }
        let all_failed = || RecordingError::AllFailed {
            path: file.path.clone(),
        };
        let working = times.values().flatten().copied();
        let best = working.min_by(f64::total_cmp).ok_or_else(all_failed)?;
        let parameters = file.parameters.iter().zip(&values);
        let parameters = parameters.map(|(name, values)| {
            SpaceParameter::listed(name.clone(), values.domain.codes().collect())
        });
        let configurations: Vec<Vec<i64>> = times.keys().cloned().collect();
        // Every configuration is of its own domains.
        let space = Space::from_configurations(parameters.collect(), &configurations)
            .ok_or_else(all_failed)?;
        Ok(Self {
            path: file.path.clone(),
            name: file.name(),
            space: Arc::new(space),
            values,
            times,
            best,
        })
    }

    /// The time of a configuration, milliseconds; `None` where it failed.
    pub fn time(&self, codes: &[i64]) -> Option<f64> {
        self.times.get(codes).copied().flatten()
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
            .times
            .iter()
            // Recordings are in milliseconds, scores in microseconds.
            .filter_map(|(codes, ms)| Some((translate(codes)?, Score::of(ms.map(|ms| ms * 1e3)))))
            .collect();
        // A hash map's order is another in each run.
        results.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(PriorResults { results })
    }

    /// The fraction of the optimum of every configuration, the lowest first; 0 where it failed.
    pub fn fractions(&self) -> Vec<f64> {
        let times = self.times.values();
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
            ("X,time_ms\n", "every configuration failed"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(says), "{text:?}: {error}");
        }
        // The same row again says nothing new.
        assert_eq!(parse("X,time_ms\n1,2\n1,2\n").unwrap().space.count(), 1);
    }
}
