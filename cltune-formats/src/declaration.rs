//! The whole declaration of a tunable: the model and what only the tuner needs.

mod compared;
mod computation;
mod unused;

pub use compared::{Compared, UnusableRange};
pub use computation::Computation;

use cltune_core::device::{DeviceField, DeviceLimits};
use cltune_core::expr::{Env, Formula};
use cltune_core::measure::Measure;
use cltune_core::model::{Access, ArgumentKind, ElementType, Leaf, Model, StructType};

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
    /// The state of the caches when launches are timed.
    pub measure: Measure,
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

    /// The structs of a call, of its reference and of what prepares its inputs, each once.
    pub fn structs(&self) -> Vec<&'static StructType> {
        let mut structs = self.model.structs();
        let reference = match &self.reference {
            Reference::Own(reference) => Some(reference),
            Reference::Default => None,
        };
        for computation in reference.into_iter().chain(&self.prepare) {
            for ty in computation.model(&self.model).structs() {
                if !structs.contains(&ty) {
                    structs.push(ty);
                }
            }
        }
        structs
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
    /// Random numbers as they suit each field of a struct: [`FLOATS`](Self::FLOATS) or
    /// [`INTEGERS`](Self::INTEGERS), unless something is declared with the field.
    ByType,
    /// What [`Declaration::prepare`] makes of the other arguments.
    Prepared,
    /// Nothing to fill: problem dimensions, local memory, and outputs (which are poisoned).
    None,
}

impl Fill {
    /// What floating-point numbers are filled with where nothing is said: values that neither
    /// overflow nor vanish in sums and products.
    pub const FLOATS: Self = Self::Uniform {
        low: -1.0,
        high: 1.0,
    };

    /// The same for integers, signed or not, of every size.
    pub const INTEGERS: Self = Self::Uniform {
        low: 0.0,
        high: 100.0,
    };

    /// Whether draws differ.
    pub fn is_random(&self) -> bool {
        match self {
            Self::Uniform { low, high } => low < high,
            Self::ByType => true,
            _ => false,
        }
    }

    /// What is declared with a field of a struct: `zeros`, `iota`, `constant 4`, `uniform 0 9`.
    pub fn of_field(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let word = words.next()?;
        let numbers: Option<Vec<f64>> = words.map(|number| number.parse().ok()).collect();
        Some(match (word, &numbers?[..]) {
            ("zeros", []) => Self::Zeros,
            ("iota", []) => Self::Iota,
            ("constant", &[value]) => Self::Constant(value),
            ("uniform", &[low, high]) => Self::Uniform { low, high },
            _ => return None,
        })
    }

    /// The fill of a run of scalars in an element that this is the fill of.
    #[must_use]
    pub fn of_leaf(&self, leaf: &Leaf) -> Self {
        match (self, Self::of_field(leaf.fill)) {
            (Self::ByType, Some(declared)) => declared,
            (Self::ByType, None) if leaf.scalar.is_integer() => Self::INTEGERS,
            (Self::ByType, None) => Self::FLOATS,
            (other, _) => other.clone(),
        }
    }
}
