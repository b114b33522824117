//! The configurations among which the next one is chosen: all of a small space, a changing
//! selection from a large one.

use super::super::generator::Generator;
use super::super::threads::ready_threads;
use super::features::Features;
use super::transfer::PriorModel;
use crate::space::{Neighbourhood, Space};
use rayon::prelude::*;
use std::collections::HashMap;

/// How many configurations of a larger one are considered at once.
const SELECTION: usize = 4096;
/// How many neighbours of a good configuration are among these.
const NEIGHBOURS: usize = 400;

/// Configurations with their coordinates.
#[derive(Default)]
pub(in crate::search) struct Pool {
    configurations: Vec<Vec<i64>>,
    /// For each coordinate, its value for each configuration.
    columns: Vec<Vec<f32>>,
    /// For each configuration its evenness ([`Features::evenness`]).
    evenness: Vec<f32>,
    /// For each set of prior results, what it says of each configuration.
    prior: Vec<Vec<f32>>,
    /// Where a configuration is.
    positions: HashMap<Vec<i64>, usize>,
    taken: Vec<bool>,
    whole: bool,
}

impl Pool {
    /// All of a space of at most so many configurations; nothing yet of a larger one.
    pub(in crate::search) fn new(space: &Space, features: &Features, most: u128) -> Self {
        let mut pool = Self {
            configurations: Vec::new(),
            columns: vec![Vec::new(); features.dimensions()],
            evenness: Vec::new(),
            prior: Vec::new(),
            positions: HashMap::new(),
            taken: Vec::new(),
            whole: space.count() <= most,
        };
        if pool.whole {
            for configuration in space {
                pool.add(configuration, features);
            }
        }
        pool
    }

    /// Whether it holds the whole space, and so never changes.
    pub(in crate::search) fn is_whole(&self) -> bool {
        self.whole
    }

    /// A new selection: what is near the best, and random others.
    pub(in crate::search) fn renew<'a>(
        &mut self,
        space: &Space,
        features: &Features,
        best: impl Iterator<Item = &'a [i64]>,
        generator: &mut Generator,
        is_taken: impl Fn(&[i64]) -> bool,
    ) {
        self.columns.resize(features.dimensions(), Vec::new());
        self.configurations.clear();
        self.columns.iter_mut().for_each(Vec::clear);
        self.evenness.clear();
        self.positions.clear();
        self.taken.clear();
        for near in best {
            let mut neighbours = space.neighbours(near, Neighbourhood::AnyValue);
            // Of a parameter with thousands of values only some.
            while neighbours.len() > NEIGHBOURS {
                let one = generator.below(neighbours.len() as u128) as usize;
                neighbours.swap_remove(one);
            }
            for neighbour in neighbours.into_iter().filter(|n| !is_taken(n)) {
                self.add(neighbour, features);
            }
        }
        // A bounded number of draws: a space is never much smaller than the selection.
        for _ in 0..SELECTION {
            if let Some(drawn) = space.sample(generator)
                && !is_taken(&drawn)
            {
                self.add(drawn, features);
            }
        }
    }

    fn add(&mut self, configuration: Vec<i64>, features: &Features) {
        let position = self.configurations.len();
        if self.positions.contains_key(&configuration) {
            return;
        }
        let point = features.point(&configuration);
        for (column, coordinate) in self.columns.iter_mut().zip(point) {
            column.push(coordinate as f32);
        }
        self.evenness.push(features.evenness(&configuration) as f32);
        self.positions.insert(configuration.clone(), position);
        self.configurations.push(configuration);
        self.taken.push(false);
    }

    /// Asks prior results about every configuration.
    pub(super) fn add_priors(&mut self, priors: &[PriorModel], features: &Features) {
        ready_threads();
        let says = |prior: &PriorModel| {
            let configurations = self.configurations.par_iter();
            configurations
                .map(|codes| prior.predict(codes, &features.point(codes)) as f32)
                .collect()
        };
        self.prior = priors.iter().map(says).collect();
    }

    /// For each set of prior results it was asked, what it says of each configuration.
    pub(super) fn prior(&self) -> &[Vec<f32>] {
        &self.prior
    }

    /// The evenness of each configuration.
    pub(super) fn evenness(&self) -> &[f32] {
        &self.evenness
    }

    /// The number of configurations.
    pub(in crate::search) fn len(&self) -> usize {
        self.configurations.len()
    }

    /// The configuration at a position.
    pub(in crate::search) fn get(&self, position: usize) -> &[i64] {
        &self.configurations[position]
    }

    /// Takes a configuration out of the choice.
    pub(in crate::search) fn take(&mut self, configuration: &[i64]) {
        if let Some(position) = self.positions.get(configuration) {
            self.taken[*position] = true;
        }
    }

    /// Whether the configuration at a position is out of the choice.
    pub(in crate::search) fn is_taken(&self, position: usize) -> bool {
        self.taken[position]
    }

    /// Adds to each of `squared` the scaled squared distance of a configuration to a point, from
    /// the one at position `begin` on.
    pub(in crate::search) fn add_squared_distances(
        &self,
        point: &[f64],
        weights: &[f64],
        begin: usize,
        squared: &mut [f32],
    ) {
        for ((column, coordinate), weight) in self.columns.iter().zip(point).zip(weights) {
            let (coordinate, weight) = (*coordinate as f32, *weight as f32);
            for (sum, other) in squared.iter_mut().zip(&column[begin..]) {
                let difference = (other - coordinate) * weight;
                *sum += difference * difference;
            }
        }
    }
}
