//! The option `--measure`, in place of what tunables declare.

use crate::artifact::PackageTunables;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use cltune_core::measure::Measure;

/// The option.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct MeasureArgs {
    /// What times are measured with, in place of what the clause `measure(…)` of each tunable says:
    /// `warm` caches, which hold what the launch before left there, or `cold` ones, whose content
    /// other data displace before each launch. Results of the two are kept apart.
    #[arg(long, value_name = "warm|cold", value_parser = parser())]
    measure: Option<Measure>,
}

fn parser() -> impl clap::builder::TypedValueParser<Value = Measure> {
    PossibleValuesParser::new(Measure::ALL.map(Measure::word))
        .map(|word| Measure::from_word(&word).unwrap_or_default())
}

impl MeasureArgs {
    /// Has the tunables of these packages declare what the option says.
    pub(super) fn apply(self, packages: &mut [PackageTunables]) {
        let Some(measure) = self.measure else {
            return;
        };
        let declarations = packages
            .iter_mut()
            .flat_map(|package| &mut package.declarations);
        for declaration in declarations {
            declaration.measure = measure;
        }
    }
}
