//! The worker's side: reads requests until its input ends.

use super::protocol::{DeviceRecord, Prepare, Request, Response, SECRET, Verified, mark};
use crate::threads::lock;
use cltune_formats::declaration::Declaration;
use cltune_formats::record;
use cltune_runtime::tuning::{
    Compiler, IdlePower, MeasureOptions, Measurer, Meter, Outcome, PrepareError, Step,
};
use cltune_runtime::{Context, Device};
use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

/// Serves requests. Ends with the supervisor, whose end closes the input.
pub(crate) fn serve() -> std::io::Result<()> {
    let mut ready = Ready::default();
    let lines = match lines() {
        Ok(lines) => lines,
        Err(error) => {
            return send(&Response::Failed(format!(
                "a worker has no thread: {error}"
            )));
        }
    };
    for line in lines {
        let response = match serde_json::from_str(&line) {
            Ok(request) => answer(request, &mut ready),
            Err(error) => Response::Failed(format!("unreadable request: {error}")),
        };
        send(&response)?;
    }
    Ok(())
}

/// Sends a response.
fn send(response: &Response) -> std::io::Result<()> {
    static MARK: LazyLock<String> =
        LazyLock::new(|| mark(&std::env::var(SECRET).unwrap_or_default()));
    let json = serde_json::to_string(response)?;
    // One write, and a line of its own even after a driver's unfinished one.
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(format!("\n{}{json}\n", *MARK).as_bytes())?;
    stdout.flush()
}

/// Reports the next step. Of many short steps of a kind some are left out.
fn on_step(step: Step) {
    const RARELY: Duration = Duration::from_millis(50);
    static LAST: Mutex<Option<(Step, Instant)>> = Mutex::new(None);
    let mut last = lock(&LAST);
    let is_same = |(of, at): (Step, Instant)| of == step && at.elapsed() < RARELY;
    if !last.is_some_and(is_same) {
        *last = Some((step, Instant::now()));
        // A failure means that the supervisor has ended, and then this process ends as well.
        let _ = send(&Response::Step(step));
    }
}

/// The lines of the standard input, read ahead: when the input ends, this process does, even in
/// the middle of a kernel that never does.
fn lines() -> std::io::Result<Receiver<String>> {
    let (sender, lines) = channel();
    std::thread::Builder::new().spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
        // Not `exit`: that runs the driver's own clean-up, which in Intel's waits for the kernel.
        std::process::abort();
    })?;
    Ok(lines)
}

/// The job that a worker is ready for.
#[derive(Default)]
struct Ready {
    measurer: Option<Measurer>,
    compiler: Option<Compiler>,
    /// Of the device that it was last ready for: a GPU's takes long to make.
    context: Option<Context>,
}

fn answer(request: Request, ready: &mut Ready) -> Response {
    match request {
        Request::Devices => match Device::all() {
            Ok(devices) => Response::Devices(
                devices
                    .iter()
                    .map(|device| DeviceRecord::new(device.index(), device.info()))
                    .collect(),
            ),
            Err(error) => Response::Failed(error.to_string()),
        },
        Request::Open {
            device,
            device_name,
        } => match ready.context(device, &device_name) {
            Ok(_) => Response::Opened,
            Err(error) => Response::Failed(error),
        },
        Request::IdlePower {
            device,
            device_name,
        } => match ready.idle_power(device, &device_name) {
            Ok(power) => Response::IdlePower(power),
            Err(error) => Response::Failed(error),
        },
        Request::Prepare(prepare) => match ready.prepare(&prepare, Measurer::within) {
            Ok(measurer) => {
                let default = measurer.default_codes().to_vec();
                ready.measurer = Some(measurer);
                Response::Prepared { default }
            }
            Err(error) => Response::Failed(error),
        },
        Request::PrepareCompiler(prepare) => match ready.prepare(&prepare, Compiler::within) {
            Ok(compiler) => {
                ready.compiler = Some(compiler);
                Response::PreparedCompiler
            }
            Err(error) => Response::Failed(error),
        },
        Request::Compile { codes, binary } => with(ready.compiler.as_mut(), |compiler| {
            Response::Compiled(compiler.compile(&codes, binary))
        }),
        Request::Load { codes, binary } => with(ready.measurer.as_mut(), |measurer| {
            measurer.load(&codes, binary.as_ref());
            Response::Loaded
        }),
        Request::Measure {
            codes,
            best_us,
            binary,
        } => with(ready.measurer.as_mut(), |measurer| {
            let outcome = measurer.measure(&codes, best_us, binary.as_ref());
            Response::Outcome {
                usable: is_usable_after(measurer, Some(&outcome)),
                outcome,
            }
        }),
        Request::Compare { configurations } => with(ready.measurer.as_mut(), |measurer| {
            let compared = measurer.compare(&configurations);
            let mut failures = compared.iter().filter_map(|of| of.as_ref().err());
            Response::Compared {
                usable: failures.all(|failure| is_usable_after(measurer, Some(failure))),
                compared,
            }
        }),
        Request::Verify { codes } => with(ready.measurer.as_mut(), |measurer| {
            let right = measurer.verify(&codes);
            Response::Verified {
                usable: is_usable_after(measurer, right.as_ref().err()),
                verified: Verified {
                    right,
                    left_out: measurer.left_out().to_vec(),
                },
            }
        }),
    }
}

