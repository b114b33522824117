//! Recorded spaces (feature `recorded`): what was measured of every configuration of a space, by
//! whatever tuner, and strategies run on it. Thousands of evaluations per second, and nothing to
//! measure.
//!
//! ```
//! use cltune_search::find;
//! use cltune_search::recorded::{BestSoFar, Recording, parse, replay};
//! use std::path::Path;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = "WG,time_ms\n32,4\n64,2\n128,\n256,8\n";
//! let recording = Recording::new(&parse(Path::new("saxpy.csv"), text)?)?;
//! let run = replay(&recording, &find("random")?, &[].into(), 3, 7);
//! let curve = BestSoFar::of(&run, recording.best);
//! println!("{:.2} of the optimum after 3 evaluations", curve.after(3));
//! # assert!(curve.after(3) >= 0.25);
//! # Ok(())
//! # }
//! ```
//!
//! | file | owns |
//! |---|---|
//! | `parse` | the text of a file of any format: recognised, understood |
//! | `measurements` | what all formats have in common |
//! | `csv`, `kernel_tuner`, `t4` | reading a format each |
//! | `words` | the words of other formats for a status |
//! | `json` | JSON as other tuners write it: order, large parts, Python's forms |
//! | `values` | the values of parameters that are declared elsewhere |
//! | `recording` | a recorded space: looking up times |
//! | `run` | one run of a strategy on it, and where it stagnates |
//! | `replay` | running a strategy on it |
//! | `best_so_far` | how far a run had come after each evaluation |
//! | `time_scale` | how far it had come over time, beside random search |

mod best_so_far;
mod csv;
mod json;
mod kernel_tuner;
mod measurements;
mod parse;
mod recording;
mod replay;
mod run;
mod t4;
mod time_scale;
mod values;
pub mod words;

pub use best_so_far::BestSoFar;
pub use csv::{COMPILE_COLUMN, ERROR_COLUMN, TIME_COLUMN};
pub use measurements::{About, Measurements, ParseError, Position, RecordedResult};
pub use parse::parse;
pub use recording::{Recording, RecordingError};
pub use replay::{replay, replay_over_time};
pub use run::{End, Run};
pub use time_scale::TimeScale;
pub use values::Values;
