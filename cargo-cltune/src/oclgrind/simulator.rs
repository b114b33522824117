//! Starting workers under Oclgrind.

use crate::worker::{DeviceRecord, Request, Response, Worker, WorkerFailure};
use cltune_core::select::TunedDevice;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Oclgrind's library, as files of its packages name it. Oclgrind preloads it; a program that opens
/// libOpenCL itself has to be told.
const LIBRARY: &str = "liboclgrind-rt.so";

/// The variable by which cl3, with which the worker calls OpenCL, chooses the library to open.
const LIBRARY_VARIABLE: &str = "OPENCL_DYLIB_PATH";

/// Oclgrind's variable for the options of its compiler.
const OPTIONS_VARIABLE: &str = "OCLGRIND_BUILD_OPTIONS";

/// Leaves the optimiser out, which makes instructions that Oclgrind itself does not know.
const WITHOUT_OPTIMISER: &str = "-cl-opt-disable";

/// After so many findings it says no more. Its own limit, 1000, is reached by one wrong line of a
/// reference, and then nothing is said of the configuration that is run after it.
const MOST_FINDINGS: u32 = 20_000;

/// The time limit for the simulator to describe its device.
const PATIENCE: Duration = Duration::from_mins(1);

/// Oclgrind, set up to look like a device.
#[derive(Clone, Debug)]
pub(crate) struct Oclgrind {
    program: PathBuf,
    library: PathBuf,
    limits: [(&'static str, i64); 3],
    /// Whether its compiler's optimiser is left to itself, and to the user's own settings.
    optimises: bool,
    /// Whether it looks for uses of values that were never written.
    watches_values: bool,
}

/// Why there is no Oclgrind.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OclgrindError {
    /// It is not installed.
    #[error(
        "Oclgrind is not installed: there is no `oclgrind` on the PATH. Install it (Debian and \
         Ubuntu: apt-get install oclgrind; others: https://github.com/jrprice/Oclgrind) and run \
         this again"
    )]
    Missing,
    /// Its library is nowhere near it.
    #[error(
        "{} is installed, and its library {LIBRARY} is in none of {}",
        program.display(),
        searched.join(", ")
    )]
    NoLibrary {
        /// The program.
        program: PathBuf,
        /// The folders searched.
        searched: Vec<String>,
    },
    /// The simulator does not start.
    #[error("Oclgrind does not start: {0}")]
    Start(String),
}

impl Oclgrind {
    /// Finds it; it reports the limits of the device that a configuration was tuned on, or its own.
    pub(crate) fn like(device: Option<&TunedDevice>) -> Result<Self, OclgrindError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = std::env::split_paths(&path)
            .map(|folder| folder.join("oclgrind"))
            .find(|file| file.is_file())
            .ok_or(OclgrindError::Missing)?;
        let library = library(&program)?;
        let limit = |of: fn(&TunedDevice) -> i64| device.map_or(0, of);
        Ok(Self {
            program,
            library,
            limits: [
                ("--compute-units", limit(|device| device.compute_units)),
                ("--local-mem-size", limit(|device| device.local_mem_size)),
                ("--max-wgsize", limit(|device| device.max_work_group_size)),
            ],
            optimises: true,
            watches_values: true,
        })
    }

    /// The same with less to go wrong in the simulator itself, where it failed; `None` where there
    /// is nothing left to leave out. Crashes are of the check for values that were never written;
    /// after one, what that check says without the optimiser is not to be trusted either.
    /// Instructions that it does not know are the optimiser's first of all.
    pub(crate) fn simpler(&self, crashed: bool) -> Option<Self> {
        let without_values = || self.watches_values.then(|| self.without_values());
        if crashed {
            return without_values().or_else(|| self.without_optimiser());
        }
        self.without_optimiser().or_else(without_values)
    }

    /// The same without its compiler's optimiser; `None` where that is so already, or where the
    /// user says what the compiler is told.
    pub(super) fn without_optimiser(&self) -> Option<Self> {
        let decided = !self.optimises || std::env::var_os(OPTIONS_VARIABLE).is_some();
        (!decided).then(|| Self {
            optimises: false,
            ..self.clone()
        })
    }

    /// The same without the check for values that were never written.
    #[must_use]
    pub(super) fn without_values(&self) -> Self {
        Self {
            watches_values: false,
            ..self.clone()
        }
    }

    /// Whether it looks for uses of values that were never written.
    pub(crate) fn watches_values(&self) -> bool {
        self.watches_values
    }

    /// The simulator as a device.
    pub(crate) fn device(&self) -> Result<DeviceRecord, OclgrindError> {
        let failed = |reason: String| OclgrindError::Start(reason);
        let watched = self.watch().map_err(|error| failed(error.to_string()))?;
        let ask = || Worker::launch(watched.command())?.ask(&Request::Devices, PATIENCE);
        match ask().map_err(|failure: WorkerFailure| failed(failure.to_string()))? {
            Response::Devices(devices) => devices
                .into_iter()
                .next()
                .ok_or_else(|| failed("it shows no device".into())),
            Response::Failed(reason) => Err(failed(reason)),
            other => Err(failed(format!("the worker answered {other:?}"))),
        }
    }

    /// Makes ready to run one worker.
    pub(super) fn watch(&self) -> std::io::Result<Watched<'_>> {
        Ok(Watched {
            oclgrind: self,
            executable: std::env::current_exe()?,
            folder: tempfile::Builder::new()
                .prefix("cltune-oclgrind")
                .tempdir()?,
        })
    }
}

