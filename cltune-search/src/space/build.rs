//! Building the graphs of a space.

use super::domains::{Domains, OutOfWork, Values, domains};
use super::graph::{Graph, from_drafts, product};
use super::interned::FastMap;
use super::layers::layers;
use super::order::{Group, groups, order_by_constraints, order_by_estimate};
use super::residual::{Residual, Residuals};
use super::tree::Tree;
use super::work::Work;
use super::{Space, SpaceConstraint, SpaceSpec};
use cltune_core::Text;
use std::collections::HashSet;

impl Space {
    /// The valid configurations that satisfy further constraints too, such as another device's
    /// limits.
    ///
    /// Builds anew: putting the constraints in from the start makes the graphs smaller than cutting
    /// them afterwards would.
    #[must_use]
    pub fn restrict(&self, constraints: impl IntoIterator<Item = SpaceConstraint>) -> Self {
        let mut spec = self.spec().clone();
        spec.constraints.extend(constraints);
        Self::build(&spec)
    }

    /// The valid configurations of a specification. A value that a parameter has twice counts
    /// once.
    ///
    /// Takes as long and as much memory as it needs; see [`Self::build_within`].
    pub fn build(spec: &SpaceSpec) -> Self {
        let spec = without_duplicates(spec.clone());
        let graphs = graphs(&spec, &mut Work::new(u64::MAX)).unwrap_or_default();
        Self::new(spec, graphs)
    }

    /// Like [`Self::build`], but gives up after so many steps: values tried and their outcomes. A
    /// million steps take some tenths of a second and about 10 MB.
    ///
    /// # Errors
    /// There are not enough steps.
    pub fn build_within(spec: SpaceSpec, steps: u64) -> Result<Self, TooComplex> {
        let spec = without_duplicates(spec);
        let graphs = graphs(&spec, &mut Work::new(steps))?;
        Ok(Self::new(spec, graphs))
    }
}

/// A space has more cases to be told apart than steps were given to build it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the constraints on {} leave too many cases to be told apart; say what limits each parameter \
     by constraints of their own",
    listed(parameters)
)]
pub struct TooComplex {
    /// The names of the parameters that constraints connect.
    pub parameters: Vec<Text>,
}

/// The first of the names: there may be any number.
fn listed(names: &[Text]) -> String {
    const SHOWN: usize = 20;
    let shown = names.iter().take(SHOWN);
    let quoted: Vec<String> = shown.map(|name| format!("`{name}`")).collect();
    let listed = quoted.join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}

impl TooComplex {
    fn new(parameters: &[usize], spec: &SpaceSpec) -> Self {
        let name = |parameter: &usize| spec.parameters[*parameter].name.clone();
        Self {
            parameters: parameters.iter().map(name).collect(),
        }
    }
}

/// The number of valid configurations (saturating), unless finding it takes more work.
pub(super) fn count_within(spec: &SpaceSpec, work: &mut Work) -> Option<u128> {
    let graphs = graphs(spec, work).ok()?;
    Some(product(&graphs))
}

fn without_duplicates(mut spec: SpaceSpec) -> SpaceSpec {
    for parameter in &mut spec.parameters {
        if parameter.codes.is_sorted_by(|a, b| a < b) {
            continue;
        }
        let mut seen = HashSet::with_capacity(parameter.codes.len());
        parameter.codes.retain(|code| seen.insert(*code));
    }
    spec
}

/// The graph of each group.
fn graphs(spec: &SpaceSpec, work: &mut Work) -> Result<Vec<Graph>, TooComplex> {
    let all: Vec<usize> = (0..spec.parameters.len()).collect();
    let domains = match domains(spec, work) {
        Ok(Some(domains)) => domains,
        Ok(None) => return Ok(vec![Graph::empty(all)]),
        Err(OutOfWork) => return Err(TooComplex::new(&all, spec)),
    };
    groups(&domains)
        .iter()
        .map(|group| {
            group_graph(group, &domains, work)
                .ok_or_else(|| TooComplex::new(&group.parameters, spec))
        })
        .collect()
}

/// The steps that the first order is given at first; most groups get by with them.
const FIRST_STEPS: u64 = 1 << 14;
/// Fewer constraints take no time that counts.
const MANY_CONSTRAINTS: usize = 64;
/// The steps in the time of which the values of a constraint are found.
const STEPS_TO_ENTER: usize = 64;
/// By how much they grow when no order got by with them.
const GROWTH: u64 = 4;

