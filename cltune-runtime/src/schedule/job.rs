//! An operation that was enqueued.

use super::error::ScheduleError;
use super::expression::{Expression, Node};
use super::kernel::AnyKernel;
use super::matrix_core::MatrixCore;
use super::operation::{Operation, ResultAxes};
use crate::element::Element;
use cltune_core::tasks::{
    Access, Axis, Cut, DeviceFacts, Grain, Need, Operand, Output, Reach, Rect, Shape, Tile,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// An operation that was enqueued, without the types of its elements.
pub(super) struct Job {
    pub(super) name: String,
    pub(super) shape: Shape,
    pub(super) kernel: Arc<dyn AnyKernel>,
    pub(super) inputs: Vec<Source>,
    /// The matrices of its results, as the shape has them.
    pub(super) targets: Vec<Target>,
    /// Its blocks, chosen when the speeds of devices are known.
    pub(super) division: OnceLock<JobDivision>,
}

/// A matrix that is written, with the version of the contents that it gets.
pub(super) struct Target {
    pub(super) core: Arc<MatrixCore>,
    pub(super) version: u64,
}

/// What an input consists of.
#[derive(Clone)]
pub(super) enum Source {
    /// A matrix, with the version of its contents, and where element (0, 0) of the input is in it.
    Matrix {
        core: Arc<MatrixCore>,
        version: u64,
        origin: [usize; 2],
    },
    /// A temporary, known by a number of its own.
    Map {
        id: u64,
        kernel: Arc<dyn AnyKernel>,
        inputs: Vec<Self>,
    },
}

/// The blocks of a job.
#[derive(Debug)]
pub(super) struct JobDivision {
    pub(super) cut: Cut,
    pub(super) tiles: Vec<Tile>,
    pub(super) panels: usize,
}

impl Target {
    /// A matrix whose contents change.
    pub(super) fn new(core: &Arc<MatrixCore>) -> Self {
        Self {
            version: core.change(),
            core: Arc::clone(core),
        }
    }
}

impl Source {
    pub(super) fn of(node: &Node, origin: [usize; 2]) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        match node {
            Node::Matrix(core) => Self::Matrix {
                core: Arc::clone(core),
                version: core.version(),
                origin,
            },
            Node::Map { kernel, inputs } => Self::Map {
                id: NEXT.fetch_add(1, Ordering::Relaxed),
                kernel: Arc::clone(kernel),
                inputs: inputs
                    .iter()
                    .map(|(input, of)| Self::of(input, [origin[0] + of[0], origin[1] + of[1]]))
                    .collect(),
            },
        }
    }

    /// Calls `visit` with every matrix and the origin of the input in it.
    fn matrices(&self, visit: &mut dyn FnMut(&Arc<MatrixCore>, [usize; 2])) {
        match self {
            Self::Matrix { core, origin, .. } => visit(core, *origin),
            Self::Map { inputs, .. } => inputs.iter().for_each(|input| input.matrices(visit)),
        }
    }
}

/// What the operands and results of an operation are checked against.
struct Check<'o> {
    name: &'o str,
    sizes: [usize; 3],
    scheduler: u64,
}

impl Check<'_> {
    fn shape(&self, what: &str, found: String, expected: impl Into<String>) -> ScheduleError {
        ScheduleError::Shape {
            operation: self.name.to_owned(),
            what: what.to_owned(),
            found,
            expected: expected.into(),
        }
    }

    /// Lines and their length are as large as these axes, or at least so large.
    fn fits(
        &self,
        what: &str,
        found: [usize; 2],
        axes: [Axis; 2],
        is_all: bool,
    ) -> Result<(), ScheduleError> {
        let needed = axes.map(|axis| match axis {
            Axis::I => self.sizes[0],
            Axis::J => self.sizes[1],
            Axis::K => self.sizes[2],
            Axis::One => 1,
        });
        let is_right = if is_all {
            found == needed
        } else {
            found[0] >= needed[0] && found[1] >= needed[1]
        };
        let lines = |[lines, length]: [usize; 2]| format!("{lines} lines of {length}");
        if is_right {
            Ok(())
        } else {
            Err(self.shape(what, lines(found), lines(needed)))
        }
    }

    fn belongs(&self, what: &str, matrix: &MatrixCore) -> Result<(), ScheduleError> {
        if matrix.scheduler == self.scheduler {
            return Ok(());
        }
        Err(ScheduleError::OtherScheduler {
            operation: self.name.to_owned(),
            what: what.to_owned(),
        })
    }

    /// Each element of a result belongs to one tile, and all of them to a matrix.
    fn result(
        &self,
        what: &str,
        result: &ResultAxes,
        core: &MatrixCore,
    ) -> Result<(), ScheduleError> {
        self.belongs(what, core)?;
        let [line, at] = result.origin.unwrap_or_default();
        let room = [
            core.lines.saturating_sub(line),
            core.length.saturating_sub(at),
        ];
        self.fits(what, room, result.axes, result.origin.is_none())?;
        let [i, j, _] = self.sizes;
        if result.axes.contains(&Axis::K) || !covers(result.axes, [i, j]) {
            let [lines, length] = result.axes;
            let expected = "I and J, as far as they are longer than 1";
            return Err(self.shape(what, format!("{lines:?} x {length:?}"), expected));
        }
        Ok(())
    }

    /// What an operand of these axes consists of.
    fn source<T: Element>(
        &self,
        what: &str,
        expression: &Expression<'_, T>,
        axes: [Axis; 2],
    ) -> Result<Source, ScheduleError> {
        self.fits(what, expression.stored, axes, true)?;
        let source = Source::of(&expression.node, expression.origin);
        let mut belong = Ok(());
        source.matrices(&mut |matrix, _| {
            if belong.is_ok() {
                belong = self.belongs(what, matrix);
            }
        });
        belong.map(|()| source)
    }
}

