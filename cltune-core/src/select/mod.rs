//! The selection rule: which configuration a device and a problem get.
//!
//! Candidates come in this order, and the first that is valid for this very device and problem is
//! taken:
//!
//! 1. what was tuned on this device for this very problem, then what the user's own cache holds for
//!    both;
//! 2. what was tuned on this device for another problem, the nearest first;
//! 3. what the user's own cache holds for this device, the nearest problem first;
//! 4. what was tuned on the most similar device (of the same type; on CPUs of the same platform
//!    before the same vendor, elsewhere the reverse; then with the nearest limits), the nearest
//!    problem first;
//! 5. for kernels that were generated from a template: what the database of template defaults has
//!    for this device, else for the most similar one, from the expression nearest in elements,
//!    vectors and parameters;
//! 6. the declared default;
//! 7. the first valid configuration.
//!
//! Before 2 or before 4 a caller may tune instead: [`Rule::is_for_this_device`] tells, and
//! [`is_near`] whether the problem it was tuned for is one like this.
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
pub use distance::{DeviceDistance, device_distance, is_near, problem_distance};
pub use first_valid::{default_codes, first_valid};
pub use table::{Table, TunedDevice, TunedResult};
