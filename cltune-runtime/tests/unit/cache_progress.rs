//! Tests of `cache/progress`.

use super::super::store::tests::{device, model};
use super::*;
use std::time::Duration;

fn tried(code: i64, part: Option<f64>) -> Tried {
    Tried {
        codes: [code].into(),
        part,
    }
}

/// Goes on in a folder, with this driver and this default.
fn go_on(folder: &Path, driver: &str, default: i64) -> (Progress, Vec<Tried>) {
    let trial = Trial::begin(&folder.join("a.trial"), Duration::ZERO);
    let conditions = Conditions {
        model: &model(),
        info: &device(driver),
        dims: &[8],
        default: &[default],
        checked: true,
    };
    Progress::go_on(&trial.unwrap().unwrap(), &conditions).unwrap()
}

/// A folder in which 32 failed and 64 took half of the default's time.
fn begun() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (mut progress, before) = go_on(folder.path(), "1", 32);
    assert_eq!(before, []);
    for one in [tried(32, None), tried(64, Some(0.25)), tried(64, Some(0.5))] {
        progress.add(&model(), &one).unwrap();
    }
    folder
}

#[test]
fn what_one_run_tried_the_next_knows() {
    let folder = begun();
    let all = [tried(32, None), tried(64, Some(0.5))];
    for _ in 0..2 {
        assert_eq!(go_on(folder.path(), "1", 32).1, all);
    }
    // Nothing is left beside it.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    go_on(folder.path(), "1", 32).0.remove();
    assert_eq!(go_on(folder.path(), "1", 32).1, []);
}

#[test]
fn other_conditions_begin_anew() {
    for (driver, default) in [("2", 32), ("1", 64)] {
        let folder = begun();
        assert_eq!(go_on(folder.path(), driver, default).1, []);
        assert_eq!(go_on(folder.path(), "1", 32).1, [], "it was replaced");
    }
}

#[test]
fn a_damaged_line_is_none_and_the_others_stay() {
    let folder = begun();
    let path = folder.path().join("a.progress");
    let whole = std::fs::read(&path).unwrap();
    let all = [tried(32, None), tried(64, Some(0.25)), tried(64, Some(0.5))];
    let starts: Vec<usize> = (0..whole.len())
        .filter(|at| *at == 0 || whole[at - 1] == b'\n')
        .collect();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 4;
        std::fs::write(&path, damaged).unwrap();
        let found = go_on(folder.path(), "1", 32).1;
        assert!(found.iter().all(|one| all.contains(one)), "{at}: {found:?}");
        // A program that ended in the middle of a line.
        std::fs::write(&path, &whole[..at]).unwrap();
        let (mut progress, found) = go_on(folder.path(), "1", 32);
        let lines = starts.iter().filter(|start| **start < at).count();
        let known = found.len();
        assert!(known + 2 >= lines.min(3) && known <= 2, "{at}: {found:?}");
        progress.add(&model(), &tried(64, Some(0.75))).unwrap();
        let found = go_on(folder.path(), "1", 32).1;
        assert_eq!(found.last(), Some(&tried(64, Some(0.75))), "{at}");
    }
}

#[test]
fn what_is_no_progress_is_none() {
    let folder = begun();
    let path = folder.path().join("a.progress");
    let header = |text: &str| text.lines().next().unwrap()[17..].to_owned();
    let header = header(&std::fs::read_to_string(&path).unwrap());
    for wrong in ["64", "65\t0.5", "64,64\t0.5", "64\tNaN", "64\t-", "half\t1"] {
        let lines = [header.as_str(), wrong].map(|text| {
            let sum = checksum(&header, text);
            format!("{sum}\t{text}\n")
        });
        std::fs::write(&path, lines.concat()).unwrap();
        assert_eq!(go_on(folder.path(), "1", 32).1, [], "{wrong}");
    }
}

#[test]
#[cfg(unix)]
fn a_file_that_others_can_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = begun();
    let path = folder.path().join("a.progress");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let read = read(&path, "", &model());
    assert!(
        matches!(read, Err(CacheError::NotPrivate { .. })),
        "{read:?}"
    );
}
