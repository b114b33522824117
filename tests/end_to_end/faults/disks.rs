//! Disks that are full or cannot be written to.

use cltune_tests::Output;
use cltune_tests::faulty::{BEST, Session};

#[test]
fn a_state_folder_that_cannot_be_written_to() {
    let session = Session::new("");
    let mounts = "mkdir cltune-state && mount -t tmpfs -o ro tmpfs cltune-state";
    let Some(mut command) = session.command_on(mounts, &[]) else {
        return;
    };
    let failed = Output::of(&mut command).expect_code(2);
    let failed = failed.expect_stderr(&["cltune-state", "Read-only file system"]);
    // Said before anything is measured.
    assert!(failed.messages("configuration").is_empty(), "{failed}");
}

#[test]
fn a_disk_that_is_too_full_for_the_journal() {
    let session = Session::new("");
    // A page for the session's lock, none for the journal.
    let mounts = "mkdir cltune-state && mount -t tmpfs -o size=4k tmpfs cltune-state";
    let Some(mut command) = session.command_on(mounts, &[]) else {
        return;
    };
    let failed = Output::of(&mut command).expect_code(1);
    let failed = failed.expect_stderr(&["cannot write the journal", "No space left"]);
    assert!(failed.messages("configuration").is_empty(), "{failed}");
}

#[test]
fn a_disk_that_the_journal_fills() {
    let session = Session::new("");
    // Sessions until one of them finds the disk full.
    let mounts = "mkdir cltune-state && mount -t tmpfs -o size=8k tmpfs cltune-state \
                  && while \"$@\" > full; do :; done; cat full; exit 1";
    let Some(mut command) = session.command_on(mounts, &[]) else {
        return;
    };
    let failed = Output::of(&mut command).expect_code(1);
    let _ = failed.expect_stderr(&["cannot write the journal", "No space left"]);
    // What was found before is kept: the lockfile is on another disk.
    assert_eq!(session.chosen(), BEST);
}

#[test]
fn a_disk_that_is_too_full_for_the_lockfile() {
    let session = Session::new("");
    let mounts = "mkdir full state && mount -t tmpfs -o size=4k tmpfs full \
                  && mkdir full/cltune-state && mount --bind state full/cltune-state \
                  && head -c 4096 /dev/zero > full/ballast";
    let Some(mut command) = session.command_on(mounts, &["--lockfile", "full/cltune.lock"]) else {
        return;
    };
    let failed = Output::of(&mut command).expect_code(1);
    let failed = failed.expect_stderr(&["cannot write full/cltune.lock", "No space left"]);
    assert_eq!(failed.messages("configuration").len(), 6, "{failed}");
    // The results are in the journal.
    let journal = std::fs::read_dir(session.path("state/journal")).expect("there is a journal");
    assert_eq!(journal.count(), 1);
}
