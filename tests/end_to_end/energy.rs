//! `--objective energy` and `energy-delay`, with a driver that makes up the times of launches, and
//! advances made-up counters: the winner is another one than by time.

use cltune_tests::faulty::{BEST, Session};
use cltune_tests::powercap::{LACKED_UJ, Powercap, VARIABLE};
use cltune_tests::{Output, Project, is_left_to_full, samples, skip};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The time of a launch for each value of `A`, microseconds.
const TIMES_US: [u64; 6] = [800, 400, 200, 100, 25, 100];
/// The energy of a launch for each value of `A`, microjoules. 1 takes four times the time of 3 and
/// two thirds of its energy, which is the least; so 3 has three eighths of the product of 1, the
/// least product. 4, the fastest, has the largest energy.
const SPENT_UJ: [u64; 6] = [1_000_000, 30_000, 1_000_000, 45_000, 4_000_000, 400_000];
const LEAST_ENERGY: i64 = 1;
const LEAST_PRODUCT: i64 = 3;
/// The power of the other package, watts.
const IDLE_W: f64 = 0.02;

fn session(powercap: &Powercap) -> Session {
    let zone = powercap.launches();
    let launches = TIMES_US.iter().zip(SPENT_UJ).enumerate();
    let faults = launches.map(|(value, (time_us, microjoules))| {
        let (zone, end_ns) = (zone.display(), time_us * 1000);
        format!(
            "spend={microjoules} {zone}@clEnqueueNDRangeKernel:A={value};\
             answer=0@CL_PROFILING_COMMAND_START:A={value};\
             answer={end_ns}@CL_PROFILING_COMMAND_END:A={value}"
        )
    });
    Session::new(&faults.collect::<Vec<_>>().join(";"))
}

/// Tunes with counters in this folder.
fn tune(session: &Session, root: &Path, arguments: &[&str]) -> Output {
    Output::of(session.command(arguments).env(VARIABLE, root))
}

/// The results in a journal that have an energy: value, joules, launches and seconds.
fn energies(journal: &str) -> Vec<(i64, f64, f64, f64)> {
    let lines = journal
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    lines
        .filter_map(|line: Value| {
            let energy = &line["energy"];
            let uncertainty = energy["uncertainty"].as_f64()?;
            assert!(uncertainty <= 0.02, "{line}");
            Some((
                line["values"][0].as_i64()?,
                energy["joules"].as_f64()?,
                energy["launches"].as_f64()?,
                energy["seconds"].as_f64()?,
            ))
        })
        .collect()
}

#[test]
fn the_winner_is_by_the_objective_and_what_is_measured_is_recorded() {
    let powercap = Powercap::new(IDLE_W);
    let mut all_j = by_energy(&powercap, "energy", LEAST_ENERGY);
    all_j += by_energy(&powercap, "energy-delay", LEAST_PRODUCT);
    // The counters have begun again, which a single launch of each does.
    assert!(all_j > LACKED_UJ as f64 / 1e6, "{all_j} J");

    let session = session(&powercap);
    let tuned = tune(&session, powercap.root(), &["--objective", "time"]).expect_code(0);
    assert_eq!(session.chosen(), BEST, "{tuned}");
    assert_eq!(tuned.messages("finished")[0]["objective"], "time");
    let journal = session.journal().unwrap();
    assert!(
        energies(&journal).is_empty() && !journal.contains("idle"),
        "{journal}"
    );
    let lockfile = fs::read_to_string(session.path("cltune.lock")).unwrap();
    for key in ["objective", "energy"] {
        assert!(!lockfile.contains(key), "{lockfile}");
    }
}

