//! Search spaces of valid configurations, and strategies that search them.
//!
//! This crate is the part of cltune that finds the fastest of many configurations. It knows nothing
//! of OpenCL and opens no file: whoever has something to tune, of whatever kind, builds a
//! [`Space`](space::Space) from parameters and constraints, asks a [`Search`] which configuration
//! to measure next, and tells it what became of it.
//!
//! ```
//! use cltune_search::c_syntax::condition;
//! use cltune_search::space::{Space, SpaceConstraint, SpaceParameter, SpaceSpec};
//! use cltune_search::{Score, Search, Setting, Step, find};
//! use std::sync::Arc;
//!
//! /// Microseconds; `None` where the configuration does not work.
//! fn measure(configuration: &[i64]) -> Option<f64> {
//!     Some((configuration[0] - 64).abs() as f64 + 100.0 / configuration[1] as f64)
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = "WG * WPT <= 1024";
//! let names = ["WG", "WPT"].into_iter().collect();
//! let space = Space::build(&SpaceSpec {
//!     parameters: vec![
//!         SpaceParameter::listed("WG", vec![32, 64, 128, 256]),
//!         SpaceParameter::listed("WPT", (1..=32).collect()),
//!     ],
//!     constraints: vec![SpaceConstraint { label: text.into(), program: condition(text, &names)? }],
//! });
//!
//! let setting = Setting::new(Arc::new(space)).seed(7).budget(40);
//! let mut search = Search::new(find("auto")?, &setting);
//! while let Step::Measure(configuration) = search.step() {
//!     search.tell(&configuration, Score::of(measure(&configuration)));
//! }
//! let (configuration, time) = search.best().ok_or("nothing worked")?;
//! println!("{configuration:?} takes {time:.1} us");
//! # Ok(())
//! # }
//! ```
//!
//! | module | owns |
//! |---|---|
//! | [`space`] | the valid configurations: building, counting, drawing, walking them |
//! | `search`, re-exported here | running a strategy ([`Search`]), the strategies ([`STRATEGIES`], [`find`]), when to stop ([`Stagnation`]) |
//! | `status`, re-exported here | what came of an evaluation, by name ([`Status`]) |
//! | [`c_syntax`] | constraints in C's syntax, as published search spaces state them |
//! | `recorded` | recorded spaces, and strategies run on them (feature `recorded`) |
//!
//! # Features
//! All are off by default.
//!
//! | feature | adds |
//! |---|---|
//! | `recorded` | the module `recorded`: recorded spaces read from text (CSV, Kernel Tuner's caches, T4 results), and strategies run on them |
//!
//! # Minimum Rust version
//! 1.95.

#![forbid(unsafe_code)]

pub mod c_syntax;
#[cfg(feature = "recorded")]
pub mod recorded;
mod search;
pub mod space;
mod status;

pub use search::{
    Chosen, Confidence, ConfidenceError, DEFAULT, FURTHER, Generator, IMPROVEMENT, OptionError,
    OptionProblem, Options, PriorResults, Requirement, STRATEGIES, Score, Search, Setting,
    Stagnation, Step, Strategy, StrategyKind, StrategyOption, UnknownStrategy, Unsuited, find,
    ready_threads,
};
pub use status::Status;

/// The program that README.md shows is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
