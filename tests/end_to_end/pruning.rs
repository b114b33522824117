//! Spaces after pruning by the limits of devices, on the kernels of examples/pruning.

use cltune_tests::Project;
use serde_json::Value;

/// The devices of the paper (section 3), with the limits that their drivers of that time had:
/// Intel's runtime for the processors (8192 work-items, 32 KiB), Intel's and NVIDIA's for the GPUs.
const DEVICES: [(&str, [i64; 4]); 4] = [
    ("i7-4770", [8192, 8192, 32 << 10, 8]),
    ("HD Graphics 4600", [512, 512, 64 << 10, 20]),
    ("i7-2630QM", [8192, 8192, 32 << 10, 8]),
    ("GeForce GT 550M", [1024, 1024, 48 << 10, 2]),
];

fn example(name: &str) -> Project {
    Project::new(name)
        .file(
            "src/lib.rs",
            include_str!("../../examples/pruning/src/lib.rs"),
        )
        .file(
            "kernels/matmul.cl",
            include_str!("../../examples/pruning/kernels/matmul.cl"),
        )
        .file(
            "kernels/conv1d.cl",
            include_str!("../../examples/pruning/kernels/conv1d.cl"),
        )
}

fn limits() -> Vec<String> {
    let limits = DEVICES.iter().map(|(name, [items, group, local, units])| {
        format!(
            "--limits={name}:max_work_item_size_x={items},max_work_item_size_y={items},\
             max_work_group_size={group},local_mem_size={local},compute_units={units}"
        )
    });
    limits.collect()
}

/// What is left after the last constraint of a rule.
fn left(space: &Value, rule: &str) -> u64 {
    let rules = space["rules"].as_array().expect("a list");
    let last = rules.iter().rev().find(|of| of["rule"] == rule);
    let last = last.unwrap_or_else(|| panic!("no {rule}: {space}"));
    last["left"].as_u64().expect("a number")
}

#[test]
fn the_papers_spaces_have_the_papers_sizes() {
    let project = example("cltune-e2e-pruning");
    let limits = limits();
    let mut arguments = vec!["list", "--explain", "--format", "json"];
    arguments.extend(limits.iter().map(String::as_str));
    let listed = project.cltune(&arguments).expect_code(0).json();
    let spaces = |name: &str| {
        let tunables = listed["tunables"].as_array().expect("a list");
        let found = tunables.iter().find(|of| of["name"] == name);
        found.expect(name)["spaces"]
            .as_array()
            .expect("a list")
            .clone()
    };
    let matmul = spaces("cltune_e2e_pruning::matmul");
    let conv1d = spaces("cltune_e2e_pruning::conv1d");
    let of_size = |n: u64| -> Vec<Value> {
        let of_size = conv1d.iter().filter(|space| space["problem"]["n"] == n);
        of_size.cloned().collect()
    };
    // Table 1: without pruning. Table 2: after it.
    let table = |spaces: &[Value], rule| -> Vec<u64> {
        spaces.iter().map(|space| left(space, rule)).collect()
    };
    let (all, pruned) = ("work-item sizes", "compute units");
    assert_eq!(table(&matmul, all), [1 << 20, 1 << 18, 1 << 20, 1 << 20]);
    assert_eq!(table(&matmul, pruned), [7, 5, 7, 6]);
    for n in [1 << 16, 5 << 14] {
        assert_eq!(table(&of_size(n), all), [8192, 512, 8192, 1024]);
    }
    assert_eq!(table(&of_size(1 << 16), pruned), [13, 10, 13, 11]);
    // The paper's numbers, for a global size that it does not give.
    assert_eq!(table(&of_size(5 << 14), pruned), [24, 17, 24, 19]);
    assert_eq!(matmul[1]["valid"], 5, "{}", matmul[1]);
}

