//! The clause `params(…)`.

use super::{domain, identifiers};
use crate::errors::Errors;
use crate::parse::{Assignment, Spanned};
use cltune_core::parameter::{self, Domain};
use proc_macro2::Ident;

/// Names of the generated module that an enum of named values would hide.
const MODULE_NAMES: [&str; 2] = ["Params", "Problem"];

/// A parameter as the user named it.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) ident: Ident,
    /// `None` where its values are wrong, which was reported: the name is known all the same.
    pub(crate) domain: Option<Domain>,
}

impl Parameter {
    /// The core's parameter; where the values are wrong, one that stands in for it.
    pub(super) fn core(&self) -> parameter::Parameter {
        let domain = self.domain.clone();
        parameter::Parameter {
            name: identifiers::text(&self.ident),
            domain: domain.unwrap_or(Domain::Integers(vec![1].into())),
        }
    }
}

/// The parameters, each name once.
pub(super) fn parameters(
    clause: Option<&Spanned<Vec<Assignment>>>,
    errors: &mut Errors,
) -> Vec<Parameter> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for Assignment { name, value } in clause.iter().flat_map(|clause| &clause.value) {
        if parameters.iter().any(|known| known.ident == *name) {
            errors.add(
                name.span(),
                format!("the parameter `{name}` is declared twice; give one of them another name"),
            );
            continue;
        }
        if identifiers::RUST_WORDS.contains(&name.to_string().as_str()) {
            let message = format!("`{name}` cannot name a parameter: it is a word of Rust");
            errors.add(name.span(), message);
            continue;
        }
        let domain = value
            .as_ref()
            .and_then(|value| errors.take(domain::domain(value, name)));
        let is_enum = matches!(domain, Some(Domain::Names(_)));
        let hides = is_enum && MODULE_NAMES.contains(&name.to_string().as_str());
        if hides {
            let message = format!(
                "`{name}` cannot name a parameter with named values: its enum would hide another \
                 name of the generated module"
            );
            errors.add(name.span(), message);
        }
        parameters.push(Parameter {
            ident: identifiers::rust_identifier(name),
            domain: domain.filter(|_| !hides),
        });
    }
    parameters
}
