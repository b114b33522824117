//! The selection rule: which configuration a device and a problem get.
//!
//! Candidates come in this order, and the first that is valid for this very device and problem is
//! taken:
//!
//! 1. what was tuned on this device, the nearest problem first;
//! 2. what the user's own cache holds for this device, the nearest problem first;
//! 3. what was tuned on the most similar device, the nearest problem first;
//! 4. the declared default;
//! 5. the first valid configuration.
//!
//! Between 2 and 3 a caller may tune instead: [`Rule::is_for_this_device`] tells.
//!
//! | file | owns |
//! |---|---|
//! | `table` | what is known from tuning |
//! | `distance` | how near problems and devices are |
//! | `nearest` | the rows of a table in order of distance, without sorting |
//! | `candidates` | the order of the rules |
//! | `candidate` | one candidate: where it comes from, whether it is valid |
//! | `first_valid` | the configuration when nothing is known |

mod candidate;
mod candidates;
mod distance;
mod first_valid;
mod nearest;
mod table;

pub use candidate::{Candidate, Rule};
pub use candidates::{Candidates, candidates, select};
pub use distance::problem_distance;
pub use first_valid::{default_codes, first_valid};
pub use table::{KnownDevice, KnownResult, Table};
