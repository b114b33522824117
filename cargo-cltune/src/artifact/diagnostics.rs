//! The compiler's diagnostics: each one once, on standard error, without the warnings of stale
//! results that are about to be tuned again.

use cargo_metadata::diagnostic::Diagnostic;
use cltune_formats::lockfile::STALE_CONSTANT;
use std::collections::HashSet;
use std::io::{IsTerminal, Write};

/// The diagnostics that were printed.
#[derive(Debug, Default)]
pub(super) struct Diagnostics {
    /// The targets of a package say much the same.
    said: HashSet<String>,
    /// Whether warnings of stale results are kept instead of printed.
    holds_back: bool,
    held_back: Vec<StaleWarning>,
}

/// The compiler's warning that results in a lockfile are not used.
#[derive(Clone, Debug)]
pub(crate) struct StaleWarning {
    /// Its message, which names the tunable in backticks.
    message: String,
    /// As the compiler prints it.
    rendered: String,
}

impl Diagnostics {
    /// With all warnings, or without those of stale results.
    pub(super) fn new(holds_back: bool) -> Self {
        Self {
            holds_back,
            ..Self::default()
        }
    }

    /// Prints what was not said before.
    pub(super) fn take(&mut self, said: Diagnostic) {
        let Some(rendered) = said.rendered else {
            return;
        };
        if !self.said.insert(rendered.clone()) {
            return;
        }
        if self.holds_back && said.message.contains(STALE_CONSTANT) {
            let message = said.message;
            self.held_back.push(StaleWarning { message, rendered });
        } else {
            print(&rendered);
        }
    }

    /// The warnings that were not printed.
    pub(super) fn held_back(self) -> Vec<StaleWarning> {
        self.held_back
    }
}

impl StaleWarning {
    /// Whether it is about the tunable of this name.
    pub(crate) fn is_about(&self, tunable: &str) -> bool {
        self.message.contains(&format!("`{tunable}`"))
    }

    /// Prints it as the compiler would.
    pub(crate) fn print(&self) {
        print(&self.rendered);
    }
}

/// Prints what the compiler rendered, over the line in which cargo shows how far it is.
fn print(rendered: &str) {
    let erase = if std::io::stderr().is_terminal() {
        "\x1b[K"
    } else {
        ""
    };
    // Where standard error is closed, that cannot be reported.
    let _ = write!(anstream::stderr().lock(), "{erase}{rendered}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic(message: &str) -> Diagnostic {
        let text = serde_json::json!({
            "message": message,
            "code": null,
            "level": "warning",
            "spans": [],
            "children": [],
            "rendered": format!("warning: {message}\n"),
        });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn only_warnings_of_stale_results_are_held_back_and_each_once() {
        let stale = |name: &str| {
            diagnostic(&format!(
                "use of deprecated constant `_::{STALE_CONSTANT}`: the results for `app::{name}` in …"
            ))
        };
        let mut all = Diagnostics::new(true);
        for said in [
            stale("saxpy"),
            diagnostic("unused"),
            stale("saxpy"),
            stale("sax"),
        ] {
            all.take(said);
        }
        assert_eq!(all.said.len(), 3);
        let held_back = all.held_back();
        let about = |name: &str| held_back.iter().filter(|of| of.is_about(name)).count();
        assert_eq!(
            (held_back.len(), about("app::saxpy"), about("app::sax")),
            (2, 1, 1)
        );
        let mut none = Diagnostics::new(false);
        none.take(stale("saxpy"));
        assert!(none.held_back().is_empty());
    }
}
