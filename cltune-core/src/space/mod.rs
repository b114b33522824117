//! Search spaces: the valid configurations of a tunable on one device for one problem.
//!
//! A [`Space`] is built from a [`SpaceSpec`] without going through the Cartesian product.
//!
//! - A constraint on one parameter makes that parameter's domain smaller before anything else.
//! - Parameters that no other constraint connects form independent groups, whose numbers of
//!   configurations multiply.
//! - A group is a directed acyclic graph with one level per parameter: a node stands for what is
//!   left of the group's constraints once the values of the earlier parameters are put in, an edge
//!   for a value with which they can still hold. Earlier values that leave the same to be satisfied
//!   share a node, so the graph is often far smaller than the space, and counts at its edges give
//!   access by index.
//! - What is left of a constraint has a normal form, in which `64 * x <= 49152` and
//!   `32 * x <= 24600` are the same, and bounds, by which it is decided as soon as it cannot fail or
//!   cannot hold any more.
//!
//! Building takes time in proportion to the nodes met and the values tried at each; `get`,
//! `index_of`, `contains` and `sample` take one binary search per parameter. It degrades where many
//! different values must be told apart at once, as with `a * b + c * d + e * f <= k` over many
//! values, and where an inequality joins two domains of 100,000 values, each pair of which is tried;
//! divisors, multiples and equal values are found without.

mod bounds;
mod build;
mod conjuncts;
mod explain;
mod explicit;
mod graph;
mod groups;
mod hash;
mod nearest;
mod neighbours;
mod query;
mod random;
mod spec;
mod terms;
mod tree;

pub use explain::{Explanation, Removed};
pub use neighbours::Neighbourhood;
pub use query::{GroupSize, Iter, Space};
pub use random::RandomSource;
pub use spec::{SpaceConstraint, SpaceParameter, SpaceSpec};
