//! Configurations built in a thread beside the program.

use super::explorer::Codes;
use super::searching::{Searching, Untuned};
use crate::cache::Store;
use crate::device::Device;
use crate::error::Error;
use crate::launch::{Prepared, Tunable, Workshop};
use crate::tuning::{Compiler, MeasureOptions};
use cltune_core::declaration::Declaration;
use cltune_core::device::DeviceType;
use std::cell::OnceCell;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// So many configurations are tried at most: with an overhead of 10 % that is 48,000 calls.
const EVALUATIONS: u64 = 200;

/// What a builder has to say.
pub(super) enum Message {
    /// The search that configurations come from, and how long making it took.
    Search(Box<Searching>, Duration),
    /// There is nothing to search.
    Untuned(Untuned),
    /// What became of a configuration, and how long that took.
    Built(Codes, Box<Result<Prepared, Error>>, Duration),
}

/// A thread that builds one configuration after another. Dropping it waits for the one that is being
/// built: a driver must not be at work when the program ends.
#[derive(Debug)]
pub(super) struct Builder {
    orders: Option<Sender<Codes>>,
    messages: Receiver<Message>,
    thread: Option<JoinHandle<()>>,
}

/// What is built for.
pub(super) struct Job {
    pub(super) tunable: &'static Tunable,
    pub(super) dims: Box<[i64]>,
    pub(super) default: Codes,
}

impl Builder {
    /// Starts with the search, which takes a while for a large space.
    pub(super) fn start(workshop: &Workshop, job: Job) -> std::io::Result<Self> {
        let (orders, ordered) = channel();
        let (sender, messages) = channel();
        let workshop = workshop.clone();
        let thread = std::thread::Builder::new()
            .name("cltune builder".to_owned())
            .spawn(move || build(&job, &workshop, &ordered, &sender))?;
        Ok(Self {
            orders: Some(orders),
            messages,
            thread: Some(thread),
        })
    }

    /// Orders a configuration.
    pub(super) fn order(&self, codes: Codes) {
        if let Some(orders) = &self.orders {
            // A thread that has ended says so by its last message.
            let _ = orders.send(codes);
        }
    }

    /// What it has to say by now.
    pub(super) fn message(&self) -> Option<Message> {
        self.messages.try_recv().ok()
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn build(job: &Job, workshop: &Workshop, orders: &Receiver<Codes>, sender: &Sender<Message>) {
    step_back();
    let Some(declaration) = search(job, workshop, sender) else {
        return;
    };
    let apart = Apart::new(workshop.device(), declaration, &job.dims);
    while let Ok(codes) = orders.recv() {
        let begin = Instant::now();
        apart.build(&codes);
        let built = workshop.build(job.tunable, &codes, &job.dims);
        let message = Message::Built(codes, Box::new(built), begin.elapsed());
        if sender.send(message).is_err() {
            return;
        }
    }
}

/// Leaves the processor to the program: on a CPU device, to its kernels as well.
#[cfg(target_os = "linux")]
fn step_back() {
    // On Linux a priority is a thread's. Where it is refused, building only disturbs more.
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), 19);
}

#[cfg(not(target_os = "linux"))]
fn step_back() {}

/// Builds in a context of its own, before the program's context gets the same from the driver's cache on disk.
///
/// - NVIDIA's driver lets the calls of a context wait while it builds in that context: on an H200 for 10 to
///   17 ms of a build of 50 ms, and for 0.3 ms at most while it builds in another.
/// - On CPUs a configuration is launched there as well: PoCL compiles for the work-group then.
///
/// Elsewhere nothing is known to be gained.
struct Apart<'a> {
    device: &'a Device,
    declaration: Declaration,
    dims: &'a [i64],
    /// Made by the first build, which is paid: making a context takes 140 ms on an H200. Where it cannot be
    /// made, building only disturbs more.
    compiler: OnceCell<Option<Compiler>>,
    is_useful: bool,
}

impl<'a> Apart<'a> {
    fn new(device: &'a Device, declaration: Declaration, dims: &'a [i64]) -> Self {
        let info = device.info();
        let is_useful = info.device_type == DeviceType::Cpu || info.platform == "NVIDIA CUDA";
        Self {
            device,
            declaration,
            dims,
            compiler: OnceCell::new(),
            is_useful,
        }
    }

    fn build(&self, codes: &[i64]) {
        if !self.is_useful {
            return;
        }
        let compiler = self.compiler.get_or_init(|| {
            let options = MeasureOptions::default();
            Compiler::new(self.device, &self.declaration, self.dims, &options).ok()
        });
        if let Some(compiler) = compiler {
            // Only for what the driver keeps of it; the program's own context shows what is wrong.
            compiler.compile(codes, false);
        }
    }
}

/// Makes the search. `None` where that failed, or nobody wants it any more.
fn search(job: &Job, workshop: &Workshop, sender: &Sender<Message>) -> Option<Declaration> {
    let begin = Instant::now();
    let device = workshop.device();
    let store = Store::of_user();
    let (default, dims) = (&*job.default, &*job.dims);
    let searching = Searching::new(job.tunable, device, dims, Some(EVALUATIONS), default, store);
    let (message, declaration) = match searching {
        Ok(searching) => {
            let declaration = searching.declaration.clone();
            let message = Message::Search(Box::new(searching), begin.elapsed());
            (message, Some(declaration))
        }
        Err(untuned) => (Message::Untuned(untuned), None),
    };
    sender.send(message).ok()?;
    declaration
}
