//! Results that programs tuned at run time, as a lockfile to send to whoever declares the kernels.

use crate::commands::Exit;
use crate::lockfile_store;
use cltune_core::device::{DeviceInfo, DeviceLimits};
use cltune_formats::lockfile::{LockDevice, LockKernel, Lockfile, Tuned};
use cltune_runtime::cache::{Listing, Notes};
use std::error::Error;
use std::io::Write;
use std::path::Path;

/// Writes the lockfile, or adds to the one that is there, and says what was left out.
pub(super) fn run(
    listing: &Listing,
    kernel: Option<&str>,
    output: Option<&Path>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<Exit, Box<dyn Error>> {
    let is_wanted = |notes: &&Notes| {
        let name = kernel.is_none_or(|part| notes.kernel.contains(part));
        name && !notes.results.is_empty()
    };
    if !listing.notes.iter().any(|notes| is_wanted(&notes)) {
        return Err(
            "nothing of that kind was tuned at run time; `cargo cltune cache list` shows what was"
                .into(),
        );
    }
    let _held = output.map(lockfile_store::lock);
    let there = output.map(lockfile_store::read).transpose()?.flatten();
    let mut united = there.unwrap_or_default();
    // The latest first: the versions of kernels that come first are kept.
    for notes in listing.notes.iter().filter(is_wanted) {
        let report = united.merge(&lockfile(notes));
        for conflict in report.fingerprints {
            writeln!(
                stderr,
                "left out, of another version of the kernel: {conflict}"
            )?;
        }
        for conflict in report.measures {
            writeln!(stderr, "left out: {conflict}")?;
        }
    }
    match output {
        Some(path) => lockfile_store::write(path, &united)?,
        None => stdout.write_all(united.to_text().as_bytes())?,
    }
    Ok(Exit::Done)
}

/// The notes of a kernel on a device as a lockfile of their own.
fn lockfile(notes: &Notes) -> Lockfile {
    let device = &notes.device;
    let info = DeviceInfo {
        platform: device.platform.to_string(),
        name: device.name.to_string(),
        vendor: device.vendor.to_string(),
        device_type: device.device_type,
        driver: notes.driver.clone(),
        version: String::new(),
        limits: DeviceLimits::default(),
    };
    let id = Lockfile::default().device_id(&info);
    let tuned = notes.results.iter().map(|result| Tuned {
        device: id.clone(),
        problem: notes
            .dimensions
            .iter()
            .cloned()
            .zip(result.problem.iter().copied())
            .collect(),
        values: result.values.clone(),
        time_us: result.time_us,
        default_us: result.default_us,
        evaluated: result.evaluated,
        valid: result.valid,
        strategy: result.strategy.clone(),
        verification: None,
        measure: result.measure,
        energy_j: None,
        default_energy_j: None,
    });
    let mut lockfile = Lockfile {
        kernels: vec![LockKernel {
            name: notes.kernel.clone(),
            fingerprint: notes.fingerprint.clone(),
            params: notes.params.clone(),
            tuned: tuned.collect(),
        }],
        devices: vec![LockDevice {
            id,
            device: device.clone(),
            driver: info.driver,
        }],
    };
    lockfile.sort();
    lockfile
}

#[cfg(test)]
mod tests {
    use super::*;
    use cltune_core::device::DeviceType;
    use cltune_core::measure::Measure;
    use cltune_core::parameter::Value;
    use cltune_core::select::TunedDevice;
    use cltune_runtime::cache::NotedResult;

    fn notes(device: &str, fingerprint: &str, problems: &[i64]) -> Notes {
        let result = |n: &i64| NotedResult {
            problem: vec![*n],
            values: vec![Value::Int(64), Value::Name("half".into())],
            time_us: 7.0,
            default_us: Some(9.0),
            evaluated: 20,
            valid: 50,
            strategy: "auto".into(),
            measure: Measure::WARM,
        };
        Notes {
            kernel: "app::saxpy".into(),
            fingerprint: fingerprint.into(),
            params: vec!["WG".into(), "T".into()],
            dimensions: vec!["n".into()],
            device: TunedDevice {
                platform: "P".into(),
                name: device.to_owned().into(),
                vendor: "V".into(),
                device_type: DeviceType::Gpu,
                compute_units: 4,
                max_work_group_size: 256,
                local_mem_size: 1024,
            },
            driver: "1".into(),
            results: problems.iter().map(result).collect(),
            refusals: Vec::new(),
        }
    }

    fn export(notes: Vec<Notes>, kernel: Option<&str>) -> (Result<Lockfile, String>, String) {
        let listing = Listing {
            notes,
            unfinished: 0,
            unreadable: Vec::new(),
            programs: 0,
            program_bytes: 0,
        };
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let result = run(&listing, kernel, None, &mut stdout, &mut stderr);
        let text = String::from_utf8(stdout).unwrap();
        let lockfile = result.map(|_| Lockfile::parse(&text).unwrap());
        let said = String::from_utf8(stderr).unwrap();
        (lockfile.map_err(|error| error.to_string()), said)
    }

    #[test]
    fn all_devices_and_problems_of_the_latest_version_are_in_the_lockfile() {
        let all = vec![
            notes("X", "b3:2", &[64, 8]),
            notes("X", "b3:1", &[8]),
            notes("Y", "b3:2", &[8]),
            notes("Z", "b3:2", &[]),
        ];
        let (lockfile, said) = export(all, Some("saxpy"));
        let lockfile = lockfile.unwrap();
        assert_eq!(lockfile.devices.len(), 2);
        let kernel = lockfile.kernel("app::saxpy").unwrap();
        assert_eq!(kernel.fingerprint, "b3:2");
        let entries: Vec<_> = kernel
            .tuned
            .iter()
            .map(|one| (&*one.device, one.problem[0].1))
            .collect();
        assert_eq!(entries, [("x", 8), ("x", 64), ("y", 8)]);
        assert!(said.contains("b3:1"), "{said}");
    }

    #[test]
    fn nothing_to_export_is_an_error() {
        let (lockfile, _) = export(vec![notes("X", "b3:1", &[8])], Some("gemm"));
        assert!(lockfile.unwrap_err().contains("nothing"));
    }
}
