//! The commands of a call: its steps for one configuration, problem and device, with conditions
//! decided, rounds counted out and all formulas evaluated.

use super::check::scalar_value;
use super::geometry::{Geometry, at_least, evaluated};
use super::{
    BufferRef, ElementType, ImageShape, Model, Quantity, Rejection, Stage, StageArgument, Step,
};
use crate::Text;
use crate::device::DeviceLimits;
use crate::expr::Env;
use crate::parameter::Value;
use std::borrow::Cow;

/// The most commands of a call, and the most rounds that are counted for them.
const MOST_COMMANDS: usize = 1 << 16;

/// What a call of one configuration does.
#[derive(Clone, Debug, PartialEq)]
pub struct Commands {
    /// In the order of their execution.
    pub list: Vec<Command>,
    /// The memory of each of [`Model::scratch`]; `None` for one that no command uses.
    pub scratch: Vec<Option<ScratchMemory>>,
    /// The arguments of the call that kernels get as images, by their positions.
    pub images: Vec<(usize, ImageShape)>,
}

/// A scratch buffer that commands use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScratchMemory {
    /// Its name in the declaration.
    pub name: Text,
    /// The element's type.
    pub element: ElementType,
    /// Its size.
    pub bytes: usize,
    /// Whether it holds zeros when a call begins, and when it has ended.
    pub zeros: bool,
}

impl Commands {
    /// The index spaces of the launches, in order.
    pub fn geometries(&self) -> impl Iterator<Item = &Geometry> {
        self.list.iter().filter_map(|command| match command {
            Command::Launch(launch) => Some(&launch.geometry),
            _ => None,
        })
    }
}

/// A command of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// A launch of a kernel.
    Launch(Launch),
    /// Zeros for the beginning of a buffer.
    Clear {
        /// The buffer.
        buffer: BufferRef,
        /// The size of what is cleared, bytes.
        bytes: usize,
    },
    /// The beginning of a buffer is copied to another.
    Copy {
        /// The buffer that is read.
        from: BufferRef,
        /// The buffer that is written.
        to: BufferRef,
        /// The size of what is copied, bytes.
        bytes: usize,
    },
}

/// A launch of a stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The name of the `__kernel` function.
    pub kernel: Text,
    /// The index space.
    pub geometry: Geometry,
    /// The arguments of the kernel, in the order of its signature.
    pub arguments: Vec<Given>,
}

/// An argument of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// An argument of the call, by its position: after buffers have changed places, another one
    /// than is declared.
    Passed(u16),
    /// A scratch buffer, by its position.
    Scratch(u16),
    /// A scalar: so many of the bytes, in the host's order.
    Value {
        /// Its bytes.
        bytes: [u8; 8],
        /// How many of them.
        size: usize,
    },
    /// Local memory.
    Local {
        /// Its size in bytes.
        bytes: usize,
    },
}

impl Model {
    /// What a call of a configuration does. The configuration must have passed
    /// [`check`](Self::check).
    ///
    /// # Errors
    /// Whatever `check` says, for rounds as well; [`Rejection::TooManySteps`].
    pub fn commands(
        &self,
        codes: &[i64],
        dims: &[i64],
        device: &DeviceLimits,
    ) -> Result<Commands, Rejection> {
        self.check_shape(codes, dims)?;
        let mut builder = Builder {
            model: self,
            codes,
            dims: dims.to_vec(),
            device,
            passed: (0..self.arguments.len())
                .map(|at| BufferRef::Passed(at as u16))
                .collect(),
            scratch: (0..self.scratch.len())
                .map(|at| BufferRef::Scratch(at as u16))
                .collect(),
            commands: Commands {
                list: Vec::new(),
                scratch: vec![None; self.scratch.len()],
                images: self.images(codes, dims, device)?,
            },
            rounds: 0,
        };
        builder.steps(&self.steps)?;
        let launches = |command: &Command| matches!(command, Command::Launch(_));
        if !builder.commands.list.iter().any(launches) {
            return Err(Rejection::NothingRuns);
        }
        Ok(builder.commands)
    }
}

struct Builder<'a> {
    model: &'a Model,
    codes: &'a [i64],
    /// The problem's sizes, then the numbers of the rounds that are being counted.
    dims: Vec<i64>,
    device: &'a DeviceLimits,
    /// What each argument of the call is now, after buffers have changed places.
    passed: Vec<BufferRef>,
    /// The same of scratch buffers.
    scratch: Vec<BufferRef>,
    commands: Commands,
    rounds: usize,
}

