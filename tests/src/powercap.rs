//! Made-up powercap files, whose counters tests advance.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The variable that names the folder in place of the system's.
pub const VARIABLE: &str = "CLTUNE_POWERCAP";
/// The counters begin again after so many microjoules, which is more than any sample takes, as it
/// is in hardware.
const RANGE_UJ: u64 = 1_000_000_000;
/// What the counters lack at first until they begin again, microjoules.
pub const LACKED_UJ: u64 = 5_000_000;

/// Two packages: one that takes the same power all the time, and one that takes what a faulty
/// driver spends in launches. Removed when dropped.
pub struct Powercap {
    folder: TempDir,
    ended: Arc<AtomicBool>,
    idle: Option<JoinHandle<()>>,
}

impl Powercap {
    /// Counters, of which the first advances by so many watts, about once in a millisecond.
    ///
    /// # Panics
    /// When files cannot be written.
    pub fn new(watts: f64) -> Self {
        // In memory where there is such a place: a disk would be busy with the counters alone.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let folder = folder.expect("there is a folder for temporary files");
        for (zone, name) in [
            ("intel-rapl:0", "package-0"),
            ("intel-rapl:0:0", "core"),
            ("intel-rapl:1", "package-1"),
        ] {
            let zone = folder.path().join(zone);
            fs::create_dir(&zone).expect("a folder can be made");
            for (file, text) in [
                ("name", format!("{name}\n")),
                ("max_energy_range_uj", RANGE_UJ.to_string()),
                ("energy_uj", (RANGE_UJ - LACKED_UJ).to_string()),
            ] {
                fs::write(zone.join(file), text).expect("a file can be written");
            }
        }
        let ended = Arc::new(AtomicBool::new(false));
        let (until, zone) = (Arc::clone(&ended), folder.path().join("intel-rapl:0"));
        let idle = std::thread::spawn(move || advance(&zone, watts, &until));
        Self {
            folder,
            ended,
            idle: Some(idle),
        }
    }

    /// The folder of all zones.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The zone that a driver advances.
    pub fn launches(&self) -> PathBuf {
        self.folder.path().join("intel-rapl:1")
    }
}

impl Drop for Powercap {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(idle) = self.idle.take() {
            let _ = idle.join();
        }
    }
}

fn advance(zone: &Path, watts: f64, ended: &AtomicBool) {
    let begin = Instant::now();
    while !ended.load(Ordering::Relaxed) {
        let spent_uj = (begin.elapsed().as_secs_f64() * watts * 1e6) as u64;
        let next = zone.join("next");
        let now_uj = (RANGE_UJ - LACKED_UJ + spent_uj) % RANGE_UJ;
        fs::write(&next, now_uj.to_string()).expect("a file can be written");
        fs::rename(next, zone.join("energy_uj")).expect("a file can be renamed");
        std::thread::sleep(Duration::from_millis(1));
    }
}
