//! The configuration that a call gets, and why.

use super::results::TunedResults;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::Tunable;
use crate::policy;
use cltune_core::select::{Rule, Table, candidates};
use std::fmt;

/// The typed parameters of a tunable: the `Params` of the module that `#[tunable]` generates.
pub trait Configuration: Sized {
    /// The names of the parameters, in declaration order.
    const NAMES: &'static [&'static str];

    /// As many codes as there are parameters: an array, so that no memory is allocated.
    type Codes: AsRef<[i64]>;

    /// The values as codes, in declaration order.
    fn to_codes(&self) -> Self::Codes;

    /// The values of codes; `None` when one is not a value of its parameter or the number differs.
    fn from_codes(codes: &[i64]) -> Option<Self>;
}

/// A result of the lockfile, as a constant of the program.
#[derive(Clone, Copy, Debug)]
pub struct Baked<P: 'static, Q: 'static> {
    /// The platform's name.
    pub platform: &'static str,
    /// The device's name.
    pub device: &'static str,
    /// The problem it was tuned for.
    pub problem: Q,
    /// The best values found.
    pub params: P,
    /// The time of one launch with them when they were tuned, microseconds.
    pub time_us: f64,
}

/// The choice of the selection rule for a device and a problem, and why.
#[derive(Clone, Debug)]
pub struct Selection<P> {
    /// The parameters.
    pub params: P,
    /// The rule that applied.
    pub rule: Rule,
    /// The configuration as text: `WG = 64, WPT = 2`.
    pub configuration: String,
    /// The configurations considered, in order, the selected one last: each with its rule, what it
    /// was tuned for, and why it was skipped.
    pub considered: Vec<String>,
}

impl<P> fmt::Display for Selection<P> {
    /// `WG = 64, WPT = 2 (tuned on this device for this problem)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.configuration, self.rule)
    }
}

/// The configuration that a device and a problem get, and why. Nothing is built.
///
/// # Errors
/// [`Error::NoConfiguration`] when none is valid, [`Error::Policy`].
pub fn select<P: Configuration>(
    tunable: &'static Tunable,
    device: &Device,
    dims: &[i64],
) -> Result<Selection<P>> {
    let policy = policy::get(policy::current(tunable.policy()))?;
    let results = TunedResults::of(tunable, device, &policy);
    let mut considered = Vec::new();
    for candidate in results.candidates(device, dims) {
        considered.push(candidate.to_string());
        if candidate.verdict.is_err() {
            continue;
        }
        if let Some(params) = P::from_codes(&candidate.codes) {
            return Ok(Selection {
                params,
                rule: candidate.rule,
                configuration: tunable.model().describe(&candidate.codes),
                considered,
            });
        }
    }
    Err(none_valid(tunable, &results, device, dims))
}

/// The configuration a device and a problem get where nothing was tuned: the declared default,
/// else the first valid one.
///
/// # Errors
/// [`Error::NoConfiguration`] when none is valid.
pub fn default_params<P: Configuration>(
    tunable: &'static Tunable,
    device: &Device,
    dims: &[i64],
) -> Result<P> {
    let (model, info) = (tunable.model(), device.info());
    candidates(model, info, dims, &Table::EMPTY, &Table::EMPTY)
        .find(|candidate| candidate.verdict.is_ok())
        .and_then(|candidate| P::from_codes(&candidate.codes))
        .ok_or_else(|| {
            let nothing = TunedResults::of(tunable, device, &policy::Policy::Baked);
            none_valid(tunable, &nothing, device, dims)
        })
}

/// Whether a configuration of the caller's may run.
pub(super) fn check(tunable: &Tunable, device: &Device, codes: &[i64], dims: &[i64]) -> Result<()> {
    tunable
        .model()
        .check(codes, dims, &device.info().limits)
        .map_err(|reason| Error::InvalidConfiguration {
            kernel: tunable.model().name.to_string(),
            configuration: tunable.model().describe(codes),
            reason,
        })
}

/// The error when nothing is valid, with the last candidate's reason; where there was none, that of
/// the first configuration of all.
pub(super) fn none_valid(
    tunable: &Tunable,
    results: &TunedResults,
    device: &Device,
    dims: &[i64],
) -> Error {
    let candidates = results.candidates(device, dims);
    let tried = candidates.filter_map(|candidate| {
        let reason = candidate.verdict.err()?;
        Some((candidate.codes.to_vec(), reason))
    });
    let (model, limits) = (tunable.model(), &device.info().limits);
    let first = || {
        let parameters = model.parameters.iter();
        let codes = parameters.map(|of| {
            let codes = of.domain.codes_on(&|field| Some(limits.get(field)));
            codes.first().copied()
        });
        let codes = codes.collect::<Option<Vec<i64>>>()?;
        let reason = model.check(&codes, dims, limits).err()?;
        Some((codes, reason))
    };
    let reason = match tried.last().or_else(first) {
        Some((codes, reason)) if codes.is_empty() => reason.to_string(),
        Some((codes, reason)) => format!("{}: {reason}", model.describe(&codes)),
        None => "a parameter has no value on this device".to_owned(),
    };
    Error::NoConfiguration {
        kernel: tunable.model().name.to_string(),
        problem: tunable.model().describe_problem(dims),
        device: device.to_string(),
        reason,
    }
}
