//! `cargo cltune units`: what there is to tune, in pieces that engines hand to machines.

use super::Exit;
use super::wanted::WantedArgs;
use crate::artifact::{CargoArgs, discover_or_read};
use crate::fleet::{Partition, Unit, groups, units};
use crate::session::list_devices;
use serde::Serialize;
use serde_json::{Map, Value};
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

/// Lists the units of tuning work.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct UnitsArgs {
    #[command(flatten)]
    wanted: WantedArgs,
    /// Only the units of this part.
    #[arg(long, value_name = "slice:K/N", help_heading = "Tuning")]
    partition: Option<Partition>,
    /// Read this executable or library, with neither cargo nor sources. All parts are tuned from
    /// this one file.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = CargoArgs::OPTIONS,
        help_heading = "Tuning"
    )]
    artifact: Option<PathBuf>,
    /// How to print the units.
    #[arg(long, value_enum, default_value_t = UnitsFormat::Lines, help_heading = "Output")]
    format: UnitsFormat,
    #[command(flatten)]
    cargo: CargoArgs,
}

/// The form of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum UnitsFormat {
    /// A JSON object on each line: `hq submit --each-line`, GNU parallel, `wc -l`.
    Lines,
    /// One JSON array: `hq submit --from-json`.
    Array,
}

/// The units of a kernel on a class of devices.
#[derive(Serialize)]
struct Group<'a> {
    /// The part that has this group and nothing else.
    partition: String,
    kernel: &'a str,
    platform: &'a str,
    device: &'a str,
    vendor: &'a str,
    problems: Vec<Map<String, Value>>,
}

/// Prints the units.
pub(crate) fn run(args: &UnitsArgs, stdout: &mut dyn Write) -> Result<Exit, Box<dyn Error>> {
    let discovery = discover_or_read(args.artifact.as_deref(), None, &args.cargo)?;
    let wanted = args.wanted.jobs(&discovery.packages, &list_devices()?)?;
    let units = units(&wanted.jobs);
    let count = groups(&units).count();
    let own = match args.partition {
        Some(partition) => partition.own(&units),
        None => vec![true; units.len()],
    };
    let mut at = 0;
    let mut listed = Vec::new();
    for (position, group) in groups(&units).enumerate() {
        if own[at] {
            listed.push(Group::new(Partition::of_group(position, count), group));
        }
        at += group.len();
    }
    match args.format {
        UnitsFormat::Lines => {
            for group in &listed {
                writeln!(stdout, "{}", serde_json::to_string(group)?)?;
            }
        }
        UnitsFormat::Array => writeln!(stdout, "{}", serde_json::to_string_pretty(&listed)?)?,
    }
    Ok(Exit::Done)
}

impl<'a> Group<'a> {
    fn new(partition: Partition, units: &'a [Unit]) -> Self {
        let unit = &units[0];
        let sizes = |unit: &Unit| {
            let sizes = unit.sizes();
            let sizes = sizes.map(|(name, size)| (name.to_owned(), size.into()));
            sizes.collect()
        };
        Self {
            partition: partition.to_string(),
            kernel: &unit.kernel,
            platform: &unit.platform,
            device: &unit.device,
            vendor: &unit.vendor,
            problems: units.iter().map(sizes).collect(),
        }
    }
}
