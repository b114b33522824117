//! The powercap files: which zones count, wrap-around, and what cannot be read.

use super::*;

/// A zone in a folder of zones.
fn zone(root: &Path, folder: &str, name: &str, energy_uj: u64, range_uj: u64) {
    let folder = root.join(folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("name"), format!("{name}\n")).unwrap();
    fs::write(folder.join("max_energy_range_uj"), format!("{range_uj}\n")).unwrap();
    fs::write(folder.join("energy_uj"), format!("{energy_uj}\n")).unwrap();
}

fn set(root: &Path, folder: &str, text: &str) {
    fs::write(root.join(folder).join("energy_uj"), text).unwrap();
}

#[test]
fn packages_are_added_up_and_their_parts_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for (at, name) in [
        ("intel-rapl:0", "package-0"),
        ("intel-rapl:0:0", "core"),
        ("intel-rapl:1", "package-1-die-0"),
        ("intel-rapl:2", "psys"),
        ("intel-rapl-mmio:0", "package-0"),
        ("dtpm", "package-0"),
    ] {
        zone(root, at, name, 1000, 1_000_000);
    }
    let mut counter = Powercap::open(root).unwrap();
    assert_eq!(counter.zones.len(), 2);
    assert_eq!(counter.joules().unwrap(), 0.0);
    set(root, "intel-rapl:0", "3000");
    set(root, "intel-rapl:0:0", "9000");
    set(root, "intel-rapl:1", "501000\n");
    assert!((counter.joules().unwrap() - 0.502).abs() < 1e-12);
}

#[test]
fn a_counter_that_begins_again_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    zone(root, "intel-rapl:0", "package-0", 900_000, 1_000_000);
    let mut counter = Powercap::open(root).unwrap();
    for (energy_uj, expected) in [("950000", 0.05), ("50000", 0.15), ("40000", 1.14)] {
        set(root, "intel-rapl:0", energy_uj);
        let joules = counter.joules().unwrap();
        assert!((joules - expected).abs() < 1e-12, "{joules}");
    }
}

#[test]
fn what_is_not_there_or_no_number_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let nothing = Powercap::open(&root.join("none")).unwrap_err().to_string();
    assert!(nothing.contains("/none is not there"), "{nothing}");
    assert!(nothing.contains("--objective time"), "{nothing}");
    zone(root, "intel-rapl:0", "psys", 1, 2);
    let nothing = Powercap::open(root).unwrap_err().to_string();
    assert!(
        nothing.contains("no intel-rapl zone of a package"),
        "{nothing}"
    );
    zone(root, "intel-rapl:1", "package-0", 1, 2);
    let mut counter = Powercap::open(root).unwrap();
    set(root, "intel-rapl:1", "much");
    let wrong = counter.joules().unwrap_err().to_string();
    assert!(
        wrong.contains("intel-rapl:1/energy_uj holds \"much\""),
        "{wrong}"
    );
    fs::remove_file(root.join("intel-rapl:1/energy_uj")).unwrap();
    let gone = counter.joules().unwrap_err();
    assert!(matches!(gone, EnergyError::Unreadable { .. }), "{gone}");
}

#[test]
fn a_missing_right_is_named_with_its_file() {
    // Root may read every file: the error is made as the system makes it.
    let file = Path::new("/sys/class/powercap/intel-rapl:0/energy_uj");
    let error = refused(file, std::io::Error::from(ErrorKind::PermissionDenied));
    let text = error.to_string();
    for part in [
        "the right to read /sys/class/powercap/intel-rapl:0/energy_uj is missing",
        "sudo chmod a+r /sys/class/powercap/intel-rapl:0/energy_uj",
    ] {
        assert!(text.contains(part), "{text}");
    }
}