/// Tunes by an objective with energy, and looks at what is written of it. All energy that was
/// measured, joules.
fn by_energy(powercap: &Powercap, objective: &str, best: i64) -> f64 {
    let session = session(powercap);
    let arguments = ["--objective", objective];
    let tuned = tune(&session, powercap.root(), &arguments).expect_code(0);
    assert_eq!(session.chosen(), best, "{objective}: {tuned}");
    let finished = &tuned.messages("finished")[0];
    assert_eq!(finished["objective"], objective, "{finished}");
    let lockfile = fs::read_to_string(session.path("cltune.lock")).unwrap();
    let entry = format!("objective = \"{objective}\"\nenergy_j = ");
    assert!(lockfile.contains(&entry), "{lockfile}");
    assert!(lockfile.contains("default_energy_j = "), "{lockfile}");
    let idle = &tuned.messages("idle-power")[0];
    let idle_w = idle["watts"].as_f64().unwrap();
    // As precise as a machine is where threads wait for each other.
    assert!(idle_w > 0.0 && idle_w < 3.0 * IDLE_W, "{idle}");
    let journal = session.journal().unwrap();
    assert!(
        journal.contains("\"idle\":{\"source\":\"powercap"),
        "{journal}"
    );
    let energies = energies(&journal);
    assert_eq!(energies.len(), 6, "{journal}");
    let measured = energies
        .into_iter()
        .map(|(value, joules, launches, seconds)| {
            let spent_j = SPENT_UJ[value as usize] as f64 / 1e6;
            let beside_j = 3.0 * IDLE_W * seconds / launches;
            assert!(
                joules >= 0.95 * spent_j && joules <= 1.05 * spent_j + beside_j,
                "A = {value} takes {spent_j} J, and {joules} J were measured"
            );
            joules * launches
        });
    measured.sum()
}

#[test]
fn what_puts_inputs_back_between_launches_is_no_part_of_their_energy() {
    if is_left_to_full() {
        return;
    }
    let powercap = Powercap::new(IDLE_W);
    let session = session(&powercap);
    let arguments = ["--objective", "energy", "--kernel", "changing"];
    let _ = tune(&session, powercap.root(), &arguments).expect_code(0);
    assert_eq!(session.chosen(), LEAST_ENERGY);
    let energies = energies(&session.journal().unwrap());
    assert_eq!(energies.len(), 2);
    for (value, joules, launches, seconds) in energies {
        let spent_j = SPENT_UJ[value as usize] as f64 / 1e6;
        let beside_j = 3.0 * IDLE_W * seconds / launches;
        assert!(
            (joules - spent_j).abs() <= 0.05 * spent_j + beside_j,
            "A = {value} takes {spent_j} J, and {joules} J were measured"
        );
    }
}

#[test]
fn results_of_objectives_stay_apart_and_are_resumed_with_their_energy() {
    if is_left_to_full() {
        return;
    }
    let powercap = Powercap::new(IDLE_W);
    let session = session(&powercap);
    let run = |more: &[&str]| {
        let arguments = [&["--resume"], more].concat();
        tune(&session, powercap.root(), &arguments).expect_code(0)
    };
    let _ = run(&["--objective", "energy"]);
    for (objective, resumed) in [("time", 0), ("energy-delay", 0), ("energy", 1)] {
        let again = run(&["--objective", objective]);
        assert_eq!(again.messages("resumed").len(), resumed, "{again}");
    }
    // All were known, and the finalists were compared again.
    assert_eq!(session.chosen(), LEAST_ENERGY);
}

