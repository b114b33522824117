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
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}
