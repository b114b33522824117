//! Configurations built in a thread beside the program.

use super::exploration_policy::Codes;
use super::search::{PreparedSearch, Untuned};
use crate::cache::Store;
use crate::device::Device;
use crate::error::Error;
use crate::kernel::{Prepared, ProgramBuilder, Tunable};
use crate::tuning::{Compiler, MeasureOptions};
use cltune_core::device::DeviceType;
use cltune_formats::declaration::Declaration;
use std::cell::OnceCell;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// So many configurations are tried at most: with an overhead of 10 % that is 48,000 calls.
const EVALUATIONS: u64 = 200;

/// A message of the builder's thread.
pub(super) enum Message {
    /// The search that configurations come from, and the time that making it took.
    Search(Box<PreparedSearch>, Duration),
    /// There is nothing to search.
    Untuned(Untuned),
    /// A configuration, built or not, and the time that took.
    Built(Codes, Box<Result<Prepared, Error>>, Duration),
}

/// A thread that builds one configuration after another. Dropping it waits for the one that is
/// being built: a driver must not be at work when the program ends.
#[derive(Debug)]
pub(super) struct BackgroundBuilder {
    orders: Option<Sender<Codes>>,
    messages: Receiver<Message>,
    thread: Option<JoinHandle<()>>,
}

/// The kernel and problem to build for.
pub(super) struct Job {
    pub(super) tunable: &'static Tunable,
    pub(super) dims: Box<[i64]>,
    pub(super) default: Codes,
}

impl BackgroundBuilder {
    /// Starts with the search, which takes a while for a large space.
    pub(super) fn start(programs: &ProgramBuilder, job: Job) -> std::io::Result<Self> {
        let (orders, ordered) = channel();
        let (sender, messages) = channel();
        let programs = programs.clone();
        let thread = std::thread::Builder::new()
            .name("cltune builder".to_owned())
            .spawn(move || build(&job, &programs, &ordered, &sender))?;
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

    /// The next message, if there is one by now.
    pub(super) fn message(&self) -> Option<Message> {
        self.messages.try_recv().ok()
    }
}

impl Drop for BackgroundBuilder {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn build(job: &Job, programs: &ProgramBuilder, orders: &Receiver<Codes>, sender: &Sender<Message>) {
    lower_priority();
    let Some(declaration) = search(job, programs, sender) else {
        return;
    };
    let separate = SeparateContext::new(programs.device(), declaration, &job.dims);
    while let Ok(codes) = orders.recv() {
        let begin = Instant::now();
        separate.build(&codes);
        let built = Prepared::build(programs, job.tunable, &codes, &job.dims);
        let message = Message::Built(codes, Box::new(built), begin.elapsed());
        if sender.send(message).is_err() {
            return;
        }
    }
}

/// Lets the program have the processor first: on a CPU device, its kernels as well.
#[cfg(target_os = "linux")]
fn lower_priority() {
    // On Linux a priority is a thread's. Where it is refused, building only disturbs more.
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), 19);
}

#[cfg(not(target_os = "linux"))]
fn lower_priority() {}

/// Builds in a context of its own, before the program's context gets the same from the driver's
/// cache on disk.
///
/// - NVIDIA's driver lets the calls of a context wait while it builds in that context: on an H200
///   for 10 to 17 ms of a build of 50 ms, and for 0.3 ms at most while it builds in another.
/// - On CPUs a configuration is launched there as well: PoCL compiles for the work-group then.
///
/// No gain is known elsewhere.
struct SeparateContext<'a> {
    device: &'a Device,
    declaration: Declaration,
    dims: &'a [i64],
    /// Made by the first build, which is paid: making a context takes 140 ms on an H200. Where it
    /// cannot be made, building only disturbs more.
    compiler: OnceCell<Option<Compiler>>,
    is_useful: bool,
}

impl<'a> SeparateContext<'a> {
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
            // Only for what the driver keeps of it; building in the program's own context shows
            // errors.
            compiler.compile(codes, false);
        }
    }
}

/// Makes the search. `None` where that failed, or nobody wants it any more.
fn search(job: &Job, programs: &ProgramBuilder, sender: &Sender<Message>) -> Option<Declaration> {
    let begin = Instant::now();
    let device = programs.device();
    let store = Store::of_user();
    let (default, dims) = (&*job.default, &*job.dims);
    let search = PreparedSearch::new(job.tunable, device, dims, Some(EVALUATIONS), default, store);
    let (message, declaration) = match search {
        Ok(search) => {
            let declaration = search.declaration.clone();
            let message = Message::Search(Box::new(search), begin.elapsed());
            (message, Some(declaration))
        }
        Err(untuned) => (Message::Untuned(untuned), None),
    };
    sender.send(message).ok()?;
    declaration
}
