//! The text of a lockfile: the layout of the contract, the round trip, every error with its line.

use cltune_core::measure::{Measure, Objective};
use cltune_formats::lockfile::{Lockfile, Problem};

/// The layout that other tools rely on.
const EXAMPLE: &str = r#"version = 1

[[device]]
id = "nvidia-h200"
platform = "NVIDIA CUDA"
name = "NVIDIA H200"
vendor = "NVIDIA Corporation"
type = "gpu"
driver = "580.159.04"
compute_units = 132
max_work_group_size = 1024
local_mem_size = 49152

[[kernel]]
name = "my_crate::saxpy"
fingerprint = "b3:5f0c"
params = ["WG", "WPT", "VW"]

[[kernel.tuned]]
device = "nvidia-h200"
problem = { n = 1048576 }
values = [256, 2, 2]
time_us = 7.42
default_us = 9.8
evaluated = 48
valid = 36
strategy = "auto"
verification = "b3:0a1b2c3d4e5f6071"

[[kernel.tuned]]
device = "nvidia-h200"
problem = { n = 16777216 }
values = [64, true, "float4"]
time_us = 100.0
evaluated = 48
valid = 36
strategy = "random"
"#;

#[test]
fn the_layout_of_the_contract_is_reproduced_byte_for_byte() {
    let lockfile = Lockfile::parse(EXAMPLE).unwrap();
    assert_eq!(lockfile.to_text(), EXAMPLE);
    assert_eq!(lockfile.devices.len(), 1);
    assert_eq!(lockfile.kernels[0].tuned.len(), 2);
    assert_eq!(lockfile.kernels[0].tuned[1].default_us, None);
    assert_eq!(lockfile.kernels[0].tuned[1].verification, None);
}

#[test]
fn what_a_time_was_measured_with_is_said_where_caches_were_cold() {
    let warm = Lockfile::parse(EXAMPLE).unwrap();
    let text = EXAMPLE.replace(
        "\"b3:0a1b2c3d4e5f6071\"\n",
        "\"b3:0a1b2c3d4e5f6071\"\nmeasure = \"cold\"\n",
    );
    let cold = Lockfile::parse(&text).unwrap();
    let measures = |lockfile: &Lockfile| {
        let tuned = lockfile.kernels[0].tuned.iter();
        tuned.map(|tuned| tuned.measure).collect::<Vec<_>>()
    };
    assert_eq!(measures(&warm), [Measure::WARM, Measure::WARM]);
    assert_eq!(measures(&cold), [Measure::COLD, Measure::WARM]);
    assert_eq!(cold.to_text(), text);

    // Times that do not compare: the first file's entry stays, however fast the other one is.
    for (first, second) in [(&warm, &cold), (&cold, &warm)] {
        let mut united = first.clone();
        let mut faster = second.clone();
        faster.kernels[0].tuned[0].time_us = 0.5;
        let report = united.merge(&faster);
        assert_eq!(&united, first);
        let [conflict] = &report.measures[..] else {
            panic!("{report:?}");
        };
        assert_eq!(conflict.kept, first.kernels[0].tuned[0].measure);
        assert_eq!(conflict.dropped, faster.kernels[0].tuned[0].measure);
        assert!(
            conflict.to_string().contains("do not compare"),
            "{conflict}"
        );
        assert!(report.results.is_empty());
    }
}

