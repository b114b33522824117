//! Unit tests of `history`: lockfiles in temporary folders, without journals.

use super::*;
use crate::samples;
use cltune_formats::lockfile::Measured;
use std::collections::BTreeSet;

#[test]
fn where_all_was_measured_otherwise_the_error_names_the_option() {
    let folder = tempfile::tempdir().unwrap();
    let mut declaration = samples::declaration("app::saxpy", "b3:1", &[8]);
    let measured = Measured {
        dims: vec![8],
        codes: vec![64],
        time_us: 1.0,
        default_us: None,
        evaluated: 1,
        valid: 4,
        strategy: "full".to_owned(),
        verification: None,
        measure: Measure::WARM,
        energy_j: None,
        default_energy_j: None,
    };
    let mut lockfile = Lockfile::default();
    lockfile
        .record(&declaration.model, &samples::device("x"), &measured)
        .unwrap();
    let named = folder.path().join("m2.lock");
    declaration.measure = Measure::COLD;
    let package = PackageTunables {
        package: "app".to_owned(),
        manifest_dir: folder.path().to_owned(),
        is_copy: false,
        declarations: vec![declaration],
        auxiliary: BTreeSet::new(),
    };
    let read = || {
        let packages = std::slice::from_ref(&package);
        let (state, filters) = (folder.path(), Filters::default());
        let error = read(packages, state, Some(&named), &filters, &[]).unwrap_err();
        error.to_string()
    };
    let nothing = read();
    assert!(nothing.contains("nothing was measured yet"), "{nothing}");
    lockfile_store::write(&named, &lockfile).unwrap();
    let otherwise = read();
    for part in ["app::saxpy", "cold caches", "`--measure warm`"] {
        assert!(otherwise.contains(part), "{otherwise}");
    }
}
