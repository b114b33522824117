//! Launches that the tuner makes for itself: they make inputs from others, or compute what results
//! are compared with.

use cltune_core::Text;
use cltune_core::device::DeviceLimits;
use cltune_core::expr::Formula;
use cltune_core::model::{
    Argument, ArgumentKind, Commands, Memory, Model, Rejection, Scratch, Stage, StageArgument, Step,
};

/// Steps on the arguments of a tunable that are no call of it. They are the same for all
/// configurations: no formula in them uses a parameter, and their source has the macros of the
/// default configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Computation {
    /// The source with includes resolved, when it is not the tunable's own.
    pub source: Option<String>,
    /// Buffers of its own.
    pub scratch: Vec<Scratch>,
    /// Its launches, and what lies between them, in order.
    pub steps: Vec<Step>,
}

impl Computation {
    /// One launch of a kernel that takes so many arguments: all that a call passes, in their order.
    pub fn of_kernel(
        kernel: impl Into<Text>,
        arguments: usize,
        global: Vec<Formula>,
        local: Vec<Formula>,
    ) -> Self {
        let arguments = 0..u16::try_from(arguments).unwrap_or(u16::MAX);
        let stage = Stage {
            global: global.into(),
            local: local.into(),
            arguments: arguments.map(StageArgument::Passed).collect(),
            ..Stage::new(kernel.into())
        };
        Self {
            source: None,
            scratch: Vec::new(),
            steps: vec![Step::Launch(stage)],
        }
    }

    /// Its only stage, where it is what [`of_kernel`](Self::of_kernel) makes: records and
    /// fingerprints have a shorter form for that.
    pub(crate) fn kernel(&self, tunable: &Model) -> Option<&Stage> {
        let [Step::Launch(stage)] = &*self.steps else {
            return None;
        };
        let arguments = tunable.arguments.len();
        let plain = Self {
            source: self.source.clone(),
            ..Self::of_kernel(
                stage.kernel.clone(),
                arguments,
                stage.global.to_vec(),
                stage.local.to_vec(),
            )
        };
        (plain == *self).then_some(stage)
    }

    /// A model of which a call does these steps, with the arguments and the macros of the
    /// tunable's. What a parameter places is a buffer there.
    pub fn model(&self, tunable: &Model) -> Model {
        let own = self.source.clone().map(Text::Owned);
        let mut arguments = tunable.arguments.clone();
        if arguments.iter().any(is_placed) {
            for argument in arguments.to_mut() {
                if let ArgumentKind::Buffer { memory, .. } = &mut argument.kind
                    && matches!(memory, Memory::Chosen(_))
                {
                    *memory = Memory::Buffer;
                }
            }
        }
        Model {
            source: own.unwrap_or_else(|| tunable.source.clone()),
            scratch: self.scratch.clone().into(),
            steps: self.steps.clone().into(),
            arguments,
            ..tunable.clone()
        }
    }

    /// What it does for a problem on a device; `codes` are those of the default configuration.
    ///
    /// # Errors
    /// As [`Model::commands`].
    pub fn commands(
        &self,
        tunable: &Model,
        codes: &[i64],
        dims: &[i64],
        device: &DeviceLimits,
    ) -> Result<Commands, Rejection> {
        self.model(tunable).commands(codes, dims, device)
    }
}

/// Whether a parameter says where an argument lives.
fn is_placed(argument: &Argument) -> bool {
    matches!(
        argument.kind,
        ArgumentKind::Buffer {
            memory: Memory::Chosen(_),
            ..
        }
    )
}
