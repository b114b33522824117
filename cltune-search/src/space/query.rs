//! Access to the configurations of a space.

use super::graph::Graph;
use super::graph::product;
use super::{SpaceParameter, SpaceSpec};
use cltune_core::device::DeviceLimits;
use cltune_core::expr::Env;

/// The valid configurations of a tunable on one device for one problem.
///
/// A configuration is a list of codes in the declaration order of the parameters. Each valid one
/// has an index below [`Space::count`].
#[derive(Clone, Debug)]
pub struct Space {
    spec: SpaceSpec,
    /// For each parameter the positions of its codes, by code.
    sorted: Vec<Sorted>,
    /// One graph per group of dependent parameters.
    graphs: Vec<Graph>,
    count: u128,
}

/// A group of dependent parameters and the size of its graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSize {
    /// Positions of the parameters in the declaration, in the order of the graph's levels.
    pub parameters: Vec<usize>,
    /// The number of valid configurations of these parameters; saturates.
    pub count: u128,
    /// The nodes of the graph.
    pub nodes: usize,
    /// The edges of the graph; values that follow each other and leave the same share one.
    pub edges: usize,
}

/// Finds codes in a domain.
#[derive(Clone, Debug)]
enum Sorted {
    /// The codes ascend as they are.
    Ascending,
    /// Their positions in ascending order of the codes.
    By(Vec<u32>),
}

impl Sorted {
    fn new(codes: &[i64]) -> Self {
        if codes.is_sorted() {
            return Self::Ascending;
        }
        let mut positions: Vec<u32> = (0..codes.len() as u32).collect();
        positions.sort_unstable_by_key(|position| codes[*position as usize]);
        Self::By(positions)
    }

    /// How many codes are less than `code`.
    fn rank(&self, codes: &[i64], code: i64) -> usize {
        match self {
            Self::Ascending => codes.partition_point(|known| *known < code),
            Self::By(positions) => {
                positions.partition_point(|position| codes[*position as usize] < code)
            }
        }
    }

    /// The position of the code with a rank.
    fn at(&self, codes: &[i64], rank: usize) -> Option<u32> {
        match self {
            Self::Ascending => (rank < codes.len()).then_some(rank as u32),
            Self::By(positions) => positions.get(rank).copied(),
        }
    }

    fn position(&self, codes: &[i64], code: i64) -> Option<u32> {
        self.at(codes, self.rank(codes, code))
            .filter(|position| codes[*position as usize] == code)
    }

    fn nearest(&self, codes: &[i64], code: i64) -> Option<u32> {
        let rank = self.rank(codes, code);
        let around = [rank.checked_sub(1), Some(rank)];
        around
            .into_iter()
            .filter_map(|rank| self.at(codes, rank?))
            .min_by_key(|position| codes[*position as usize].abs_diff(code))
    }
}

impl Space {
    /// `spec` has no code twice.
    pub(super) fn new(spec: SpaceSpec, graphs: Vec<Graph>) -> Self {
        let sorted = spec
            .parameters
            .iter()
            .map(|parameter| Sorted::new(&parameter.codes))
            .collect();
        Self {
            count: product(&graphs),
            spec,
            sorted,
            graphs,
        }
    }

    pub(super) fn graphs(&self) -> &[Graph] {
        &self.graphs
    }

    pub(super) fn spec(&self) -> &SpaceSpec {
        &self.spec
    }

    /// The parameters in declaration order: names and codes, each code once.
    pub fn parameters(&self) -> &[SpaceParameter] {
        &self.spec.parameters
    }

    /// The continuous ones of the parameters: those of which not every value is listed.
    pub fn continuous(&self) -> impl Iterator<Item = &SpaceParameter> {
        self.spec.parameters.iter().filter(|it| it.continuous)
    }

    /// The groups of parameters that no constraint connects with each other; their numbers of
    /// configurations multiply to the count.
    pub fn groups(&self) -> Vec<GroupSize> {
        self.graphs
            .iter()
            .map(|graph| GroupSize {
                parameters: graph.parameters.clone(),
                count: graph.count,
                nodes: graph
                    .levels
                    .iter()
                    .map(|level| level.starts.len() - 1)
                    .sum(),
                edges: graph.levels.iter().map(|level| level.edges.len()).sum(),
            })
            .collect()
    }

    /// The number of valid configurations; [`u128::MAX`] when there are more.
    pub fn count(&self) -> u128 {
        self.count
    }

    /// Whether no configuration is valid.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The number of configurations without constraints; [`u128::MAX`] when there are more.
    pub fn cartesian(&self) -> u128 {
        cartesian(&self.spec).unwrap_or(u128::MAX)
    }

    /// The valid configuration with this index; `None` when `index` is not below the count.
    pub fn get(&self, mut index: u128) -> Option<Vec<i64>> {
        if index >= self.count {
            return None;
        }
        let mut positions = vec![0; self.spec.parameters.len()];
        for graph in self.graphs.iter().rev() {
            graph.get(index % graph.count, &mut positions);
            index /= graph.count;
        }
        Some(self.codes(&positions))
    }