#[test]
fn an_entry_says_its_objective_and_its_energy_where_it_was_not_chosen_by_time() {
    let by_time = Lockfile::parse(EXAMPLE).unwrap();
    let with = |energy_j: &str, objective: &str| {
        EXAMPLE.replace(
            "\"b3:0a1b2c3d4e5f6071\"\n",
            &format!(
                "\"b3:0a1b2c3d4e5f6071\"\nobjective = \"{objective}\"\nenergy_j = {energy_j}\n\
                 default_energy_j = 0.5\n"
            ),
        )
    };
    let text = with("0.01234", "energy-delay");
    let lockfile = Lockfile::parse(&text).unwrap();
    assert_eq!(lockfile.to_text(), text);
    let entry = &lockfile.kernels[0].tuned[0];
    assert_eq!(entry.measure.objective, Objective::EnergyDelay);
    assert_eq!(
        (entry.energy_j, entry.default_energy_j),
        (Some(0.01234), Some(0.5))
    );
    assert_eq!(entry.figure(), 0.01234 * entry.time_us);

    // Of two by the same objective the one that it prefers stays, though it be slower.
    let mut united = lockfile.clone();
    let mut slower = Lockfile::parse(&with("0.001", "energy-delay")).unwrap();
    slower.kernels[0].tuned[0].time_us *= 2.0;
    let report = united.merge(&slower);
    assert_eq!(united, slower);
    let said = report.results[0].to_string();
    assert!(
        said.contains("kept the better (by energy-delay) entry"),
        "{said}"
    );
    // Others do not compare.
    let energy = Lockfile::parse(&with("0.001", "energy")).unwrap();
    for other in [&by_time, &energy] {
        let mut united = lockfile.clone();
        let report = united.merge(other);
        assert_eq!(united, lockfile);
        let said = report.measures[0].to_string();
        assert!(
            said.contains("warm caches, chosen by energy-delay"),
            "{said}"
        );
    }
    for (wrong, said) in [
        (
            with("0.01", "power"),
            "\"time\", \"energy\" or \"energy-delay\"",
        ),
        (with("-1.0", "energy"), "`energy_j` must be a number"),
    ] {
        let error = Lockfile::parse(&wrong).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn windows_texts_and_other_layouts_of_the_same_content_are_read() {
    let lockfile = Lockfile::parse(EXAMPLE).unwrap();
    assert_eq!(
        Lockfile::parse(&EXAMPLE.replace('\n', "\r\n")).unwrap(),
        lockfile
    );
    assert_eq!(
        Lockfile::parse(&format!("\u{feff}{EXAMPLE}")).unwrap(),
        lockfile
    );
    let edited = EXAMPLE
        .replace("1048576", "0x10_0000")
        .replace("time_us = 100.0", "time_us = 100 # rerun");
    assert_eq!(Lockfile::parse(&edited).unwrap(), lockfile);
}

#[test]
fn dimensions_keep_the_order_of_the_text_and_agree_within_a_kernel() {
    let text = EXAMPLE
        .replace("{ n = 1048576 }", "{ z = 1, a = 2 }")
        .replace("{ n = 16777216 }", "{ a = 3, z = 4 }");
    let lockfile = Lockfile::parse(&text).unwrap();
    let problems: Vec<_> = lockfile.kernels[0]
        .tuned
        .iter()
        .map(|tuned| &tuned.problem)
        .collect();
    let dimension = |name: &str, value| (name.to_owned(), value);
    assert_eq!(problems[0], &[dimension("z", 1), dimension("a", 2)]);
    assert_eq!(problems[1], &[dimension("z", 4), dimension("a", 3)]);
}

#[test]
fn an_empty_lockfile_and_a_kernel_without_dimensions_are_written() {
    assert_eq!(Lockfile::default().to_text(), "version = 1\n");
    assert!(Lockfile::parse("version = 1\n").unwrap().is_empty());
    let at = EXAMPLE.rfind("\n[[kernel.tuned]]").unwrap();
    let text = EXAMPLE[..at].replace("{ n = 1048576 }", "{}");
    assert_eq!(Lockfile::parse(&text).unwrap().to_text(), text);
}

/// `EXAMPLE` with one text replaced; the first line of `from` is where the error must be.
struct Broken {
    from: &'static str,
    to: &'static str,
    line: usize,
    message: &'static str,
}

#[test]
fn every_mistake_is_reported_with_its_line() {
    let broken = |from, to, line, message| Broken {
        from,
        to,
        line,
        message,
    };
    let cases = [
        broken("\"gpu\"", "\"gpus\"", 8, "must be \"cpu\""),
        broken(
            "verification = \"b3:0a1b2c3d4e5f6071\"",
            "measure = \"cool\"",
            28,
            "must be \"warm\" or \"cold\"",
        ),
        broken(
            "platform = \"NVIDIA CUDA\"",
            "platform = ",
            5,
            "not valid TOML",
        ),
        broken("version = 1", "version = 2", 1, "version 2 of the format"),
        broken("version = 1", "version = 0", 1, "no version 0"),
        broken(
            "version = 1",
            "version = \"1\"",
            1,
            "`version` must be an integer",
        ),
        broken("version = 1", "", 1, "the file has no `version`"),
        broken(
            "vendor = \"NVIDIA Corporation\"\n",
            "",
            3,
            "[[device]] has no `vendor`",
        ),
        broken("[[device]]", "[[devices]]", 3, "unknown key `devices`"),
        broken("driver = ", "drivers = ", 9, "unknown key `drivers`"),
        broken(
            "compute_units = 132",
            "compute_units = -1",
            10,
            "`compute_units` must be",
        ),
        broken(
            "compute_units = 132",
            "compute_units = 1.5",
            10,
            "but is 1.5",
        ),
        broken(
            "compute_units = 132",
            "compute_units = 99999999999999999999",
            10,
            "too large",
        ),
        broken(
            "fingerprint = \"b3:5f0c\"",
            "fingerprint = 5",
            16,
            "`fingerprint` must be a string",
        ),
        broken(
            "params = [\"WG\", \"WPT\", \"VW\"]",
            "params = [\"WG\", \"WG\", \"VW\"]",
            17,
            "listed twice",
        ),
        broken(
            "params = [\"WG\", \"WPT\", \"VW\"]",
            "params = \"WG\"",
            17,
            "must be an array",
        ),
        broken(
            "device = \"nvidia-h200\"",
            "device = \"h100\"",
            20,
            "no [[device]] has the id \"h100\"",
        ),
        broken(
            "{ n = 1048576 }",
            "{ n = 1.5 }",
            21,
            "`n` must be an integer",
        ),
        broken("{ n = 1048576 }", "5", 21, "`problem` must be a table"),
        broken(
            "{ n = 16777216 }",
            "{ m = 16777216 }",
            32,
            "names m, but other entries",
        ),
        broken("{ n = 16777216 }", "{}", 32, "names no dimension"),
        broken("{ n = 16777216 }", "{ n = 1048576 }", 30, "two entries"),
        broken("[256, 2, 2]", "[256, 2]", 22, "2 values for 3 parameters"),
        broken("[256, 2, 2]", "[256, 2, nan]", 22, "`values` must be"),
        broken("[256, 2, 2]", "[256, 2, [2]]", 22, "`values` must be"),
        broken("time_us = 7.42", "time_us = nan", 23, "but is nan"),
        broken("time_us = 7.42", "time_us = inf", 23, "but is inf"),
        broken("time_us = 7.42", "time_us = -1.0", 23, "but is -1.0"),
        broken("time_us = 7.42", "time_us = 1e999", 23, "but is 1e999"),
        broken(
            "time_us = 7.42",
            "time_us = \"fast\"",
            23,
            "must be a number",
        ),
        broken("default_us = 9.8", "default_us = -2", 24, "`default_us`"),
        broken(
            "evaluated = 48",
            "evaluated = -2",
            25,
            "`evaluated` must be",
        ),
        broken(
            "strategy = \"auto\"",
            "strategy = 1979-05-27",
            27,
            "but is a date",
        ),
        broken("[[kernel]]", "[kernel]", 14, "must be an array of tables"),
        broken(
            "[[kernel]]",
            "<<<<<<< HEAD\n[[kernel]]",
            14,
            "merge conflict markers",
        ),
    ];
    for Broken {
        from,
        to,
        line,
        message,
    } in cases
    {
        let text = EXAMPLE.replacen(from, to, 1);
        assert_ne!(text, EXAMPLE, "{from} is not in the example");
        let error = Lockfile::parse(&text).expect_err(to);
        let shown = error.to_string();
        assert!(shown.contains(message), "{to}: {shown}");
        assert_eq!(error.line, line, "{to}: {shown}");
        assert!(shown.ends_with(error.problem.remedy()), "{shown}");
    }
}

#[test]
fn duplicates_of_tables_are_refused() {
    let device = &EXAMPLE[EXAMPLE.find("[[device]]").unwrap()..EXAMPLE.find("[[kernel]]").unwrap()];
    let renamed = device.replace("id = \"nvidia-h200\"", "id = \"other\"");
    let error = Lockfile::parse(&format!("{EXAMPLE}\n{renamed}")).unwrap_err();
    assert!(
        matches!(error.problem, Problem::SameDevice { .. }),
        "{error}"
    );
    let error = Lockfile::parse(&format!("{EXAMPLE}\n{device}")).unwrap_err();
    assert!(
        matches!(error.problem, Problem::DuplicateDevice { .. }),
        "{error}"
    );
    let kernel = &EXAMPLE[EXAMPLE.find("[[kernel]]").unwrap()..];
    let error = Lockfile::parse(&format!("{EXAMPLE}\n{kernel}")).unwrap_err();
    assert!(
        matches!(error.problem, Problem::DuplicateKernel { .. }),
        "{error}"
    );
}

#[test]
fn newer_versions_and_conflicts_say_what_to_do() {
    let newer = Lockfile::parse("version = 7\nwhatever = {}\n").unwrap_err();
    assert!(newer.to_string().contains("update cltune"), "{newer}");
    let conflict = Lockfile::parse("version = 1\n<<<<<<< HEAD\n=======\n>>>>>>> b\n").unwrap_err();
    assert!(
        conflict.to_string().contains("cargo cltune merge"),
        "{conflict}"
    );
    assert_eq!(conflict.line, 2);
}
