//! Changes of sources that cargo does not notice. Cargo compares times: a kernel that is put back
//! with an older time, from a backup or an archive, is not built again, and cargo does not know of
//! a new lockfile.

use crate::lockfile_store;
use cltune_formats::declaration::{Declaration, SourceFile};
use cltune_formats::lockfile::FILE_NAME;
use cltune_formats::{fingerprint, source};
use std::fs::File;
use std::path::Path;
use std::time::SystemTime;

/// The first file of a declaration whose content is another than when it was built, if there is
/// one. `folder` is the package's.
pub(super) fn changed<'a>(folder: &Path, declaration: &'a Declaration) -> Option<&'a str> {
    let is_changed = |file: &&SourceFile| {
        let path = folder.join(&file.path);
        // What cannot be read any more is for the build to complain of.
        cltune_files::read_text(&path, source::MAX_BYTES as u64)
            .map_or(true, |text| fingerprint::of_text(&text) != file.content)
    };
    let changed = declaration.files.iter().find(is_changed);
    changed.map(|file| file.path.as_str())
}

/// Makes cargo rebuild the sources whose artifact was built without the lockfile that lies there
/// now: nothing tracks a file that did not exist, so only their own time of change can tell.
pub(crate) fn touch_sources(folder: &Path, declarations: &[Declaration]) {
    let Ok(Some(text)) = lockfile_store::read_text(&folder.join(FILE_NAME)) else {
        return;
    };
    let now = fingerprint::of_text(&text);
    for declaration in declarations
        .iter()
        .filter(|found| found.lockfile_seen != now)
    {
        touch(folder, declaration);
    }
}

/// Makes cargo build a declaration again. Failing to is no failure: `cargo build` then needs a
/// change to see what is new.
pub(crate) fn touch(folder: &Path, declaration: &Declaration) {
    if declaration.source_file.is_empty() {
        return;
    }
    let path = folder.join(&declaration.source_file);
    // An artifact may name anything: opening a named pipe waits for whoever reads it.
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let file = is_file.then(|| File::options().append(true).open(path));
    if let Some(Ok(file)) = file {
        let _ = file.set_modified(SystemTime::now());
    }
}
