//! Tunables with `split(…)` as operations: I and J are the divided dimensions.
//!
//! What `split` says about an argument is where its elements for a share are. A tile is a share, or
//! a share of a share, and so the operand's block is known.

use super::error::ScheduleError;
use super::expression::Node;
use super::job::{Job, Source, Target};
use super::matrix::Matrix;
use super::matrix_core::MatrixCore;
use super::scheduler::Scheduler;
use super::tunable_kernel::{DeviceChoice, Passed, Scalar, TunableKernel};
use crate::device::Device;
use crate::element::Element;
use crate::error::Error;
use crate::kernel::Tunable;
use crate::policy;
use crate::split::{Divided, Meaning, choose, least_len};
use cltune_core::device::DeviceLimits;
use cltune_core::expr::Env;
use cltune_core::model::{Access, Argument, ArgumentKind, Model};
use cltune_core::split::{Division, Layout};
use cltune_core::tasks::{Axis, Grain, Operand, Output, Reach, Shape};
use std::sync::{Arc, OnceLock};

/// An argument of a tunable, in the order of the Rust function.
#[derive(Debug)]
pub struct ScheduleArg<'a>(Given<'a>);

#[derive(Debug)]
enum Given<'a> {
    Scalar(&'a [u8]),
    Read(&'a Arc<MatrixCore>),
    Written(&'a Arc<MatrixCore>),
}

impl<'a> ScheduleArg<'a> {
    /// A scalar.
    pub fn scalar<T: Element>(value: &'a T) -> Self {
        Self(Given::Scalar(T::as_bytes(std::slice::from_ref(value))))
    }

    /// A matrix that the kernel reads.
    pub const fn matrix<T: Element>(matrix: &'a Matrix<T>) -> Self {
        Self(Given::Read(&matrix.core))
    }

    /// A matrix that the kernel writes.
    pub const fn matrix_mut<T: Element>(matrix: &'a mut Matrix<T>) -> Self {
        Self(Given::Written(&matrix.core))
    }
}

/// Enqueues a call of a tunable, divided along one or two of the dimensions that it can be divided
/// along.
///
/// # Errors
/// [`ScheduleError::NoResult`], [`ScheduleError::Shape`], [`ScheduleError::OtherScheduler`]; as
/// [`ScheduleError::Runtime`] where no device has a configuration, or the declaration does not fit
/// the problem.
pub fn enqueue(
    tunable: &'static Tunable,
    divisions: &'static [Division],
    scheduler: &Scheduler,
    dims: &[i64],
    args: &[ScheduleArg<'_>],
) -> Result<(), ScheduleError> {
    let call = Call {
        tunable,
        model: tunable.model(),
        scheduler,
        dims,
        args,
    };
    let job = call.job(divisions)?;
    scheduler.center.enqueue(job);
    Ok(())
}

/// A call that is checked.
struct Call<'a> {
    tunable: &'static Tunable,
    model: &'a Model,
    scheduler: &'a Scheduler,
    dims: &'a [i64],
    args: &'a [ScheduleArg<'a>],
}

/// The axes that a call is divided along, and its operands: `None` for scalars.
struct Axes {
    /// One or two, those of I and J.
    divisions: Vec<&'static Division>,
    operands: Vec<Option<Operand>>,
}

impl Call<'_> {
    fn job(&self, divisions: &'static [Division]) -> Result<Job, ScheduleError> {
        self.check()?;
        let devices: Vec<Device> = {
            let state = self.scheduler.center.lock();
            state.devices.iter().map(|of| of.device.clone()).collect()
        };
        self.check_lengths(&devices)?;
        let axes = self.axes(divisions)?;
        let (choices, grains) = self.choices(&axes, &devices)?;
        let size = |axis: usize| {
            let division = axes.divisions.get(axis);
            let positions = division.map_or(1, |division| division.total(self.dims));
            usize::try_from(positions).unwrap_or(1)
        };
        let sizes = [size(0), size(1), 1];
        let (mut inputs, mut operands, mut passed) = (vec![], vec![], vec![]);
        let (mut results, mut outputs) = (vec![], vec![]);
        let arguments = self.model.arguments.iter().zip(self.args);
        for (position, ((argument, arg), operand)) in arguments.zip(axes.operands).enumerate() {
            match (&arg.0, operand) {
                (Given::Read(core), Some(operand)) => {
                    passed.push(Passed::Input(inputs.len(), operand));
                    inputs.push(Source::of(&Node::Matrix(Arc::clone(core)), [0; 2]));
                    operands.push(operand);
                }
                (Given::Written(core), Some(operand)) => {
                    passed.push(Passed::Output(outputs.len(), operand));
                    results.push(*core);
                    outputs.push(Output {
                        operand,
                        is_read: is_read(argument),
                    });
                }
                (given, _) => {
                    let (Given::Scalar(bytes), ArgumentKind::Scalar { scalar, dimension }) =
                        (given, &argument.kind)
                    else {
                        return Err(self.kind(argument));
                    };
                    let meaning = |division: &&Division| {
                        Meaning::of(*dimension, &division.arguments[position], division)
                    };
                    passed.push(Passed::Scalar(Scalar {
                        name: argument.name.to_string(),
                        element: *scalar,
                        bytes: bytes.to_vec(),
                        meanings: axes.divisions.iter().map(meaning).collect(),
                    }));
                }
            }
        }
        let kernel = TunableKernel {
            name: self.name(&axes.divisions),
            tunable: self.tunable,
            dims: self.dims.into(),
            axes: axes.divisions.iter().map(|of| of.dimension).collect(),
            passed,
            choices,
        };
        Ok(Job {
            name: kernel.name.clone(),
            shape: Shape {
                sizes,
                grains,
                outputs,
                inputs: operands,
                work: 1.0,
                workspace: 0.0,
            },
            kernel: Arc::new(kernel),
            inputs,
            targets: results.into_iter().map(Target::new).collect(),
            division: OnceLock::new(),
        })
    }

    /// Checks that what is passed is what is declared, and that there is a result.
    fn check(&self) -> Result<(), ScheduleError> {
        let declared = &self.model.arguments;
        if declared.len() != self.args.len() {
            let (expected, found) = (declared.len(), self.args.len());
            let kernel = self.model.name.to_string();
            let error = Error::Arguments {
                kernel,
                expected,
                found,
            };
            return Err(error.into());
        }
        let mut has_result = false;
        for (argument, ScheduleArg(given)) in declared.iter().zip(self.args) {
            let core = match (given, &argument.kind) {
                (Given::Scalar(_), ArgumentKind::Scalar { .. }) => continue,
                (Given::Read(core), ArgumentKind::Buffer { access, .. })
                    if *access == Access::Read =>
                {
                    core
                }
                (Given::Written(core), ArgumentKind::Buffer { access, .. })
                    if *access != Access::Read =>
                {
                    has_result = true;
                    core
                }
                _ => return Err(self.kind(argument)),
            };
            if core.scheduler != self.scheduler.center.id() {
                return Err(ScheduleError::OtherScheduler {
                    operation: self.model.name.to_string(),
                    what: format!("`{}`", argument.name),
                });
            }
        }
        if has_result {
            Ok(())
        } else {
            Err(self.no_result())
        }
    }

    /// Checks that no matrix is too short on any device.
    fn check_lengths(&self, devices: &[Device]) -> Result<(), ScheduleError> {
        let limits: Vec<&DeviceLimits> = devices.iter().map(|of| &of.info().limits).collect();
        for (argument, arg) in self.model.arguments.iter().zip(self.args) {
            let Some(core) = arg.core() else { continue };
            let found = core.lines * core.length;
            let needed = least_len(&argument.kind, self.dims, &limits);
            if found < needed {
                let error = Error::BufferTooShort {
                    kernel: self.model.name.to_string(),
                    argument: argument.name.to_string(),
                    needed,
                    found,
                };
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// The first dimension is I. J is the first one beside it that divides arguments the other way:
    /// across lines where I divides along them.
    fn axes(&self, divisions: &'static [Division]) -> Result<Axes, ScheduleError> {
        let Some((first, others)) = divisions.split_first() else {
            return Err(self.no_result());
        };
        for second in others {
            let divisions = vec![first, second];
            if let Ok(operands) = self.operands(&divisions) {
                return Ok(Axes {
                    divisions,
                    operands,
                });
            }
        }
        let divisions = vec![first];
        let operands = self.operands(&divisions)?;
        Ok(Axes {
            divisions,
            operands,
        })
    }

    fn operands(&self, divisions: &[&Division]) -> Result<Vec<Option<Operand>>, ScheduleError> {
        let arguments = self.model.arguments.iter().zip(self.args).enumerate();
        let operand = |(position, (argument, arg)): (usize, (&Argument, &ScheduleArg<'_>))| {
            let core = arg.core();
            core.map(|core| self.operand(divisions, position, argument, core))
                .transpose()
        };
        arguments.map(operand).collect()
    }

    /// The parts of an argument that tiles need.
    fn operand(
        &self,
        divisions: &[&Division],
        position: usize,
        argument: &Argument,
        core: &MatrixCore,
    ) -> Result<Operand, ScheduleError> {
        let mut operand = Operand {
            axes: [Axis::One; 2],
            reach: [Reach::all(core.lines), Reach::all(core.length)],
            origin: [0; 2],
            element: core.element,
            leaves: 1,
            is_computed: false,
            is_padded: false,
        };
        let mut is_divided = false;
        for (axis, division) in [Axis::I, Axis::J].into_iter().zip(divisions) {
            let layout = division.layout(&division.arguments[position], &argument.kind, self.dims);
            let layout = layout.map_err(|reason| Error::Division {
                kernel: self.model.name.to_string(),
                argument: argument.name.to_string(),
                problem: self.model.describe_problem(self.dims),
                reason,
            })?;
            let Some(layout) = layout else { continue };
            let placed = placed(layout, [core.lines, core.length]);
            let Some((at, reach)) = placed.filter(|(at, _)| operand.axes[*at] == Axis::One) else {
                return Err(self.shape(argument, core, expected(layout)));
            };
            operand.axes[at] = axis;
            operand.reach[at] = reach;
            is_divided = true;
        }
        if is_divided {
            self.check_parts(divisions, argument, &operand, core)?;
        }
        Ok(operand)
    }

    /// Checks that a tile is, by the declared length, given what it needs: where rows are divided
    /// as well, no declaration says so by itself.
    fn check_parts(
        &self,
        divisions: &[&Division],
        argument: &Argument,
        operand: &Operand,
        core: &MatrixCore,
    ) -> Result<(), ScheduleError> {
        let ArgumentKind::Buffer { len: Some(len), .. } = &argument.kind else {
            return Ok(());
        };
        let all = |axis: usize| divisions.get(axis).map_or(1, |of| of.total(self.dims));
        let (i, j) = (all(0), all(1));
        for sizes in [[i, j], [1, j], [i, 1], [1, 1]] {
            let mut dims = self.dims.to_vec();
            for (division, size) in divisions.iter().zip(sizes) {
                dims = division.share_dims(&dims, size);
            }
            // The lengths of divided arguments use neither parameters nor limits of devices.
            let env = Env {
                params: &[],
                dims: &dims,
                device: &DeviceLimits::default(),
            };
            let declared = len.eval(&env).ok();
            let blocks = [sizes[0], sizes[1], 1].map(|size| usize::try_from(size).unwrap_or(0));
            let [lines, length] = operand.size(blocks);
            let is_same = declared.is_some_and(|len| usize::try_from(len) == Ok(lines * length));
            if !is_same {
                let share = self.model.describe_problem(&dims);
                let needed = format!("a length of {} elements for {share}", lines * length);
                return Err(self.shape(argument, core, needed));
            }
        }
        Ok(())
    }

    /// The configuration of each device that has one, with its positions per second by tuning, and
    /// the work-groups that tiles consist of.
    fn choices(
        &self,
        axes: &Axes,
        devices: &[Device],
    ) -> Result<(Vec<DeviceChoice>, [Grain; 2]), ScheduleError> {
        let policy = policy::get(policy::current(self.tunable.policy()))?;
        let divided = Divided {
            tunable: self.tunable,
            division: axes.divisions[0],
            dims: self.dims,
            policy: &policy,
        };
        let mut choices: Vec<DeviceChoice> = Vec::new();
        let mut granules: [usize; 2] = [1; 2];
        let mut takes_whole = true;
        for device in devices {
            if choices.iter().any(|known| known.device == *device) {
                continue;
            }
            let Some((choice, speed)) = choose(&divided, device) else {
                continue;
            };
            takes_whole &= choice.takes_whole;
            for (granule, division) in granules.iter_mut().zip(&axes.divisions) {
                let limits = &device.info().limits;
                let own = division.granule(&choice.codes, self.dims, limits);
                let own = usize::try_from(own.unwrap_or(1)).unwrap_or(1);
                let all = usize::try_from(division.total(self.dims)).unwrap_or(1);
                *granule = common(*granule, own, all);
            }
            let second = axes.divisions.get(1);
            let second = second.map_or(1, |division| division.total(self.dims));
            choices.push(DeviceChoice {
                device: device.clone(),
                choice,
                speed: speed.map(|speed| speed * second as f64),
            });
        }
        if choices.is_empty() {
            let none = devices
                .first()
                .map(|device| divided.no_configuration(device));
            return Err(none.unwrap_or(Error::NoDevice).into());
        }
        let [size, second] = granules;
        let grains = [
            Grain {
                size,
                is_exact: !takes_whole,
            },
            Grain {
                size: second,
                is_exact: false,
            },
        ];
        Ok((choices, grains))
    }

    /// The tunable with the dimensions that its speed depends on.
    fn name(&self, divisions: &[&Division]) -> String {
        let is_divided = |position: usize| {
            divisions
                .iter()
                .any(|of| usize::from(of.dimension) == position)
        };
        let dimensions = self.model.dimensions.iter().zip(self.dims).enumerate();
        let others = dimensions.filter(|(position, _)| !is_divided(*position));
        let others = others.map(|(_, (dimension, size))| format!(", {dimension} = {size}"));
        let others: String = others.collect();
        format!("{}{others}", self.model.name)
    }

    fn no_result(&self) -> ScheduleError {
        ScheduleError::NoResult {
            operation: self.model.name.to_string(),
        }
    }

    fn kind(&self, argument: &Argument) -> ScheduleError {
        let error = Error::ArgumentKind {
            kernel: self.model.name.to_string(),
            argument: argument.name.to_string(),
        };
        error.into()
    }

    fn shape(&self, argument: &Argument, core: &MatrixCore, expected: String) -> ScheduleError {
        ScheduleError::Shape {
            operation: self.model.name.to_string(),
            what: format!("`{}`", argument.name),
            found: format!("{} lines of {}", core.lines, core.length),
            expected,
        }
    }
}

impl ScheduleArg<'_> {
    const fn core(&self) -> Option<&Arc<MatrixCore>> {
        match self.0 {
            Given::Scalar(_) => None,
            Given::Read(core) | Given::Written(core) => Some(core),
        }
    }
}

/// Whether a kernel reads an argument that it writes.
fn is_read(argument: &Argument) -> bool {
    matches!(&argument.kind, ArgumentKind::Buffer { access, .. } if *access != Access::Write)
}

/// Where positions are in a matrix that lies in so many lines of so many elements: 0 for lines, 1
/// for elements of a line. `None` where shares are no parts of such lines.
fn placed(layout: Layout, [lines, length]: [usize; 2]) -> Option<(usize, Reach)> {
    let (step, halo) = (layout.stride(), layout.halo());
    let is_of_lines = step.is_multiple_of(length) && halo.is_multiple_of(length);
    if layout.rows() == 1 && is_of_lines && layout.pitch() == lines * length {
        let (step, halo) = (step / length, halo / length);
        return Some((0, Reach { step, halo }));
    }
    let is_same = layout.rows() == lines && layout.pitch() == length;
    is_same.then_some((1, Reach { step, halo }))
}

/// The lines that [`placed`] asks for.
fn expected(layout: Layout) -> String {
    let (rows, pitch) = (layout.rows(), layout.pitch());
    match (rows, layout.stride(), layout.halo()) {
        (1, 1, _) => format!("1 line of {pitch}"),
        (1, stride, 0) => {
            format!("{pitch} elements in 1 line, or in lines of a divisor of {stride}")
        }
        (1, stride, halo) => format!(
            "{pitch} elements in 1 line, or in lines of a common divisor of {stride} and {halo}"
        ),
        _ => format!("{rows} lines of {pitch}"),
    }
}

/// A size of work-groups that is whole work-groups of two sizes, or else of the larger one.
fn common(one: usize, other: usize, all: usize) -> usize {
    let (one, other) = (one.max(1), other.max(1));
    let (mut a, mut b) = (one, other);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    let both = (one / a).saturating_mul(other);
    if both <= all { both } else { one.max(other) }
}