#[test]
fn rules_are_shown_for_people_and_bad_limits_are_refused() {
    let project = example("cltune-e2e-pruning-text");
    let one = "--limits=Abacus:max_work_group_size=16,compute_units=5000";
    let listed = project.cltune(&["list", "--kernel", "matmul", "--explain", one]);
    let listed = listed.expect_code(0);
    let _ = listed.clone().expect_stdout(&[
        "Abacus: n = 1024: 3 of 1048576 configurations are valid",
        "WGX == WGY",
        "WGX * WGY <= device.max_work_group_size",
        "n % WGX == 0",
        "compute units, only with --fill-device",
    ]);
    let _ = listed.clone().expect_stdout(&[
        "not known, so they rule nothing out: device.max_work_item_size_x, \
         device.max_work_item_size_y, device.local_mem_size\n",
    ]);
    assert!(!listed.stdout.contains("conv1d"), "{listed}");
    // A declared constraint, on a limit that has nothing to do with sizes.
    let lib = "src/lib.rs";
    project.edit(lib, "WGX == WGY", "WGX == WGY && device.fp16 == 1");
    let valid = |limits: &str| {
        let arguments = [
            "list", "--kernel", "matmul", "--format", "json", "--limits", limits,
        ];
        let listed = project.cltune(&arguments).expect_code(0).json();
        let space = &listed["tunables"][0]["spaces"][0];
        (
            space["valid"].clone(),
            space["not_known"].to_string().contains("fp16"),
        )
    };
    assert_eq!(
        valid("phone:max_work_group_size=16,fp16=1"),
        (3.into(), false)
    );
    assert_eq!(
        valid("phone:max_work_group_size=16,fp16=0"),
        (0.into(), false)
    );
    // What is left is what divides 1024 in both dimensions, with 16 work-items at most.
    assert_eq!(valid("phone:max_work_group_size=16"), (15.into(), true));
    let refused = project.cltune(&["list", "--limits", "Abacus:beads=7"]);
    let _ = refused
        .expect_code(2)
        .expect_stderr(&["no limit `beads`", "compute_units"]);
}

#[test]
fn configurations_that_leave_compute_units_idle_can_be_left_out() {
    let project = cltune_tests::samples::inline(
        "cltune-e2e-fill-device",
        "params(WG = powers_of_two(1..=256)), local(WG), tune(n = 1)",
        cltune_tests::samples::FILL,
    );
    let valid = |arguments: &[&str]| {
        let arguments = [&["tune", "--device", "0", "--budget", "1"], arguments].concat();
        let arguments = [&arguments[..], &["--message-format", "json"]].concat();
        let tuned = project.cltune(&arguments).expect_code(0);
        let spaces = tuned.messages("space");
        let valid = spaces.iter().map(|space| space["valid"].as_u64());
        valid.collect::<Option<Vec<_>>>().expect("numbers")
    };
    // One work-item has one work-group, so there the rule is dropped.
    assert_eq!(valid(&[]), [9, 1]);
    let filled = valid(&["--fill-device"]);
    assert!(filled[0] >= 1 && filled[1] == 1, "{filled:?}");
    let devices = project.cltune(&["devices", "--format", "json"]).json();
    let units = devices["devices"][0]["limits"]["compute_units"].as_u64();
    let fitting = (0..=8).filter(|exponent| (256 >> exponent) >= units.expect("a number"));
    assert_eq!(filled[0], fitting.count().max(1) as u64);
    // Constraints of the command line, alone and together with the rule.
    assert_eq!(valid(&["--constraint", "WG * 2 <= 32"]), [5, 1]);
    let without_default = ["--constraint", "n == 1 || WG > 1"];
    let both = valid(&[&without_default[..], &["--fill-device"]].concat());
    assert_eq!(both, [(filled[0] - 1).max(1), 1]);
    // A default that is left out has no time, and has not failed.
    let tune = ["tune", "--device", "0", "--budget", "1", "--fresh"];
    let tuned = project.cltune(&[&tune[..], &without_default].concat());
    let tuned = tuned.expect_code(0);
    let mut rows = tuned.stdout.lines().map(|row| row.split_whitespace());
    let no_default = rows.any(|mut row| row.nth(2) == Some("-"));
    assert!(no_default, "{tuned}");
    let refused = project.cltune(&["tune", "--device", "0", "--constraint", "WPT == 1"]);
    let _ = refused.expect_stderr(&["--constraint `WPT == 1`", "column 1", "WPT", "WG"]);
    // What is a formula of no kernel is a mistake of the command line: not even packages are built.
    project.write("src/lib.rs", "this does not compile");
    let refused = project.cltune(&["tune", "--constraint", "WG = 16"]);
    let refused = refused.expect_code(2).expect_stderr(&[
        "invalid value 'WG = 16' for '--constraint <FORMULA>'",
        "column 4: an assignment (to compare, write `==`)",
    ]);
    assert!(!refused.stderr.contains("Compiling"), "{refused}");
    // The reason is there where the constraint is too long to be shown.
    let long = vec!["WG == 16"; 600].join(" || ");
    let refused = project.cltune(&["tune", "--device", "0", "--constraint", &long]);
    let _ = refused.expect_stderr(&["this expression is too long"]);
}