    /// The index of a configuration; `None` when it is not valid, and when its index does not lie
    /// below a count that saturates.
    pub fn index_of(&self, codes: &[i64]) -> Option<u128> {
        let positions = self.positions(codes)?;
        let index = self.graphs.iter().try_fold(0_u128, |index, graph| {
            index
                .checked_mul(graph.count)?
                .checked_add(graph.index_of(&positions)?)
        })?;
        (index < self.count).then_some(index)
    }

    /// Whether a configuration is valid.
    ///
    /// A continuous parameter may have any code of its range, also one that is not listed. Such a
    /// configuration has no index, and is drawn by no strategy; a user may have declared or written
    /// it.
    pub fn contains(&self, codes: &[i64]) -> bool {
        match self.positions(codes) {
            Some(positions) => {
                let mut graphs = self.graphs.iter();
                graphs.all(|graph| graph.index_of(&positions).is_some())
            }
            None => self.is_between_listed(codes) && self.satisfies_all(codes),
        }
    }

    /// Whether each code is listed or between those of a continuous parameter.
    fn is_between_listed(&self, codes: &[i64]) -> bool {
        let is_value = |((parameter, sorted), code): ((&SpaceParameter, &Sorted), &i64)| {
            sorted.position(&parameter.codes, *code).is_some()
                || parameter.continuous
                    && parameter.codes.first().is_some_and(|first| first < code)
                    && parameter.codes.last().is_some_and(|last| code < last)
        };
        let parameters = self.spec.parameters.iter().zip(&self.sorted);
        codes.len() == self.sorted.len() && parameters.zip(codes).all(is_value)
    }

    fn satisfies_all(&self, codes: &[i64]) -> bool {
        let env = Env {
            params: codes,
            dims: &[],
            device: &DeviceLimits::NONE,
        };
        let mut constraints = self.spec.constraints.iter();
        constraints.all(|of| of.program.eval(&env).is_ok_and(|value| value != 0))
    }

    /// The valid configurations in the order of their indices.
    pub fn iter(&self) -> Iter<'_> {
        Iter {
            space: self,
            next: 0,
        }
    }

    /// The positions of codes in their parameters' domains; `None` when there are too few or too
    /// many, or one is not in its domain.
    pub(super) fn positions(&self, codes: &[i64]) -> Option<Vec<u32>> {
        if codes.len() != self.sorted.len() {
            return None;
        }
        self.sorted
            .iter()
            .zip(&self.spec.parameters)
            .zip(codes)
            .map(|((sorted, parameter), code)| sorted.position(&parameter.codes, *code))
            .collect()
    }

    /// Where each parameter has the listed code that stands for its own: of a continuous one the
    /// nearest. `None` where another has a code that is none of its domain.
    pub(super) fn places(&self, codes: &[i64]) -> Option<Vec<u32>> {
        if codes.len() != self.sorted.len() {
            return None;
        }
        let parameters = self.spec.parameters.iter().zip(&self.sorted);
        let place = |((parameter, sorted), code): ((&SpaceParameter, &Sorted), &i64)| {
            if parameter.continuous {
                sorted.nearest(&parameter.codes, *code)
            } else {
                sorted.position(&parameter.codes, *code)
            }
        };
        parameters.zip(codes).map(place).collect()
    }

    /// The position of the code nearest to `code` in a parameter's domain, if that is not empty.
    pub(crate) fn nearest_position(&self, parameter: usize, code: i64) -> Option<u32> {
        self.sorted[parameter].nearest(&self.spec.parameters[parameter].codes, code)
    }

    /// The codes at positions that lie in the parameters' domains.
    pub(super) fn codes(&self, positions: &[u32]) -> Vec<i64> {
        self.spec
            .parameters
            .iter()
            .zip(positions)
            .map(|(parameter, position)| parameter.codes[*position as usize])
            .collect()
    }
}

impl<'a> IntoIterator for &'a Space {
    type Item = Vec<i64>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// The number of configurations without constraints, if it fits.
pub(super) fn cartesian(spec: &SpaceSpec) -> Option<u128> {
    let sizes = || {
        spec.parameters
            .iter()
            .map(|parameter| parameter.codes.len() as u128)
    };
    if sizes().any(|size| size == 0) {
        return Some(0);
    }
    sizes().try_fold(1_u128, u128::checked_mul)
}

/// The configurations of a space, made by [`Space::iter`].
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    space: &'a Space,
    next: u128,
}

impl Iterator for Iter<'_> {
    type Item = Vec<i64>;

    fn next(&mut self) -> Option<Vec<i64>> {
        let codes = self.space.get(self.next)?;
        self.next += 1;
        Some(codes)
    }

    fn nth(&mut self, skipped: usize) -> Option<Vec<i64>> {
        self.next = self.next.saturating_add(skipped as u128);
        self.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.space.count.saturating_sub(self.next)).ok();
        (left.unwrap_or(usize::MAX), left)
    }
}
