//! Results in the formats of other tuners, and of the recordings that `simulate` replays: written from
//! our journals, and read from anywhere.
//!
//! | file | owns |
//! |---|---|
//! | `measurements` | what all formats have in common |
//! | `read` | a file of any of them: unpacked, recognised |
//! | `found` | what there is to write |
//! | `kernel_tuner` | Kernel Tuner's cache files |
//! | `t4` | the T4 results format |
//! | `csv` | a row per configuration |
//! | `failure` | the words for failures in each |
//! | `ordered` | objects of JSON whose order means something |
//! | `python_json` | what Python writes as JSON and is none |
//! | `values` | the values of parameters that are declared elsewhere |
//! | `imported` | files of other tuners for the report |
//! | `round_trip` | the test of all formats: what is written is read back |

mod csv;
mod failure;
mod found;
mod imported;
mod kernel_tuner;
mod measurements;
mod ordered;
mod python_json;
mod read;
#[cfg(test)]
mod round_trip;
mod t4;
mod values;

pub(crate) use found::{Found, Layout};
pub(crate) use imported::import;
pub(crate) use measurements::Measurements;
#[cfg(test)]
pub(crate) use read::parse;
pub(crate) use read::{ReadError, read};
pub(crate) use values::Values;
