//! Unit tests of `lockfile_store`.

use super::*;
use std::fs;

#[test]
fn an_absent_file_is_no_error_and_a_broken_one_names_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cltune.lock");
    assert!(read(&path).unwrap().is_none());
    fs::write(&path, "version = 1\n[[device]]\n").unwrap();
    let shown = read(&path).unwrap_err().to_string();
    assert!(
        shown.contains("cltune.lock: line 2: [[device]] has no `id`"),
        "{shown}"
    );
    assert!(matches!(read(folder.path()), Err(StoreError::Read { .. })));
}

#[test]
fn writing_replaces_the_whole_file_and_leaves_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cltune.lock");
    for _ in 0..2 {
        write(&path, &Lockfile::default()).unwrap();
        assert_eq!(read(&path).unwrap(), Some(Lockfile::default()));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_read_only_file_and_a_missing_folder_are_errors_that_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cltune.lock");
    fs::write(&path, "old").unwrap();
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    assert!(matches!(
        write(&path, &Lockfile::default()),
        Err(StoreError::Write { .. })
    ));
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    let nowhere = folder.path().join("nowhere").join("cltune.lock");
    let error = write(&nowhere, &Lockfile::default())
        .unwrap_err()
        .to_string();
    for error in [error, check_writable(&nowhere).unwrap_err().to_string()] {
        assert!(
            error.contains("there is no folder /") && error.contains("nowhere"),
            "{error}"
        );
        assert!(!error.contains(".cltune"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (
        folder.path().join("real.lock"),
        folder.path().join("cltune.lock"),
    );
    fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    write(&link, &Lockfile::default()).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(
        fs::read_to_string(&real).unwrap(),
        Lockfile::default().to_text()
    );
    // One that leads nowhere yet: through a second link, in another folder.
    fs::create_dir(folder.path().join("below")).unwrap();
    let (far, near) = (folder.path().join("far"), folder.path().join("near"));
    std::os::unix::fs::symlink("below/new.lock", &far).unwrap();
    std::os::unix::fs::symlink("far", &near).unwrap();
    check_writable(&near).unwrap();
    assert!(read(&near).unwrap().is_none());
    write(&near, &Lockfile::default()).unwrap();
    assert_eq!(
        read(&folder.path().join("below/new.lock")).unwrap(),
        Some(Lockfile::default())
    );
    for link in [&far, &near] {
        assert!(fs::symlink_metadata(link).unwrap().is_symlink());
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink("loop", path("loop")).unwrap();
    std::os::unix::fs::symlink("/dev/null", path("device")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(path("pipe"))
        .status();
    assert!(made.unwrap().success());
    for (name, says) in [
        ("loop", "link that leads back to itself"),
        ("device", "it is a device"),
        ("pipe", "it is a named pipe"),
        (".", "it is a folder"),
    ] {
        for result in [check_writable(&path(name)), replace(&path(name), "text")] {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(says), "{name}: {error}");
        }
        assert!(
            matches!(read_text(&path(name)), Err(StoreError::Read { .. })),
            "{name}"
        );
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn changes_at_the_same_time_wait_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cltune.lock");
    let count = || -> usize {
        let text = fs::read_to_string(&path).unwrap_or_default();
        text.parse().unwrap_or_default()
    };
    let change = || {
        for _ in 0..25 {
            let _held = lock(&path);
            let before = count();
            std::thread::sleep(Duration::from_micros(100));
            replace(&path, (before + 1).to_string()).unwrap();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(change);
        }
    });
    assert_eq!(count(), 100);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no litter");
}
