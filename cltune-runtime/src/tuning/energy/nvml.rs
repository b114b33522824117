//! The energy of an NVIDIA device, by NVML: its counter, or the integral of its power where it has
//! none. The library is loaded when it is first needed.

use super::counter::Counter;
use super::error::EnergyError;
use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The library's name where a driver, but nothing to build programs with, is installed.
const LIBRARY: &str = "libnvidia-ml.so.1";
/// The interval at which power is read, to integrate it.
const EVERY: Duration = Duration::from_millis(10);
/// Drivers measure power up to this far apart, whenever it is read (Yang, Adamek, Armour:
/// "Part-time power measurements", 2024).
const POWER_PERIOD: Duration = Duration::from_millis(100);
/// The power may be the average of the last second, which NVML's reference says of devices since
/// Ampere (`nvmlDeviceGetPowerUsage`) and of older ones neither says nor excludes, as of
/// `POWER_PERIOD` ago.
const POWER_LAG: Duration = Duration::from_secs(1).saturating_add(POWER_PERIOD);

/// The counter of a device since its driver was loaded.
#[derive(Debug)]
struct Total {
    device: nvml_wrapper::Device<'static>,
    name: String,
}

/// The integral of a device's power, by a thread that ends with it.
#[derive(Debug)]
struct Integral {
    shared: Arc<Shared>,
    name: String,
}

#[derive(Debug)]
struct Shared {
    joules: Mutex<Result<f64, String>>,
    ended: AtomicBool,
}

/// The counter of the device at a place on the PCI bus, and what it is.
pub(super) fn open(
    device: &str,
    address: &str,
) -> Result<(Box<dyn Counter>, &'static str), EnergyError> {
    static NVML: OnceLock<Result<Nvml, String>> = OnceLock::new();
    let name = format!("{device} ({address})");
    let nvml = NVML.get_or_init(|| library(OsStr::new(LIBRARY)));
    let nvml = nvml.as_ref().map_err(|reason| EnergyError::Nvml {
        device: name.clone(),
        reason: reason.clone(),
    })?;
    counter_of(nvml, name, address)
}

/// The counter of the device at a place on the PCI bus; `name` is what errors call it.
fn counter_of(
    nvml: &'static Nvml,
    name: String,
    address: &str,
) -> Result<(Box<dyn Counter>, &'static str), EnergyError> {
    let failed = |error: NvmlError| failure(&name, &error);
    let of_nvml = nvml.device_by_pci_bus_id(address).map_err(failed)?;
    match of_nvml.total_energy_consumption() {
        Ok(_) => {
            let total = Total {
                device: of_nvml,
                name,
            };
            Ok((Box::new(total), "NVML's counter of energy"))
        }
        // Devices before Volta, and drivers that have no such function.
        Err(NvmlError::NotSupported | NvmlError::FailedToLoadSymbol(_)) => {
            of_nvml.power_usage().map_err(failed)?;
            let integral = Integral::start(of_nvml, name.clone());
            let integral = integral.map_err(|error| EnergyError::Nvml {
                device: name,
                reason: error.to_string(),
            })?;
            Ok((Box::new(integral), "the integral of NVML's power"))
        }
        Err(error) => Err(failed(error)),
    }
}

/// Loads a library of this name, or else what NVML is usually called.
fn library(name: &OsStr) -> Result<Nvml, String> {
    let named = Nvml::builder().lib_path(name).init();
    named
        .or_else(|first| match first {
            NvmlError::LibloadingError(_) => Nvml::init().map_err(|_| first),
            other => Err(other),
        })
        .map_err(|error| error.to_string())
}

fn failure(device: &str, error: &NvmlError) -> EnergyError {
    EnergyError::Nvml {
        device: device.to_owned(),
        reason: error.to_string(),
    }
}

impl Counter for Total {
    fn joules(&mut self) -> Result<f64, EnergyError> {
        let total_mj = self.device.total_energy_consumption();
        let total_mj = total_mj.map_err(|error| failure(&self.name, &error))?;
        Ok(total_mj as f64 / 1e3)
    }

    fn resolution_j(&self) -> f64 {
        1e-3
    }
}

