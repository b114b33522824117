//! The permit to tune, for one program at a time, and the configuration under trial: a driver that
//! crashes takes the program with it, and the next start must not try the same configuration again.
//! Also the results that tuning in a program adds to the store.

use super::file::{Lock, lock};
use super::folder::CacheError;
use super::notes::{NotedResult, codes, line, list, sizes, value_items, value_list, values};
use super::store::{CachedResults, Store, key};
use cltune_core::device::DeviceInfo;
use cltune_core::model::Model;
use cltune_core::parameter::Value;
use cltune_formats::lockfile::Measured;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The permit to tune, until it is dropped.
#[derive(Debug)]
pub(crate) struct Trial {
    lock: Lock,
    path: PathBuf,
}

impl Trial {
    /// Waits for a program that tunes; `None` where it takes longer.
    ///
    /// # Errors
    /// [`CacheError::Io`].
    pub(super) fn begin(path: &Path, patience: Duration) -> Result<Option<Self>, CacheError> {
        let path = path.to_owned();
        Ok(lock(&path, patience)?.map(|lock| Self { lock, path }))
    }

    /// The file that is locked.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The trial during which a program ended: problem and values. Damaged text counts as none.
    pub(super) fn left_over(&mut self) -> Option<(Vec<i64>, Vec<Value>)> {
        let mut text = String::new();
        // More than any configuration has.
        let mut start = io::Read::by_ref(&mut self.lock.0).take(1 << 16);
        start.read_to_string(&mut text).ok()?;
        let (problem, values) = text.strip_suffix('\n')?.split_once('\t')?;
        Some((sizes(problem)?, value_items(values)?))
    }

    /// Notes the configuration that is about to be tried.
    ///
    /// # Errors
    /// It could not be written.
    fn note(&mut self, dims: &[i64], values: &[Value]) -> io::Result<()> {
        self.write(&format!("{}\t{}\n", list(dims), value_list(values)))
    }

    /// As [`note`](Self::note), by codes.
    ///
    /// # Errors
    /// It could not be written.
    pub(crate) fn note_codes(
        &mut self,
        model: &Model,
        dims: &[i64],
        codes: &[i64],
    ) -> io::Result<()> {
        match values(model, codes) {
            Some(values) => self.note(dims, &values),
            None => Ok(()),
        }
    }

    /// Notes that nothing is being tried any more.
    pub(crate) fn settle(&mut self) {
        // At worst a configuration that works is left out.
        let _ = self.write("");
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let file = &mut self.lock.0;
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(text.as_bytes())
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        self.settle();
        // A program that waits for the lock gets that of a file without a name; one that comes
        // later makes another, and at worst both tune.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether a program may tune now.
#[derive(Debug)]
pub(crate) enum TuningPermit {
    /// It may; `None` where there is no cache on disk that could keep notes.
    Given(Option<Trial>),
    /// Another program tunes this kernel on this device.
    OtherProgram,
}

impl Store {
    /// The results, with what other programs have written meanwhile.
    pub(crate) fn results_by_now(&self, model: &Model, info: &DeviceInfo) -> Arc<CachedResults> {
        self.forget(model, info);
        self.results(model, info)
    }

    /// Remembers a result of tuning.
    pub(crate) fn add_result(&self, model: &Model, info: &DeviceInfo, measured: &Measured) {
        let Some(values) = values(model, &measured.codes) else {
            return;
        };
        let result = NotedResult {
            problem: measured.dims.clone(),
            values,
            time_us: measured.time_us,
            default_us: measured.default_us,
            evaluated: measured.evaluated,
            valid: measured.valid,
            strategy: line(&measured.strategy),
            measure: measured.measure,
        };
        self.change(model, info, |notes| notes.add_result(result));
    }

    /// The permit to tune a kernel on a device for a problem, after waiting for another program
    /// that has it.
    pub(crate) fn permit(
        &self,
        model: &Model,
        info: &DeviceInfo,
        dims: &[i64],
        patience: Duration,
    ) -> Result<TuningPermit, CacheError> {
        let Some(folder) = self.folder() else {
            return Ok(TuningPermit::Given(None));
        };
        // As many sizes as a file's name surely has room for; that others share the lock does no
        // harm.
        let sizes = list(&dims[..dims.len().min(8)]);
        let name = format!("{}-{sizes}.trial", key(model, info));
        let path = folder.notes().join(name);
        let Some(mut trial) = Trial::begin(&path, patience)? else {
            return Ok(TuningPermit::OtherProgram);
        };
        if let Some((dims, values)) = trial.left_over()
            && let Some(codes) = codes(model, &values)
        {
            let reason = "the program ended while this was being tried";
            self.add_refusal(model, info, &dims, &codes, reason);
        }
        Ok(TuningPermit::Given(Some(trial)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_was_trying_is_known_to_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.trial");
        let begin = || Trial::begin(&path, Duration::ZERO).unwrap();
        let values = [Value::Int(4), Value::Name("half".into())];
        let mut trial = begin().unwrap();
        assert_eq!(trial.left_over(), None);
        trial.note(&[8, 16], &values).unwrap();
        trial.note(&[8], &values[..1]).unwrap();
        assert!(begin().is_none(), "one at a time");
        // A program that ends without settling.
        let text = std::fs::read(&path).unwrap();
        drop(trial);
        assert_eq!(begin().unwrap().left_over(), None);
        std::fs::write(&path, text).unwrap();
        let left_over = begin().unwrap().left_over();
        assert_eq!(left_over, Some((vec![8], vec![Value::Int(4)])));
        for damaged in ["8", "x\t4\n", "8\thalf\n", "8\t4"] {
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(begin().unwrap().left_over(), None, "{damaged}");
        }
    }
}
