//! The strategies by name.

use super::kind::StrategyKind;
use super::options::{OptionError, Options};
use super::strategy::{Setting, Strategy};
use super::{
    ann, annealing, auto, bayes, bayes_lin, differential_evolution, full, genetic, local, pso,
    random,
};
use crate::space::Space;
use cltune_core::Text;

/// The strategy of a user who names none.
pub const DEFAULT: &str = auto::KIND.name;

/// Every strategy, the default first.
pub const STRATEGIES: &[StrategyKind] = &[
    auto::KIND,
    full::KIND,
    random::KIND,
    bayes::KIND,
    bayes_lin::KIND,
    ann::KIND,
    annealing::KIND,
    annealing::CLTUNE,
    pso::KIND,
    genetic::KIND,
    local::KIND,
    differential_evolution::KIND,
];

/// A strategy with the values of its options: what `--strategy` names.
#[derive(Clone, Debug)]
pub struct Chosen {
    entry: StrategyKind,
    options: Options,
}

impl Chosen {
    /// The name with the options that were given, as the lockfile and traces have it; [`find`]
    /// finds the same again.
    pub fn name(&self) -> String {
        format!("{}{}", self.entry.name, self.options)
    }

    /// Whether results decide what it proposes.
    pub fn learns(&self) -> bool {
        self.entry.learns
    }

    /// Whether the strategy can search a space.
    ///
    /// # Errors
    /// [`Unsuited`]: `full` was asked for, and there is no end of configurations.
    pub fn check(&self, space: &Space) -> Result<(), Unsuited> {
        match space.continuous().next() {
            Some(parameter) if self.entry.name == full::KIND.name => Err(Unsuited {
                parameter: parameter.name.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Makes the strategy.
    pub fn make(&self, setting: &Setting) -> Box<dyn Strategy> {
        (self.entry.new)(setting, &self.options)
    }
}

impl From<&StrategyKind> for Chosen {
    /// With the defaults of all options.
    fn from(entry: &StrategyKind) -> Self {
        Self {
            entry: *entry,
            options: Options::defaults(entry.options),
        }
    }
}

impl From<&Chosen> for Chosen {
    fn from(chosen: &Chosen) -> Self {
        chosen.clone()
    }
}

/// `full` cannot try every configuration of a space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` tries every configuration, and the values of `{parameter}` are all numbers of a range; \
     take another strategy, such as `{DEFAULT}`, or declare a list of its values",
    full::KIND.name
)]
pub struct Unsuited {
    /// The name of a continuous parameter.
    pub parameter: Text,
}

/// There is no strategy of this name, or not with these options.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownStrategy {
    /// No strategy has this name.
    #[error("there is no strategy `{name}`; there are: {}", names())]
    Name {
        /// The name asked for.
        name: String,
    },
    /// The strategy does not take these options.
    #[error(transparent)]
    Options(#[from] OptionError),
}

/// The strategy of this name: `pso`, or with options `pso:s=6,alpha=0.3`.
///
/// # Errors
/// [`UnknownStrategy`], which lists all, or the options there are with their ranges.
pub fn find(name: &str) -> Result<Chosen, UnknownStrategy> {
    let (base, options) = match name.split_once(':') {
        Some((base, options)) => (base, Some(options)),
        None => (name, None),
    };
    let entry = STRATEGIES
        .iter()
        .find(|entry| entry.name == base)
        .ok_or_else(|| UnknownStrategy::Name {
            name: base.to_owned(),
        })?;
    Ok(match options {
        None => Chosen::from(entry),
        Some(text) => Chosen {
            entry: *entry,
            options: entry.parse_options(text)?,
        },
    })
}

fn names() -> String {
    let names: Vec<&str> = STRATEGIES.iter().map(|entry| entry.name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_found() {
        let names: HashSet<&str> = STRATEGIES.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), STRATEGIES.len());
        assert!(
            names
                .into_iter()
                .all(|name| find(name).unwrap().name() == name)
        );
        assert_eq!(find(DEFAULT).unwrap().name(), STRATEGIES[0].name);
    }

    #[test]
    fn an_unknown_name_lists_those_there_are() {
        let error = find("anealing").unwrap_err().to_string();
        assert!(
            error.contains("anealing") && error.contains("random"),
            "{error}"
        );
    }

    #[test]
    fn declared_defaults_are_within_their_ranges() {
        for entry in STRATEGIES {
            for option in entry.options {
                let given = format!("{}:{}={}", entry.name, option.key, option.range.1);
                if entry.requirement.is_none() {
                    assert_eq!(find(&given).unwrap().name(), given);
                }
                if let Some(default) = option.default {
                    let given = format!("{}:{}={default}", entry.name, option.key);
                    assert_eq!(find(&given).unwrap().name(), given);
                }
            }
        }
    }

    #[test]
    fn a_name_with_options_is_recorded_in_one_form() {
        for (given, recorded) in [
            ("pso:alpha=0.30,s=6", "pso:s=6,alpha=0.3"),
            ("annealing-cltune:t=2", "annealing-cltune:t=2"),
            ("annealing:t=0.5e0", "annealing:t=0.5"),
        ] {
            let name = find(given).unwrap().name();
            assert_eq!(name, recorded);
            assert_eq!(find(&name).unwrap().name(), recorded);
        }
    }

    #[test]
    fn wrong_options_are_named_with_those_there_are() {
        let all = "s=3 (particles; a whole number from 1 to 1000)";
        for (name, reason) in [
            ("pso:", "`` is not of the form OPTION=VALUE"),
            ("pso:s", "`s` is not of the form"),
            ("pso:size=3", "no option `size`"),
            ("pso:s=0", "`s` cannot be `0`"),
            ("pso:s=2.5", "`s` cannot be `2.5`"),
            ("pso:s=three", "`s` cannot be `three`"),
            ("pso:alpha=NaN", "`alpha` cannot be `NaN`"),
            ("pso:s=3,s=6", "`s` is given twice"),
            ("pso:alpha=0.7", "requires alpha + beta + gamma <= 1"),
        ] {
            let error = find(name).unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains(all), "{error}");
        }
        let error = find("random:s=3").unwrap_err().to_string();
        assert!(error.ends_with("it has no options"), "{error}");
    }
}
