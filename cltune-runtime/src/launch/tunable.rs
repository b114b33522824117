//! A tunable as generated code holds it.

use cltune_core::model::Model;
use cltune_core::select::Table;

/// A kernel with its parameters and the results that were baked into the program: a `static` in
/// the module that `#[tunable]` generates.
#[derive(Debug)]
pub struct Tunable {
    model: Model,
    table: Table,
}

impl Tunable {
    /// For generated code.
    pub const fn new(model: Model, table: Table) -> Self {
        Self { model, table }
    }

    /// What was declared.
    pub const fn model(&self) -> &Model {
        &self.model
    }

    /// The results from the lockfile.
    pub const fn table(&self) -> &Table {
        &self.table
    }

    /// The identity of a `static` tunable.
    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    pub(crate) fn describe(&self, codes: &[i64]) -> String {
        describe(&self.model, codes)
    }

    /// `n = 1048576`: a problem's dimensions by name.
    pub(crate) fn describe_problem(&self, dims: &[i64]) -> String {
        if dims.is_empty() {
            return "its only problem".to_string();
        }
        let sizes = self.model.dimensions.iter().zip(dims);
        sizes
            .map(|(name, size)| format!("{name} = {size}"))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// `WG = 64, WPT = 2`: a configuration's codes as its values.
pub(crate) fn describe(model: &Model, codes: &[i64]) -> String {
    let values = model.parameters.iter().zip(codes).map(|(parameter, code)| {
        match parameter.domain.value(*code) {
            Some(value) => format!("{} = {value}", parameter.name),
            None => format!("{} = ?{code}", parameter.name),
        }
    });
    values.collect::<Vec<_>>().join(", ")
}
