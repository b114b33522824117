//! Oclgrind, an OpenCL simulator that watches every access, as `verify` and `tune` use it.
//!
//! | file | owns |
//! |---|---|
//! | `simulator` | finding it, setting it up like a device, starting workers under it |
//! | `findings` | its log, read |
//! | `problems` | problems that a simulator can run |
//! | `simulation` | configurations run under it on one problem |
//! | `soundness` | whether the winner of a search does what makes it lose |

mod findings;
mod problems;
mod simulation;
mod simulator;
mod soundness;

pub(crate) use findings::Finding;
pub(crate) use problems::{FILES, Tuned};
pub(crate) use simulation::{Ended, Limits, Simulation};
pub(crate) use simulator::{Oclgrind, OclgrindError};
pub(crate) use soundness::{Method, SoundnessCheck, Verdict};
