//! The whole declaration of a tunable: the model and what only the tuner needs.

mod compared;
mod computation;

pub use compared::{Compared, UnusableRange};
pub use computation::Computation;

use crate::device::{DeviceField, DeviceLimits};
use crate::expr::{Env, Formula};
use crate::model::{Access, ArgumentKind, ElementType, Model};

/// The most draws that may be declared: each is kept.
pub const MOST_DRAWS: u32 = 100;

/// A tunable as the tuner sees it. The macro writes it into a link section of the compiled
/// artifact; `cargo cltune` reads it from there.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// What a launch needs.
    pub model: Model,
    /// The cargo package that declares it.
    pub package: String,
    /// That package's version.
    pub version: String,
    /// The Rust file that declares it, relative to the package, with `/`.
    pub source_file: String,
    /// The lockfile as the macro saw it: `b3:…` of its text, or `absent`. A reader can tell
    /// whether an artifact was built with the lockfile that lies there now.
    pub lockfile_seen: String,
    /// The files that the macro read, with what was in them: a reader can tell whether an artifact
    /// was built from what lies there now. Empty in artifacts of old releases.
    pub files: Vec<SourceFile>,
    /// The problem sizes to tune for, each in the order of [`Model::dimensions`]; one empty problem
    /// when there are no dimensions.
    pub problems: Vec<Vec<i64>>,
    /// On which devices each of them is tuned for, over problem dimensions and device limits;
    /// `None`: on all.
    pub tune_if: Option<Formula>,
    /// What makes inputs from others.
    pub prepare: Option<Computation>,
    /// What results are compared with.
    pub reference: Reference,
    /// How far floating-point results may be from the reference's.
    pub tolerance: Tolerance,
    /// How many draws of inputs results are verified on; `None`: the tuner's default.
    pub draws: Option<u32>,
    /// How each argument of [`Model::arguments`] is filled, in the same order.
    pub fills: Vec<Fill>,
    /// Which elements of each are compared, in the same order.
    pub compared: Vec<Compared>,
    /// Bytes that one launch moves, for GB/s.
    pub bytes: Option<Formula>,
    /// Floating-point operations of one launch, for GFLOPS.
    pub flops: Option<Formula>,
    /// Whether all work-groups do about the same amount of work, however many are launched: then a
    /// part of them shows whether a configuration is slow.
    pub even_work: bool,
}

/// A file as it was when a declaration was made from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path, relative to the package, with `/`.
    pub path: String,
    /// `b3:…` of its text.
    pub content: String,
}

impl Declaration {
    /// The problems to tune for on a device. A condition that has no value for a problem, such as
    /// one that divides by zero, leaves it in.
    pub fn problems_on<'a>(
        &'a self,
        device: &'a DeviceLimits,
    ) -> impl Iterator<Item = &'a Vec<i64>> {
        self.problems.iter().filter(|dims| {
            let env = Env {
                params: &[],
                dims,
                device,
            };
            let condition = self.tune_if.as_ref();
            condition.is_none_or(|condition| condition.eval(&env) != Ok(0))
        })
    }

    /// Those of [`problems_on`](Self::problems_on) that are certainly among them where only some
    /// limits of the device are known: a limit that is not known is not taken for 0.
    pub fn problems_known_on<'a>(
        &'a self,
        limit: &'a dyn Fn(DeviceField) -> Option<i64>,
    ) -> impl Iterator<Item = &'a Vec<i64>> {
        self.problems.iter().filter(move |dims| {
            let Some(condition) = &self.tune_if else {
                return true;
            };
            let program = condition.program.bind_known(dims, limit);
            program.limits().is_empty()
                && program.eval(&Env {
                    params: &[],
                    dims,
                    device: &DeviceLimits::default(),
                }) != Ok(0)
        })
    }

    /// Whether any input is random. Where none is, all draws of inputs are the same.
    pub fn has_random_inputs(&self) -> bool {
        self.fills.iter().any(Fill::is_random)
    }

    /// Which elements of an argument are compared.
    pub fn compared(&self, position: usize) -> &Compared {
        self.compared.get(position).unwrap_or(&Compared::All)
    }

    /// The element types of all results that are compared.
    pub fn compared_elements(&self) -> impl Iterator<Item = ElementType> {
        let arguments = self.model.arguments.iter().enumerate();
        arguments.filter_map(|(position, argument)| match &argument.kind {
            ArgumentKind::Buffer {
                element, access, ..
            } if *access != Access::Read && *self.compared(position) != Compared::None => {
                Some(*element)
            }
            _ => None,
        })
    }
}

/// What a configuration's results are compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Reference {
    /// The results of the default configuration of the same kernel.
    Default,
    /// What other launches make of the arguments.
    Own(Computation),
}

/// How far floating-point results `x` may be from the reference's `r`. Integers are compared
/// exactly, whatever this says. Where neither is declared, each element is compared with a bound
/// that follows from its type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// A bound on each element.
    pub elements: Option<ElementTolerance>,
    /// A bound on the whole buffer.
    pub norm: Option<NormTolerance>,
    /// How many terms each result sums up, over problem dimensions: what the bounds that are not
    /// declared grow with.
    pub accumulates: Option<Formula>,
}

/// A bound on each element: `|x - r| <= abs + rel * |r|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElementTolerance {
    /// The relative part.
    pub rel: f64,
    /// The absolute part.
    pub abs: f64,
}

/// A bound on the whole buffer: `norm(x - r) <= bound * norm(r)` in the L2 norm, the root of the
/// sum of squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NormTolerance {
    /// The bound that follows from the element's type.
    Default,
    /// This bound.
    Declared(f64),
}

/// How an argument is filled before a launch of the tuner.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// Uniformly distributed in `low..=high`, fresh in every draw.
    Uniform {
        /// The least value.
        low: f64,
        /// The largest value.
        high: f64,
    },
    /// Zeros.
    Zeros,
    /// 0, 1, 2, …
    Iota,
    /// The same value everywhere; also the value of a scalar that is not a problem dimension.
    Constant(f64),
    /// Raw little-endian elements from a file, relative to the package, as many as the argument
    /// has.
    File(String),
    /// What [`Declaration::prepare`] makes of the other arguments.
    Prepared,
    /// Nothing to fill: problem dimensions, local memory, and outputs (which are poisoned).
    None,
}

impl Fill {
    /// Whether draws differ.
    pub fn is_random(&self) -> bool {
        matches!(self, Self::Uniform { low, high } if low < high)
    }
}
