//! Places in buffers, as messages name them.

use cltune_core::model::ElementType;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The fields of a struct in the order of memory, each with the number of its components.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fields(pub Vec<(String, usize)>);

/// The place of a component: `y[5]`, of a vector `y[5][2]`, of a struct `y[5].position[2]`.
pub(super) struct Place<'a> {
    pub(super) argument: &'a str,
    pub(super) lanes: u8,
    pub(super) fields: Option<Fields>,
    pub(super) index: usize,
}

impl<'a> Place<'a> {
    /// The component with this index among all those of an argument.
    pub(super) fn of(argument: &'a str, element: ElementType, index: usize) -> Self {
        Self {
            argument,
            lanes: lanes(element),
            fields: fields(element).map(|fields| *fields),
            index,
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Nobody divides by what another process sends.
        if let Some(Fields(fields)) = &self.fields {
            let components = fields.iter().map(|(_, components)| *components);
            let components = components.fold(0, usize::saturating_add).max(1);
            write!(f, "{}[{}]", self.argument, self.index / components)?;
            let mut index = self.index % components;
            for (name, components) in fields {
                if index < *components {
                    write!(f, ".{name}")?;
                    if *components > 1 {
                        write!(f, "[{index}]")?;
                    }
                    break;
                }
                index -= components;
            }
            return Ok(());
        }
        let lanes = usize::from(self.lanes.max(1));
        write!(f, "{}[{}]", self.argument, self.index / lanes)?;
        if lanes > 1 {
            write!(f, "[{}]", self.index % lanes)?;
        }
        Ok(())
    }
}

/// The number of components that an index counts; 1 for a struct, whose fields have each their own.
pub(super) fn lanes(element: ElementType) -> u8 {
    match element {
        ElementType::Vector { lanes, .. } => lanes,
        ElementType::Struct(_) => 1,
    }
}

/// The fields of an element, where it is a struct.
pub(super) fn fields(element: ElementType) -> Option<Box<Fields>> {
    let leaves = element.as_struct()?.leaves().into_iter();
    let fields = leaves.map(|leaf| (leaf.path, leaf.count));
    Some(Box::new(Fields(fields.collect())))
}
