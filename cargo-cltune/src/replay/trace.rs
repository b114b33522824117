//! Runs as JSON lines, one per run: `{"space", "strategy", "seed", "evals": [{"config", "time_ms"},
//! …]}`, and in each evaluation `strategy_ms` where the time of the strategy counts.

use cltune_search::recorded::{Recording, Run};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why the runs of a file cannot be scored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TraceError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error(
        "{}:{line}: not a run as `--trace` writes it: {source}",
        path.display()
    )]
    Shape {
        path: PathBuf,
        line: usize,
        source: serde_json::Error,
    },
    #[error(
        "{}:{line}: its space is `{space}`, and the recordings are {known}; name the recording, too",
        path.display()
    )]
    Space {
        path: PathBuf,
        line: usize,
        space: String,
        known: String,
    },
    #[error(
        "{}:{line}: evaluation {number} is of {config}, which the recording does not have",
        path.display()
    )]
    Configuration {
        path: PathBuf,
        line: usize,
        number: usize,
        config: String,
    },
    #[error(
        "{}:{line}: evaluation {number}: its `strategy_ms` is {value}, which is no time",
        path.display()
    )]
    StrategyTime {
        path: PathBuf,
        line: usize,
        number: usize,
        value: f64,
    },
}

/// Whether a trace has the times that the strategy took. They differ from run to run; without them,
/// the same input has the same trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Ignored,
    Written,
}

/// Writes a line for each run.
pub(crate) fn write(
    to: &mut dyn Write,
    recording: &Recording,
    strategy: &str,
    runs: &[Run],
    clock: Clock,
) -> io::Result<()> {
    for run in runs {
        let evaluations = run.evaluations.iter().zip(&run.strategy_ms);
        let evaluations = evaluations.map(|((codes, time), strategy_ms)| {
            let mut of = json!({ "config": values(recording, codes), "time_ms": time });
            if clock == Clock::Written {
                of["strategy_ms"] = json!(strategy_ms);
            }
            of
        });
        let line = json!({
            "space": recording.name,
            "strategy": strategy,
            "seed": run.seed,
            "evals": evaluations.collect::<Vec<_>>(),
        });
        writeln!(to, "{line}")?;
    }
    to.flush()
}

/// A configuration as names and values, numbers where they are numbers.
fn values(recording: &Recording, codes: &[i64]) -> Value {
    let parameters = recording.space.parameters().iter().zip(codes).enumerate();
    let members = parameters.map(|(position, (parameter, code))| {
        let text = recording.value(position, *code).unwrap_or_default();
        let value = match serde_json::from_str(&text) {
            Ok(Value::Number(number)) => number.into(),
            _ => text.into(),
        };
        (parameter.name.to_string(), value)
    });
    Value::Object(members.collect())
}

/// A run that was read.
#[derive(Debug)]
pub(crate) struct Traced {
    pub(crate) strategy: String,
    /// The position of its space among the recordings.
    pub(crate) space: usize,
    pub(crate) run: Run,
}

/// A line of a file.
#[derive(Deserialize)]
struct Line {
    space: String,
    strategy: String,
    seed: u64,
    evals: Vec<Evaluation>,
}

/// What is read of an evaluation; its time is that of the recording.
#[derive(Deserialize)]
struct Evaluation {
    config: Map<String, Value>,
    #[serde(default)]
    strategy_ms: f64,
}

/// Reads the runs of a file on any of these recordings.
pub(crate) fn read(path: &Path, recordings: &[Recording]) -> Result<Vec<Traced>, TraceError> {
    let text = fs::read_to_string(path).map_err(|source| TraceError::Read {
        path: path.to_owned(),
        source,
    })?;
    let lines = text
        .lines()
        .zip(1..)
        .filter(|(text, _)| !text.trim().is_empty());
    lines
        .map(|(text, line)| traced(path, line, text, recordings))
        .collect()
}