impl Integral {
    fn start(device: nvml_wrapper::Device<'static>, name: String) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            joules: Mutex::new(Ok(0.0)),
            ended: AtomicBool::new(false),
        });
        let sum = Arc::clone(&shared);
        thread::Builder::new().spawn(move || {
            let mut last: Option<(Instant, f64)> = None;
            while !sum.ended.load(Ordering::Relaxed) {
                let power = device
                    .power_usage()
                    .map(|milliwatts| f64::from(milliwatts) / 1e3);
                let now = Instant::now();
                let mut joules = sum.joules.lock().unwrap_or_else(PoisonError::into_inner);
                match (power, &mut *joules) {
                    (Ok(watts), Ok(joules)) => {
                        let since = last.replace((now, watts));
                        *joules += since.map_or(0.0, |(then, before)| {
                            now.saturating_duration_since(then).as_secs_f64()
                                * f64::midpoint(before, watts)
                        });
                    }
                    (Err(error), joules) => *joules = Err(error.to_string()),
                    (Ok(_), Err(_)) => {}
                }
                drop(joules);
                thread::sleep(EVERY);
            }
        })?;
        Ok(Self { shared, name })
    }
}

impl Counter for Integral {
    fn joules(&mut self) -> Result<f64, EnergyError> {
        let joules = self.shared.joules.lock();
        let joules = joules.unwrap_or_else(PoisonError::into_inner);
        joules.clone().map_err(|reason| EnergyError::Nvml {
            device: self.name.clone(),
            reason,
        })
    }

    fn resolution_j(&self) -> f64 {
        1e-3
    }

    fn least_period(&self) -> Duration {
        POWER_PERIOD
    }

    fn lag(&self) -> Duration {
        POWER_LAG
    }
}

impl Drop for Integral {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// An NVML whose devices take 100 W.
    const POWER: &str = "
        int nvmlInit_v2(void) { return 0; }
        int nvmlShutdown(void) { return 0; }
        int nvmlDeviceGetHandleByPciBusId_v2(const char* place, void** device) {
            *device = (void*)place;
            return 0;
        }
        int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
            *milliwatts = 100000;
            return 0;
        }";
    /// What NVML says of devices before Volta (`NVML_ERROR_NOT_SUPPORTED`).
    const NO_COUNTER: &str = "
        int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* total_mj) {
            return 3;
        }";

    /// The NVML that consists of this C text. The compiler is the one by which Rust links.
    fn built(text: &str) -> &'static Nvml {
        let folder = tempfile::tempdir().expect("a folder");
        let (source, built) = (folder.path().join("nvml.c"), folder.path().join("nvml.so"));
        std::fs::write(&source, text).expect("the text is written");
        let mut compiler = Command::new("cc");
        let compiler = compiler.args(["-shared", "-fPIC", "-o"]);
        let status = compiler.arg(&built).arg(&source).status();
        assert!(status.expect("there is a C compiler").success(), "{text}");
        let nvml = library(built.as_os_str()).expect("it is an NVML");
        Box::leak(Box::new(nvml))
    }

    #[test]
    fn power_is_integrated_where_a_device_or_a_driver_has_no_counter_of_energy() {
        for text in [POWER.to_owned(), [POWER, NO_COUNTER].concat()] {
            let opened = counter_of(built(&text), "K80".to_owned(), "0000:3b:00.0");
            let (mut counter, source) = opened.expect("its power can be read");
            assert_eq!(source, "the integral of NVML's power");
            let mut read = || (Instant::now(), counter.joules().expect("power can be read"));
            thread::sleep(5 * EVERY);
            let (begin, before_j) = read();
            thread::sleep(40 * EVERY);
            let (end, after_j) = read();
            let watts = (after_j - before_j) / (end - begin).as_secs_f64();
            // The thread that reads it may be late.
            assert!((20.0..500.0).contains(&watts), "{watts} W");
        }
    }

    #[test]
    fn a_device_whose_power_cannot_be_read_either_is_an_error_that_names_it() {
        let text = POWER.replace("*milliwatts = 100000;", "return 3;");
        let name = "K20 (0000:3b:00.0)";
        let opened = counter_of(built(&text), name.to_owned(), "0000:3b:00.0");
        let error = opened.expect_err("nothing measures").to_string();
        assert!(error.contains(name), "{error}");
    }

    #[test]
    fn a_missing_library_is_an_error_that_names_the_device_and_the_driver() {
        // Where NVIDIA's driver is installed, the fallback finds it.
        let Err(reason) = library(OsStr::new("libnvml-that-nobody-has.so")) else {
            return;
        };
        let error = EnergyError::Nvml {
            device: "H200 (0000:3b:00.0)".to_owned(),
            reason,
        };
        let text = error.to_string();
        for part in [
            "H200 (0000:3b:00.0)",
            "libnvml-that-nobody-has.so",
            "libnvidia-ml.so.1",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}
