//! A kind of strategy: its name, its options, and how one is made.

use super::options::{OptionError, OptionProblem, Options, Requirement, StrategyOption};
use super::strategy::{Setting, Strategy};

/// A strategy that can be asked for by name.
#[derive(Clone, Copy, Debug)]
pub struct StrategyKind {
    /// The name on the command line and in the lockfile.
    pub name: &'static str,
    /// What it does, in one line for `--help`.
    pub summary: &'static str,
    /// What can be set with `NAME:OPTION=VALUE,…`.
    pub options: &'static [StrategyOption],
    /// Whether results decide what it proposes; one that does not can be far ahead of them.
    pub learns: bool,
    /// What the options must fulfil together.
    pub requirement: Option<Requirement>,
    /// Makes one. The options are those declared here.
    pub new: fn(&Setting, &Options) -> Box<dyn Strategy>,
}

impl StrategyKind {
    /// The options in the text after the colon of a name.
    pub(super) fn parse_options(&self, text: &str) -> Result<Options, OptionError> {
        let error = |problem| OptionError {
            strategy: self.name,
            problem,
            declared: self.options,
        };
        let options = Options::parse(self.options, text).map_err(error)?;
        match self.requirement {
            Some(required) if !(required.holds)(&options) => {
                Err(error(OptionProblem::Requirement(required.text)))
            }
            _ => Ok(options),
        }
    }
}
