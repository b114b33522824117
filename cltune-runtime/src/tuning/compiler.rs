//! Building ahead, in a process beside the one that measures.
//!
//! A built program reaches the measuring process as a program binary, or through the driver's own
//! cache on disk, where building the same source again is a look-up: NVIDIA's and PoCL's have one.
//!
//! A CPU driver may leave the larger part of compiling to the first launch, when it knows the
//! work-group's size (PoCL: 46 ms of 140 for a copy kernel happen while building, the others then).
//! On CPUs a kernel is therefore launched once.

use super::arguments::{Arguments, Setting};
use super::buffers::Round;
use super::build::{BuildTarget, BuiltConfiguration, launch_failed};
use super::inputs::InputMaker;
use super::options::MeasureOptions;
use super::outcome::Outcome;
use super::part::Part;
use super::prepare_error::PrepareError;
use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::queue::Queue;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cltune_core::device::DeviceType;
use cltune_core::select::default_codes;
use cltune_formats::declaration::Declaration;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::time::Instant;

/// A kernel, a problem and a device, ready to build configurations.
#[derive(Debug)]
pub struct Compiler {
    // Buffers and the queue are released before the context.
    launches: Option<(Arguments, Queue)>,
    context: Context,
    declaration: Declaration,
    dims: Vec<i64>,
}

/// The result of building a configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Compiled {
    /// It can be measured.
    Ready {
        /// The time that building took, the first launch included, seconds.
        seconds: f64,
        /// The time that getting the program's binary took, seconds; 0 where it was not asked for.
        binary_seconds: f64,
        /// The binary, where it was asked for and the driver has one.
        binary: Option<Binary>,
    },
    /// It cannot.
    Failed(Outcome),
}

impl Compiler {
    /// On a CPU, allocates and fills the arguments; elsewhere nothing is launched.
    ///
    /// # Errors
    /// [`PrepareError`]: nothing can be built.
    pub fn new(
        device: &Device,
        declaration: &Declaration,
        dims: &[i64],
        options: &MeasureOptions,
    ) -> Result<Self, PrepareError> {
        Self::within(&Context::new(device)?, declaration, dims, options)
    }

    /// The same in a context that is there already.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn within(
        context: &Context,
        declaration: &Declaration,
        dims: &[i64],
        options: &MeasureOptions,
    ) -> Result<Self, PrepareError> {
        let (context, device) = (context.clone(), context.device());
        let launches = if device.info().device_type == DeviceType::Cpu {
            let queue = Queue::new(&context)?;
            let codes = default_codes(&declaration.model, dims, &device.info().limits)
                .ok_or(PrepareError::NoConfiguration)?;
            let mut arguments = Arguments::new(&Setting {
                context: &context,
                queue: &queue,
                declaration,
                codes: &codes,
                dims,
                folder: &options.folder,
                draws: 1,
                seed: options.seed,
                // What a configuration accesses elsewhere must not become another one's failure.
                guards: options.guards && options.protect,
                protect: options.protect,
                on_step: options.on_step,
                compare_on_device: Some(false),
            })?;
            if declaration.prepare.is_some() {
                let target = BuildTarget {
                    context: &context,
                    declaration,
                    dims,
                };
                let own = target.own_program(&codes)?;
                let inputs = InputMaker::new(target, &codes, &own, options.on_step)?;
                inputs.map_or(Ok(()), |inputs| inputs.make(&mut arguments, &queue, 0))?;
            }
            // A kernel that takes its inputs for indices would access anything.
            arguments.restore(&queue, Round::default())?;
            Some((arguments, queue))
        } else {
            None
        };
        Ok(Self {
            launches,
            context,
            declaration: declaration.clone(),
            dims: dims.to_vec(),
        })
    }

    /// Builds a configuration. With `binary`, its program's binary is part of the answer.
    pub fn compile(&self, codes: &[i64], binary: bool) -> Compiled {
        let target = BuildTarget {
            context: &self.context,
            declaration: &self.declaration,
            dims: &self.dims,
        };
        let begin = Instant::now();
        let built = match target.build(codes, None) {
            Ok(built) => built,
            Err(outcome) => return Compiled::Failed(outcome),
        };
        if let Err(error) = self.launch(&built) {
            return Compiled::Failed(launch_failed(&error));
        }
        let seconds = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let binary = binary.then(|| built.program.binary()).flatten().map(Binary);
        Compiled::Ready {
            seconds,
            binary_seconds: binary
                .as_ref()
                .map_or(0.0, |_| begin.elapsed().as_secs_f64()),
            binary,
        }
    }

    /// Launches once, where that is part of compiling. A good part of the work-groups, where that
    /// takes less time, and not a single one: PoCL compiles for large numbers of them and for small
    /// ones.
    fn launch(&self, built: &BuiltConfiguration) -> Result<()> {
        let Some((arguments, queue)) = &self.launches else {
            return Ok(());
        };
        let units = self.context.device().info().limits.compute_units;
        let units = usize::try_from(units).unwrap_or(1);
        let whole = built
            .commands
            .single()
            .filter(|_| self.declaration.even_work);
        let part = whole.and_then(|whole| Part::of(whole, units));
        let part = part.as_ref().map(|part| &part.geometry);
        arguments.make_scratch(queue, &built.commands)?;
        let enqueued = arguments.enqueue(queue, &built.commands, Round::default(), part)?;
        enqueued.last.wait().map_err(Error::call("the kernel"))?;
        // Damage is repaired here, and reported where the configuration is measured.
        arguments.damage(queue, false).map(drop)
    }
}

/// A program's binary for one device. Serialized as base64: numbers in JSON would be four times as
/// long.
#[derive(Clone, PartialEq, Eq)]
pub struct Binary(pub Vec<u8>);

impl fmt::Debug for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Binary({} bytes)", self.0.len())
    }
}

impl Serialize for Binary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        STANDARD.encode(&self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Binary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(Self).map_err(de::Error::custom)
    }
}
