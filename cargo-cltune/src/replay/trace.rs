//! Runs as JSON lines, one per run.

use cltune_search::recorded::{Recording, Run};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Writes `{"space", "strategy", "seed", "evals": [{"config", "time_ms"}, …]}` for each run.
pub(crate) fn write(
    to: &mut dyn Write,
    recording: &Recording,
    strategy: &str,
    runs: &[Run],
) -> io::Result<()> {
    for run in runs {
        let evaluations = run
            .evaluations
            .iter()
            .map(|(codes, time)| json!({ "config": values(recording, codes), "time_ms": time }));
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

#[cfg(test)]
mod tests {
    use super::*;
    use cltune_core::parameter::Fraction;
    use cltune_search::recorded::parse;
    use std::path::Path;

    #[test]
    fn values_that_are_numbers_are_numbers() {
        let text = "X,KIND,SHARE,time_ms\n2,a,0.5,1.5\n4,b,0.25,3\n";
        let file = parse(Path::new("space.csv"), text).unwrap();
        let recording = Recording::new(&file).unwrap();
        let json = values(&recording, &[2, 0, Fraction::of(0.5).code()]);
        assert_eq!(json, json!({"X": 2, "KIND": "a", "SHARE": 0.5}));
    }
}
