//! The values of a database for one tunable.

use super::{Database, Entry};
use crate::model::Model;
use crate::parameter::{Domain, Value};
use crate::select::{Table, TunedResult};

impl Database {
    /// The entries of a tunable's template, as the selection rule takes them: as a result's problem
    /// the elements, the vectors, and how many parameters only one of both has. Empty for a tunable
    /// without a template.
    ///
    /// Parameters of an entry that the tunable does not have are left out. One that the entry does
    /// not say is that of the declared default, and so is one to a value that the tunable does not
    /// have, but for a number: that is the tunable's largest below it.
    pub fn table(&self, model: &Model) -> Table {
        let Some(template) = &model.template else {
            return Table::EMPTY;
        };
        let is_of_template = |entry: &&Entry| {
            entry.template == template.name && entry.scalar_size == template.scalar_size
        };
        let result = |entry: &Entry| {
            let others = parameters_of_one(model, &entry.values);
            Some(TunedResult {
                device: u16::try_from(entry.device).ok()?,
                problem: vec![entry.elements, entry.vectors, others].into(),
                values: codes(model, &entry.values)?.into(),
                time_us: entry.time_us,
            })
        };
        let entries = self.entries.iter().filter(is_of_template);
        let mut results: Vec<TunedResult> = entries.filter_map(result).collect();
        if results.is_empty() {
            return Table::EMPTY;
        }
        results.sort_by(|a, b| (a.device, &a.problem).cmp(&(b.device, &b.problem)));
        Table {
            devices: self.devices.clone().into(),
            results: results.into(),
        }
    }
}

/// How many parameters the model has that are not named, and the reverse. Expressions with others
/// are less alike: a softmax, which has `FUSE`, is less like a product with a vector than sums of
/// rows are, and likes other values.
fn parameters_of_one(model: &Model, values: &[(String, Value)]) -> i64 {
    let is_named = |name: &str| values.iter().any(|(named, _)| *named == *name);
    let parameters = model.parameters.iter();
    let shared = parameters.filter(|parameter| is_named(&parameter.name));
    let shared = shared.count();
    let of_one = model.parameters.len() + values.len() - 2 * shared;
    i64::try_from(of_one).unwrap_or(i64::MAX)
}

/// The codes of named values; `None` where no parameter has one of them.
fn codes(model: &Model, values: &[(String, Value)]) -> Option<Vec<i64>> {
    let mut is_any_named = false;
    let mut codes = Vec::with_capacity(model.parameters.len());
    for (position, parameter) in model.parameters.iter().enumerate() {
        let mut values = values.iter();
        let value = values.find(|(name, _)| *name == parameter.name);
        let code = value.and_then(|(_, value)| code(&parameter.domain, value));
        is_any_named |= code.is_some();
        let default = || model.default.as_ref()?.get(position).copied();
        codes.push(code.or_else(default)?);
    }
    is_any_named.then_some(codes)
}

/// The code of a value, or of the largest listed number below it: where one expression likes
/// vectors of 16, another that has at most 8 does not like those of 1.
fn code(domain: &Domain, value: &Value) -> Option<i64> {
    let below = || match (domain, value) {
        (Domain::Integers(values), Value::Int(most)) => {
            let values = values.iter().copied();
            values.filter(|value| value < most).max()
        }
        _ => None,
    };
    domain.code(value).or_else(below)
}
