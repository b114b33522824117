//! The gaps of a set of parts. Each part names the units of all, so that any one of them
//! tells what the others should have done.

use super::part_file::{PartFile, UnitResult};
use super::unit::Unit;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// So many units are named in full.
const NAMED: usize = 20;

/// Parts that do not belong together.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PartsError {
    /// Of different artifacts.
    #[error(
        "{first} and {second} are parts of different artifacts, or were tuned with different `--measure` or \
         `--objective`: {} and {}. Tune all parts with the same of these, and with one file for `--artifact`, since two \
         builds may differ in what they hold",
        .artifacts[0], .artifacts[1]
    )]
    Artifacts {
        /// One part.
        first: String,
        /// The other.
        second: String,
        /// Their artifacts.
        artifacts: [String; 2],
    },
    /// Of different lists of units for the same devices.
    #[error(
        "{first} and {second} divide different units: {unit} is in the list of {has} only. Tune all parts with the \
         same --kernel, --device, --problem and --captured"
    )]
    Units {
        /// One part.
        first: String,
        /// The other.
        second: String,
        /// A unit that only one has.
        unit: String,
        /// The part that has it.
        has: String,
    },
    /// The same units, divided in different ways.
    #[error(
        "{first} is {} and {second} is {}: the same units, divided in different ways. Tune all parts with the same \
         method and number of parts",
        .partitions[0], .partitions[1]
    )]
    Divisions {
        /// One part.
        first: String,
        /// The other.
        second: String,
        /// Their partitions.
        partitions: [String; 2],
    },
    /// The same part twice.
    #[error(
        "{first} and {second} are both {partition}. Leave one out, or choose between their results with \
         --time-again"
    )]
    Twice {
        /// One of them.
        first: String,
        /// The other.
        second: String,
        /// The part that both are.
        partition: String,
    },
}

/// A part, with its name for people.
pub(crate) type Given<'a> = (String, &'a PartFile);

/// What parts should have done and have not.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Gaps {
    /// Parts that are not there, and parts with units that are not done; each with these units.
    pub(crate) missing: Vec<Gap>,
    /// Units that were tried and have no result, with the reason.
    pub(crate) failed: Vec<(Unit, String)>,
}

/// What is missing of one part.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// `slice:2/4`.
    partition: String,
    /// How many more are missing that have no units, where these are too many to name.
    others: usize,
    /// Where the part is; `None` where it is not there.
    at: Option<String>,
    /// The devices whose units the parts divide, where there are several sets of parts.
    of: Option<String>,
    /// The units that are not done.
    units: Vec<Unit>,
}

