//! The search space: all valid configurations of a tunable for a problem and a device.
//!
//! The space is never enumerated. Parameters that no constraint ties together are independent:
//! each group has a decision diagram of its own, and their counts multiply. In a diagram each
//! constraint is evaluated at the first level at which it can decide, and levels that look the
//! same to the constraints below them share one node.
//!
//! | file | owns |
//! |---|---|
//! | `spec` | what a space is built from |
//! | `diagram` | the valid configurations of one group |
//! | `explain` | what each constraint removes |

mod diagram;
mod explain;
mod spec;

pub use explain::{Explanation, Removed};
pub use spec::{SpaceConstraint, SpaceParameter, SpaceSpec};

use crate::device::DeviceLimits;
use crate::expr::Env;
use diagram::Diagram;

/// A source of uniformly distributed bits; the core has no random numbers of its own.
pub trait RandomSource {
    /// The next 64 bits.
    fn next_u64(&mut self) -> u64;
}

/// The valid configurations: counted, indexed and tested for membership without being
/// enumerated.
#[derive(Clone, Debug)]
pub struct Space {
    spec: SpaceSpec,
    /// The independent groups; the first one's index varies slowest.
    groups: Vec<Diagram>,
    count: u128,
}

/// Which configurations are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbourhood {
    /// One parameter at the value before or after its own.
    Adjacent,
    /// One parameter at any other value.
    AnyValue,
}

impl Space {
    /// Builds the space. Takes time and memory in the number of distinct views that constraints
    /// have of the parameters, not in the number of configurations.
    pub fn build(spec: &SpaceSpec) -> Self {
        let possible = holds_without_parameters(spec);
        let groups: Vec<Diagram> = if possible {
            groups(spec)
                .into_iter()
                .map(|parameters| {
                    let reads = |constraint: &&SpaceConstraint| {
                        constraint
                            .program
                            .parameters()
                            .iter()
                            .any(|read| parameters.contains(&usize::from(*read)))
                    };
                    let constraints: Vec<_> = spec.constraints.iter().filter(reads).collect();
                    Diagram::build(&spec.parameters, parameters.clone(), &constraints)
                })
                .collect()
        } else {
            Vec::new()
        };
        let product = |groups: &[Diagram]| {
            groups
                .iter()
                .fold(1_u128, |count, group| count.saturating_mul(group.count()))
        };
        let count = if possible { product(&groups) } else { 0 };
        Self {
            spec: spec.clone(),
            groups,
            count,
        }
    }

    /// The parameters, in declaration order.
    pub fn parameters(&self) -> &[SpaceParameter] {
        &self.spec.parameters
    }

    /// The number of valid configurations; the largest `u128` when there are more.
    pub fn count(&self) -> u128 {
        self.count
    }

    /// The number of configurations without constraints; the largest `u128` when there are more.
    pub fn cartesian(&self) -> u128 {
        cartesian(&self.spec)
    }

    /// The configuration (codes in declaration order) with an index below the count.
    pub fn get(&self, index: u128) -> Option<Vec<i64>> {
        if index >= self.count {
            return None;
        }
        let mut values = vec![0; self.spec.parameters.len()];
        let mut rest = index;
        for group in self.groups.iter().rev() {
            group.get(rest % group.count(), &mut values);
            rest /= group.count();
        }
        Some(values)
    }

    /// The index of a configuration; `None` when it is not valid.
    pub fn index_of(&self, configuration: &[i64]) -> Option<u128> {
        if self.count == 0 || configuration.len() != self.spec.parameters.len() {
            return None;
        }
        let mut index: u128 = 0;
        for group in &self.groups {
            index = index.saturating_mul(group.count()) + group.index_of(configuration)?;
        }
        Some(index)
    }

    /// Whether a configuration is valid.
    pub fn contains(&self, configuration: &[i64]) -> bool {
        self.index_of(configuration).is_some()
    }

    /// A configuration, each equally likely; `None` for an empty space.
    pub fn sample(&self, random: &mut dyn RandomSource) -> Option<Vec<i64>> {
        if self.count == 0 {
            return None;
        }
        // Draws beyond the largest multiple of the count are repeated, so that none is likelier.
        let excess = (u128::MAX % self.count + 1) % self.count;
        loop {
            let draw = u128::from(random.next_u64()) << 64 | u128::from(random.next_u64());
            if draw <= u128::MAX - excess {
                return self.get(draw % self.count);
            }
        }
    }

    /// The valid neighbours of a configuration, which need not be valid itself.
    pub fn neighbours(&self, configuration: &[i64], neighbourhood: Neighbourhood) -> Vec<Vec<i64>> {
        let mut found = Vec::new();
        for (position, parameter) in self.spec.parameters.iter().enumerate() {
            let Some(own) = configuration.get(position) else {
                break;
            };
            let at = parameter.codes.iter().position(|code| code == own);
            for (other, code) in parameter.codes.iter().enumerate() {
                let near = match neighbourhood {
                    Neighbourhood::Adjacent => at.is_some_and(|at| at.abs_diff(other) == 1),
                    Neighbourhood::AnyValue => code != own,
                };
                if near {
                    let mut neighbour = configuration.to_vec();
                    neighbour[position] = *code;
                    if self.contains(&neighbour) {
                        found.push(neighbour);
                    }
                }
            }
        }
        found
    }

    /// Every configuration, in the order of the indices.
    pub fn iter(&self) -> impl Iterator<Item = Vec<i64>> + '_ {
        let mut index = 0;
        std::iter::from_fn(move || {
            let configuration = self.get(index)?;
            index += 1;
            Some(configuration)
        })
    }

    /// What each constraint removes, and which leave nothing.
    pub fn explain(&self) -> Explanation {
        explain::explain(&self.spec)
    }
}

fn cartesian(spec: &SpaceSpec) -> u128 {
    let sizes = spec
        .parameters
        .iter()
        .map(|parameter| parameter.codes.len() as u128);
    sizes.fold(1, u128::saturating_mul)
}

/// Whether the constraints that read no parameter hold.
fn holds_without_parameters(spec: &SpaceSpec) -> bool {
    let device = DeviceLimits::default();
    let env = Env {
        params: &[],
        dims: &[],
        device: &device,
    };
    spec.constraints
        .iter()
        .filter(|constraint| constraint.program.parameters().is_empty())
        .all(|constraint| constraint.program.eval(&env).is_ok_and(|value| value != 0))
}

/// The groups of parameters that constraints tie together, each in declaration order.
fn groups(spec: &SpaceSpec) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..spec.parameters.len()).collect();
    for constraint in &spec.constraints {
        let read = constraint.program.parameters();
        let Some(first) = read.first() else { continue };
        let Some(target) = group.get(usize::from(*first)).copied() else {
            continue;
        };
        for other in &read[1..] {
            let Some(from) = group.get(usize::from(*other)).copied() else {
                continue;
            };
            group
                .iter_mut()
                .filter(|own| **own == from)
                .for_each(|own| *own = target);
        }
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for parameter in 0..group.len() {
        match groups
            .iter_mut()
            .find(|members| group[members[0]] == group[parameter])
        {
            Some(members) => members.push(parameter),
            None => groups.push(vec![parameter]),
        }
    }
    groups
}
