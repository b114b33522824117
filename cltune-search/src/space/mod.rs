//! Search spaces: the valid configurations of whatever is tuned, in cltune of a tunable on one
//! device for one problem.
//!
//! A [`Space`] is built from a [`SpaceSpec`] without going through the Cartesian product.
//!
//! - A constraint on one parameter makes that parameter's domain smaller before anything else, and
//!   so does one on several of which all but the largest have few combinations.
//! - Parameters that no other constraint connects form independent groups, whose numbers of
//!   configurations multiply.
//! - A group is a directed acyclic graph with one level per parameter: a node stands for what is
//!   left of the group's constraints once the values of the earlier parameters are put in, an edge
//!   for values that follow each other with which they can still hold. Earlier values that leave
//!   the same to be satisfied share a node, so the graph is often far smaller than the space, and
//!   counts at its edges give access by index.
//! - What is left of a constraint is an expression over the later parameters and an interval for
//!   its value, whose ends are moved to values that occur: where no combination gives a value
//!   between 24,600 and 24,640, both limits are the same. Its bounds decide a constraint as soon as
//!   it cannot fail or cannot hold any more.
//!
//! Building takes time in proportion to the nodes met and the values tried at each; `get`,
//! `index_of`, `contains` and `sample` take two binary searches per parameter.
//!
//! | file | owns |
//! |---|---|
//! | `query`, `random`, `neighbours`, `explain` | the interface of a space |
//! | `build`, `domains`, `order`, `estimate` | from a specification to groups of parameters in order |
//! | `tree`, `bounds` | constraints as expressions |
//! | `formula`, `step`, `residual` | residual constraints |
//! | `layers`, `graph`, `explicit` | the constraint graph of a group |
//! | `interned`, `work` | fast maps, and lists that are stored once; the limit on what building takes |

mod bounds;
mod build;
mod domains;
mod estimate;
mod explain;
mod explicit;
mod formula;
mod graph;
mod interned;
mod layers;
mod neighbours;
mod order;
mod query;
mod random;
mod residual;
mod step;
mod tree;
mod work;

pub use build::TooComplex;
pub use explain::{Effect, Explanation, Removed, effects};
pub use neighbours::Neighbourhood;
pub use query::{GroupSize, Iter, Space};
pub(crate) use random::below;
pub use random::{Permutation, RandomSource};
// What a space is built from is the core's: a launch that looks for the first valid configuration
// needs it without a space.
pub use cltune_core::expr::Program;
pub use cltune_core::model::{SpaceConstraint, SpaceParameter, SpaceSpec};
