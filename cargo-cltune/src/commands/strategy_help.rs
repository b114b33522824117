//! The text on strategies in `--help`.

use cltune_search::STRATEGIES;
use std::fmt::Write;

/// Every strategy with its options.
pub(super) fn strategy_help() -> String {
    let mut text =
        "How to search: NAME, or NAME:OPTION=VALUE,… with the options below, for example \
                    `pso:s=6,alpha=0.3`; docs/strategies.md says which strategy is for what.\n\n\
                    Strategies, and their options with defaults:"
            .to_owned();
    for entry in STRATEGIES {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n- {}: {}", entry.name, entry.summary);
        for option in entry.options {
            let _ = write!(text, "\n    {option}");
        }
        if let Some(required) = entry.requirement {
            let _ = write!(text, "\n    where {}", required.text);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_and_option_is_there() {
        let text = strategy_help();
        for entry in STRATEGIES {
            assert!(text.contains(&format!("- {}: ", entry.name)), "{text}");
        }
        for option in [
            "t=4 (temperature at the start, in milliseconds",
            "where alpha",
        ] {
            assert!(text.contains(option), "{text}");
        }
    }
}
