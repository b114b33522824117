//! Objects of JSON whose order means something: parameters are declared in an order, and results
//! come in one.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

/// The members of an object, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ordered<V>(pub(super) Vec<(String, V)>);

impl<V> Ordered<V> {
    /// The members by their names; of several with one name the first.
    pub(super) fn by_name(&self) -> HashMap<&str, &V> {
        let mut members = HashMap::with_capacity(self.0.len());
        for (name, value) in &self.0 {
            members.entry(name.as_str()).or_insert(value);
        }
        members
    }
}

impl<V> Default for Ordered<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Ordered<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members(PhantomData))
    }
}

struct Members<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Members<V> {
    type Value = Ordered<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::with_capacity(map.size_hint().unwrap_or(0));
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Ordered(members))
    }
}
