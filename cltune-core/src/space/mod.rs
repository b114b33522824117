//! Search spaces: the valid configurations of a tunable on one device for one problem.

mod spec;

pub use spec::{SpaceConstraint, SpaceParameter, SpaceSpec};
