//! What is on the page.
//!
//! | file | owns |
//! |---|---|
//! | `overview` | the figures at the top, and a table of all searches |
//! | `device` | a search: figures, picture, its fastest configurations |
//! | `elsewhere` | what each device's best values cost on the others |
//! | `parameters` | what parameters and pairs of them make of the time |
//! | `failures` | what failed, and why |

pub(super) mod device;
pub(super) mod elsewhere;
pub(super) mod failures;
pub(super) mod overview;
pub(super) mod parameters;
