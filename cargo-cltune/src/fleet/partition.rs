//! The division of units into parts, one of which a machine does: `slice:2/4`.
//!
//! Parts are counted from 1. All units of one kernel on one class of devices (a group) are in the
//! same part, since they start from each other's results.

use super::unit::{Unit, groups};
use std::fmt;
use std::str::FromStr;

/// One part of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    method: Method,
    /// From 1 to `parts`.
    part: u32,
    parts: u32,
}

/// How groups are assigned to parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// In turn: parts differ by at most one group.
    Slice,
    /// By the group's names: a group stays in its part when others come or go.
    Hash,
}

/// A text that is no partition.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PartitionError {
    /// Neither method, or no fraction.
    #[error(
        "a partition is `slice:K/N` or `hash:K/N`, such as `slice:1/4` for the first of 4 parts"
    )]
    Form,
    /// Part 0.
    #[error("parts are counted from 1: the first of {parts} is `{method}:1/{parts}`")]
    Zero {
        /// The method.
        method: &'static str,
        /// How many parts there are.
        parts: u32,
    },
    /// No parts.
    #[error("there must be at least 1 part")]
    NoParts,
    /// A part after the last.
    #[error("there is no part {part} of {parts}: the last is `{method}:{parts}/{parts}`")]
    TooLarge {
        /// The method.
        method: &'static str,
        /// The part.
        part: u32,
        /// How many parts there are.
        parts: u32,
    },
}

impl Method {
    const fn name(self) -> &'static str {
        match self {
            Self::Slice => "slice",
            Self::Hash => "hash",
        }
    }
}

impl Partition {
    /// The slice that is one group alone.
    pub(crate) fn of_group(position: usize, groups: usize) -> Self {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Self {
            method: Method::Slice,
            part: number(position + 1),
            parts: number(groups),
        }
    }

    /// How many parts there are.
    pub(crate) const fn parts(self) -> u32 {
        self.parts
    }

    /// Another part of the same division.
    pub(crate) const fn sibling(self, part: u32) -> Self {
        Self { part, ..self }
    }

    /// Whether each unit is in this part. The units are sorted.
    pub(crate) fn own(self, units: &[Unit]) -> Vec<bool> {
        let parts = self.parts_of(units).into_iter();
        parts.map(|part| part == self.part).collect()
    }

    /// The number of this part, from 1.
    pub(super) const fn part(self) -> u32 {
        self.part
    }

    /// The number of the part that each unit is in. The units are sorted.
    pub(super) fn parts_of(self, units: &[Unit]) -> Vec<u32> {
        let of_group = groups(units).enumerate().flat_map(|(position, group)| {
            let part = self.part_of(position, &group[0]);
            group.iter().map(move |_| part)
        });
        of_group.collect()
    }

    /// The part of the group at this position, which has this unit.
    fn part_of(self, position: usize, unit: &Unit) -> u32 {
        let number = match self.method {
            Method::Slice => position as u64,
            Method::Hash => u64::from(crc32fast::hash(unit.group().join("\0").as_bytes())),
        };
        // Less than a `u32`.
        (number % u64::from(self.parts)) as u32 + 1
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}/{}", self.method.name(), self.part, self.parts)
    }
}

impl FromStr for Partition {
    type Err = PartitionError;

    fn from_str(text: &str) -> Result<Self, PartitionError> {
        let (name, fraction) = text.split_once(':').ok_or(PartitionError::Form)?;
        let method = match name {
            "slice" => Method::Slice,
            "hash" => Method::Hash,
            _ => return Err(PartitionError::Form),
        };
        let (part, parts) = fraction.split_once('/').ok_or(PartitionError::Form)?;
        let number = |text: &str| text.parse::<u32>().map_err(|_| PartitionError::Form);
        let (part, parts) = (number(part)?, number(parts)?);
        let method_name = method.name();
        if parts == 0 {
            return Err(PartitionError::NoParts);
        }
        if part == 0 {
            return Err(PartitionError::Zero {
                method: method_name,
                parts,
            });
        }
        if part > parts {
            return Err(PartitionError::TooLarge {
                method: method_name,
                part,
                parts,
            });
        }
        Ok(Self {
            method,
            part,
            parts,
        })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/fleet_partition.rs"]
mod tests;
