//! The lockfile's results for this tunable.

use crate::environment::{Environment, read_lockfile};
use crate::errors::Errors;
use cltune_core::model::{Model, without_structs};
use cltune_core::select::Table;
use cltune_formats::fingerprint;
use cltune_formats::lockfile::Lockfile;
use proc_macro2::Span;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A lockfile that was read, and what is made of its text.
struct Read {
    path: PathBuf,
    text: String,
    fingerprint: String,
    /// Or why it is none.
    lockfile: Result<Lockfile, String>,
}

/// What this process has read: the compiler expands all tunables of a crate in one process, and
/// they share a lockfile. Reading it anew for each was half the time of checking `cltune-kernels`.
static READ: Mutex<Vec<Arc<Read>>> = Mutex::new(Vec::new());

/// The files of `CLTUNE_LOCK` that this process has warned of: each tunable would say the same.
static MISSING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Results that are used if the layouts of structs are still those that they were tuned with, which
/// the compiler decides.
pub(crate) struct IfStructs {
    /// The fingerprint that the results have.
    pub(crate) fingerprint: String,
    /// What to warn of if they are not used.
    pub(crate) stale: String,
}

/// What the lockfile gives.
pub(super) struct Baked {
    /// The results that belong to this version of the tunable.
    pub(super) table: Table,
    /// Why there are results that are not used, if so.
    pub(super) stale: Option<String>,
    /// That there is no file of the name in `CLTUNE_LOCK`, said once by this process.
    pub(super) missing: Option<String>,
    /// What decides whether they are used, where the layouts of structs are a part of it.
    pub(super) if_structs: Option<IfStructs>,
    /// The package's own lockfile, as `Declaration::lockfile_seen` wants it.
    pub(super) seen: String,
    /// The files that were read.
    pub(super) tracked: Vec<PathBuf>,
}

impl Default for Baked {
    fn default() -> Self {
        Self {
            table: Table::EMPTY,
            stale: None,
            missing: None,
            if_structs: None,
            seen: "absent".into(),
            tracked: Vec::new(),
        }
    }
}

/// Reads the lockfile of `CLTUNE_LOCK` and the package's own: the first that has results for this
/// tunable counts. A file that does not exist is an ordinary state; one that cannot be read is an
/// error at the attribute.
pub(super) fn read(environment: &Environment, model: &Model, errors: &mut Errors) -> Baked {
    let mut baked = Baked::default();
    let own = environment.own_lock();
    let given = environment.override_lock.as_deref();
    let absolute = given.map(|path| environment.directory.join(path));
    let places = absolute.iter().filter(|path| **path != own);
    let mut found = false;
    for path in places.chain([&own]) {
        let read = match read_lockfile(path) {
            Ok(None) => {
                // A relative path means another file in each package, and not all need have one.
                if given == Some(path.as_path()) && said_first(path) {
                    baked.missing = Some(missing(path));
                }
                continue;
            }
            Ok(Some(text)) => shared(path, text),
            Err(reason) => {
                errors.add(Span::call_site(), format!("`{}`: {reason}", path.display()));
                continue;
            }
        };
        baked.tracked.push(path.clone());
        if *path == own {
            baked.seen.clone_from(&read.fingerprint);
        }
        if found {
            continue;
        }
        match results(&read, model) {
            Ok(Results::None) => {}
            Ok(Results::Stale) => {
                baked.stale.get_or_insert_with(|| stale(path, model));
            }
            Ok(Results::Current(table)) => {
                baked.table = table;
                found = true;
            }
            Ok(Results::IfStructs(table, fingerprint)) => {
                baked.table = table;
                let stale = stale(path, model);
                baked.if_structs = Some(IfStructs { fingerprint, stale });
                found = true;
            }
            Err(message) => errors.add(Span::call_site(), message),
        }
    }
    baked
}

/// A lockfile with this text, parsed once. Another text is another file: processes of editors live
/// for days.
fn shared(path: &Path, text: String) -> Arc<Read> {
    // Nothing that panics leaves it half changed.
    let mut all = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(read) = all.iter().find(|of| of.path == path && of.text == text) {
        return Arc::clone(read);
    }
    all.retain(|of| of.path != path);
    let read = Arc::new(Read {
        path: path.to_owned(),
        fingerprint: fingerprint::of_text(&text),
        lockfile: Lockfile::parse(&text).map_err(|error| error.to_string()),
        text,
    });
    all.push(Arc::clone(&read));
    read
}

enum Results {
    None,
    Stale,
    Current(Table),
    /// With the fingerprint.
    IfStructs(Table, String),
}

fn results(read: &Read, model: &Model) -> Result<Results, String> {
    let path = &read.path;
    let lockfile = read.lockfile.as_ref();
    let lockfile = lockfile.map_err(|error| format!("`{}`, {error}", path.display()))?;
    let has_structs = !model.structs().is_empty();
    match lockfile.kernel(&model.name) {
        Some(kernel)
            if has_structs
                && without_structs(&kernel.fingerprint) == without_structs(&model.fingerprint) =>
        {
            let fingerprint = kernel.fingerprint.clone();
            let current = Model {
                fingerprint: fingerprint.clone().into(),
                ..model.clone()
            };
            let table = lockfile.table(&current);
            table
                .map(|table| Results::IfStructs(table, fingerprint))
                .map_err(|error| format!("`{}`: {error}", path.display()))
        }
        None => Ok(Results::None),
        Some(kernel) if !kernel.is_current(model) => Ok(Results::Stale),
        Some(_) => lockfile
            .table(model)
            .map(Results::Current)
            .map_err(|error| format!("`{}`: {error}", path.display())),
    }
}

/// Whether nothing was said of this path before.
fn said_first(path: &Path) -> bool {
    let mut missing = MISSING.lock().unwrap_or_else(PoisonError::into_inner);
    let is_first = !missing.iter().any(|known| known == path);
    if is_first {
        missing.push(path.to_owned());
    }
    is_first
}

fn missing(path: &Path) -> String {
    format!(
        "`CLTUNE_LOCK` names `{}`, and there is no such file; where it comes to be there, cargo does not notice until \
         the package changes",
        path.display()
    )
}

fn stale(path: &Path, model: &Model) -> String {
    format!(
        "the results for `{}` in `{}` were tuned for another version of the kernel or of its \
         declaration and are not used; run `cargo cltune` to tune it again",
        model.name,
        path.display()
    )
}
