//! Programs that are ended while they tune, and two at the same time.

use super::calls::{FOUND, PATIENCE, add, alone, explain, queue};
use cltune::{Buffer, Policy, with_policy};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// How many configurations were tried, as `explain` says; `None` while there is no search.
fn tried(said: &str) -> Option<usize> {
    let begin = said.split("calls: ").nth(1)?;
    begin.split(' ').next()?.parse().ok()
}

/// What a program does that is ended when so many configurations were tried; 0: not before it has
/// found the fastest. Prints how many were known when it began.
#[test]
fn child_that_is_ended() {
    let Ok(most) = std::env::var("TRIED") else {
        return;
    };
    let most: usize = most.parse().unwrap();
    let queue = queue(false);
    let mut y = Buffer::from_slice(&queue, &[0.0_f32; 256]).unwrap();
    let policy: Policy = "online:60s".parse().unwrap();
    with_policy(&policy, || {
        let mut known = None;
        let begin = Instant::now();
        loop {
            assert!(begin.elapsed() < PATIENCE, "it does not converge");
            add(&queue, 256, &mut y).unwrap().wait().unwrap();
            let said = explain(&queue, 256);
            let tried = tried(&said).filter(|tried| *tried > 0);
            if std::env::var_os("LEAVES").is_some() && has_builder() && tried.is_some() {
                break;
            }
            if known.is_none() && tried.is_some() {
                known = tried;
                println!("known {}", tried.unwrap_or_default());
            }
            if most > 0 && tried >= Some(most) {
                std::process::abort();
            }
            if said.contains(FOUND) {
                println!("found");
                return;
            }
            if tried.is_none() {
                // Another program searches; its times are not to be disturbed all the time.
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    });
    drop((y, queue));
    println!("building: {}", has_builder());
}

/// A program that is ended when so many configurations were tried.
fn ended_after(most: usize, cache: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "online::programs::child_that_is_ended",
        "--nocapture",
    ]);
    command.env("TRIED", most.to_string());
    command.env("CLTUNE_CACHE", cache);
    command
}

/// A driver that is at work when its program ends may crash.
#[test]
#[cfg(target_os = "linux")]
fn who_drops_the_context_waits_for_what_is_being_built() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let mut program = ended_after(0, folder.path());
    program.env("LEAVES", "1");
    let output = program.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("building: false"), "{output:?}");
}

/// Whether this process has a thread that builds. One that has ended may be listed for a moment
/// after it was waited for; Linux marks it as exiting before that (`PF_EXITING`).
fn has_builder() -> bool {
    const EXITING: u64 = 4;
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let mut states = threads.map(|thread| {
        let state = thread.unwrap().path().join("stat");
        std::fs::read_to_string(state).unwrap_or_default()
    });
    states.any(|state| {
        let Some((name, state)) = state.rsplit_once(") ") else {
            return false;
        };
        let flags = state.split(' ').nth(6).and_then(|flags| flags.parse().ok());
        name.ends_with("(cltune builder") && flags.is_some_and(|flags: u64| flags & EXITING == 0)
    })
}

#[test]
fn of_two_programs_one_searches_and_both_use_what_it_finds() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let programs = [0, 1].map(|_| {
        let mut command = ended_after(0, folder.path());
        command.stdout(Stdio::piped()).spawn().unwrap()
    });
    let outputs = programs.map(|program| program.wait_with_output().unwrap());
    let searched = outputs.iter().filter(|output| {
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("found"), "{said}");
        said.contains("known")
    });
    assert_eq!(searched.count(), 1, "{outputs:?}");
}

#[test]
fn a_program_that_is_ended_goes_on_in_its_next_run() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let run = |most: usize| ended_after(most, folder.path()).output().unwrap();
    let known = |output: &Output| -> usize {
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let known = said
            .split("known ")
            .nth(1)
            .and_then(|rest| rest.lines().next());
        known
            .and_then(|known| known.trim().parse().ok())
            .unwrap_or_else(|| panic!("{output:?}"))
    };
    let first = run(5);
    assert!(!first.status.success(), "{first:?}");
    assert_eq!(known(&first), 1, "the default only");
    let begun = progress(folder.path());
    assert!(begun.is_some(), "{first:?}");

    // The default, and what need not be tried again: all but three at most.
    let second = run(6);
    assert!(known(&second) >= 2, "{second:?}");

    // Damage costs what is damaged.
    let path = progress(folder.path()).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes.truncate(middle);
    std::fs::write(&path, bytes).unwrap();
    let third = run(0);
    assert!(third.status.success(), "{third:?}");
    assert!(
        String::from_utf8_lossy(&third.stdout).contains("found"),
        "{third:?}"
    );
    assert_eq!(progress(folder.path()), None, "it was removed");
}

/// The file with what was tried so far.
fn progress(cache: &Path) -> Option<std::path::PathBuf> {
    let files = std::fs::read_dir(cache.join("v1/notes")).unwrap();
    let mut paths = files.map(|file| file.unwrap().path());
    paths.find(|path| path.extension().is_some_and(|ending| ending == "progress"))
}
