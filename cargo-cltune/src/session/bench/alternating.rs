//! For CPU devices: compiling would disturb what is measured, so they alternate. A batch is built by
//! several workers at once, then measured one by one while nothing else runs.

use super::compiling::{Built, CompileWorker};
use super::lane::{Lane, Shared, lock};
use super::measuring::Bench;
use super::supply::Way;
use super::{BenchError, Measured};
use std::collections::VecDeque;
use std::sync::Mutex;

/// See the module.
pub(super) struct Alternating {
    pub(super) bench: Bench,
    compilers: Vec<CompileWorker>,
    /// How many configurations are built at a time.
    batch: usize,
    shared: Shared,
    waiting: VecDeque<Vec<i64>>,
    built: VecDeque<(Vec<i64>, Built)>,
}

impl Alternating {
    /// With no compilers, what measures also builds; else `batch` configurations are built at a time.
    pub(super) fn new(
        bench: Bench,
        compilers: Vec<CompileWorker>,
        batch: usize,
        shared: Shared,
    ) -> Self {
        Self {
            bench,
            compilers,
            batch,
            shared,
            waiting: VecDeque::new(),
            built: VecDeque::new(),
        }
    }

    /// Builds all that wait.
    fn build(&mut self) {
        let shared = &self.shared;
        let tasks: VecDeque<_> = self
            .waiting
            .drain(..)
            .map(|codes| (codes, shared.way()))
            .collect();
        if self.compilers.is_empty() || tasks.iter().all(|(_, way)| *way == Way::Direct) {
            let unbuilt = tasks.into_iter().map(|(codes, _)| (codes, Built::Not));
            self.built.extend(unbuilt);
            return;
        }
        let tasks: Mutex<VecDeque<_>> = Mutex::new(tasks.into_iter().enumerate().collect());
        let built = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for compiler in &mut self.compilers {
                let (tasks, built) = (&tasks, &built);
                scope.spawn(move || {
                    loop {
                        let task = lock(tasks).pop_front();
                        let Some((number, (codes, way))) = task else {
                            return;
                        };
                        let of = compiler.build(&codes, way, shared);
                        lock(built).push((number, codes, of));
                    }
                });
            }
        });
        let mut built = built.into_inner().unwrap_or_default();
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
        let Some((codes, built)) = self.built.pop_front() else {
            return Ok(None);
        };
        let measured = self.shared.measure(&mut self.bench, &codes, built)?;
        Ok(Some((codes, measured)))
    }

    fn cancel(&mut self) {
        self.waiting.clear();
        self.built.clear();
    }
}
