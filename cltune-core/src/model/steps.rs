//! The steps of a call: its launches, and what is done with buffers between them.
//!
//! A tunable of one launch has one step, a [`Stage`]. Others have several: partial sums and their
//! sum, the passes of a scan, the rounds of a sort.

use super::{ElementType, ScalarType};
use crate::expr::{Formula, Op};
use crate::{List, Text};

/// A step of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A launch of a kernel.
    Launch(Stage),
    /// A buffer is filled with zeros, over its declared length.
    Clear {
        /// The buffer.
        buffer: BufferRef,
        /// When it is done; `None`: always.
        when: Option<Formula>,
    },
    /// A buffer is copied to another of the same element and length.
    Copy {
        /// The buffer that is read.
        from: BufferRef,
        /// The buffer that is written.
        to: BufferRef,
        /// When it is done; `None`: always.
        when: Option<Formula>,
    },
    /// Two buffers of the same element and length change places: what the later steps of a round,
    /// and all later rounds, take for the one is the other.
    Swap {
        /// The buffers.
        buffers: [BufferRef; 2],
    },
    /// Steps that are done several times.
    Repeat {
        /// The name of the round's number, which counts from 0. Formulas of the steps may use it as
        /// they use a problem dimension.
        round: Text,
        /// How many times.
        count: Formula,
        /// The steps of a round.
        steps: List<Self>,
    },
}

/// A launch of a kernel, with its sizes and arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The name of the `__kernel` function. `{PARAMETER}` in it stands for the parameter's value.
    pub kernel: Text,
    /// When it is launched; `None`: always.
    pub when: Option<Formula>,
    /// Global size in work-items, 1 to 3 dimensions.
    pub global: List<Formula>,
    /// Local size (the work-group) in work-items: as many dimensions as `global`, or none to leave
    /// it to the driver.
    pub local: List<Formula>,
    /// Global offset: as many dimensions as `global`, or none.
    pub offset: List<Formula>,
    /// Bytes of local memory that the kernel declares itself, for the constraint with the device's
    /// limit. Local-memory arguments are counted besides.
    pub local_memory: Option<Formula>,
    /// The arguments of the kernel, in the order of its signature.
    pub arguments: List<StageArgument>,
}

impl Stage {
    /// A stage of this kernel without sizes and arguments.
    pub const fn new(kernel: Text) -> Self {
        Self {
            kernel,
            when: None,
            global: List::Borrowed(&[]),
            local: List::Borrowed(&[]),
            offset: List::Borrowed(&[]),
            local_memory: None,
            arguments: List::Borrowed(&[]),
        }
    }
}

/// An argument of a stage's kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum StageArgument {
    /// An argument of the call, by its position in [`Model::arguments`](super::Model::arguments).
    Passed(u16),
    /// A scratch buffer, by its position in [`Model::scratch`](super::Model::scratch).
    Scratch(u16),
    /// A scalar that is computed.
    Value {
        /// Its type.
        scalar: ScalarType,
        /// Its value.
        value: Formula,
    },
    /// Local memory, allocated for each work-group.
    Local {
        /// Its name, for messages.
        name: Text,
        /// The element's type.
        element: ElementType,
        /// The number of elements.
        len: Formula,
    },
}

/// A buffer of the tunable's own: nobody passes it, and nobody sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scratch {
    /// Its name in the declaration.
    pub name: Text,
    /// The element's type.
    pub element: ElementType,
    /// The number of elements, at least 1 wherever a step uses the buffer.
    pub len: Formula,
    /// Whether it holds zeros when a call begins, and the call leaves zeros in it. Another one
    /// holds anything.
    pub zeros: bool,
}

/// A buffer that a step uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferRef {
    /// An argument of the call, by its position.
    Passed(u16),
    /// A scratch buffer, by its position.
    Scratch(u16),
}

impl Step {
    /// The buffers that it uses itself; none for repeated steps.
    pub(super) fn buffers(&self) -> impl Iterator<Item = BufferRef> {
        let (stage, own) = match self {
            Self::Launch(stage) => (Some(stage), [None, None]),
            Self::Clear { buffer, .. } => (None, [Some(*buffer), None]),
            Self::Copy { from, to, .. } => (None, [Some(*from), Some(*to)]),
            Self::Swap { buffers: [a, b] } => (None, [Some(*a), Some(*b)]),
            Self::Repeat { .. } => (None, [None, None]),
        };
        let of_stage = stage.into_iter().flat_map(Stage::buffers);
        of_stage.chain(own.into_iter().flatten())
    }

