//! The worker's side: reads requests until its input ends.

use super::protocol::{DeviceRecord, MARK, Prepare, Request, Response};
use cltune_core::record;
use cltune_runtime::Device;
use cltune_runtime::tuning::{MeasureOptions, Measurer, Outcome};
use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, channel};

/// Serves requests. Ends with the supervisor, whose end closes the input.
pub(crate) fn serve() -> std::io::Result<()> {
    let mut measurer = None;
    for line in lines() {
        let response = match serde_json::from_str(&line) {
            Ok(request) => answer(request, &mut measurer),
            Err(error) => Response::Failed(format!("unreadable request: {error}")),
        };
        let json = serde_json::to_string(&response)?;
        // One write, and a line of its own even after a driver's unfinished one.
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(format!("\n{MARK}{json}\n").as_bytes())?;
        stdout.flush()?;
    }
    Ok(())
}

/// The lines of the standard input, read ahead: when the input ends, this process does, even in
/// the middle of a kernel that never does.
fn lines() -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
        // Not `exit`: that runs the driver's own clean-up, which in Intel's waits for the kernel.
        std::process::abort();
    });
    lines
}

fn answer(request: Request, measurer: &mut Option<Measurer>) -> Response {
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
        Request::Prepare(prepare) => match self::prepare(&prepare) {
            Ok(ready) => {
                let default = ready.default_codes().to_vec();
                *measurer = Some(ready);
                Response::Prepared { default }
            }
            Err(error) => Response::Failed(error),
        },
        Request::Measure { codes, best_us } => with(measurer.as_mut(), |measurer| {
            let outcome = measurer.measure(&codes, best_us);
            let failed = matches!(outcome, Outcome::LaunchFailed { .. });
            Response::Outcome {
                usable: !failed || measurer.is_usable(),
                outcome,
            }
        }),
        Request::Compare {
            configurations,
            rounds,
        } => with(measurer.as_mut(), |measurer| {
            Response::Compared(measurer.compare(&configurations, rounds))
        }),
        Request::Verify { codes } => with(measurer.as_mut(), |measurer| {
            Response::Verified(measurer.verify(&codes))
        }),
    }
}

fn with(measurer: Option<&mut Measurer>, act: impl FnOnce(&mut Measurer) -> Response) -> Response {
    measurer.map_or_else(|| Response::Failed("nothing is prepared".into()), act)
}

fn prepare(prepare: &Prepare) -> Result<Measurer, String> {
    let devices = Device::all().map_err(|error| error.to_string())?;
    let device = devices
        .get(prepare.device)
        .filter(|device| device.info().name == prepare.device_name)
        .ok_or_else(|| {
            format!(
                "the device {} ({}) has disappeared",
                prepare.device, prepare.device_name
            )
        })?;
    let declaration = record::decode_all(&prepare.record)
        .map_err(|error| error.to_string())?
        .pop()
        .ok_or("the declaration is empty")?;
    let options = MeasureOptions {
        seed: prepare.seed,
        folder: prepare.folder.clone(),
        draws: prepare.draws,
        guards: prepare.guards,
        ..MeasureOptions::default()
    };
    Measurer::new(device, &declaration, &prepare.dims, &options).map_err(|error| error.to_string())
}