impl Builder<'_> {
    fn steps(&mut self, steps: &[Step]) -> Result<(), Rejection> {
        for step in steps {
            if let Some(when) = step.when()
                && evaluated(when, || Quantity::Condition, &self.env())? == 0
            {
                continue;
            }
            match step {
                Step::Launch(stage) => {
                    let launch = self.launch(stage);
                    let launch = launch.map_err(|reason| self.model.in_stage(stage, reason))?;
                    self.push(Command::Launch(launch))?;
                }
                Step::Clear { buffer, .. } => {
                    let bytes = self.bytes(*buffer)?;
                    let buffer = self.now(*buffer)?;
                    self.push(Command::Clear { buffer, bytes })?;
                }
                Step::Copy { from, to, .. } => {
                    let bytes = self.bytes(*from)?;
                    let (from, to) = (self.now(*from)?, self.now(*to)?);
                    self.push(Command::Copy { from, to, bytes })?;
                }
                Step::Swap { buffers: [a, b] } => {
                    let (first, second) = (self.now(*a)?, self.now(*b)?);
                    *self.place(*a) = second;
                    *self.place(*b) = first;
                }
                Step::Repeat { count, steps, .. } => {
                    let count = at_least(count, 0, || Quantity::Rounds, &self.env())?;
                    for round in 0..count {
                        self.rounds += 1;
                        if self.rounds > MOST_COMMANDS {
                            return Err(too_many());
                        }
                        self.dims.push(round);
                        let done = self.steps(steps);
                        self.dims.pop();
                        done?;
                    }
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, command: Command) -> Result<(), Rejection> {
        if self.commands.list.len() >= MOST_COMMANDS {
            return Err(too_many());
        }
        self.commands.list.push(command);
        Ok(())
    }

    fn launch(&mut self, stage: &Stage) -> Result<Launch, Rejection> {
        let geometry = stage.geometry(&self.env())?;
        let mut arguments = Vec::with_capacity(stage.arguments.len());
        for argument in stage.arguments.iter() {
            arguments.push(match argument {
                StageArgument::Passed(position) => self.given(BufferRef::Passed(*position))?,
                StageArgument::Scratch(position) => self.given(BufferRef::Scratch(*position))?,
                StageArgument::Value { scalar, value } => Given::Value {
                    bytes: scalar_value(*scalar, value, &self.env())?,
                    size: scalar.size(),
                },
                StageArgument::Local { name, element, len } => {
                    let quantity = || Quantity::ArgumentLength(name.clone());
                    let len = at_least(len, 0, quantity, &self.env())?;
                    let len = usize::try_from(len).unwrap_or(usize::MAX);
                    Given::Local {
                        bytes: len.saturating_mul(element.size()),
                    }
                }
            });
        }
        Ok(Launch {
            kernel: self.model.kernel_name(stage, self.codes)?,
            geometry,
            arguments,
        })
    }

    fn env(&self) -> Env<'_> {
        Env {
            params: self.codes,
            dims: &self.dims,
            device: self.device,
        }
    }

    fn given(&mut self, declared: BufferRef) -> Result<Given, Rejection> {
        Ok(match self.now(declared)? {
            BufferRef::Passed(position) => Given::Passed(position),
            BufferRef::Scratch(position) => Given::Scratch(position),
        })
    }

    /// The buffer that is now in the place of a declared one. A scratch buffer gets its size.
    fn now(&mut self, declared: BufferRef) -> Result<BufferRef, Rejection> {
        let now = *self.place(declared);
        if let BufferRef::Scratch(position) = now {
            let position = usize::from(position);
            let scratch = &self.model.scratch[position];
            self.commands.scratch[position] = Some(ScratchMemory {
                name: scratch.name.clone(),
                element: scratch.element,
                bytes: scratch.bytes(&self.env())?,
                zeros: scratch.zeros,
            });
        }
        Ok(now)
    }

    fn place(&mut self, declared: BufferRef) -> &mut BufferRef {
        match declared {
            BufferRef::Passed(position) => &mut self.passed[usize::from(position)],
            BufferRef::Scratch(position) => &mut self.scratch[usize::from(position)],
        }
    }

    /// The declared size of a buffer.
    fn bytes(&self, declared: BufferRef) -> Result<usize, Rejection> {
        let Some((name, element, Some(len))) = self.model.buffer(declared) else {
            return Ok(0);
        };
        let len = at_least(
            len,
            0,
            || Quantity::ArgumentLength(name.clone()),
            &self.env(),
        )?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        Ok(len.saturating_mul(element.size()))
    }
}

const fn too_many() -> Rejection {
    Rejection::TooManySteps {
        most: MOST_COMMANDS,
    }
}

impl Model {
    /// The name of a stage's kernel for a configuration.
    ///
    /// # Errors
    /// A code that is no value of its parameter.
    pub fn kernel_name(&self, stage: &Stage, codes: &[i64]) -> Result<Text, Rejection> {
        if !stage.kernel.contains('{') {
            return Ok(stage.kernel.clone());
        }
        let mut name = stage.kernel.to_string();
        for (parameter, &code) in self.parameters.iter().zip(codes) {
            let value = match parameter.domain.value(code) {
                Some(Value::Bool(value)) => u8::from(value).to_string(),
                Some(value) => value.to_string(),
                None => return Err(Rejection::not_a_value(parameter, code)),
            };
            name = name.replace(&format!("{{{}}}", parameter.name), &value);
        }
        Ok(Cow::Owned(name))
    }
}
