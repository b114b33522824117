//! The configuration that a call gets under each policy, and the messages about it. Policies and
//! caches are facts of the process, so most cases run this test binary again with another
//! environment.

use cltune::__private::core::measure::Measure;
use cltune::__private::core::select::Table;
use cltune::__private::{Arg, explain, launch};
use cltune::{Buffer, Event, Policy, Queue, Result, Tunable, tunable, with_policy};
use cltune_formats::lockfile::{Lockfile, Measured};
use std::path::Path;
use std::process::Command;

/// Writes which configuration runs. The farther from 4, the slower; 5 does not compile, and 6 is
/// wrong.
#[tunable(
    name = "policy::which",
    params(A = 0..=7),
    global(n), local(1),
    tune(n = 8),
    defaults(A = 0),
)]
pub fn which(queue: &Queue, n: u32, #[arg(out, len = 2 * n)] y: &mut Buffer<i32>) -> Result<Event> {
    "
    #if A == 5
    #error five does not compile
    #endif
    __kernel void which(const uint n, __global int* y) {
        const int distance = A > 4 ? A - 4 : 4 - A;
        float waste = get_global_id(0);
        // The same work whatever the size, and more than what a busy machine adds to a launch.
        const int rounds = distance * (int)(400000 / n);
        for (int i = 0; i < rounds; i++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
        const uint i = get_global_id(0);
        y[2 * i] = A == 6 ? 1 : 2;
        y[2 * i + 1] = waste > 1e30f ? 1 : 3;
    }
    "
}

fn queue() -> Queue {
    Queue::default_device().expect("these tests need an OpenCL device; scripts/setup installs one")
}

/// The values that a call with `n` has, as `explain` says, after a call whose result is right.
fn call(queue: &Queue, n: u32) -> Result<String> {
    let mut y = Buffer::from_slice(queue, &vec![0_i32; 2 * n as usize])?;
    which(queue, n, &mut y)?;
    let right = [2, 3].repeat(n as usize);
    assert_eq!(y.read(queue)?, right);
    let explanation = which::explain(queue, which::Problem { n: n.into() })?;
    println!("{explanation}");
    Ok(explanation.configuration().unwrap_or_default().to_owned())
}

/// The child's part: calls with the sizes in `SIZES`.
#[test]
fn child_calls() {
    let Ok(sizes) = std::env::var("SIZES") else {
        return;
    };
    let queue = queue();
    for n in sizes.split(',') {
        match call(&queue, n.parse().unwrap()) {
            Ok(configuration) => println!("n = {n} runs {configuration}"),
            Err(error) => println!("error {error}"),
        }
    }
}

/// The default is slow, 9 is faster and right, and all others are the fastest and wrong on one of
/// the two draws of inputs: half of them on the first, half of them on the second.
#[cfg(feature = "tuning")]
#[tunable(
    params(A = 0..=9),
    global(n), local(1),
    tune(n = 8),
    defaults(A = 0),
    draws = 2,
    reference(kernel = "right", global(n)),
)]
pub fn lucky(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    "
    __kernel void right(const uint n, __global const float* x, __global float* y) {
        y[get_global_id(0)] = x[get_global_id(0)];
    }
    __kernel void lucky(const uint n, __global const float* x, __global float* y) {
        const uint i = get_global_id(0);
        float waste = x[i];
        const int steps = A == 0 ? 200000 : A == 9 ? 20000 : 0;
        for (int step = 0; step < steps; step++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
        const int is_wrong = A > 0 && A < 9 && (x[2] > 0) == A % 2;
        y[i] = is_wrong || waste > 1e30f ? 7 : x[i];
    }
    "
}

/// The child's part: a call that tunes.
#[cfg(feature = "tuning")]
#[test]
fn child_is_lucky() {
    if std::env::var_os("IS_LUCKY").is_none() {
        return;
    }
    let queue = queue();
    let x = Buffer::from_slice(&queue, &[-1.0_f32; 8]).unwrap();
    let mut y = Buffer::from_slice(&queue, &[0.0_f32; 8]).unwrap();
    lucky(&queue, 8, &x, &mut y).unwrap().wait().unwrap();
    println!(
        "{}",
        lucky::explain(&queue, lucky::Problem { n: 8 }).unwrap()
    );
}

/// A program that calls with these sizes, under a policy and with a cache, and what it says.
fn program(policy: &str, cache: &Path, sizes: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child_calls", "--nocapture"])
        .env("CLTUNE_POLICY", policy)
        .env("CLTUNE_CACHE", cache)
        .env("SIZES", sizes);
    command
}

fn says(mut program: Command) -> String {
    let output = program.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

fn runs(n: u32, a: i32) -> String {
    format!("n = {n} runs A = {a}\n")
}

#[test]
fn without_a_policy_nothing_is_tuned() {
    let cache = tempfile::tempdir().unwrap();
    for policy in ["", "baked"] {
        let said = says(program(policy, cache.path(), "8"));
        assert!(said.contains(&runs(8, 0)), "{said}");
        assert!(
            said.contains("policy baked\n> A = 0: the declared default"),
            "{said}"
        );
    }
}

#[test]
fn a_policy_that_cannot_be_read_is_an_error_of_each_call() {
    let said = says(program("tune-twice", Path::new("off"), "8,8"));
    let error = "error CLTUNE_POLICY: `tune-twice` is no policy: write `baked`";
    assert_eq!(said.matches(error).count(), 2, "{said}");
    // A lockfile that is not there is a mistake of whoever set the variable, who sees no warnings.
    let said = says(program("offline:no/such.lock", Path::new("off"), "8,8"));
    let error = "error CLTUNE_POLICY: `offline`: the lockfile no/such.lock cannot be read: ";
    assert_eq!(said.matches(error).count(), 2, "{said}");
}

#[test]
fn a_lockfile_read_at_run_time_is_preferred() {
    let queue = queue();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tuned.lock");
    let mut lockfile = Lockfile::default();
    for (n, a) in [(8, 5), (16, 2), (1024, 3)] {
        let measured = Measured {
            dims: vec![n],
            codes: vec![a],
            time_us: 1.0,
            default_us: None,
            evaluated: 1,
            valid: 8,
            strategy: "full".into(),
            verification: None,
            measure: Measure::WARM,
            energy_j: None,
            default_energy_j: None,
        };
        let info = queue.device().info();
        lockfile
            .record(which::TUNABLE.model(), info, &measured)
            .unwrap();
    }
    std::fs::write(&path, lockfile.to_text()).unwrap();
    let offline = Policy::Offline(path);
    with_policy(&offline, || {
        // The entry for 8 does not compile, within the same call the next one serves.
        assert_eq!(call(&queue, 8).unwrap(), "A = 2");
        assert_eq!(call(&queue, 1000).unwrap(), "A = 3");
    });
    let problem = which::Problem { n: 8 };
    let explain = || which::explain(&queue, problem).unwrap().to_string();
    let said = with_policy(&offline, explain);
    for line in [
        "policy offline:",
        "  A = 5: tuned on this device for this problem: n = 8; refused: kernel",
        "> A = 2: tuned on this device for another problem: n = 16\n",
    ] {
        assert!(said.contains(line), "{said}");
    }
    let selected = with_policy(&offline, || which::select(queue.device(), problem).unwrap());
    assert_eq!(selected.params.A, 5, "what would be tried first");
    // Outside, and with a file that is none, there is what was compiled in.
    assert_eq!(call(&queue, 8).unwrap(), "A = 0");
    for bad in [folder.path().join("none"), folder.path().to_owned()] {
        let configuration = with_policy(&Policy::Offline(bad), || call(&queue, 16).unwrap());
        assert_eq!(configuration, "A = 0");
    }
}

#[test]
fn a_tunables_own_policy_precedes_the_processs() {
    let queue = queue();
    let model = which::TUNABLE.model().clone();
    let tunable: &'static Tunable = Box::leak(Box::new(Tunable::new(model, Table::EMPTY)));
    let policy = || explain(tunable, &queue, &[8]).unwrap().policy().clone();
    assert_eq!(policy(), cltune::policy().unwrap());
    let own = Policy::Offline("own.lock".into());
    tunable.set_policy(&own);
    assert_eq!(policy(), own);
    let mut y = Buffer::from_slice(&queue, &[0_i32; 16]).unwrap();
    let args = [Arg::scalar(&8_u32), Arg::buffer_mut(&mut y)];
    launch(tunable, &queue, &[8], &args).unwrap();
    with_policy(&Policy::Baked, || assert_eq!(policy(), Policy::Baked));
}

/// PoCL's programs are only kept when its own cache is off: see docs/run-time.md.
#[test]
fn programs_are_kept_and_damaged_ones_replaced() {
    let cache = tempfile::tempdir().unwrap();
    let run = || {
        let mut program = program("baked", cache.path(), "8");
        program.env("POCL_KERNEL_CACHE", "0");
        assert!(says(program).contains(&runs(8, 0)));
        let files = std::fs::read_dir(cache.path().join("v1/programs")).unwrap();
        let files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        (files[0].clone(), std::fs::read(&files[0]).unwrap())
    };
    let (path, kept) = run();
    assert_eq!(run().1, kept);
    for damaged in [&kept[..kept.len() / 2], b"not a program"] {
        std::fs::write(&path, damaged).unwrap();
        assert!(run().1.len() > damaged.len());
    }
}

/// Also where the driver keeps programs itself, as PoCL does.
#[test]
fn how_long_building_took_is_kept() {
    let cache = tempfile::tempdir().unwrap();
    let said = says(program("baked", cache.path(), "8"));
    assert!(said.contains(&runs(8, 0)), "{said}");
    let files = std::fs::read_dir(cache.path().join("v1/programs")).unwrap();
    let kept: Vec<_> = files
        .map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .collect();
    assert_eq!(kept.len(), 1);
    assert!(String::from_utf8_lossy(&kept[0]).contains("\ntook\t"));
}

#[cfg(feature = "tuning")]
mod tuning {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    #[test]
    fn the_first_call_tunes_and_later_programs_know() {
        let cache = tempfile::tempdir().unwrap();
        // The second size is like the first, the third is not.
        let said = says(program("tune-once:20", cache.path(), "8,16,64"));
        assert!(
            said.contains(&runs(8, 4)) && said.contains(&runs(16, 4)),
            "{said}"
        );
        assert!(
            said.contains("> A = 4: from this user's cache, for this problem: n = 8"),
            "{said}"
        );
        assert!(
            said.contains("> A = 4: from this user's cache, for another problem: n = 8"),
            "{said}"
        );
        assert!(
            said.contains("> A = 4: from this user's cache, for this problem: n = 64"),
            "{said}"
        );
        let said = says(program("baked", cache.path(), "8"));
        assert!(said.contains(&runs(8, 4)), "{said}");
        // A cache may be deleted at any time.
        fs::remove_dir_all(cache.path().join("v1")).unwrap();
        let said = says(program("baked", cache.path(), "8"));
        assert!(said.contains(&runs(8, 0)), "{said}");
    }

    #[test]
    fn what_is_wrong_on_another_draw_is_never_chosen_and_the_next_best_is() {
        let mut program = Command::new(std::env::current_exe().unwrap());
        program
            .args(["--exact", "child_is_lucky", "--nocapture"])
            .env("CLTUNE_POLICY", "tune-once:20")
            .env("CLTUNE_CACHE", "off")
            .env("IS_LUCKY", "1");
        let said = says(program);
        assert!(said.contains("> A = 9: from this user's cache"), "{said}");
    }

    #[test]
    fn ten_threads_on_first_use_and_two_programs_tune_once() {
        let cache = tempfile::tempdir().unwrap();
        let mut programs: Vec<_> = (0..2)
            .map(|_| program("tune-once:8", cache.path(), "8").spawn().unwrap())
            .collect();
        assert!(
            programs
                .iter_mut()
                .all(|program| program.wait().unwrap().success())
        );
        let (notes, _) = notes(cache.path());
        assert_eq!(
            notes
                .lines()
                .filter(|line| line.starts_with("result"))
                .count(),
            1,
            "{notes}"
        );

        let queue = queue();
        let policy: Policy = "tune-once:8".parse().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..10 {
                scope.spawn(|| {
                    with_policy(&policy, || assert_eq!(call(&queue, 512).unwrap(), "A = 4"));
                });
            }
        });
    }

    #[test]
    fn what_a_program_died_of_is_not_tried_again() {
        let cache = tempfile::tempdir().unwrap();
        says(program("tune-once:1", cache.path(), "8"));
        let (text, path) = notes(cache.path());
        assert!(text.contains("result\t8\t0\t"), "{text}");
        fs::remove_file(&path).unwrap();
        let name = format!("{}-8.trial", path.file_name().unwrap().display());
        let trial = path.with_file_name(name);
        fs::write(&trial, "8\t4\n").unwrap();
        let said = says(program("tune-once:20", cache.path(), "8"));
        assert!(said.contains(&runs(8, 3)), "{said}");
        let (text, _) = notes(cache.path());
        assert!(
            text.contains("refusal\t8\t4\t") && text.contains("ended while"),
            "{text}"
        );
        assert!(!trial.exists());
    }

    #[test]
    fn a_cache_that_cannot_be_used_changes_nothing_but_the_memory() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        for unusable in [
            Path::new("off"),
            &file,
            &file.join("x"),
            Path::new("/proc/cltune"),
        ] {
            let said = says(program("tune-once:20", unusable, "8,16"));
            assert!(
                said.contains(&runs(8, 4)) && said.contains(&runs(16, 4)),
                "{said}"
            );
        }
    }

    #[test]
    fn damaged_files_count_as_none_and_are_replaced() {
        let cache = tempfile::tempdir().unwrap();
        says(program("tune-once:20", cache.path(), "8"));
        let (_, path) = notes(cache.path());
        let sound = fs::read(&path).unwrap();
        let mut changed = sound.clone();
        let last = changed.len() - 2;
        changed[last] ^= 1;
        for damaged in [&sound[..sound.len() / 2], &changed, b"", &[0xff; 100]] {
            fs::write(&path, damaged).unwrap();
            let said = says(program("baked", cache.path(), "8"));
            assert!(said.contains(&runs(8, 0)), "{said}");
        }
        says(program("tune-once:20", cache.path(), "8"));
        let said = says(program("baked", cache.path(), "8"));
        assert!(said.contains(&runs(8, 4)), "{said}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn without_a_home_there_is_another_place_or_the_memory() {
        let folder = tempfile::tempdir().unwrap();
        let run = |home: Option<&str>, caches: Option<&Path>| {
            let mut program = program("tune-once:20", Path::new(""), "8,16");
            // PoCL has a cache of its own, which is not what is tested.
            program
                .env("POCL_CACHE_DIR", folder.path())
                .env_remove("HOME");
            program
                .env_remove("XDG_CACHE_HOME")
                .env_remove("CLTUNE_CACHE");
            program.envs(home.map(|home| ("HOME", home)));
            program.envs(caches.map(|caches| ("XDG_CACHE_HOME", caches)));
            let said = says(program);
            assert!(
                said.contains(&runs(8, 4)) && said.contains(&runs(16, 4)),
                "{said}"
            );
        };
        run(None, Some(folder.path()));
        let _ = notes(&folder.path().join("cltune"));
        run(Some("/proc/nobody"), None);
    }

    #[test]
    fn what_cannot_be_written_is_known_to_this_program_alone() {
        let cache = tempfile::tempdir().unwrap();
        says(program("tune-once:1", cache.path(), "8"));
        let (_, path) = notes(cache.path());
        fs::remove_file(&path).unwrap();
        // No file can take the place of a folder with something in it.
        fs::create_dir_all(path.join("folder")).unwrap();
        let said = says(program("tune-once:20", cache.path(), "8,16"));
        assert!(
            said.contains(&runs(8, 4)) && said.contains(&runs(16, 4)),
            "{said}"
        );
    }

    #[test]
    #[cfg(unix)]
    fn what_others_could_have_written_is_not_read() {
        use std::os::unix::fs::PermissionsExt as _;
        let cache = tempfile::tempdir().unwrap();
        says(program("tune-once:20", cache.path(), "8"));
        let (_, path) = notes(cache.path());
        let allow = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        for (open, closed) in [(path.clone(), 0o600), (cache.path().join("v1"), 0o700)] {
            allow(&open, closed | 0o022);
            let said = says(program("baked", cache.path(), "8"));
            assert!(said.contains(&runs(8, 0)), "{said}");
            allow(&open, closed);
        }
        let said = says(program("baked", cache.path(), "8"));
        assert!(said.contains(&runs(8, 4)), "{said}");
    }

    /// The only file of notes in a cache.
    fn notes(cache: &Path) -> (String, PathBuf) {
        let files = fs::read_dir(cache.join("v1/notes")).unwrap();
        let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        files.retain(|path| path.extension().is_none());
        assert_eq!(files.len(), 1, "{files:?}");
        (fs::read_to_string(&files[0]).unwrap(), files.remove(0))
    }
}