/// What is missing of parts, each with its name for people. With `again`, a part may be there more
/// than once.
///
/// # Errors
/// The parts do not belong together.
pub(crate) fn check(parts: &[Given<'_>], again: bool) -> Result<Gaps, PartsError> {
    if let Some(((first, a), (second, b))) = differ(parts, |of| &of.part.artifact) {
        return Err(PartsError::Artifacts {
            first,
            second,
            artifacts: [a.part.artifact.clone(), b.part.artifact.clone()],
        });
    }
    // Machines with other devices have other units.
    let mut sets: BTreeMap<BTreeSet<[&str; 3]>, Vec<Given<'_>>> = BTreeMap::new();
    for (name, file) in parts {
        let classes = file.part.units.iter();
        let classes = classes.map(|unit| [&*unit.device, &*unit.platform, &*unit.vendor]);
        let set = sets.entry(classes.collect()).or_default();
        set.push((name.clone(), *file));
    }
    let are_several = sets.len() > 1;
    let mut gaps = Gaps::default();
    for (classes, set) in &sets {
        let devices: Vec<&str> = classes.iter().map(|[device, ..]| *device).collect();
        let of = are_several.then(|| devices.join(", "));
        check_set(set, again, of.as_deref(), &mut gaps)?;
    }
    Ok(gaps)
}

/// The same for parts of the same devices.
fn check_set(
    set: &[Given<'_>],
    again: bool,
    of: Option<&str>,
    gaps: &mut Gaps,
) -> Result<(), PartsError> {
    let Some((_, any)) = set.first() else {
        return Ok(());
    };
    check_division(set)?;
    let all = any.part.partition;
    let mut own: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, part) in all.parts_of(&any.part.units).into_iter().enumerate() {
        own.entry(part).or_default().push(at);
    }
    for (_, file) in set {
        own.entry(file.part.partition.part()).or_default();
    }
    // A part without units is missing, too: nobody has said that it has none.
    let empty = all.parts() as usize - own.len();
    let rest = (1..=all.parts()).find(|part| !own.contains_key(part));
    let rest = rest.filter(|_| empty > NAMED).map(|part| Gap {
        partition: all.sibling(part).to_string(),
        others: empty - 1,
        at: None,
        of: of.map(str::to_owned),
        units: Vec::new(),
    });
    if rest.is_none() {
        for part in 1..=all.parts() {
            own.entry(part).or_default();
        }
    }
    for (part, own) in own {
        let partition = all.sibling(part);
        let there: Vec<_> = set
            .iter()
            .filter(|(_, file)| file.part.partition == partition)
            .collect();
        if let [(first, _), (second, _), ..] = there[..]
            && !again
        {
            return Err(PartsError::Twice {
                first: first.clone(),
                second: second.clone(),
                partition: partition.to_string(),
            });
        }
        let open = open_units(&own, any, &there, &mut gaps.failed);
        if there.is_empty() || !open.is_empty() {
            gaps.missing.push(Gap {
                partition: partition.to_string(),
                others: 0,
                at: there.first().map(|(name, _)| name.clone()),
                of: of.map(str::to_owned),
                units: open,
            });
        }
    }
    gaps.missing.extend(rest);
    Ok(())
}

/// Whether parts of the same devices divide the same units, in the same way.
fn check_division(set: &[Given<'_>]) -> Result<(), PartsError> {
    if let Some(((first, a), (second, b))) = differ(set, |of| &of.part.units) {
        let only = |a: &PartFile, b: &PartFile| {
            let mut units = a.part.units.iter();
            let unit = units.find(|unit| b.part.units.binary_search(unit).is_err());
            unit.map(ToString::to_string)
        };
        let (unit, has) = match only(a, b) {
            Some(unit) => (unit, first.clone()),
            None => (only(b, a).unwrap_or_default(), second.clone()),
        };
        return Err(PartsError::Units {
            first,
            second,
            unit,
            has,
        });
    }
    if let Some(((first, a), (second, b))) = differ(set, |of| of.part.partition.sibling(1)) {
        return Err(PartsError::Divisions {
            first,
            second,
            partitions: [a, b].map(|of| of.part.partition.to_string()),
        });
    }
    Ok(())
}

/// The units of a part, by their positions, that none of its files has done. Those that were tried
/// and have no result are added to `failed` instead.
fn open_units(
    own: &[usize],
    any: &PartFile,
    there: &[&Given<'_>],
    failed: &mut Vec<(Unit, String)>,
) -> Vec<Unit> {
    let mut open = Vec::new();
    for at in own {
        let unit = &any.part.units[*at];
        let outcomes = || there.iter().filter_map(|(_, file)| file.outcomes.get(at));
        if outcomes().any(|outcome| *outcome == UnitResult::Tuned) {
            continue;
        }
        match outcomes().next() {
            Some(UnitResult::Failed(reason)) => failed.push((unit.clone(), reason.clone())),
            _ => open.push(unit.clone()),
        }
    }
    open
}

/// The first part and another that differs from it.
fn differ<'a, T: PartialEq>(
    parts: &[Given<'a>],
    of: impl Fn(&'a PartFile) -> T,
) -> Option<(Given<'a>, Given<'a>)> {
    let (first, rest) = parts.split_first()?;
    let other = rest.iter().find(|(_, file)| of(file) != of(first.1))?;
    Some((first.clone(), other.clone()))
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let partition = &self.partition;
        let of = self.of.as_ref().map(|of| format!(" of the units on {of}"));
        let of = of.unwrap_or_default();
        let units = plural(self.units.len(), "unit");
        let others = self.others;
        match &self.at {
            None if others > 0 => write!(
                f,
                "{partition} and {others} more parts{of} are missing, with {units}"
            )?,
            None => write!(f, "{partition}{of} is missing, with {units}")?,
            Some(at) => write!(
                f,
                "{partition}{of} ({at}) has not done {units}; go on with it by `--resume`"
            )?,
        }
        for unit in self.units.iter().take(NAMED) {
            write!(f, "\n    {unit}")?;
        }
        match self.units.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, "\n    and {more} more"),
        }
    }
}

/// `1 unit`, `2 units`.
fn plural(count: usize, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {word}{ending}")
}

#[cfg(test)]
#[path = "../../tests/unit/fleet_completeness.rs"]
mod tests;
