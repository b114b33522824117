//! Configurations and problems as text for people.

use super::Model;
use std::fmt::Display;

impl Model {
    /// `WG = 64, WPT = 2`: a configuration's codes as the values they stand for. A code that stands
    /// for none is shown as `?7`.
    pub fn describe(&self, codes: &[i64]) -> String {
        let parameters = self.parameters.iter().zip(codes).enumerate();
        assignments(parameters.map(|(position, (parameter, code))| {
            (&parameter.name, self.describe_value(position, *code))
        }))
    }

    /// `64`: the value that a code of the parameter at this position stands for. A code that stands
    /// for none is shown as `?7`, and so is that of a parameter that there is not.
    pub fn describe_value(&self, position: usize, code: i64) -> String {
        let parameter = self.parameters.get(position);
        parameter.map_or_else(
            || format!("?{code}"),
            |parameter| parameter.domain.show(code),
        )
    }

    /// `n = 1024, m = 5`: a problem's sizes; empty for a kernel without dimensions.
    pub fn describe_sizes(&self, dims: &[i64]) -> String {
        assignments(self.dimensions.iter().zip(dims))
    }

    /// `n = 1024, m = 5`, or words for a kernel without dimensions: a problem within a sentence.
    pub fn describe_problem(&self, dims: &[i64]) -> String {
        if dims.is_empty() {
            "its only problem".into()
        } else {
            self.describe_sizes(dims)
        }
    }
}

/// `n = 1024, m = 5`: names and what they are set to.
pub fn assignments(pairs: impl IntoIterator<Item = (impl Display, impl Display)>) -> String {
    let pairs = pairs.into_iter();
    let texts: Vec<String> = pairs
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    texts.join(", ")
}
