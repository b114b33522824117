//! Objects of JSON whose order means something: parameters are declared in an order.

use serde_json::Value;
use std::fmt;

/// The members of an object, in the order in which they are written.
pub(super) struct Ordered(pub(super) Vec<(String, Value)>);

impl fmt::Display for Ordered {
    /// As JSON, on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (position, (name, value)) in self.0.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            write!(f, "{comma}{}: {value}", Value::from(name.as_str()))?;
        }
        f.write_str("}")
    }
}