    /// When it is done; `None`: always.
    pub fn when(&self) -> Option<&Formula> {
        match self {
            Self::Launch(Stage { when, .. })
            | Self::Clear { when, .. }
            | Self::Copy { when, .. } => when.as_ref(),
            Self::Swap { .. } | Self::Repeat { .. } => None,
        }
    }
}

impl Stage {
    /// The passed arguments and scratch buffers; a passed scalar is among them.
    pub(super) fn buffers(&self) -> impl Iterator<Item = BufferRef> {
        self.arguments.iter().filter_map(|argument| match argument {
            StageArgument::Passed(position) => Some(BufferRef::Passed(*position)),
            StageArgument::Scratch(position) => Some(BufferRef::Scratch(*position)),
            StageArgument::Value { .. } | StageArgument::Local { .. } => None,
        })
    }

    /// Its local-memory arguments: name, element and length.
    pub fn local_arguments(&self) -> impl Iterator<Item = (&Text, ElementType, &Formula)> {
        self.arguments.iter().filter_map(|argument| match argument {
            StageArgument::Local { name, element, len } => Some((name, *element, len)),
            _ => None,
        })
    }
}

impl super::Model {
    /// The only launch of a tunable that is nothing else: always launched, with the arguments of
    /// the call. `None` for a group of launches.
    pub fn single_stage(&self) -> Option<&Stage> {
        let [Step::Launch(stage)] = &*self.steps else {
            return None;
        };
        let passes = |argument: &StageArgument| {
            matches!(
                argument,
                StageArgument::Passed(_) | StageArgument::Local { .. }
            )
        };
        let is_single = self.scratch.is_empty()
            && stage.when.is_none()
            && !stage.kernel.contains('{')
            && stage.arguments.iter().all(passes)
            && stage
                .buffers()
                .eq((0..self.arguments.len()).map(|at| BufferRef::Passed(at as u16)));
        is_single.then_some(stage)
    }

    /// The arguments as records and fingerprints list them: those of the call, and in the places
    /// where its kernel takes them the local memory of a single launch.
    pub fn listed_arguments(&self) -> Vec<StageArgument> {
        match self.single_stage() {
            Some(stage) => stage.arguments.to_vec(),
            None => (0..self.arguments.len())
                .map(|at| StageArgument::Passed(at as u16))
                .collect(),
        }
    }

    /// The same as [`single_stage`](Self::single_stage), to be changed.
    pub fn single_stage_mut(&mut self) -> Option<&mut Stage> {
        self.single_stage()?;
        match self.steps.to_mut().first_mut()? {
            Step::Launch(stage) => Some(stage),
            _ => None,
        }
    }

    /// Whether a call reads a buffer of the caller's that it also writes. A call that failed after
    /// it had begun cannot be done again.
    pub fn reads_what_it_writes(&self) -> bool {
        self.arguments.iter().any(|argument| {
            matches!(
                argument.kind,
                super::ArgumentKind::Buffer {
                    access: super::Access::ReadWrite,
                    ..
                }
            )
        })
    }

    /// All stages in the order of declaration, those of repeated steps once.
    pub fn stages(&self) -> Vec<&Stage> {
        fn collect<'a>(steps: &'a [Step], stages: &mut Vec<&'a Stage>) {
            for step in steps {
                match step {
                    Step::Launch(stage) => stages.push(stage),
                    Step::Repeat { steps, .. } => collect(steps, stages),
                    _ => {}
                }
            }
        }
        let mut stages = Vec::new();
        collect(&self.steps, &mut stages);
        stages
    }

    /// Whether a formula of a step is the same in all rounds.
    pub(super) fn is_same_in_all_rounds(&self, formula: &Formula) -> bool {
        let dims = self.dimensions.len();
        let is_round = |op: &Op| matches!(op, Op::Dim(index) if usize::from(*index) >= dims);
        !formula.program.ops.iter().any(is_round)
    }

    /// The name and the declared length of a buffer, elements; no length for a scalar, or where
    /// none is declared.
    pub(super) fn buffer(
        &self,
        buffer: BufferRef,
    ) -> Option<(&Text, ElementType, Option<&Formula>)> {
        match buffer {
            BufferRef::Passed(position) => {
                let argument = self.arguments.get(usize::from(position))?;
                match &argument.kind {
                    super::ArgumentKind::Buffer { element, len, .. } => {
                        Some((&argument.name, *element, len.as_ref()))
                    }
                    super::ArgumentKind::Scalar { .. } => None,
                }
            }
            BufferRef::Scratch(position) => {
                let scratch = self.scratch.get(usize::from(position))?;
                Some((&scratch.name, scratch.element, Some(&scratch.len)))
            }
        }
    }
}
