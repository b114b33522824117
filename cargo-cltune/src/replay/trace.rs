//! Runs as JSON lines, one per run.

use super::recording::Recording;
use super::run::Run;
use serde_json::json;
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
            .map(|(codes, time)| json!({ "config": recording.json(codes), "time_ms": time }));
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
