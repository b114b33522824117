//! For CPU devices: compiling would disturb what is measured, so they alternate. A batch is built by
//! several workers at once, and loaded by the one that measures, then measured one by one while nothing else
//! runs. Only the first batch, a small one, is built while the one that measures gets ready: then nothing is
//! timed.

use super::compiling::{Built, CompileWorker};
use super::lane::{Lane, MakeBench, Shared, lock};
use super::measuring::Bench;
use super::spare::Spare;
use super::supply::Way;
use super::{BenchError, Measured};
use crate::threads::{Work, begin};
use std::collections::VecDeque;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// See the module.
pub(super) struct Alternating {
    /// `None` while it gets ready.
    bench: Option<Bench>,
    starting: Option<Work<Result<Bench, BenchError>>>,
    compilers: Vec<CompileWorker>,
    /// How many configurations are built at a time.
    batch: usize,
    /// How many of them the next time.
    next_batch: usize,
    shared: Shared,
    waiting: VecDeque<Vec<i64>>,
    built: VecDeque<(Vec<i64>, Built)>,
}

/// How many configurations for each compile worker are built at first: as many as take about as long
/// as getting ready to measure does, and show whether building ahead pays off.
const FIRST_BATCH: usize = 2;

impl Alternating {
    /// With no compilers, what measures also builds; else `batch` configurations are built at a time.
    pub(super) fn new(
        bench: MakeBench,
        compilers: Vec<CompileWorker>,
        batch: usize,
        shared: Shared,
    ) -> Self {
        Self {
            bench: None,
            starting: Some(begin(bench)),
            batch,
            next_batch: compilers.len() * FIRST_BATCH,
            compilers,
            shared,
            waiting: VecDeque::new(),
            built: VecDeque::new(),
        }
    }

    /// What measures, once it is ready; `None` where it could not be made ready, as was said then.
    fn ready(&mut self) -> Result<Option<&mut Bench>, BenchError> {
        if let Some(starting) = self.starting.take() {
            self.bench = Some(starting.end()?);
        }
        Ok(self.bench.as_mut())
    }

    /// Leaves all but what measures to the next search.
    pub(super) fn finish(mut self, spare: &Spare) -> Option<Bench> {
        // Why it is not ready was said to whoever wanted a result.
        let _ = self.ready();
        for compiler in self.compilers {
            compiler.retire(spare);
        }
        self.bench
    }

    /// Builds what waits, up to the size of a batch.
    fn build(&mut self) {
        let shared = &self.shared;
        let count = match self.next_batch {
            0 => self.waiting.len(),
            most => most.min(self.waiting.len()),
        };
        self.next_batch = self.batch;
        let tasks: VecDeque<_> = self
            .waiting
            .drain(..count)
            .map(|codes| (codes, shared.way()))
            .collect();
        if self.compilers.is_empty() || tasks.iter().all(|(_, way)| *way == Way::Direct) {
            let unbuilt = tasks.into_iter().map(|(codes, _)| (codes, Built::Not));
            self.built.extend(unbuilt);
            return;
        }
        let tasks: Mutex<VecDeque<_>> = Mutex::new(tasks.into_iter().enumerate().collect());
        let (sender, receiver) = channel();
        let bench = &mut self.bench;
        let mut built = std::thread::scope(|scope| {
            for compiler in &mut self.compilers {
                let (tasks, sender) = (&tasks, sender.clone());
                // What a thread that is refused would have built is left to the others.
                let thread = Builder::new().spawn_scoped(scope, move || {
                    loop {
                        let task = lock(tasks).pop_front();
                        let Some((number, (codes, way))) = task else {
                            return;
                        };
                        let of = compiler.build(&codes, way, shared);
                        if sender.send((number, codes, of)).is_err() {
                            return;
                        }
                    }
                });
                drop(thread);
            }
            // What is received below ends with the last compiler.
            drop(sender);
            let load = |built: (usize, Vec<i64>, Built)| {
                if let (Some(bench), Built::Ready { binary, .. }) = (bench.as_mut(), &built.2) {
                    bench.load(&built.1, binary.as_ref());
                }
                built
            };
            receiver.into_iter().map(load).collect::<Vec<_>>()
        });
        // Without any thread, nothing was built.
        let unbuilt = tasks.into_inner().unwrap_or_else(PoisonError::into_inner);
        let unbuilt = unbuilt.into_iter();
        built.extend(unbuilt.map(|(number, (codes, _))| (number, codes, Built::Not)));
        built.sort_by_key(|(number, ..)| *number);
        let built = built.into_iter().map(|(_, codes, built)| (codes, built));
        self.built.extend(built);
    }
}

impl Lane for Alternating {
    fn capacity(&self) -> usize {
        self.batch.max(1)
    }

    fn submit(&mut self, codes: Vec<i64>) {
        self.waiting.push_back(codes);
    }

    fn next(&mut self) -> Result<Option<(Vec<i64>, Measured)>, BenchError> {
        if self.built.is_empty() {
            self.build();
        }
        self.ready()?;
        let (Some((codes, built)), Some(bench)) = (self.built.pop_front(), &mut self.bench) else {
            return Ok(None);
        };
        let measured = self.shared.measure(bench, &codes, built)?;
        Ok(Some((codes, measured)))
    }

    fn cancel(&mut self) {
        self.waiting.clear();
        self.built.clear();
    }
}