#[test]
fn where_nothing_can_be_read_nothing_is_tuned() {
    let powercap = Powercap::new(IDLE_W);
    let session = session(&powercap);
    let objective = ["--objective", "energy"];
    let nothing = session.path("nothing");
    let refused = tune(&session, &nothing, &objective).expect_code(2);
    let _ = refused.expect_stderr(&[
        "cannot be tuned by energy, and nothing was measured",
        "/nothing is not there",
        "--objective time",
    ]);
    // A counter that holds something else.
    let damaged = session.path("damaged");
    let zone = damaged.join("intel-rapl:0");
    fs::create_dir_all(&zone).unwrap();
    for (file, text) in [
        ("name", "package-0"),
        ("max_energy_range_uj", "1000000"),
        ("energy_uj", "much"),
    ] {
        fs::write(zone.join(file), text).unwrap();
    }
    let _ = tune(&session, &damaged, &objective)
        .expect_code(2)
        .expect_stderr(&["intel-rapl:0/energy_uj holds \"much\", and no number"]);
    // One that does not advance.
    fs::write(zone.join("energy_uj"), "7").unwrap();
    let _ = tune(&session, &damaged, &objective)
        .expect_code(2)
        .expect_stderr(&["powercap (RAPL), all packages does not advance"]);
    let _ = tune(
        &session,
        powercap.root(),
        &["--objective", "energy", "--measure", "cold"],
    )
    .expect_code(2)
    .expect_stderr(&[
        "energy cannot be measured with cold caches",
        "--measure warm",
    ]);
    let _ = tune(&session, powercap.root(), &["--objective", "power"])
        .expect_code(2)
        .expect_stderr(&["invalid value 'power'", "time, energy, energy-delay"]);
    assert!(session.journal().is_none(), "nothing was measured");
    assert!(!session.path("cltune.lock").exists());
}

#[test]
fn a_missing_right_is_named_with_its_file() {
    use std::os::unix::fs::PermissionsExt as _;

    // Root may read every file, unless its rights are those of a namespace of its own.
    const NAMESPACE: [&str; 2] = ["--user", "--"];
    let allowed = Command::new("unshare").args(NAMESPACE).arg("true").status();
    if !allowed.is_ok_and(|status| status.success()) {
        skip("there is no `unshare --user` with which root gives up its rights");
        return;
    }
    let powercap = Powercap::new(IDLE_W);
    let session = session(&powercap);
    let file = powercap.launches().join("energy_uj");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    let tune = session.command(&["--objective", "energy"]);
    let mut command = Command::new("unshare");
    command.args(NAMESPACE);
    command.arg(tune.get_program()).args(tune.get_args());
    session.place(&mut command);
    command.env(VARIABLE, powercap.root());
    let right = format!("the right to read {} is missing", file.display());
    let _ = Output::of(&mut command)
        .expect_code(2)
        .expect_stderr(&[&right, "sudo chmod a+r"]);
    assert!(session.journal().is_none(), "nothing was measured");
}

#[test]
fn what_is_declared_is_asked_for_and_checked() {
    let powercap = Powercap::new(IDLE_W);
    let clauses = "params(A = [1, 2]), objective(energy)";
    let project = samples::inline("cltune-e2e-energy-declared", clauses, KERNEL);
    project.forget_sessions();
    let tune = |project: &Project, more: &[&str]| {
        let arguments = ["tune", "--strategy", "full", "--device", "0"];
        let mut command = project.cltune_command(&[&arguments[..], more].concat());
        Output::of(command.env(VARIABLE, powercap.root())).expect_code(0)
    };
    let _ = tune(&project, &[]).expect_stdout(&["chosen by energy: a launch takes", "idle power"]);
    let lockfile = project.read("cltune.lock");
    assert!(lockfile.contains("objective = \"energy\"\n"), "{lockfile}");
    let _ = project.cltune(&["check"]).expect_code(0);
    let _ = project
        .cltune(&["list"])
        .expect_code(0)
        .expect_stdout(&["lockfile: fresh, measured with warm caches, chosen by energy"]);
    let _ = project.cltune(&["report"]).expect_code(0);
    let report = fs::read_to_string(project.target().join("cltune/report.html")).unwrap();
    assert!(report.contains("Time and energy"), "{report}");

    project.edit("src/lib.rs", "objective(energy)", "objective(time)");
    let _ = project.cltune(&["check"]).expect_code(1).expect_stdout(&[
        "1 entry chosen by energy, and it declares time now",
        "run `cargo cltune`",
    ]);
    let _ = tune(&project, &[]);
    assert!(!project.read("cltune.lock").contains("objective"));
    let _ = project.cltune(&["check"]).expect_code(0);
}

const KERNEL: &str =
    "__kernel void run(const uint n, __global int* y) { y[get_global_id(0)] = (int)n + A - A; }";