impl Job {
    /// Checks an operation whose results go to these matrices.
    pub(super) fn new<T: Element>(
        operation: Operation<'_, T>,
        matrices: &[&Arc<MatrixCore>],
        scheduler: u64,
    ) -> Result<Self, ScheduleError> {
        let name = operation.kernel.name();
        let check = Check {
            name: &name,
            sizes: operation.sizes,
            scheduler,
        };
        let [i, j, k] = operation.sizes;
        if operation.sizes.contains(&0) {
            let found = format!("{i} x {j} x {k}");
            return Err(check.shape("the size of the operation", found, "at least 1 x 1 x 1"));
        }
        let operand = |axes, origin| Operand {
            axes,
            reach: [Reach::ONE; 2],
            origin,
            element: size_of::<T>(),
            leaves: 1,
            is_computed: false,
            is_padded: operation.is_padded,
        };
        let (first, others) = &operation.outputs;
        let results = 1 + others.len();
        if results != matrices.len() {
            return Err(ScheduleError::Results {
                operation: name,
                results,
                matrices: matrices.len(),
            });
        }
        let mut outputs = Vec::new();
        for (result, core) in std::iter::once(first).chain(others).zip(matrices) {
            let what = match results {
                1 => "the result".to_owned(),
                _ => format!("result {}", outputs.len() + 1),
            };
            check.result(&what, result, core)?;
            outputs.push(Output {
                operand: operand(result.axes, result.origin.unwrap_or_default()),
                is_read: result.is_read,
            });
        }
        let (mut sources, mut operands) = (Vec::new(), Vec::new());
        for (position, (expression, axes)) in operation.inputs.iter().enumerate() {
            let what = format!("operand {}", position + 1);
            sources.push(check.source(&what, expression, *axes)?);
            operands.push(Operand {
                leaves: expression.node.leaves(),
                is_computed: expression.node.is_computed(),
                // Sources have their own origin.
                ..operand(*axes, [0; 2])
            });
        }
        Ok(Self {
            shape: Shape {
                sizes: operation.sizes,
                grains: [Grain::ONE; 2],
                outputs,
                inputs: operands,
                work: operation.work,
                workspace: operation.workspace,
            },
            name,
            kernel: operation.kernel,
            inputs: sources,
            targets: matrices.iter().map(|core| Target::new(core)).collect(),
            division: OnceLock::new(),
        })
    }

    /// The division, once it has been chosen.
    pub(super) fn division(&self) -> &JobDivision {
        self.division
            .get_or_init(|| self.divide(Cut(self.shape.sizes)))
    }

    /// The tiles for blocks of a size.
    pub(super) fn divide(&self, cut: Cut) -> JobDivision {
        JobDivision {
            cut,
            tiles: self.shape.tiles(cut),
            panels: self.shape.counts(cut)[2],
        }
    }

    /// The results, each with its matrix.
    pub(super) fn results(&self) -> impl Iterator<Item = (&Target, &Output)> {
        self.targets.iter().zip(&self.shape.outputs)
    }

    /// What the task of a tile reads and writes.
    pub(super) fn accesses(&self, tile: &Tile) -> (Vec<Access>, Vec<Access>) {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for (source, operand) in self.inputs.iter().zip(&self.shape.inputs) {
            let rect = self.shape.whole_rect(operand, tile);
            source.matrices(&mut |core, origin| {
                reads.push(Access {
                    matrix: core.id,
                    rect: moved(rect, origin),
                });
            });
        }
        for (Target { core, .. }, Output { operand, is_read }) in self.results() {
            let write = Access {
                matrix: core.id,
                rect: self.shape.result_rect(operand, tile),
            };
            writes.push(write);
            if *is_read {
                reads.push(Access {
                    rect: self.shape.whole_rect(operand, tile),
                    ..write
                });
            }
        }
        (reads, writes)
    }

    /// Whether it reads a matrix.
    pub(super) fn reads(&self, matrix: u64) -> bool {
        let mut found = false;
        for source in &self.inputs {
            source.matrices(&mut |core, _| found |= core.id == matrix);
        }
        let mut results = self.results();
        found || results.any(|(target, output)| output.is_read && target.core.id == matrix)
    }

    /// Whether it writes a matrix.
    pub(super) fn writes(&self, matrix: u64) -> bool {
        self.targets.iter().any(|target| target.core.id == matrix)
    }

    /// The memory that its kernel allocates on a device, bytes.
    pub(super) fn workspace(&self) -> usize {
        let Cut(blocks) = self.division().cut;
        let inputs = self.shape.inputs.iter();
        let read: usize = inputs.map(|input| input.block_bytes(blocks)).sum();
        (read as f64 * self.shape.workspace) as usize
    }

    /// Whether its blocks fit a device.
    pub(super) fn fits(&self, device: &DeviceFacts) -> bool {
        Need::of(&self.shape, self.division().cut).fits(device)
    }
}

/// Whether each element of the result belongs to one tile.
fn covers(output: [Axis; 2], [i, j]: [usize; 2]) -> bool {
    (i == 1 || output.contains(&Axis::I)) && (j == 1 || output.contains(&Axis::J))
}

/// A part of an input as a part of the matrix that has the input at `origin`.
pub(super) const fn moved(rect: Rect, origin: [usize; 2]) -> Rect {
    Rect {
        line: rect.line + origin[0],
        at: rect.at + origin[1],
        ..rect
    }
}