fn library(program: &Path) -> Result<PathBuf, OclgrindError> {
    // A link in /usr/local/bin leads to where it was installed.
    let real = program.canonicalize();
    let beside = real.as_deref().unwrap_or(program).ancestors().nth(2);
    let folders: Vec<PathBuf> = beside
        .into_iter()
        .flat_map(|prefix| ["lib/oclgrind", "lib", "lib64"].map(|folder| prefix.join(folder)))
        .collect();
    let found = folders.iter().map(|folder| folder.join(LIBRARY));
    found
        .into_iter()
        .find(|file| file.is_file())
        .ok_or_else(|| OclgrindError::NoLibrary {
            program: program.to_owned(),
            searched: folders
                .iter()
                .map(|folder| folder.display().to_string())
                .collect(),
        })
}

/// One worker under Oclgrind, and its log.
pub(super) struct Watched<'a> {
    oclgrind: &'a Oclgrind,
    executable: PathBuf,
    folder: TempDir,
}

impl Watched<'_> {
    /// The command that starts it, less the arguments of the worker.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.oclgrind.program);
        command.arg("--data-races");
        if self.oclgrind.watches_values {
            command.arg("--uninitialized");
        }
        let most = MOST_FINDINGS.to_string();
        command.args(["--max-errors", &most, "--log"]);
        command.arg(self.log_file());
        for (option, value) in self.oclgrind.limits {
            // What is not known is left as it is.
            if value > 0 {
                command.arg(option).arg(value.to_string());
            }
        }
        let library: OsString = self.oclgrind.library.clone().into();
        if !self.oclgrind.optimises {
            command.env(OPTIONS_VARIABLE, WITHOUT_OPTIMISER);
        }
        command
            .arg(&self.executable)
            .env(LIBRARY_VARIABLE, library)
            // They would keep the simulator's device from being seen.
            .env_remove("OCL_ICD_VENDORS")
            .env_remove("OCL_ICD_FILENAMES");
        command
    }

    /// Oclgrind's messages so far.
    pub(super) fn log(&self) -> String {
        // There is none until it says something.
        let bytes = std::fs::read(self.log_file()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("log")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_library_is_found_beside_the_program_or_missed_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("bin/oclgrind");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(&program, "").unwrap();
        let error = library(&program).unwrap_err().to_string();
        assert!(
            error.contains(LIBRARY) && error.contains("lib64"),
            "{error}"
        );
        for place in ["lib64", "lib/oclgrind"] {
            let expected = folder.path().join(place).join(LIBRARY);
            fs::create_dir_all(expected.parent().unwrap()).unwrap();
            fs::write(&expected, "").unwrap();
            let found = library(&program).unwrap();
            assert_eq!(
                found.canonicalize().unwrap(),
                expected.canonicalize().unwrap()
            );
        }
    }

    fn oclgrind(compute_units: i64) -> Oclgrind {
        Oclgrind {
            program: "oclgrind".into(),
            library: LIBRARY.into(),
            limits: [
                ("--compute-units", compute_units),
                ("--local-mem-size", 4096),
                ("--max-wgsize", 64),
            ],
            optimises: true,
            watches_values: true,
        }
    }

    #[test]
    fn it_looks_like_the_device_as_far_as_that_is_known() {
        let watched = |compute_units| {
            let command = oclgrind(compute_units).watch().unwrap().command();
            let arguments = command
                .get_args()
                .map(|text| text.to_string_lossy().into_owned());
            arguments.collect::<Vec<_>>().join(" ")
        };
        let known = watched(8);
        assert!(known.contains("--compute-units 8 --local-mem-size 4096 --max-wgsize 64"));
        assert!(known.contains("--data-races") && known.contains("--uninitialized"));
        assert!(!watched(0).contains("--compute-units"));
    }

    #[test]
    fn what_goes_wrong_in_the_simulator_is_left_out_in_turn() {
        let whole = oclgrind(8);
        // The variable is the user's word on the optimiser.
        let optimiser = usize::from(std::env::var_os(OPTIONS_VARIABLE).is_none());
        let chain = |crashed: bool| {
            let next = |one: &Oclgrind| one.simpler(crashed);
            std::iter::successors(Some(whole.clone()), next).collect::<Vec<_>>()
        };
        assert_eq!(
            (chain(true).len(), chain(false).len()),
            (2 + optimiser, 2 + optimiser)
        );
        assert!(!chain(true)[1].watches_values());
        assert!(chain(false)[optimiser].watches_values());
        let last = chain(false)[1 + optimiser].watch().unwrap().command();
        assert!(!last.get_args().any(|text| text == "--uninitialized"));
    }
}
