//! Search spaces: the valid configurations of a tunable on one device for one problem.
//!
//! A [`Space`] is built from a [`SpaceSpec`] without going through the Cartesian product.
//! Parameters that no constraint connects form independent groups, whose numbers of configurations
//! multiply. A group is a directed acyclic graph with one level per parameter: a node stands for
//! what is left of the group's constraints once the values of the earlier parameters are put in,
//! an edge for a value with which they can still hold. Earlier values that leave the same to be
//! satisfied share a node, so the graph is often far smaller than the space, and counts at its
//! edges give access by index.

mod build;
mod conjuncts;
mod explain;
mod graph;
mod groups;
mod neighbours;
mod query;
mod random;
mod residual;
mod spec;

pub use explain::{Explanation, Removed};
pub use neighbours::Neighbourhood;
pub use query::{GroupSize, Iter, Space};
pub use random::RandomSource;
pub use spec::{SpaceConstraint, SpaceParameter, SpaceSpec};
