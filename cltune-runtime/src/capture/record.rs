//! One tunable, device and problem that is launched.

use super::text::quoted;
use super::{data, recorder};
use crate::device::Device;
use crate::error::Result;
use crate::event::Event;
use crate::kernel::{Arg, Tunable};
use crate::queue::Queue;
use cltune_core::model::Model;
use std::time::Instant;

/// A tunable, device and problem whose launches are recorded.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    model: &'static Model,
    dims: Box<[i64]>,
    /// The beginning of its line, which nothing else has.
    line: String,
}

impl Record {
    /// Of launches of a tunable on a device for a problem; `None` where launches are not recorded.
    pub(crate) fn of(tunable: &'static Tunable, device: &Device, dims: &[i64]) -> Option<Self> {
        super::is_on().then(|| Self {
            model: tunable.model(),
            dims: dims.into(),
            line: line(tunable.model(), device, dims),
        })
    }

    /// Launches, waits, and counts it.
    ///
    /// # Errors
    /// Those of the launch.
    #[cold]
    pub(crate) fn launch(
        &self,
        queue: &Queue,
        args: &[Arg<'_>],
        launch: impl FnOnce() -> Result<Event>,
    ) -> Result<Event> {
        let Some(recorder) = recorder() else {
            return launch();
        };
        // Before the launch, which may write to what it reads.
        let kept = recorder.data_folder(&self.line).map(|(folder, name)| {
            let arguments = data::keep(&folder, self.model, queue, &self.dims, args);
            arguments.map(|arguments| {
                format!(
                    "\"data\":{{\"folder\":{},\"arguments\":{arguments}}},",
                    quoted(&name)
                )
            })
        });
        let begin = Instant::now();
        let event = launch()?;
        // A launch that fails later is for the caller to find out, and is not counted.
        if event.wait().is_ok() {
            let on_host = begin.elapsed();
            let time = event.duration().unwrap_or(on_host);
            recorder.count(&self.line, time, || match kept {
                Some(Ok(data)) => data,
                Some(Err(error)) => {
                    eprintln!(
                        "cltune: the arguments of `{}` are not kept: {error}",
                        self.model.name
                    );
                    String::new()
                }
                None => String::new(),
            });
        }
        Ok(event)
    }
}

fn line(model: &Model, device: &Device, dims: &[i64]) -> String {
    let info = device.info();
    let sizes = model.dimensions.iter().zip(dims);
    let problem: Vec<String> = sizes
        .map(|(name, size)| format!("{}:{size}", quoted(name)))
        .collect();
    format!(
        "{{\"kernel\":{},\"fingerprint\":{},\"platform\":{},\"device\":{},\"vendor\":{},\
         \"problem\":{{{}}},",
        quoted(&model.name),
        quoted(&model.fingerprint),
        quoted(&info.platform),
        quoted(&info.name),
        quoted(&info.vendor),
        problem.join(",")
    )
}
