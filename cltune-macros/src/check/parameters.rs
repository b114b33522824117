//! The clause `params(…)`.

use super::{domain, text};
use crate::errors::Errors;
use crate::parse::{Assignment, Spanned};
use cltune_core::parameter::{self, Domain};
use proc_macro2::Ident;

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
            name: text(&self.ident),
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
        let domain = value
            .as_ref()
            .and_then(|value| errors.take(domain::domain(value)));
        parameters.push(Parameter {
            ident: name.clone(),
            domain,
        });
    }
    parameters
}
