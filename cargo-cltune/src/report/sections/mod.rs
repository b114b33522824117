//! The sections of the page.
//!
//! | file | owns |
//! |---|---|
//! | `overview` | the figures at the top, and a table of all searches |
//! | `device` | a search: figures, picture, its fastest configurations |
//! | `energy` | time against energy, where that was measured |
//! | `transfer` | the cost of each device's best values on the others |
//! | `parameters` | the influence of parameters and their pairs on the time, and the times of each value |
//! | `failures` | failures by status, and the first of each |

pub(super) mod device;
pub(super) mod energy;
pub(super) mod failures;
pub(super) mod overview;
pub(super) mod parameters;
pub(super) mod transfer;
