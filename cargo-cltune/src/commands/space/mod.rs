//! `cargo cltune space`: builds a search space from its definition; needs no kernel and no device.
//!
//! | file | owns |
//! |---|---|
//! | `definition` | the JSON format: text to specification |
//! | `print` | the result as text and as JSON |

mod definition;
mod print;

use super::{Exit, Format};
use cltune_search::Generator;
use cltune_search::space::{Space, TooComplex};
use definition::{Definition, Stated};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The steps that building may take: some seconds, and a few hundred megabytes.
const MOST_STEPS: u64 = 1 << 25;

/// The size of a definition, bytes: that of one whose values are all listed.
const LARGEST: u64 = 256 << 20;

/// Builds a search space from its definition and counts, explains and samples it.
///
/// The definition is one JSON object: `name`, `parameters` (a list of `{"name", "values": […]}` or
/// `{"name", "range": [first, last, step]}`) and `restrictions_c` (conditions in C syntax). Exit
/// code 1 when it states a `valid_count` or `cartesian_size` that is not what is found.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SpaceArgs {
    /// The definition.
    #[arg(value_name = "FILE.json")]
    file: PathBuf,
    /// How to print the result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Draw N valid configurations, each with the same probability.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    sample: usize,
    /// With --sample: no configuration twice, so at most as many as are valid.
    #[arg(long, requires = "sample")]
    distinct: bool,
    /// The seed of --sample.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Say how many configurations each restriction removes, and which together leave nothing.
    #[arg(long)]
    explain: bool,
}

/// Why a space could not be built.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpaceError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The file is no definition.
    #[error("{}: {source}", path.display())]
    Definition {
        path: PathBuf,
        source: Box<dyn std::error::Error>,
    },
    /// The space takes too long to build, or too much memory.
    #[error("{}: {source}", path.display())]
    TooComplex { path: PathBuf, source: TooComplex },
    /// The result cannot be printed.
    #[error(transparent)]
    Print(#[from] io::Error),
}

/// A space and what building it took.
struct BuiltSpace {
    name: String,
    stated: Stated,
    space: Space,
    time: Duration,
}

/// Builds the space and prints what was asked for.
pub(crate) fn run(args: &SpaceArgs, stdout: &mut dyn Write) -> Result<Exit, SpaceError> {
    let definition = open(&args.file)?;
    let start = Instant::now();
    let space = Space::build_within(definition.spec, MOST_STEPS).map_err(|source| {
        SpaceError::TooComplex {
            path: args.file.clone(),
            source,
        }
    })?;
    let built = BuiltSpace {
        time: start.elapsed(),
        name: definition.name,
        stated: definition.stated,
        space,
    };
    let sample = sample(&built.space, args);
    let differences = differences(&built);
    match args.format {
        Format::Text => print::text(&built, &sample, &differences, args.explain, stdout)?,
        Format::Json => print::json(&built, &sample, &differences, args, stdout)?,
    }
    Ok(if differences.is_empty() {
        Exit::Done
    } else {
        Exit::Reported
    })
}

fn open(path: &Path) -> Result<Definition, SpaceError> {
    let text = cltune_files::read_text(path, LARGEST).map_err(|source| SpaceError::Read {
        path: path.to_owned(),
        source,
    })?;
    definition::read(&text).map_err(|source| SpaceError::Definition {
        path: path.to_owned(),
        source: source.into(),
    })
}

fn sample(space: &Space, args: &SpaceArgs) -> Vec<Vec<i64>> {
    let mut generator = Generator::new(args.seed);
    if args.distinct {
        return space.sample_distinct(args.sample, &mut generator);
    }
    (0..args.sample)
        .map_while(|_| space.sample(&mut generator))
        .collect()
}

/// Where the definition states another count than was found.
fn differences(built: &BuiltSpace) -> Vec<String> {
    let stated = built.stated;
    [
        ("valid_count", stated.valid, built.space.count()),
        ("cartesian_size", stated.cartesian, built.space.cartesian()),
    ]
    .into_iter()
    .filter_map(|(key, stated, found)| {
        let stated = stated.filter(|stated| *stated != found)?;
        Some(format!("the definition's {key} is {stated}, found {found}"))
    })
    .collect()
}