fn traced(
    path: &Path,
    line: usize,
    text: &str,
    recordings: &[Recording],
) -> Result<Traced, TraceError> {
    let path = || path.to_owned();
    let read: Line = serde_json::from_str(text).map_err(|source| TraceError::Shape {
        path: path(),
        line,
        source,
    })?;
    let position = recordings.iter().position(|of| of.name == read.space);
    let Some(space) = position else {
        let known: Vec<&str> = recordings.iter().map(|of| of.name.as_str()).collect();
        return Err(TraceError::Space {
            path: path(),
            line,
            space: read.space,
            known: known.join(", "),
        });
    };
    let recording = &recordings[space];
    let mut run = Run {
        seed: read.seed,
        evaluations: Vec::with_capacity(read.evals.len()),
        strategy_ms: Vec::with_capacity(read.evals.len()),
        held_out_error: None,
    };
    for (evaluation, number) in read.evals.into_iter().zip(1..) {
        let config = evaluation.config;
        let Some(codes) = recording.codes(|name| config.get(name).map(text_of)) else {
            return Err(TraceError::Configuration {
                path: path(),
                line,
                number,
                config: Value::Object(config).to_string(),
            });
        };
        let value = evaluation.strategy_ms;
        if value < 0.0 {
            return Err(TraceError::StrategyTime {
                path: path(),
                line,
                number,
                value,
            });
        }
        let time = recording.time(&codes);
        run.evaluations.push((codes, time));
        run.strategy_ms.push(value);
    }
    Ok(Traced {
        strategy: read.strategy,
        space,
        run,
    })
}

/// A value as a recording has it.
fn text_of(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cltune_core::parameter::Fraction;
    use cltune_search::recorded::parse;

    fn recording() -> Recording {
        let text = "X,KIND,SHARE,time_ms\n2,a,0.5,1.5\n4,b,0.25,3\n";
        let file = parse(Path::new("space.csv"), text).unwrap();
        Recording::new(&file).unwrap()
    }

    #[test]
    fn values_that_are_numbers_are_numbers() {
        let json = values(&recording(), &[2, 0, Fraction::of(0.5).code()]);
        assert_eq!(json, json!({"X": 2, "KIND": "a", "SHARE": 0.5}));
    }

    #[test]
    fn what_was_written_is_read_again() {
        let recordings = [recording()];
        let half = Fraction::of(0.5).code();
        let run = Run {
            seed: 7,
            evaluations: vec![(vec![2, 0, half], Some(1.5))],
            strategy_ms: vec![0.25],
            held_out_error: None,
        };
        let mut text = Vec::new();
        write(&mut text, &recordings[0], "own", &[run], Clock::Written).unwrap();
        let text = String::from_utf8(text).unwrap();
        let read = traced(Path::new("runs.jsonl"), 1, &text, &recordings).unwrap();
        assert_eq!(
            (read.space, read.strategy.as_str(), read.run.seed),
            (0, "own", 7)
        );
        assert_eq!(read.run.evaluations, [(vec![2, 0, half], Some(1.5))]);
        assert_eq!(read.run.strategy_ms, [0.25]);
    }

    #[test]
    fn mistakes_name_the_line_and_the_evaluation() {
        let line = |space: &str, evaluation: &str| {
            format!(
                r#"{{"space": "{space}", "strategy": "a", "seed": 1, "evals": [{evaluation}]}}"#
            )
        };
        let whole = r#"{"config": {"X": 4, "KIND": "b", "SHARE": 0.25}}"#;
        let late = r#"{"config": {"X": 4, "KIND": "b", "SHARE": 0.25}, "strategy_ms": -1}"#;
        for (text, says) in [
            (
                "{}".to_owned(),
                "runs.jsonl:3: not a run as `--trace` writes it: missing field",
            ),
            (
                line("other", whole),
                ":3: its space is `other`, and the recordings are space",
            ),
            (
                line(
                    "space",
                    r#"{"config": {"X": 4, "KIND": "a", "SHARE": 0.25}}"#,
                ),
                r#":3: evaluation 1 is of {"KIND":"a","SHARE":0.25,"X":4}, which the recording"#,
            ),
            (
                line("space", r#"{"config": {"X": 4}}"#),
                "evaluation 1 is of",
            ),
            (
                line("space", &format!("{whole}, {late}")),
                ":3: evaluation 2: its `strategy_ms` is -1, which is no time",
            ),
        ] {
            let error = traced(Path::new("runs.jsonl"), 3, &text, &[recording()]).unwrap_err();
            assert!(error.to_string().contains(says), "{text}: {error}");
        }
    }
}
