//! A tunable as generated code holds it.

use crate::policy::{Policy, PolicySlot};
use cltune_core::model::Model;
use cltune_core::select::Table;

/// A kernel with its parameters and the results that were baked into the program: a `static` in
/// the module that `#[tunable]` generates.
#[derive(Debug)]
pub struct Tunable {
    model: Model,
    table: Table,
    /// The declaration as the link section holds it.
    record: &'static [u8],
    policy: PolicySlot,
}

impl Tunable {
    /// For generated code.
    pub const fn new(model: Model, table: Table) -> Self {
        Self {
            model,
            table,
            record: &[],
            policy: PolicySlot::new(),
        }
    }

    /// With the declaration as the link section holds it, for tuning at run time.
    #[must_use]
    pub const fn with_record(mut self, record: &'static [u8]) -> Self {
        self.record = record;
        self
    }

    /// The declaration's model.
    pub const fn model(&self) -> &Model {
        &self.model
    }

    /// The results from the lockfile.
    pub const fn table(&self) -> &Table {
        &self.table
    }

    /// Sets the policy of all calls of this tunable; it takes precedence over the process's. (A
    /// call site's own: [`with_policy`](crate::with_policy).)
    pub fn set_policy(&self, policy: &Policy) {
        self.policy.set(policy);
    }

    /// The declaration as the link section holds it; empty where it was not made by the macro.
    #[cfg(feature = "tuning")]
    pub(crate) const fn record(&self) -> &'static [u8] {
        self.record
    }

    pub(crate) const fn policy(&self) -> &PolicySlot {
        &self.policy
    }

    /// The identity of a `static` tunable.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}
