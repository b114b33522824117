//! Notes of the cache, in memory and on disk.

use super::bound::{NOTES, keep_bounded};
use super::file::lock;
use super::folder::{CacheError, Folder};
use super::notes::{NotedRefusal, Notes, codes, line, values};
use super::{DamagedNotes, file};
use cltune_core::device::DeviceInfo;
use cltune_core::model::Model;
use cltune_core::select::Table;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The time to wait for another program that writes.
const PATIENCE: Duration = Duration::from_secs(1);

/// The results and refusals of the cache and of this process's own tuning.
#[derive(Debug)]
pub(crate) struct Store {
    /// `None`: in memory only.
    folder: Option<Folder>,
    /// By [`key`].
    results: Mutex<HashMap<String, Arc<CachedResults>>>,
}

/// Results and refusals of a kernel on a device, as the selection rule takes them.
#[derive(Debug, PartialEq)]
pub(crate) struct CachedResults {
    /// Results of tuning.
    pub(crate) table: Table,
    /// Problems and codes that this driver refused, with the reason.
    pub(crate) refused: Vec<(Vec<i64>, Vec<i64>, String)>,
    notes: Notes,
}

impl Store {
    /// The user's.
    pub(crate) fn of_user() -> &'static Self {
        static STORE: OnceLock<Store> = OnceLock::new();
        STORE.get_or_init(|| {
            let folder = Folder::of_user();
            if let Err(reason) = &folder
                && !matches!(reason, CacheError::Off)
            {
                tracing::warn!(%reason, "there is no cache");
            }
            Self::new(folder.ok())
        })
    }

    /// A store of its own.
    pub(crate) fn new(folder: Option<Folder>) -> Self {
        Self {
            folder,
            results: Mutex::default(),
        }
    }

    /// The folder on disk.
    pub(super) fn folder(&self) -> Option<&Folder> {
        self.folder.as_ref()
    }

    /// Forgets the results of a kernel on a device, so that they are read from disk again, where
    /// there is one.
    #[cfg(feature = "tuning")]
    pub(super) fn forget(&self, model: &Model, info: &DeviceInfo) {
        if self.folder.is_some() {
            let mut all = self.results.lock().unwrap_or_else(PoisonError::into_inner);
            all.remove(&key(model, info));
        }
    }

    /// The results and refusals of a kernel on a device, read from disk once.
    pub(crate) fn results(&self, model: &Model, info: &DeviceInfo) -> Arc<CachedResults> {
        let key = key(model, info);
        let mut all = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(results) = all.get(&key) {
            return Arc::clone(results);
        }
        let results = Arc::new(CachedResults::new(
            self.read(&key, model, info),
            model,
            info,
        ));
        all.insert(key, Arc::clone(&results));
        results
    }

    /// Remembers a configuration that the driver refused.
    pub(crate) fn add_refusal(
        &self,
        model: &Model,
        info: &DeviceInfo,
        dims: &[i64],
        codes: &[i64],
        reason: &str,
    ) {
        let Some(values) = values(model, codes) else {
            return;
        };
        let refusal = NotedRefusal {
            problem: dims.to_vec(),
            values,
            driver: line(&info.driver),
            reason: line(reason.lines().next().unwrap_or_default()),
        };
        self.change(model, info, |notes| notes.add_refusal(refusal));
    }

    /// Changes the notes, in memory and on disk. Between reading and writing no other program
    /// writes.
    pub(super) fn change(&self, model: &Model, info: &DeviceInfo, change: impl FnOnce(&mut Notes)) {
        let key = key(model, info);
        let mut all = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = match &self.folder {
            None => {
                let mut notes = match all.get(&key) {
                    Some(results) => results.notes.clone(),
                    None => Notes::new(model, info),
                };
                change(&mut notes);
                notes
            }
            Some(folder) => {
                let held = lock(&folder.lock(), PATIENCE);
                let mut notes = self.read(&key, model, info);
                change(&mut notes);
                notes.driver = line(&info.driver);
                let written = match held {
                    Ok(Some(_held)) => {
                        let path = folder.notes().join(&key);
                        file::replace(&path, notes.to_text().as_bytes())
                            .and_then(|()| keep_bounded(&folder.notes(), NOTES))
                    }
                    Ok(None) => Err(CacheError::Io {
                        path: folder.lock(),
                        source: io::ErrorKind::TimedOut.into(),
                    }),
                    Err(error) => Err(error),
                };
                if let Err(reason) = written {
                    tracing::warn!(%reason, "cltune's cache cannot be written");
                }
                notes
            }
        };
        all.insert(key, Arc::new(CachedResults::new(changed, model, info)));
    }

    fn read(&self, key: &str, model: &Model, info: &DeviceInfo) -> Notes {
        let read = |path: PathBuf| {
            let notes = read_notes(&path)?;
            // A checksum of 256 bits does not meet another by chance, a hand can rename files.
            Ok(notes.filter(|notes| notes.is_of(model, info)))
        };
        let path = self.folder.as_ref().map(|folder| folder.notes().join(key));
        let read: Result<_, CacheError> = path.map_or(Ok(None), read);
        let notes = read.unwrap_or_else(|reason| {
            tracing::warn!(%reason, "a file of cltune's cache is ignored");
            None
        });
        notes.unwrap_or_else(|| Notes::new(model, info))
    }
}

impl CachedResults {
    fn new(notes: Notes, model: &Model, info: &DeviceInfo) -> Self {
        let driver = line(&info.driver);
        let refused = notes.refusals.iter().filter(|noted| noted.driver == driver);
        let refused = refused.filter_map(|noted| {
            let codes = codes(model, &noted.values)?;
            Some((noted.problem.clone(), codes, noted.reason.clone()))
        });
        Self {
            refused: refused.collect(),
            table: notes.table(model),
            notes,
        }
    }

    /// Why a configuration was refused in an earlier run with this driver, if it was.
    pub(crate) fn refusal(&self, dims: &[i64], codes: &[i64]) -> Option<&str> {
        let mut refused = self.refused.iter();
        let found = refused.find(|(problem, refused, _)| problem == dims && refused == codes);
        found.map(|(_, _, reason)| reason.as_str())
    }
}

/// The name of the file for a kernel and a device.
pub(super) fn key(model: &Model, info: &DeviceInfo) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [
        &*model.name,
        &*model.fingerprint,
        &info.platform,
        &info.name,
        &info.vendor,
    ] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

pub(super) fn read_notes(path: &std::path::Path) -> Result<Option<Notes>, CacheError> {
    let Some(content) = file::read(path)? else {
        return Ok(None);
    };
    let parse = |text: String| Notes::parse(&text);
    let notes = String::from_utf8(content).map_or(Err(DamagedNotes { line: 0 }), parse);
    let damaged = |error| CacheError::Io {
        path: path.to_owned(),
        source: io::Error::new(io::ErrorKind::InvalidData, error),
    };
    notes.map(Some).map_err(damaged)
}

#[cfg(test)]
#[path = "../../tests/unit/cache_store.rs"]
pub(super) mod tests;
