//! The options `--measure` and `--objective`, in place of what tunables declare.

use crate::artifact::PackageTunables;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use cltune_core::measure::{Caches, Objective};

/// The options.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct MeasureArgs {
    /// What times are measured with, in place of what the clause `measure(…)` of each tunable says:
    /// `warm` caches, which hold what the launch before left there, or `cold` ones, whose content
    /// other data displace before each launch. Results of the two are kept apart.
    #[arg(long, value_name = "warm|cold", value_parser = caches())]
    measure: Option<Caches>,
    /// What the best configuration has least of, in place of what the clause `objective(…)` of each
    /// tunable says: the `time` of a launch, its `energy`, or the product of both (`energy-delay`).
    /// Results of different ones are kept apart.
    #[arg(long, value_name = "time|energy|energy-delay", value_parser = objective())]
    objective: Option<Objective>,
}

fn caches() -> impl clap::builder::TypedValueParser<Value = Caches> {
    PossibleValuesParser::new(Caches::ALL.map(Caches::word))
        .map(|word| Caches::from_word(&word).unwrap_or_default())
}

fn objective() -> impl clap::builder::TypedValueParser<Value = Objective> {
    PossibleValuesParser::new(Objective::ALL.map(Objective::word))
        .map(|word| Objective::from_word(&word).unwrap_or_default())
}

impl MeasureArgs {
    /// Has the tunables of these packages declare what the options say.
    pub(super) fn apply(self, packages: &mut [PackageTunables]) {
        let declarations = packages
            .iter_mut()
            .flat_map(|package| &mut package.declarations);
        for declaration in declarations {
            let declared = &mut declaration.measure;
            declared.caches = self.measure.unwrap_or(declared.caches);
            declared.objective = self.objective.unwrap_or(declared.objective);
        }
    }
}
