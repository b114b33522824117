//! Results in the formats of other tuners, and of the recordings that `simulate` replays: written from
//! our journals, and read from anywhere. What a text in one of these formats says is for
//! `cltune_search::recorded`.
//!
//! | file | owns |
//! |---|---|
//! | `read` | a file of any of them: unpacked |
//! | `found` | what there is to write |
//! | `kernel_tuner` | writing Kernel Tuner's cache files |
//! | `t4` | writing the T4 results format |
//! | `csv` | writing a row per configuration |
//! | `ordered` | objects of JSON whose order means something |
//! | `imported` | files of other tuners for the report |
//! | `round_trip` | the test of all formats: what is written is read back |

mod csv;
mod found;
mod imported;
mod kernel_tuner;
mod ordered;
mod read;
#[cfg(test)]
mod round_trip;
mod t4;

pub(crate) use found::{Found, Layout};
pub(crate) use imported::import;
pub(crate) use read::{ReadError, read};
