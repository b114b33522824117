//! Kernels and spaces that cannot be tuned: each says why, and costs nothing else.

use cltune_tests::faulty::Session;
use cltune_tests::samples::{self, FILL};
use cltune_tests::{Output, Project};
use serde_json::Value;

#[test]
fn a_kernel_that_never_compiles_is_reported_and_the_others_are_tuned() {
    let project = samples::inline(
        "cltune-e2e-never-compiles",
        "params(A = [1, 2]), name = \"fine\"",
        FILL,
    );
    let broken = "\nmod broken {\n    use super::*;\n    #[tunable(global(n), tune(n = 256), \
                  params(A = [1, 2]))]\n    pub fn broken(queue: &Queue, n: u32) -> Result<Event> {\n\
                  \"__kernel void broken(const uint n) { not_a_function(n); }\" } }\n";
    project.write("src/lib.rs", project.read("src/lib.rs") + broken);
    let tuned = project.cltune(&[]).expect_code(1);
    let tuned = tuned.expect_stderr(&[]);
    let all = format!("{}{}", tuned.stdout, tuned.stderr);
    assert!(
        all.contains("not_a_function"),
        "the compiler's log is missing: {tuned}"
    );
    assert!(all.contains("cltune_e2e_never_compiles::broken"), "{tuned}");
    let lockfile = project.read("cltune.lock");
    assert!(
        lockfile.contains("cltune_e2e_never_compiles::fine"),
        "{lockfile}"
    );
    assert!(!lockfile.contains("broken"), "{lockfile}");
}

#[test]
fn failures_are_told_apart_counted_and_survived() {
    // A = 0 works; the others fail in each way that a kernel can fail.
    let project = samples::inline(
        "cltune-e2e-failures",
        "params(A = 0..=5), defaults(A = 0)",
        "__kernel void run(const uint n, __global int* y) {
            const size_t i = get_global_id(0);
         #if A == 1
         #error this one does not compile
         #elif A == 2
            if (i != 7) y[i] = (int)n; else y[i] = 0;
         #elif A == 3
            if (i != 7) y[i] = (int)n;
         #elif A == 4
            y[i] = (int)n; if (i == 0) y[n] = 1;
         #elif A == 5
            y[i] = (int)n; if (i == 0) *(volatile __global int*)(8 * (n - 255)) = 1;
         #else
            y[i] = (int)n;
         #endif
         }",
    );
    let arguments = ["tune", "--strategy", "full", "--message-format", "json"];
    let tuned = project.cltune(&arguments).expect_code(0);
    let configurations = tuned.messages("configuration");
    assert_eq!(configurations.len(), 6, "{tuned}");
    let of = |value: i64| {
        let found = configurations
            .iter()
            .find(|found| found["values"][0] == value);
        found
            .unwrap_or_else(|| panic!("A = {value} is missing: {tuned}"))
            .clone()
    };
    let expected = [
        "ok",
        "build-failed",
        "wrong-result",
        "wrong-result",
        "wrong-result",
        "crashed",
    ];
    for (value, status) in (0..).zip(expected) {
        let found = of(value);
        assert_eq!(found["status"], status, "{found}");
        assert_eq!(found["time_us"].is_number(), status == "ok", "{found}");
    }
    let detail = |value: i64| of(value)["detail"].as_str().unwrap_or_default().to_owned();
    assert!(
        detail(1).contains("this one does not compile"),
        "{}",
        detail(1)
    );
    // The first differing index and both values.
    let wrong = detail(2);
    assert!(
        wrong.contains('7') && wrong.contains("256") && wrong.contains('0'),
        "{wrong}"
    );
    assert!(detail(3).contains('7'), "{}", detail(3));
    let finished = tuned.messages("finished");
    assert_eq!(finished[0]["values"], Value::from(vec![0]), "{tuned}");
    assert_eq!(finished[0]["failed"], 5);
    assert_eq!(finished[0]["evaluated"], 6);

    // For people: counted by kind with the first reason of each.
    let tuned = project.cltune(&["--strategy", "full"]).expect_code(0);
    let _ = tuned.expect_stdout(&["1 build-failed", "3 wrong-result", "1 crashed"]);
}

