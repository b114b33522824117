//! Unit tests of `session::stale`.

use super::*;
use crate::samples;
use crate::session::space::space;
use crate::worker::DeviceRecord;
use cltune_core::parameter::{Domain, Parameter};

/// A job with `WG` in 32, 64, 128 and 256 and, besides, these parameters of 1, 2 and 4.
fn job(more: &[&'static str]) -> Job {
    let mut declaration = samples::declaration("app::saxpy", "b3:2", &[8]);
    let added = more.iter().map(|name| Parameter {
        name: (*name).into(),
        domain: Domain::PowersOfTwo { first: 1, last: 4 },
    });
    let known = declaration.model.parameters.iter().cloned();
    let parameters: Vec<Parameter> = known.chain(added).collect();
    let mut default = vec![64];
    default.extend(more.iter().map(|_| 2));
    declaration.model.default = Some(default.into());
    declaration.model.parameters = parameters.into();
    Job {
        folder: "app".into(),
        declaration,
        device: DeviceRecord::new(0, &samples::device("mine")),
        twins: Vec::new(),
        dims: vec![8],
    }
}

/// A lockfile with this kernel's entries: fingerprint, parameters, and of each entry its problem and
/// values.
fn lockfile(fingerprint: &str, params: &str, entries: &[(&str, &str)]) -> Lockfile {
    let head = format!(
        "version = 1\n\n[[device]]\nid = \"mine\"\nplatform = \"platform\"\nname = \"mine\"\n\
         vendor = \"vendor\"\ntype = \"gpu\"\ndriver = \"1\"\ncompute_units = 1\n\
         max_work_group_size = 1\nlocal_mem_size = 1\n\n[[kernel]]\nname = \"app::saxpy\"\n\
         fingerprint = \"{fingerprint}\"\nparams = [{params}]\n"
    );
    let entries = entries.iter().map(|(problem, values)| {
        format!(
            "\n[[kernel.tuned]]\ndevice = \"mine\"\nproblem = {{ {problem} }}\n\
             values = [{values}]\ntime_us = 1.0\nevaluated = 1\nvalid = 1\nstrategy = \"full\"\n"
        )
    });
    let text = head + &entries.collect::<Vec<_>>().concat();
    Lockfile::parse(&text).unwrap()
}

fn configurations(job: &Job, lockfile: &Lockfile) -> Vec<(Vec<i64>, Vec<i64>)> {
    let space = space(job, &[], false).unwrap();
    let entries = stale_entries(job, lockfile, &space).into_iter();
    entries
        .map(|entry| (entry.place.problem, entry.codes))
        .collect()
}

#[test]
fn only_entries_of_another_version_are_stale() {
    let entries = [("n = 8", "128"), ("n = 64", "256")];
    let expected = [(vec![8], vec![128]), (vec![64], vec![256])];
    let stale = lockfile("b3:1", "\"WG\"", &entries);
    assert_eq!(configurations(&job(&[]), &stale), expected);
    let current = lockfile("b3:2", "\"WG\"", &entries);
    assert_eq!(configurations(&job(&[]), &current), []);
    assert_eq!(configurations(&job(&[]), &Lockfile::default()), []);
}

#[test]
fn values_are_taken_by_name_and_a_new_parameter_has_that_of_the_default() {
    let stale = lockfile("b3:1", "\"OLD\", \"B\", \"WG\"", &[("n = 8", "7, 4, 32")]);
    let found = configurations(&job(&["A", "B"]), &stale);
    assert_eq!(found, [(vec![8], vec![32, 2, 4])]);
}

#[test]
fn what_the_present_version_cannot_take_is_left_out() {
    let entries = [("n = 8", "512"), ("n = 16", "true"), ("n = 64", "32")];
    let stale = lockfile("b3:1", "\"WG\"", &entries);
    let found = configurations(&job(&[]), &stale);
    assert_eq!(found, [(vec![64], vec![32])], "not in the domain");
    let small = space(&job(&[]), &["WG > 32".to_owned()], false).unwrap();
    let valid = stale_entries(&job(&[]), &stale, &small);
    assert!(valid.is_empty(), "not in the space: {valid:?}");
    for problem in ["m = 8", "n = 8, m = 1"] {
        let other = lockfile("b3:1", "\"WG\"", &[(problem, "32")]);
        assert_eq!(configurations(&job(&[]), &other), [], "{problem}");
    }
}
