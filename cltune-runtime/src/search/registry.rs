//! The strategies by name.

use super::strategy::{Setting, Strategy};
use super::{
    ann, annealing, auto, bayes, differential_evolution, full, genetic, local, pso, random,
};

/// The strategy of a user who names none.
pub const DEFAULT: &str = auto::ENTRY.name;

/// Every strategy, the default first.
pub const STRATEGIES: &[Entry] = &[
    auto::ENTRY,
    full::ENTRY,
    random::ENTRY,
    bayes::ENTRY,
    ann::ENTRY,
    annealing::ENTRY,
    annealing::CLTUNE,
    pso::ENTRY,
    genetic::ENTRY,
    local::ENTRY,
    differential_evolution::ENTRY,
];

/// A strategy that can be asked for by name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name on the command line and in the lockfile.
    pub name: &'static str,
    /// What it does, in one line for `--help`.
    pub summary: &'static str,
    /// Makes one.
    pub new: fn(&Setting) -> Box<dyn Strategy>,
}

/// There is no strategy of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no strategy `{name}`; there are: {}", names())]
pub struct UnknownStrategy {
    /// The name asked for.
    pub name: String,
}

/// The strategy of this name.
///
/// # Errors
/// [`UnknownStrategy`], which lists all.
pub fn find(name: &str) -> Result<&'static Entry, UnknownStrategy> {
    STRATEGIES
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| UnknownStrategy {
            name: name.to_string(),
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
        assert!(names.into_iter().all(|name| find(name).is_ok()));
        assert_eq!(find(DEFAULT).unwrap().name, STRATEGIES[0].name);
    }

    #[test]
    fn an_unknown_name_lists_those_there_are() {
        let error = find("anealing").unwrap_err().to_string();
        assert!(
            error.contains("anealing") && error.contains("random"),
            "{error}"
        );
    }
}