/// A kernel with right results that accesses memory so many bytes from the begin of a buffer of `n`
/// integers: the first parameter says where, the second whether it writes to the output, else it
/// reads from the input. Of those that stay in their buffers there are four, which differ in
/// nothing.
fn that_goes_astray(name: &str, n: usize, bytes: &[i64]) -> Project {
    let at: Vec<String> = bytes.iter().map(|bytes| (bytes / 4).to_string()).collect();
    let kernel = format!(
        "__constant int at[] = {{0, {}}};
         __kernel void run(const uint n, __global const int* x, __global int* y) {{
             const size_t i = get_global_id(0);
             y[i] = x[i] + G / 99;
             if (A > 0 && i == 5) {{
                 volatile __global int* memory = WRITES ? y : (__global int*)x;
                 if (WRITES) memory[at[A]] = 1;
                 else if (memory[at[A]] == 0x12345678) y[i] = 7;
             }}
         }}",
        at.join(", ")
    );
    let source = format!(
        "use cltune::{{Buffer, Event, Queue, Result, tunable}};\n\
         #[tunable(global(n), tune(n = {n}), params(A = 0..={}, WRITES = 0..=1, G = 0..=3),\n\
         constraints(A == 0 || G == 0))]\n\
         pub fn run(queue: &Queue, n: u32, #[arg(len = n)] x: &Buffer<i32>,\n\
         #[arg(out, len = n)] y: &mut Buffer<i32>) -> Result<Event> {{\n    {kernel:?}\n}}\n",
        bytes.len()
    );
    Project::new(name).file("src/lib.rs", source)
}

/// That all of them failed for this reason (by what `A` and `WRITES` are), and no other
/// configuration.
#[track_caller]
fn only_they_failed(tuned: &Output, count: usize, reason: impl Fn(usize, bool) -> Option<String>) {
    let configurations = tuned.messages("configuration");
    assert_eq!(configurations.len(), 2 * (4 + count), "{tuned}");
    let reason = |values: &Value| {
        let access = (values[0].as_u64()? as usize).checked_sub(1)?;
        reason(access, values[1] == 1)
    };
    let chosen = &tuned.messages("finished")[0]["values"];
    assert_eq!(reason(chosen), None, "{tuned}");
    for found in &configurations {
        let reason = reason(&found["values"]);
        let expected = reason.as_ref().map_or("ok", |_| "wrong-result");
        assert_eq!(found["status"], expected, "{found}");
        let detail = found["detail"].as_str().unwrap_or_default();
        assert!(detail.starts_with(&reason.unwrap_or_default()), "{found}");
    }
}

#[test]
fn an_access_out_of_bounds_fails_at_every_distance_and_costs_nothing_else() {
    // 17 KiB, 64 KiB and 1 MiB beyond both ends of 4096 bytes, and nearer.
    const BYTES: [i64; 10] = [
        4096, 4100, 8192, 21_504, 69_632, 1_052_672, -4, -17_408, -65_536, -1_048_576,
    ];
    let project = that_goes_astray("cltune-e2e-out-of-bounds", 1024, &BYTES);
    let devices = project.cltune(&["devices", "--format", "json"]).json();
    let mut devices = devices["devices"].as_array().into_iter().flatten();
    let Some(cpu) = devices.find(|device| device["type"] == "cpu") else {
        cltune_tests::skip("no device computes in memory of the process");
        return;
    };
    let cpu = cpu["index"].to_string();
    let arguments = [
        "--strategy",
        "full",
        "--message-format",
        "json",
        "--device",
        &cpu,
    ];
    let tuned = project.cltune(&arguments).expect_code(0);
    only_they_failed(&tuned, BYTES.len(), |access, writes| {
        let place = match BYTES[access] {
            4096 => "right after its end".to_owned(),
            before if before < 0 => format!("{} bytes before its begin", -before),
            after => format!("{} bytes after its end", after - 4096),
        };
        let argument = if writes { "y" } else { "x" };
        Some(format!("{argument}: read or written {place}"))
    });
}

#[test]
fn a_write_out_of_bounds_fails_on_a_device_with_memory_of_its_own() {
    // Up to the size of the buffer, on both sides.
    const END: i64 = 1 << 20;
    const BYTES: [i64; 7] = [
        END,
        END + 17_408,
        END + 65_536,
        2 * END - 4,
        -4,
        -65_536,
        -END,
    ];
    let project = that_goes_astray("cltune-e2e-out-of-zones", 1 << 18, &BYTES);
    // A CPU that says it is a GPU is treated as one.
    let session = Session::new("answer=4@CL_DEVICE_TYPE");
    let arguments = [
        "--strategy",
        "full",
        "--message-format",
        "json",
        "--device",
        "0",
    ];
    let mut command = project.cltune_command(&arguments);
    session.place(&mut command);
    let tuned = Output::of(command.current_dir(project.path("."))).expect_code(0);
    only_they_failed(&tuned, BYTES.len(), |access, writes| {
        // The nearest byte that differs; reading changes nothing there.
        let place = match BYTES[access] {
            END => "right after its end".to_owned(),
            before if before < 0 => format!("{} bytes before its begin", -before - 3),
            after => format!("{} bytes after its end", after - END),
        };
        writes.then(|| format!("y: written {place}"))
    });
}

