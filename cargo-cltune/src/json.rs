//! Values of the core as JSON, for everything that tools read: messages, the journal, `--format
//! json`.

use cltune_core::model::Model;
use cltune_core::parameter::{self, Domain};
use serde_json::{Map, Value};

/// A configuration's values in the order of the parameters; `null` for a code that is none.
pub(crate) fn values(model: &Model, codes: &[i64]) -> Vec<Value> {
    let parameters = model.parameters.iter().zip(codes);
    parameters
        .map(|(parameter, code)| value(&parameter.domain, *code))
        .collect()
}

/// The value that a code of a domain stands for; `null` for a code that is none.
pub(crate) fn value(domain: &Domain, code: i64) -> Value {
    domain
        .value(code)
        .as_ref()
        .map_or(Value::Null, parameter_value)
}

/// A parameter's value.
pub(crate) fn parameter_value(value: &parameter::Value) -> Value {
    match value {
        parameter::Value::Int(value) => (*value).into(),
        parameter::Value::Bool(value) => (*value).into(),
        parameter::Value::Fraction(value) => value.get().into(),
        parameter::Value::Name(name) => name.as_ref().into(),
    }
}

/// A problem's sizes by name.
pub(crate) fn problem(model: &Model, dims: &[i64]) -> Map<String, Value> {
    let sizes = model.dimensions.iter().zip(dims);
    sizes
        .map(|(name, size)| (name.to_string(), (*size).into()))
        .collect()
}

/// A count as a number; beyond 64 bits as the nearest floating-point number.
pub(crate) fn count(count: u128) -> Value {
    u64::try_from(count).map_or_else(|_| Value::from(count as f64), Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use serde_json::json;

    #[test]
    fn counts_are_integers_as_long_as_they_fit() {
        assert_eq!(count(3).to_string(), "3");
        assert_eq!(count(u64::MAX.into()).to_string(), u64::MAX.to_string());
        assert_eq!(count(1 << 64), json!(18_446_744_073_709_551_616.0));
    }

    #[test]
    fn problems_and_values_are_those_of_the_model() {
        let model = samples::declaration("app::saxpy", "b3:1", &[8]).model;
        assert_eq!(Value::from(problem(&model, &[8])), json!({ "n": 8 }));
        assert_eq!(Value::from(values(&model, &[64])), json!([64]));
        assert_eq!(Value::from(values(&model, &[65])), json!([null]));
    }
}
