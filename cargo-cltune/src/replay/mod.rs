//! Results of runs on recorded spaces, for `simulate`. The runs are those of
//! `cltune_search::recorded`.
//!
//! | file | owns |
//! |---|---|
//! | `statistics` | the fraction of the optimum over many runs |
//! | `trace` | runs as JSON lines: writing ours, reading those of other tuners |
//! | `plot` | runs of several strategies as a picture |

mod plot;
mod statistics;
mod trace;

pub(crate) use plot::{Panel, Plot, Series};
pub(crate) use statistics::{Figures, figures};
pub(crate) use trace::{Clock, TraceError, Traced, read as read_traces, write as write_trace};
