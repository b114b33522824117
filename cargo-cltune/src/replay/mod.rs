//! Running strategies on recorded search spaces: thousands of evaluations per second, and no device.
//!
//! | file | owns |
//! |---|---|
//! | `recording` | a recorded space: reading, looking up times |
//! | `run` | one run of a strategy on it, and where it stagnates |
//! | `course` | how far a run had come after each evaluation |
//! | `statistics` | the fraction of the optimum over many runs |
//! | `trace` | runs as JSON lines |
//! | `plot` | runs of several strategies as a picture |

mod course;
mod plot;
mod recording;
mod run;
mod statistics;
mod trace;

pub(crate) use course::Course;
pub(crate) use plot::{Panel, Plot, Series};
pub(crate) use recording::{Recording, RecordingError};
pub(crate) use run::{End, Run, replay};
pub(crate) use statistics::{Figures, figures};
pub(crate) use trace::write as write_trace;