#[test]
fn a_reference_that_fails_is_an_error_that_names_it() {
    let project = samples::inline(
        "cltune-e2e-reference",
        "params(A = [1, 2]), reference(kernel = \"absent\", global(n))",
        // The macro finds a name that is nowhere.
        &format!("{FILL} // absent"),
    );
    let tuned = project.cltune(&[]).expect_code(1);
    let _ = tuned.expect_stderr(&["cltune_e2e_reference::run", "absent", "reference"]);
    assert!(!project.path("cltune.lock").exists());
}

#[test]
fn a_signature_that_differs_is_an_error_that_shows_both_sides() {
    let kernel = FILL
        .replace("__global int*", "__global float*")
        .replace("(int)", "(float)");
    let project = samples::inline("cltune-e2e-signature", "params(A = [1, 2])", &kernel);
    let tuned = project.cltune(&[]).expect_code(1);
    let _ = tuned.expect_stderr(&["y: &mut Buffer<i32>", "__global float* y"]);
}

#[test]
fn an_empty_space_says_which_constraint_removed_how_many() {
    let project = samples::inline(
        "cltune-e2e-empty-space",
        "params(A = 1..=10, B = [1, 2]), constraints(A + B > 100, A < 6)",
        FILL,
    );
    let tuned = project.cltune(&[]).expect_code(1);
    let _ = tuned.expect_stderr(&["no configuration is valid", "A + B > 100", "20"]);
    let list = project.cltune(&["list"]).expect_code(0);
    let _ = list.expect_stdout(&["0 of 20 configurations are valid"]);
}

#[test]
fn a_space_that_takes_too_long_to_build_says_so() {
    let project = samples::inline(
        "cltune-e2e-too-complex",
        "params(A = 1..=3000, B = 1..=3000, C = 1..=3000, D = 1..=3000), \
         constraints(A * A * 7 + B * B * 5 + C * C * 3 + D * D * 2 == 123_456_789)",
        FILL,
    );
    let list = project.cltune(&["list", "--explain"]).expect_code(0);
    let _ = list.expect_stdout(&["take too long to count", "`A`, `B`, `C`, `D`"]);
    let list = project.cltune(&["list", "--format", "json"]).json();
    let space = &list["tunables"][0]["spaces"][0];
    assert!(space["valid"].is_null(), "{space}");
    assert_eq!(space["cartesian"], 81_000_000_000_000_u64, "{space}");
    let tuned = project.cltune(&["tune", "--device", "0"]).expect_code(1);
    let _ = tuned.expect_stderr(&["cannot be built", "`A`, `B`, `C`, `D`"]);
}

#[test]
fn a_parameter_may_have_a_hundred_thousand_values() {
    let project = samples::inline(
        "cltune-e2e-large",
        "params(A = 1..=100_000, B = 1..=8), constraints(A % B == 0)",
        FILL,
    );
    let arguments = ["tune", "--budget", "3", "--message-format", "json"];
    let tuned = project.cltune(&arguments).expect_code(0);
    let space = &tuned.messages("space")[0];
    assert_eq!(space["cartesian"], 800_000, "{space}");
    assert_eq!(space["valid"], 271_784, "{space}");
    assert_eq!(tuned.messages("configuration").len(), 3);
    let list = project.cltune(&["list"]).expect_code(0);
    let _ = list.expect_stdout(&["(100000 values)"]);
}

#[test]
fn a_kernel_file_that_is_no_utf8_is_an_error_of_the_build() {
    let project = samples::program("cltune-e2e-encoding");
    project.write(
        "kernels/waste.h",
        b"// gr\xfc\xdfe\nfloat waste(float x) { return 0.0f; }\n",
    );
    let tuned = project.cltune(&[]).expect_code(2);
    let _ = tuned.expect_stderr(&["waste.h", "UTF-8"]);
}
