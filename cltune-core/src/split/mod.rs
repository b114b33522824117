//! One kernel on several devices: who computes what.
//!
//! The method is that of the paper on device-derived pruning and work-splitting (section 2.2):
//! factors from the devices' times, shares in whole work-groups of each device, the residue to the
//! device that has the least extra work with it. A share is computed as a smaller problem of the
//! same tunable, for which the arguments are cut to parts.
//!
//! | file | owns |
//! |---|---|
//! | `factors` | factors from times (equation 4), the best time possible (algorithm 1) |
//! | `divide` | shares from factors (equations 5 to 9) |
//! | `balance` | factors that follow measured times |
//! | `worth` | whether the slowest device is worth its place |
//! | `division` | what is declared: the divided dimension, how each argument is cut |
//! | `chunks` | a share in chunks that follow each other |
//! | `layout` | which elements of an argument belong to a share |

mod balance;
mod chunks;
mod divide;
mod division;
mod factors;
mod layout;
mod worth;

pub use balance::{Balance, ShareTime};
pub use chunks::chunks;
pub use divide::{Member, Share, divide};
pub use division::{Division, Partition};
pub use factors::{factors, theoretical_best};
pub use layout::{Layout, LayoutError, Part};
pub use worth::Worth;

/// A range of the divided dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first position.
    pub start: i64,
    /// The number of positions.
    pub len: i64,
}

impl Span {
    /// The position after the last one.
    pub const fn end(self) -> i64 {
        self.start + self.len
    }

    /// Whether every position of another span is one of this.
    pub const fn covers(self, other: Self) -> bool {
        self.start <= other.start && other.end() <= self.end()
    }
}
