//! Configurations and problems as text for people.

use super::Model;
use std::fmt::Display;

impl Model {
    /// `WG = 64, WPT = 2`: a configuration's codes as the values they stand for. A code that stands
    /// for none is shown as `?7`.
    pub fn describe(&self, codes: &[i64]) -> String {
        let parameters = self.parameters.iter().zip(codes);
        assignments(parameters.map(|(parameter, code)| {
            let value = parameter.domain.value(*code);
            let value = value.map_or_else(|| format!("?{code}"), |value| value.to_string());
            (&parameter.name, value)
        }))
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
