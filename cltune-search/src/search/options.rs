//! The options of strategies: `pso:s=6,alpha=0.3`.

use std::fmt;

/// A number that a strategy can be given by name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrategyOption {
    /// The name before the `=`.
    pub key: &'static str,
    /// What it is, in a few words for `--help`; says what is done without it where there is no
    /// default.
    pub summary: &'static str,
    /// Its value where none is given.
    pub default: Option<f64>,
    /// The least and the greatest value.
    pub range: (f64, f64),
    /// Whether it counts something, so that only whole numbers make sense.
    pub whole: bool,
}

impl fmt::Display for StrategyOption {
    /// `s=3 (particles, a whole number from 1 to 1000)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, most) = self.range;
        let number = if self.whole {
            "a whole number"
        } else {
            "a number"
        };
        f.write_str(self.key)?;
        if let Some(default) = self.default {
            write!(f, "={default}")?;
        }
        write!(f, " ({}; {number} from {least} to {most})", self.summary)
    }
}

/// What the values of several options must fulfil together.
#[derive(Clone, Copy, Debug)]
pub struct Requirement {
    /// As a formula, for messages.
    pub text: &'static str,
    /// Whether it is fulfilled.
    pub holds: fn(&Options) -> bool,
}

/// The values of a strategy's options.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    declared: &'static [StrategyOption],
    /// One for each of `declared`, where it was given.
    given: Vec<Option<f64>>,
}

impl Options {
    /// All of them as declared.
    pub fn defaults(declared: &'static [StrategyOption]) -> Self {
        Self {
            declared,
            given: vec![None; declared.len()],
        }
    }

    /// The value of an option: as given, or its default. `None` where there is neither.
    pub fn get(&self, key: &str) -> Option<f64> {
        let at = self.declared.iter().position(|option| option.key == key)?;
        self.given[at].or(self.declared[at].default)
    }

    /// The value of an option that has a default.
    ///
    /// # Panics
    /// Where the strategy declares no such option, or none with a default.
    pub fn number(&self, key: &str) -> f64 {
        let Some(value) = self.get(key) else {
            panic!("option `{key}` is not declared with a default");
        };
        value
    }

    /// The value of an option that counts; `None` where it was not given and has no default.
    pub fn count(&self, key: &str) -> Option<usize> {
        self.get(key).map(|value| value as usize)
    }

    /// The options in the text after the colon of a name.
    pub(super) fn parse(
        declared: &'static [StrategyOption],
        text: &str,
    ) -> Result<Self, OptionProblem> {
        let mut options = Self::defaults(declared);
        for part in text.split(',') {
            let Some((key, value)) = part.split_once('=') else {
                return Err(OptionProblem::Form(part.to_owned()));
            };
            let Some(at) = declared.iter().position(|option| option.key == key) else {
                return Err(OptionProblem::Unknown(key.to_owned()));
            };
            let option = &declared[at];
            let parsed = value.parse().ok().filter(|number: &f64| {
                let (least, most) = option.range;
                (least..=most).contains(number) && !(option.whole && number.fract() != 0.0)
            });
            let Some(number) = parsed else {
                return Err(OptionProblem::Value {
                    key: option.key,
                    value: value.to_owned(),
                });
            };
            if options.given[at].replace(number).is_some() {
                return Err(OptionProblem::Twice(option.key));
            }
        }
        Ok(options)
    }
}

impl fmt::Display for Options {
    /// What was given, as it follows a strategy's name: `:s=6,alpha=0.3`, in the order of
    /// declaration; nothing where nothing was.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = ':';
        for (option, given) in self.declared.iter().zip(&self.given) {
            if let Some(value) = given {
                write!(f, "{separator}{}={value}", option.key)?;
                separator = ',';
            }
        }
        Ok(())
    }
}

/// Options that a strategy does not take.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("strategy `{strategy}`: {problem}; {}", listed(declared))]
pub struct OptionError {
    /// The strategy.
    pub strategy: &'static str,
    /// What is wrong.
    pub problem: OptionProblem,
    /// The options that it takes.
    pub declared: &'static [StrategyOption],
}

/// What is wrong with a strategy's options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionProblem {
    /// Not of the form `key=value`.
    #[error("`{0}` is not of the form OPTION=VALUE")]
    Form(String),
    /// Not an option of this strategy.
    #[error("there is no option `{0}`")]
    Unknown(String),
    /// Not a number, or none that the option can have.
    #[error("option `{key}` cannot be `{value}`")]
    Value {
        /// The option.
        key: &'static str,
        /// What it was given.
        value: String,
    },
    /// Given more than once.
    #[error("option `{0}` is given twice")]
    Twice(&'static str),
    /// The values do not go together.
    #[error("it requires {0}")]
    Requirement(&'static str),
}

fn listed(declared: &[StrategyOption]) -> String {
    if declared.is_empty() {
        return "it has no options".to_owned();
    }
    let options: Vec<String> = declared.iter().map(ToString::to_string).collect();
    format!("its options are {}", options.join(", "))
}
