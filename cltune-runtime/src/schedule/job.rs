//! An operation that was enqueued.

use super::error::ScheduleError;
use super::expression::Node;
use super::kernel::AnyKernel;
use super::matrix_core::MatrixCore;
use super::operation::Operation;
use crate::element::Element;
use cltune_core::tasks::{
    Access, Axis, Cut, DeviceFacts, Grain, Need, Operand, Reach, Rect, Shape, Tile,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// An operation that was enqueued, without the types of its elements.
pub(super) struct Job {
    pub(super) name: String,
    pub(super) shape: Shape,
    pub(super) kernel: Arc<dyn AnyKernel>,
    pub(super) inputs: Vec<Source>,
    pub(super) output: Arc<MatrixCore>,
    /// The version of the result.
    pub(super) version: u64,
    /// Its blocks, chosen when the speeds of devices are known.
    pub(super) division: OnceLock<JobDivision>,
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

impl Job {
    /// Checks an operation whose result goes to a matrix.
    pub(super) fn new<T: Element>(
        operation: Operation<'_, T>,
        output: &Arc<MatrixCore>,
    ) -> Result<Self, ScheduleError> {
        let name = operation.kernel.name();
        let element = size_of::<T>();
        let [i, j, k] = operation.sizes;
        if operation.sizes.contains(&0) {
            return Err(ScheduleError::Shape {
                operation: name,
                what: "the size of the operation".to_owned(),
                found: format!("{i} x {j} x {k}"),
                expected: "at least 1 x 1 x 1".to_owned(),
            });
        }
        let scheduler = output.scheduler;
        let along = |axis: Axis| match axis {
            Axis::I => i,
            Axis::J => j,
            Axis::K => k,
            Axis::One => 1,
        };
        let fits = |what: &str, found: [usize; 2], axes: [Axis; 2], is_all: bool| {
            let needed = axes.map(along);
            let is_right = if is_all {
                found == needed
            } else {
                found[0] >= needed[0] && found[1] >= needed[1]
            };
            if is_right {
                return Ok(());
            }
            Err(ScheduleError::Shape {
                operation: name.clone(),
                what: what.to_owned(),
                found: format!("{} lines of {}", found[0], found[1]),
                expected: format!("{} lines of {}", needed[0], needed[1]),
            })
        };
        let core = output;
        let origin = operation.origin.unwrap_or_default();
        let room = [
            core.lines.saturating_sub(origin[0]),
            core.length.saturating_sub(origin[1]),
        ];
        fits(
            "the result",
            room,
            operation.output,
            operation.origin.is_none(),
        )?;
        let of_output = Operand {
            axes: operation.output,
            reach: [Reach::ONE; 2],
            origin,
            element,
            leaves: 1,
            is_computed: false,
            is_padded: operation.is_padded,
        };
        if operation.output.contains(&Axis::K) || !covers(operation.output, [i, j]) {
            return Err(ScheduleError::Shape {
                operation: name,
                what: "the result".to_owned(),
                found: format!("{:?} x {:?}", operation.output[0], operation.output[1]),
                expected: "I and J, as far as they are longer than 1".to_owned(),
            });
        }
        let (mut sources, mut operands) = (Vec::new(), Vec::new());
        for (position, (expression, axes)) in operation.inputs.iter().enumerate() {
            let what = format!("operand {}", position + 1);
            fits(&what, expression.stored, *axes, true)?;
            let operand = Operand {
                axes: *axes,
                reach: [Reach::ONE; 2],
                // Sources have their own.
                origin: [0; 2],
                element,
                leaves: expression.node.leaves(),
                is_computed: expression.node.is_computed(),
                is_padded: operation.is_padded,
            };
            let source = Source::of(&expression.node, expression.origin);
            let mut problem = None;
            source.matrices(&mut |matrix, _| {
                if matrix.scheduler != scheduler {
                    problem = Some(ScheduleError::OtherScheduler {
                        operation: name.clone(),
                        what: what.clone(),
                    });
                }
            });
            if let Some(problem) = problem {
                return Err(problem);
            }
            sources.push(source);
            operands.push(operand);
        }
        Ok(Self {
            shape: Shape {
                sizes: operation.sizes,
                grains: [Grain::ONE; 2],
                output: of_output,
                reads_output: operation.reads_output,
                inputs: operands,
                work: operation.work,
                workspace: operation.workspace,
            },
            name,
            kernel: operation.kernel,
            inputs: sources,
            version: core.change(),
            output: Arc::clone(core),
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

    /// What the task of a tile reads and writes.
    pub(super) fn accesses(&self, tile: &Tile) -> (Vec<Access>, Access) {
        let mut reads = Vec::new();
        for (source, operand) in self.inputs.iter().zip(&self.shape.inputs) {
            let rect = self.shape.whole_rect(operand, tile);
            source.matrices(&mut |core, origin| {
                reads.push(Access {
                    matrix: core.id,
                    rect: moved(rect, origin),
                });
            });
        }
        let write = Access {
            matrix: self.output.id,
            rect: self.shape.result_rect(tile),
        };
        if self.shape.reads_output {
            reads.push(Access {
                rect: self.shape.whole_rect(&self.shape.output, tile),
                ..write
            });
        }
        (reads, write)
    }

    /// Whether it reads a matrix.
    pub(super) fn reads(&self, matrix: u64) -> bool {
        let mut found = false;
        for source in &self.inputs {
            source.matrices(&mut |core, _| found |= core.id == matrix);
        }
        found || (self.shape.reads_output && self.output.id == matrix)
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
