//! Fused statements that nobody tuned take the values of the database of template defaults. The
//! user's file is a fact of the process, so each case runs this test binary again with another
//! environment.

use cltune::{Buffer, Device, Event, Queue, Result, Rule, fused};
use std::path::Path;
use std::process::Command;

/// s <- sum of the new x.
#[fused(tune(n = 4096))]
fn accumulate(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &mut Buffer<f32>,
    #[arg(out, len = 1)] s: &mut Buffer<f32>,
) -> Result<Event> {
    x += 1.0;
    s = sum(x);
}

const N: usize = 4096;

/// What a call does in a process with these variables: the child's output.
fn call_with(variables: &[(&str, &Path)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "a_call_selects_and_computes", "--nocapture"])
        .env_remove("CLTUNE_DATABASE")
        .env("CLTUNE_CACHE", "off")
        .envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("computed 4096"), "{text}");
    text
}

/// The child's part; run as an ordinary test it is one more call, with what ships.
#[test]
fn a_call_selects_and_computes() {
    let queue = Queue::default_device().expect("these tests need an OpenCL device");
    let mut x = Buffer::from_slice(&queue, &[0.0; N]).unwrap();
    let mut s = Buffer::new(queue.context(), 1).unwrap();
    accumulate(&queue, N as u32, &mut x, &mut s).unwrap();
    println!("computed {}", s.read(&queue).unwrap()[0]);
    let problem = accumulate::Problem { n: N as i64 };
    println!("{}", accumulate::explain(&queue, problem).unwrap());
    let selection = accumulate::select(queue.device(), problem).unwrap();
    println!("selected {selection}");
}

/// A database for the device of these tests, with these values.
fn database(device: &str, values: &str) -> String {
    let queue = Queue::default_device().expect("these tests need an OpenCL device");
    let info = queue.device().info();
    let limits = &info.limits;
    format!(
        "version = 1\n\ndevices = [\n    {{ id = \"d\", platform = {:?}, name = {device:?}, \
         vendor = {:?}, type = \"{}\", compute_units = {}, max_work_group_size = {}, \
         local_mem_size = {} }},\n]\n\nentries = [\n    {{ device = \"d\", template = \"reduce\", \
         scalar_size = 4, vectors = 1, elements = 4096, values = {{ {values} }}, time_us = 1.0, \
         kernel = \"tests::other\" }},\n]\n",
        info.platform,
        info.vendor,
        info.device_type,
        limits.compute_units,
        limits.max_work_group_size,
        limits.local_mem_size,
    )
}

fn this_device() -> String {
    Device::select().unwrap().info().name.clone()
}

const VALUES: &str = r#"VW = 2, WG = 32, GROUPS = 4, FETCH = "contiguous", FINISH = "launch""#;
const SELECTED: &str = "VW = 2, WG = 32, GROUPS = 4, FETCH = contiguous, FINISH = launch";
const RULE: &str = "from the database of template defaults";

#[test]
fn a_file_of_the_user_is_taken_and_explained() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, database(&this_device(), VALUES)).unwrap();
    let said = call_with(&[("CLTUNE_DATABASE", &file)]);
    assert!(said.contains(&format!("{SELECTED} ({RULE})")), "{said}");
    let explained = format!("{SELECTED}: {RULE}: elements = 4096, vectors = 1");
    assert!(said.contains(&explained), "{said}");

    // Another device of this type stands for its class. It does not override what ships, which is
    // nearer, for a device that this has.
    let own = database("another device", VALUES);
    std::fs::write(&file, own).unwrap();
    let said = call_with(&[("CLTUNE_DATABASE", &file)]);
    assert!(said.contains(RULE), "{said}");
}

#[test]
fn a_file_in_the_folder_of_the_cache_is_taken_and_the_variable_precedes_it() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    std::fs::create_dir(&cache).unwrap();
    let own = cache.join("database.toml");
    std::fs::write(&own, database(&this_device(), VALUES)).unwrap();
    let said = call_with(&[("CLTUNE_CACHE", &cache)]);
    assert!(said.contains(&format!("{SELECTED} ({RULE})")), "{said}");

    let named = folder.path().join("named.toml");
    std::fs::write(&named, database(&this_device(), "WG = 128")).unwrap();
    let said = call_with(&[("CLTUNE_CACHE", &cache), ("CLTUNE_DATABASE", &named)]);
    assert!(said.contains("WG = 128"), "{said}");
    assert!(!said.contains(SELECTED), "{said}");
}

#[test]
fn a_broken_file_does_not_stop_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broken.toml");
    for text in ["version = 2\n", "version = 1\nentries = [\n", "\u{0}", ""] {
        std::fs::write(&file, text).unwrap();
        let _ = call_with(&[("CLTUNE_DATABASE", &file)]);
    }
    let _ = call_with(&[("CLTUNE_DATABASE", &folder.path().join("missing.toml"))]);
    let _ = call_with(&[("CLTUNE_DATABASE", folder.path())]);
}

#[test]
fn values_that_the_device_cannot_run_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    // No value of the tunable's: the declared default takes its place, beside the others.
    let values = r#"VW = 3, WG = 32, GROUPS = 4, FETCH = "contiguous", FUSE = "none""#;
    std::fs::write(&file, database(&this_device(), values)).unwrap();
    let said = call_with(&[("CLTUNE_DATABASE", &file)]);
    let selected = "VW = 1, WG = 32, GROUPS = 4, FETCH = contiguous, FINISH = launch";
    assert!(said.contains(&format!("{selected} ({RULE})")), "{said}");
}

#[test]
fn the_errors_of_a_file_name_it_and_the_remedy() {
    let own = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mine.toml");
        std::fs::write(&file, text).unwrap();
        let error = cltune::database::read(&file).unwrap_err().to_string();
        assert!(error.contains("mine.toml, line "), "{error}");
        error
    };
    assert!(own("version = 2\n").contains("update cltune"));
    assert!(own("version = 1\nx = 1\n").contains("`x` is not expected here"));
    let missing = Path::new("/nowhere/mine.toml");
    let error = cltune::database::read(missing).unwrap_err();
    assert!(
        error.to_string().contains("/nowhere/mine.toml: "),
        "{error}"
    );
    assert!(!Rule::Database { this_device: true }.is_for_this_device());
}
