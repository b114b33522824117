//! Capture: a record of the problems that a running program launches, for `cargo cltune tune
//! --captured FOLDER`.
//!
//! Where the environment variable `CLTUNE_CAPTURE` names a folder, every launch is counted and
//! timed there, by tunable, device and problem; with `CLTUNE_CAPTURE_DATA=1` the arguments of the
//! first launch of each are kept, too. Launches are then waited for, since a launch's time is not
//! known before its end. Without the variable a launch costs what it costs without this module:
//! whether it is set is asked when a launch is prepared.
//!
//! Every process writes a file of its own, `capture-*.jsonl`, whose lines stay where they are: a
//! launch overwrites the numbers of its line. The file is thus right at every moment, however the
//! process ends.
//!
//! | file | owns |
//! |---|---|
//! | `recorder` | the folder and this process's file |
//! | `record` | one tunable, device and problem |
//! | `data` | the arguments of a launch, as files |
//! | `text` | lines of JSON |

mod data;
mod record;
mod recorder;
mod text;

pub(crate) use record::Record;

use recorder::Recorder;
use std::sync::OnceLock;

/// The recorder of this process, if there is to be one.
fn recorder() -> Option<&'static Recorder> {
    static RECORDER: OnceLock<Option<Recorder>> = OnceLock::new();
    RECORDER.get_or_init(Recorder::from_environment).as_ref()
}

/// Whether launches are recorded.
pub(crate) fn is_on() -> bool {
    recorder().is_some()
}
