//! The energy of a machine's processors, from the powercap files of Linux (RAPL). AMD's processors
//! are there under the same names.

use super::counter::Counter;
use super::error::EnergyError;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder of all zones.
const ROOT: &str = "/sys/class/powercap";
/// Names another folder in its place, for tests.
const ROOT_VARIABLE: &str = "CLTUNE_POWERCAP";
/// What the names of zones begin with. `intel-rapl-mmio:` has the same packages again.
const ZONES: &str = "intel-rapl:";
/// Processors advance their counters about once in a millisecond (Intel 64 and IA-32 Architectures
/// Software Developer's Manual, volume 3, section «RAPL Interfaces»).
const PERIOD: Duration = Duration::from_millis(1);
/// The unit of most processors' counters is 2^-14 J, joules (the same manual).
const RESOLUTION_J: f64 = 61e-6;

/// The counters of all packages of this machine.
#[derive(Debug)]
pub(super) struct Powercap {
    zones: Vec<Zone>,
}

/// The counter of a package: its cores, caches and memory controller.
#[derive(Debug)]
struct Zone {
    file: PathBuf,
    /// The counter begins again after this value, microjoules.
    range_uj: u64,
    last_uj: u64,
    total_uj: u64,
}

impl Powercap {
    /// The counters of this machine.
    ///
    /// # Errors
    /// There are none, or they may not be read.
    pub(super) fn of_this_machine() -> Result<Self, EnergyError> {
        let root = std::env::var_os(ROOT_VARIABLE);
        Self::open(&root.map_or_else(|| PathBuf::from(ROOT), PathBuf::from))
    }

    /// The counters in a folder.
    fn open(root: &Path) -> Result<Self, EnergyError> {
        let none = |reason| EnergyError::NoPowercap {
            folder: root.to_owned(),
            reason,
        };
        let entries = fs::read_dir(root).map_err(|_| none("is not there"))?;
        let mut folders: Vec<PathBuf> = entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(ZONES))
            .map(|entry| entry.path())
            .collect();
        folders.sort();
        let mut zones = Vec::new();
        for folder in folders {
            // The parts of a package (cores, memory) and the whole platform (psys) have the same
            // joules again.
            let name = fs::read_to_string(folder.join("name")).unwrap_or_default();
            if name.starts_with("package") {
                zones.push(Zone::open(&folder)?);
            }
        }
        if zones.is_empty() {
            return Err(none("has no intel-rapl zone of a package"));
        }
        Ok(Self { zones })
    }
}

impl Counter for Powercap {
    fn joules(&mut self) -> Result<f64, EnergyError> {
        let mut total_uj = 0;
        for zone in &mut self.zones {
            total_uj += zone.advance()?;
        }
        Ok(total_uj as f64 / 1e6)
    }

    fn resolution_j(&self) -> f64 {
        RESOLUTION_J * self.zones.len() as f64
    }

    fn least_period(&self) -> Duration {
        PERIOD
    }
}

impl Zone {
    fn open(folder: &Path) -> Result<Self, EnergyError> {
        let file = folder.join("energy_uj");
        let last_uj = number(&file)?;
        Ok(Self {
            range_uj: number(&folder.join("max_energy_range_uj"))?,
            file,
            last_uj,
            total_uj: 0,
        })
    }

    /// The microjoules since it was opened. Read at least once in each round of the counter, which
    /// takes a minute at the least.
    fn advance(&mut self) -> Result<u64, EnergyError> {
        let now_uj = number(&self.file)?;
        let passed_uj = if now_uj >= self.last_uj {
            now_uj - self.last_uj
        } else {
            (now_uj + self.range_uj).saturating_sub(self.last_uj)
        };
        self.last_uj = now_uj;
        self.total_uj += passed_uj;
        Ok(self.total_uj)
    }
}

fn number(file: &Path) -> Result<u64, EnergyError> {
    let text = fs::read_to_string(file).map_err(|source| refused(file, source))?;
    text.trim().parse().map_err(|_| EnergyError::NotANumber {
        file: file.to_owned(),
        found: text.trim().chars().take(80).collect(),
    })
}

/// The error of a file that cannot be read.
fn refused(file: &Path, source: std::io::Error) -> EnergyError {
    let file = file.to_owned();
    match source.kind() {
        ErrorKind::PermissionDenied => EnergyError::Permission { file },
        _ => EnergyError::Unreadable { file, source },
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/powercap.rs"]
mod tests;