/// Whether this worker can measure another configuration after this outcome; `None` is a success.
fn is_usable_after(measurer: &Measurer, outcome: Option<&Outcome>) -> bool {
    match outcome {
        // The measurer has looked, and found everything in order.
        None | Some(Outcome::Ok(_) | Outcome::TooSlow { .. }) => true,
        // Other memory may have been written as well.
        Some(Outcome::WrongResult(wrong))
            if wrong.kind.is_out_of_bounds() && !wrong.kind.is_contained() =>
        {
            false
        }
        Some(_) => measurer.is_usable(),
    }
}

fn with<T>(ready: Option<&mut T>, act: impl FnOnce(&mut T) -> Response) -> Response {
    ready.map_or_else(|| Response::Failed("nothing is prepared".into()), act)
}

/// A constructor of a measurer or a compiler.
type Make<T> = fn(&Context, &Declaration, &[i64], &MeasureOptions) -> Result<T, PrepareError>;

impl Ready {
    /// Makes ready for a job, and gives up what this worker was ready for.
    fn prepare<T>(&mut self, prepare: &Prepare, make: Make<T>) -> Result<T, String> {
        (self.measurer, self.compiler) = (None, None);
        let context = self.context(prepare.device, &prepare.device_name)?;
        let declaration = record::from_text(&prepare.record).map_err(|error| error.to_string())?;
        let options = MeasureOptions::default().with(|options| {
            options.seed = prepare.seed;
            options.folder.clone_from(&prepare.folder);
            options.draws = prepare.draws;
            options.kinds = prepare.kinds;
            options.guards = prepare.guards;
            options.metering = prepare.metering;
            options.on_step = on_step;
            // This process measures, and does nothing else.
            options.protect = prepare.guards;
        });
        make(&context, &declaration, &prepare.dims, &options).map_err(|error| error.to_string())
    }

    /// The power of a device that has a context, as while it is measured, and runs nothing.
    fn idle_power(&mut self, device: usize, name: &str) -> Result<IdlePower, String> {
        let context = self.context(device, name)?;
        Meter::of(context.device())
            .and_then(|mut meter| meter.idle())
            .map_err(|error| error.to_string())
    }

    /// A context of the job's device, the last one's where that was for the same device.
    fn context(&mut self, index: usize, name: &str) -> Result<Context, String> {
        let is_meant = |device: &Device| device.index() == index && device.info().name == name;
        if let Some(context) = self.context.take().filter(|of| is_meant(of.device())) {
            return Ok(self.context.insert(context).clone());
        }
        let devices = Device::all().map_err(|error| error.to_string())?;
        let device = devices.iter().find(|device| is_meant(device));
        let device =
            device.ok_or_else(|| format!("the device {index} ({name}) has disappeared"))?;
        let context = Context::new(device).map_err(|error| error.to_string())?;
        Ok(self.context.insert(context).clone())
    }
}
