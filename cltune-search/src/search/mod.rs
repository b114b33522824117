//! Searching a space for its fastest configuration.
//!
//! A [`Strategy`] decides what to try next. A [`Search`] runs one: it hands out configurations to
//! measure, takes results in whatever order they arrive, and guarantees for every strategy that
//! no configuration is handed out twice, that all are valid, and that a seed decides everything.
//!
//! | file | owns |
//! |---|---|
//! | `strategy` | the interface of strategies, and the setting and the prior results they are given |
//! | `run` | running a strategy: order, memory, repetitions |
//! | `kind`, `options` | a kind of strategy: its name, its options, how one is made |
//! | `registry` | the list of strategies, and finding one by name |
//! | `stagnation` | the decision to end a search that no longer improves |
//! | `generator` | random numbers that a seed decides on every platform |
//! | `repair` | making a wished configuration valid |
//! | `continuous` | moves along continuous parameters |
//! | `threads` | threads to work with, which the system may refuse |
//! | all others | a strategy each, by its name |
//!
//! # A new strategy
//! CONTRIBUTING.md lists what it takes. A strategy may propose a configuration again, as annealing
//! does when it steps back: [`Search`] answers from memory. It need not know that several
//! configurations are measured at once, or that results arrive out of order.

mod ann;
mod annealing;
mod auto;
mod bayes;
mod bayes_lin;
mod continuous;
mod differential_evolution;
mod full;
mod generator;
mod genetic;
mod kind;
mod local;
mod options;
mod pso;
mod random;
mod registry;
mod repair;
mod run;
mod stagnation;
mod strategy;
mod threads;

pub use generator::Generator;
pub use kind::StrategyKind;
pub use options::{OptionError, OptionProblem, Options, Requirement, StrategyOption};
pub use registry::{Chosen, DEFAULT, STRATEGIES, UnknownStrategy, Unsuited, find};
pub use run::{Search, Step};
pub use stagnation::{Confidence, ConfidenceError, FURTHER, IMPROVEMENT, Stagnation};
pub use strategy::{PriorResults, Score, Setting, Strategy};
pub use threads::ready_threads;
