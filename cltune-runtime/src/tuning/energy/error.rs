//! Reasons why the energy of launches cannot be measured.

use std::path::PathBuf;

/// Why the energy that a device takes cannot be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnergyError {
    /// Nothing tells the energy of devices of this kind.
    #[error(
        "nothing measures the energy of {device}: NVIDIA's GPUs tell theirs by NVML, and CPUs by the powercap files of \
         Linux. Tune by time (`--objective time`)"
    )]
    NoCounter {
        /// The device's name.
        device: String,
    },
    /// There are no powercap files for processors.
    #[error(
        "nothing measures the energy of the CPU: {} {reason}. Virtual machines and containers often have none; tune by \
         time (`--objective time`), or on a machine whose Linux has the module intel_rapl_msr",
        folder.display()
    )]
    NoPowercap {
        /// The folder that was looked into.
        folder: PathBuf,
        /// What it lacks.
        reason: &'static str,
    },
    /// The counter's file may not be read.
    #[error(
        "the energy of the CPU may not be read: the right to read {} is missing. Only root has it unless somebody \
         gives it: `sudo chmod a+r {}` does so until the next start",
        file.display(),
        file.display()
    )]
    Permission {
        /// The file.
        file: PathBuf,
    },
    /// A counter's file cannot be read.
    #[error("the energy of the CPU cannot be read from {}: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// A counter's file holds something else than a number.
    #[error("the energy of the CPU cannot be read: {} holds {found:?}, and no number", file.display())]
    NotANumber {
        /// The file.
        file: PathBuf,
        /// Its content.
        found: String,
    },
    /// NVML is missing, does not know the device, or does not tell its energy.
    #[error(
        "the energy of {device} cannot be read by NVML, which is part of NVIDIA's driver: {reason}. Tune by time \
         (`--objective time`), or install the driver's library libnvidia-ml.so.1"
    )]
    Nvml {
        /// The device's name, and its place.
        device: String,
        /// NVML's message.
        reason: String,
    },
    /// This build has no NVML.
    #[error(
        "the energy of {device} is read by NVML, and this program was built without the feature `energy`"
    )]
    WithoutNvml {
        /// The device's name.
        device: String,
    },
    /// The counter does not advance.
    #[error(
        "{source_name} does not advance: it was the same for {seconds:.0} s. Tune by time (`--objective time`)"
    )]
    StandsStill {
        /// What is read.
        source_name: String,
        /// For how long, seconds.
        seconds: f64,
    },
    /// Energy cannot be told from what displaces the content of caches.
    #[error(
        "energy cannot be measured with cold caches: what displaces their content takes energy as well. Declare \
         `measure(warm)`, or tune with `--measure warm`"
    )]
    ColdCaches,
    /// A launch takes too little beside what restores its inputs.
    #[error(
        "the energy of a launch cannot be told from that of restoring its inputs: {both_j:.3e} J with the launch, \
         {restoring_j:.3e} J without"
    )]
    NotApart {
        /// The energy of restoring and launching, joules.
        both_j: f64,
        /// The energy of restoring, joules.
        restoring_j: f64,
    },
}