/// The graph with the first order that gets by with the steps it is given.
fn group_graph(group: &Group, domains: &Domains<'_>, work: &mut Work) -> Option<Graph> {
    let by_constraints = order_by_constraints(group, domains);
    let mut by_estimate: Option<Vec<usize>> = None;
    let mut steps = FIRST_STEPS;
    loop {
        if let Some(order) = &by_estimate {
            let graph = graph_within(order, group, domains, steps, work);
            if graph.is_some() || work.is_used_up() {
                return graph;
            }
        }
        let graph = graph_within(&by_constraints, group, domains, steps, work);
        if graph.is_some() || work.is_used_up() {
            return graph;
        }
        if by_estimate.is_none() {
            by_estimate = order_by_estimate(group, domains);
        }
        steps = steps.saturating_mul(GROWTH);
    }
}

/// The graph with this order, unless it takes more steps; then they are used up.
fn graph_within(
    order: &[usize],
    group: &Group,
    domains: &Domains<'_>,
    steps: u64,
    work: &mut Work,
) -> Option<Graph> {
    let mut share = work.share(steps);
    let graph = ordered_graph(order, &group.constraints, domains, &mut share)?;
    work.give_back(&share);
    Some(graph)
}

fn ordered_graph(
    order: &[usize],
    constraints: &[Tree],
    domains: &Domains<'_>,
    work: &mut Work,
) -> Option<Graph> {
    // So many cannot be entered in the time of a few steps.
    if constraints.len() > MANY_CONSTRAINTS {
        work.take(constraints.len() * STEPS_TO_ENTER)?;
    }
    let levels: FastMap<usize, usize> = order.iter().copied().zip(0..).collect();
    let values = || order.iter().map(|p| &domains.parameters[*p]);
    let mut residuals = Residuals::new(values().map(|values| &*values.codes).collect());
    let mut first = Vec::new();
    for tree in constraints {
        match residuals.enter(tree.renumbered(&levels)) {
            Residual::Open(number) => first.push(number),
            Residual::Holds => {}
            Residual::Fails => return Some(Graph::empty(order.to_vec())),
        }
    }
    let places = values().map(Values::positions).collect();
    let drafts = layers(residuals, &first, places, work)?;
    Some(if drafts.is_empty() {
        Graph::empty(order.to_vec())
    } else {
        from_drafts(order.to_vec(), drafts)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c_syntax::condition;
    use crate::space::SpaceParameter;

    fn spec(parameters: &[(&str, std::ops::RangeInclusive<i64>)], texts: &[&str]) -> SpaceSpec {
        let names = parameters.iter().map(|(name, _)| *name).collect();
        let constraint = |text: &&str| SpaceConstraint {
            label: (*text).to_owned().into(),
            program: condition(text, &names).expect("a condition"),
        };
        let parameter = |(name, values): &(&str, std::ops::RangeInclusive<i64>)| {
            SpaceParameter::listed((*name).to_owned(), values.clone().collect())
        };
        SpaceSpec {
            parameters: parameters.iter().map(parameter).collect(),
            constraints: texts.iter().map(constraint).collect(),
        }
    }

    /// Parameters and constraints in which no order is the natural one.
    fn entangled() -> SpaceSpec {
        let parameters = ["a", "b", "c", "d", "e", "s"].map(|name| (name, 1..=12));
        spec(
            &parameters,
            &[
                "a % b == 0 || s > 3",
                "(a * b + 2 * e) * (c * d + 2 * e) * s <= 900",
                "c + d + e >= 6",
                "s == 1 || (a * c) % 4 == 0",
            ],
        )
    }

    #[test]
    fn every_order_gives_the_same_configurations() {
        let spec = entangled();
        let Ok(Some(domains)) = domains(&spec, &mut Work::new(u64::MAX)) else {
            panic!("the space is not empty");
        };
        let [group] = &groups(&domains)[..] else {
            panic!("all parameters are connected");
        };
        let mut orders = vec![
            order_by_constraints(group, &domains),
            order_by_estimate(group, &domains).expect("a small group"),
        ];
        for first in 0..6 {
            orders.push((0..6).map(|at| (first + 5 * at) % 6).collect());
        }
        let mut counts = orders.iter().map(|order| {
            let work = &mut Work::new(u64::MAX);
            ordered_graph(order, &group.constraints, &domains, work).map(|graph| graph.count)
        });
        let count = counts.next().flatten();
        assert!(count.is_some_and(|count| count > 1000));
        assert!(counts.all(|other| other == count));
        assert_eq!(Some(Space::build(&spec).count()), count);
    }

    #[test]
    fn a_build_that_takes_too_long_says_which_parameters_are_at_fault() {
        let mut spec = entangled();
        spec.parameters
            .push(SpaceParameter::listed("free", vec![1, 2]));
        for steps in [0, 1, 10, 100, 1000] {
            let error = Space::build_within(spec.clone(), steps).unwrap_err();
            let text = error.to_string();
            assert!(
                text.contains("`a`, `b`, `c`, `d`, `e`, `s` leave"),
                "{text}"
            );
        }
        assert!(Space::build_within(spec, u64::MAX).is_ok());
    }
}
