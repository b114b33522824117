//! The options of measuring, and the steps that are told while it goes on.

use cltune_formats::declaration::Declaration;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// The next step of a [`Measurer`](super::Measurer).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// The host makes something ready: allocates, fills, builds.
    Host,
    /// A kernel runs, and what it has computed is looked at.
    Kernel,
}

/// The options of measuring.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MeasureOptions {
    /// The seed of the inputs.
    pub seed: u64,
    /// The number of draws of random inputs that configurations are verified on in turn, at least
    /// 1; `None`: as many as are declared, or 2. Where no input is random, there is one.
    pub draws: Option<usize>,
    /// Whether [`Measurer::verify`](super::Measurer::verify) also draws inputs of [other
    /// kinds](super::InputKind).
    pub kinds: bool,
    /// The memory that those may take until the next configuration is verified, bytes, and at most
    /// an eighth of the device's. Where they take more, each is made again for each configuration.
    pub further_bytes: u64,
    /// Whether buffers lie between guard zones, which show writes out of bounds.
    pub guards: bool,
    /// Whether buffers of a CPU lie between forbidden pages instead, which show every access out of
    /// bounds, reads too. For processes of their own: it needs a signal handler, and an access to
    /// what the tuner keeps ends the process. Where the system has no such pages, or the driver
    /// computes in memory of its own, there are guard zones.
    pub protect: bool,
    /// Whether the device keeps inputs, compares large buffers and looks at what lies around them,
    /// which the host only reads back where something is wrong; `None`: unless it is a CPU, whose
    /// memory is the host's.
    pub compare_on_device: Option<bool>,
    /// The least number of timed launches, except of clearly slower configurations.
    pub least_repeats: usize,
    /// The most timed launches.
    pub most_repeats: usize,
    /// The time to repeat beyond the least number.
    pub repeat_time: Duration,
    /// Up to which precision to repeat: the largest distance between the median and the ends of
    /// [`median_interval`](super::median_interval), a part of the median.
    pub precision: f64,
    /// Whether the energy of launches is measured too, and the largest time between two advances of
    /// what counts it ([`Meter::idle`](super::Meter::idle) tells).
    pub metering: Option<Duration>,
    /// A configuration that is slower than the best by more than this factor is timed once, or
    /// given up where a part of it shows that it is; where energy is measured, by four times this
    /// factor.
    pub hopeless_factor: f64,
    /// Where `fill = file("…")` is relative to.
    pub folder: PathBuf,
    /// Called before each step of what takes several: [making ready](super::Measurer::new),
    /// [verifying](super::Measurer::verify) and [comparing](super::Measurer::compare), so that each
    /// can have a time limit.
    pub on_step: fn(Step),
}

impl Default for MeasureOptions {
    fn default() -> Self {
        Self {
            seed: 0,
            draws: None,
            kinds: true,
            further_bytes: 4 << 30,
            guards: true,
            protect: false,
            compare_on_device: None,
            least_repeats: 3,
            most_repeats: 50,
            repeat_time: Duration::from_millis(100),
            precision: 0.01,
            metering: None,
            hopeless_factor: 2.0,
            folder: PathBuf::new(),
            on_step: |_| {},
        }
    }
}

/// The number of draws where neither options nor declaration say.
const DRAWS: usize = 2;

impl MeasureOptions {
    /// The same options but for what `set` changes.
    #[must_use]
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }

    /// As many draws as are asked for or declared; where no input is random, they are all the same.
    pub(super) fn draws(&self, declaration: &Declaration) -> usize {
        let declared = || declaration.draws.map(|draws| draws as usize);
        let draws = self.draws.or_else(declared).unwrap_or(DRAWS).max(1);
        if declaration.has_random_inputs() {
            draws
        } else {
            1
        }
    }
}
