//! A built space as text and as JSON.

use super::{BuiltSpace, SpaceArgs};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// For people.
pub(super) fn text(
    built: &BuiltSpace,
    sample: &[Vec<i64>],
    differences: &[String],
    explain: bool,
    stdout: &mut dyn Write,
) -> io::Result<()> {
    let space = &built.space;
    writeln!(stdout, "{}", built.name)?;
    writeln!(stdout, "  parameters  {}", space.parameters().len())?;
    for parameter in space.parameters() {
        let codes = &parameter.codes;
        write!(stdout, "    {} = ", parameter.name)?;
        match **codes {
            [] => writeln!(stdout, "no values")?,
            [first, .., last] if codes.len() > 12 => {
                writeln!(stdout, "{} values, {first} to {last}", codes.len())?;
            }
            _ => writeln!(stdout, "{codes:?}")?,
        }
    }
    writeln!(stdout, "  cartesian   {}", space.cartesian())?;
    writeln!(stdout, "  valid       {}", space.count())?;
    writeln!(stdout, "  groups      {}", space.groups().len())?;
    for group in space
        .groups()
        .iter()
        .filter(|group| group.parameters.len() > 1)
    {
        writeln!(
            stdout,
            "    {}: {} valid, {} nodes, {} edges",
            names(built, &group.parameters).join(" "),
            group.count,
            group.nodes,
            group.edges
        )?;
    }
    let milliseconds = built.time.as_secs_f64() * 1e3;
    writeln!(stdout, "  built in    {milliseconds:.3} ms")?;
    if let Some(bytes) = peak_bytes() {
        writeln!(stdout, "  peak memory {:.1} MB", bytes as f64 / 1e6)?;
    }
    if explain || space.is_empty() {
        write!(stdout, "{}", space.explain())?;
    }
    for codes in sample {
        let named: Vec<String> = space
            .parameters()
            .iter()
            .zip(codes)
            .map(|(parameter, code)| format!("{}={code}", parameter.name))
            .collect();
        writeln!(stdout, "  {}", named.join(" "))?;
    }
    for difference in differences {
        writeln!(stdout, "  {difference}")?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Report<'a> {
    name: &'a str,
    cartesian: u128,
    valid: u128,
    build_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_bytes: Option<u64>,
    groups: Vec<GroupReport<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<Vec<RemovedReport>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conflict: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<Vec<BTreeMap<&'a str, i64>>>,
    differences: &'a [String],
}

#[derive(Serialize)]
struct GroupReport<'a> {
    parameters: Vec<&'a str>,
    valid: u128,
    nodes: usize,
    edges: usize,
}

#[derive(Serialize)]
struct RemovedReport {
    restriction: String,
    configurations: Option<u128>,
}

/// One object.
pub(super) fn json(
    built: &BuiltSpace,
    sample: &[Vec<i64>],
    differences: &[String],
    args: &SpaceArgs,
    stdout: &mut dyn Write,
) -> io::Result<()> {
    let space = &built.space;
    // Before what is only for the report takes memory.
    let peak_bytes = peak_bytes();
    let explanation = args.explain.then(|| space.explain());
    let report = Report {
        name: &built.name,
        cartesian: space.cartesian(),
        valid: space.count(),
        build_seconds: built.time.as_secs_f64(),
        peak_bytes,
        groups: space
            .groups()
            .iter()
            .map(|group| GroupReport {
                parameters: names(built, &group.parameters),
                valid: group.count,
                nodes: group.nodes,
                edges: group.edges,
            })
            .collect(),
        removed: explanation.as_ref().map(|explanation| {
            let of = |removed: &cltune_search::space::Removed| RemovedReport {
                restriction: removed.label.to_string(),
                configurations: removed.configurations,
            };
            explanation.removed.iter().map(of).collect()
        }),
        conflict: explanation.map(|explanation| {
            explanation
                .conflict
                .iter()
                .map(ToString::to_string)
                .collect()
        }),
        sample: (args.sample > 0).then(|| {
            let named = |codes: &Vec<i64>| {
                let names = space.parameters().iter().map(|parameter| &*parameter.name);
                names.zip(codes.iter().copied()).collect()
            };
            sample.iter().map(named).collect()
        }),
        differences,
    };
    serde_json::to_writer(&mut *stdout, &report)?;
    writeln!(stdout)
}

fn names<'a>(built: &'a BuiltSpace, parameters: &[usize]) -> Vec<&'a str> {
    parameters
        .iter()
        .map(|parameter| &*built.space.parameters()[*parameter].name)
        .collect()
}

/// The most memory this process has had, where the system says so (Linux).
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
