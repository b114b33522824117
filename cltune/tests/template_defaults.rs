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

/// y <- the sum of each row.
#[fused(tune(m = 64, n = 32))]
fn row_sums(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m, n])] a: &Buffer<f32>,
    #[arg(out, len = m)] y: &mut Buffer<f32>,
) -> Result<Event> {
    y = row_sum(a);
}

/// y <- A^T x.
#[fused(tune(m = 64, n = 32))]
fn columns_by(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m, n])] a: &Buffer<f32>,
    #[arg(len = m)] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    y = a.t() * x;
}

/// C <- A B.
#[fused(tune(m = 64, n = 32))]
fn product(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m, n])] a: &Buffer<f32>,
    #[arg(matrix = [n, n])] b: &Buffer<f32>,
    #[arg(out, matrix = [m, n])] c: &mut Buffer<f32>,
) -> Result<Event> {
    c = a * b;
}

const N: usize = 4096;

/// What a call does in a process with these variables: the child's output.
fn call_with(variables: &[(&str, &Path)]) -> String {
    let text = child("a_call_selects_and_computes", variables);
    assert!(text.contains("computed 4096"), "{text}");
    text
}

/// What a test of this binary prints in a process with these variables.
fn child(test: &str, variables: &[(&str, &Path)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--nocapture"])
        .env_remove("CLTUNE_DATABASE")
        .env("CLTUNE_CACHE", "off")
        .envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
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

/// The child's part for statements over matrices; run as an ordinary test, with what ships.
#[test]
fn calls_over_matrices_select_and_compute() {
    let queue = Queue::default_device().expect("these tests need an OpenCL device");
    let (m, n) = (64, 32);
    let matrix = Buffer::from_slice(&queue, &[1.0; 64 * 32]).unwrap();
    let vector = Buffer::from_slice(&queue, &[2.0; 64]).unwrap();
    let square = Buffer::from_slice(&queue, &[3.0; 32 * 32]).unwrap();
    let mut of_rows = Buffer::new(queue.context(), 64).unwrap();
    let mut of_columns = Buffer::new(queue.context(), 32).unwrap();
    let mut of_product = Buffer::new(queue.context(), 64 * 32).unwrap();
    row_sums(&queue, m, n, &matrix, &mut of_rows).unwrap();
    columns_by(&queue, m, n, &matrix, &vector, &mut of_columns).unwrap();
    product(&queue, m, n, &matrix, &square, &mut of_product).unwrap();
    assert_eq!(of_rows.read(&queue).unwrap(), [32.0; 64]);
    assert_eq!(of_columns.read(&queue).unwrap(), [128.0; 32]);
    assert_eq!(of_product.read(&queue).unwrap(), [96.0; 64 * 32]);
    let (m, n) = (64, 32);
    let rows = row_sums::explain(&queue, row_sums::Problem { m, n });
    let columns = columns_by::explain(&queue, columns_by::Problem { m, n });
    let products = product::explain(&queue, product::Problem { m, n });
    for explained in [rows, columns, products] {
        println!("{}", explained.unwrap());
    }
}

/// A database for the device of these tests, with these values of an expression with a reduction.
fn database(device: &str, values: &str) -> String {
    database_of(device, &[("reduce", 4096, values)])
}

/// A database for the device of these tests: templates, elements and values.
fn database_of(device: &str, entries: &[(&str, i64, &str)]) -> String {
    let queue = Queue::default_device().expect("these tests need an OpenCL device");
    let info = queue.device().info();
    let limits = &info.limits;
    let entries = entries.iter().map(|(template, elements, values)| {
        format!(
            "    {{ device = \"d\", template = \"{template}\", scalar_size = 4, vectors = 1, \
             elements = {elements}, values = {{ {values} }}, time_us = 1.0, \
             kernel = \"tests::other\" }},\n"
        )
    });
    let entries: String = entries.collect();
    format!(
        "version = 1\n\ndevices = [\n    {{ id = \"d\", platform = {:?}, name = {device:?}, \
         vendor = {:?}, type = \"{}\", compute_units = {}, max_work_group_size = {}, \
         local_mem_size = {} }},\n]\n\nentries = [\n{entries}]\n",
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
const SELECTED: &str = "VW = 2, WG = 32, GROUPS = 4, FETCH = contiguous, ACCUMULATORS = 1, \
                        FINISH = launch";
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
fn statements_over_matrices_take_entries_of_their_template() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let rows = "VW = 2, WGX = 2, WGY = 4, UNROLL = 2";
    let columns = "VW = 4, WGX = 8, WGY = 1, UNROLL = 2, TAIL = 0, SUMS = 1, SLICES = 2";
    let product = "ML = 64, KL = 32, NL = 64, MS = 4, KS = 4, NS = 8";
    let entries = [
        ("rows", 2048, rows),
        ("rows", 1 << 20, "VW = 1, WGX = 1"),
        ("columns", 2048, columns),
        ("product", 1 << 20, product),
    ];
    std::fs::write(&file, database_of(&this_device(), &entries)).unwrap();
    let test = "calls_over_matrices_select_and_compute";
    let said = child(test, &[("CLTUNE_DATABASE", &file)]);
    for (values, elements) in [(rows, 2048), (columns, 2048), (product, 1 << 20)] {
        let origin = format!(": {RULE}: elements = {elements}, vectors = 1");
        let mut lines = said.lines().filter(|line| line.contains(&origin));
        let selected = format!("> {values}");
        assert!(lines.any(|line| line.starts_with(&selected)), "{said}");
    }
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
    // No values of the tunable's: in place of 3 it has 2, and of 16, which is below all, the
    // default.
    let values = r#"VW = 3, WG = 16, GROUPS = 4, FETCH = "contiguous", FUSE = "none""#;
    std::fs::write(&file, database(&this_device(), values)).unwrap();
    let said = call_with(&[("CLTUNE_DATABASE", &file)]);
    let selected =
        "VW = 2, WG = 64, GROUPS = 4, FETCH = contiguous, ACCUMULATORS = 1, FINISH = launch";
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
