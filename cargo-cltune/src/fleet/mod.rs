//! Tuning that several machines share: units, parts of them, and contributions.
//!
//! | file | owns |
//! |---|---|
//! | `partition` | the division of units into parts: `slice:2/4` |
//! | `unit` | what one search is about, and which artifact declares it |
//! | `part_file` | what a part is to do and has done, on disk |
//! | `completeness` | what is missing of a set of parts |
//! | `contribution` | what a device was found to like, for somebody else |

mod completeness;
mod contribution;
mod part_file;
mod partition;
mod unit;

pub(crate) use completeness::{PartsError, check};
pub(crate) use contribution::{Contribution, ContributionError, DeviceFacts, is_contribution};
pub(crate) use part_file::{Part, PartFile, PartFileError, PartLog, PartPlan, UnitResult};
pub(crate) use partition::Partition;
pub(crate) use unit::{Unit, artifact_fingerprint, groups, units};
