//! Everything that can go wrong while tuning goes wrong here, on command. `docs/faults.md` is the
//! table of it; each of its rows has a test here.
//!
//! | file | tests |
//! |---|---|
//! | `calls` | a driver that crashes, hangs, refuses or corrupts in one of its calls |
//! | `devices` | devices that are lost, lie about their limits, leak, or do nothing right |
//! | `processes` | workers and sessions that are killed, stopped, interrupted and resumed |
//! | `disks` | what cannot be written to, or is full |
//! | `files` | files that are none, too large, damaged, or links |
//! | `scheduling` | devices that fail while operations larger than they are are computed |
//! | `soak` | processes that are killed at random until the session is done |
//! | `splitting` | devices that fail while several compute one problem |

mod calls;
mod devices;
mod disks;
mod files;
mod processes;
mod scheduling;
mod soak;
mod splitting;
