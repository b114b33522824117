//! Training of a network: how its weights move, and when they stop.
//!
//! Adam (Kingma & Ba 2015) on batches of sixteen rows. After each pass over the data (several,
//! where it is little) the error on rows that are held out is looked at. Where that has not fallen
//! twenty times in a row, training goes back to the best weights so far and on with half the rate;
//! after six halvings it ends. No number of passes is set: a few hundred suffice, more for more
//! data.

use super::super::generator::Generator;
use super::network::Network;

/// How far a weight moves at most with each batch, at first.
const RATE: f32 = 0.1;
/// Rows between two moves.
const BATCH: usize = 16;
/// The least number of moves between two looks at the held-out rows: a pass over a few rows alone
/// is too little to tell whether their error still falls.
const MOVES: usize = 8;
/// Looks at the held-out rows without a smaller error before the rate is halved.
const PATIENCE: usize = 20;
/// How often it is halved.
const HALVINGS: usize = 6;
/// The held-out error counts as smaller where it is less than this part of the least before.
const SMALLER: f64 = 0.9999;
/// Decay of the weights for one row; for many it is as many times smaller, as evidence outweighs a
/// prior. It keeps a network of more weights than data from wild guesses between them.
const DECAY: f32 = 0.01;
/// How fast Adam's means forget, of slopes and of their squares (Kingma & Ba, algorithm 1).
const FORGETTING: (f32, f32) = (0.9, 0.999);

/// Inputs and what to learn of them.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// Inputs of each row.
    width: usize,
    /// Row after row.
    inputs: Vec<f32>,
    targets: Vec<f32>,
}

impl Rows {
    /// None yet.
    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            inputs: Vec::new(),
            targets: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, row: &[f32], target: f32) {
        self.inputs.extend_from_slice(row);
        self.targets.push(target);
    }

    pub(super) fn len(&self) -> usize {
        self.targets.len()
    }

    /// A row and its target.
    pub(super) fn get(&self, at: usize) -> (&[f32], f32) {
        (
            &self.inputs[at * self.width..][..self.width],
            self.targets[at],
        )
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&[f32], f32)> {
        (0..self.len()).map(|at| self.get(at))
    }
}

/// Trains a network on rows until its error on others no longer falls.
pub(super) fn train(rows: &Rows, held_out: &Rows, generator: &mut Generator) -> Network {
    let mut network = Network::random(rows.width, generator);
    let mut best = (f64::MAX, network.clone());
    let mut adam = Adam::new(rows.width);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let decay = DECAY / rows.len().max(1) as f32;
    let passes = MOVES.div_ceil(rows.len().div_ceil(BATCH).max(1));
    let mut rate = RATE;
    for _ in 0..=HALVINGS {
        let mut patience = PATIENCE;
        while patience > 0 {
            for _ in 0..passes {
                generator.shuffle(&mut order);
                for batch in order.chunks(BATCH) {
                    adam.step(&mut network, rows, batch, decay, rate);
                }
            }
            let error = squared_error(&network, held_out);
            if error < SMALLER * best.0 {
                best = (error, network.clone());
                patience = PATIENCE;
            } else {
                patience -= 1;
            }
        }
        network.clone_from(&best.1);
        rate *= 0.5;
    }
    best.1
}

/// The mean squared error of a network's predictions.
fn squared_error(network: &Network, rows: &Rows) -> f64 {
    let errors = rows
        .iter()
        .map(|(row, target)| f64::from(network.predict(row) - target).powi(2));
    errors.sum::<f64>() / rows.len().max(1) as f64
}

/// The optimiser's memory.
struct Adam {
    slopes: Network,
    /// The means of slopes and of their squares, biased to 0 at first.
    mean: Vec<f32>,
    square: Vec<f32>,
    /// What the biases are: the powers of [`FORGETTING`].
    powers: (f32, f32),
}

impl Adam {
    fn new(inputs: usize) -> Self {
        let slopes = Network::zero(inputs);
        let zero = slopes.weights().to_vec();
        Self {
            slopes,
            mean: zero.clone(),
            square: zero,
            powers: (1.0, 1.0),
        }
    }

    /// Moves the weights by what some of the rows say.
    fn step(&mut self, network: &mut Network, rows: &Rows, batch: &[usize], decay: f32, rate: f32) {
        self.slopes.weights_mut().fill(0.0);
        for at in batch {
            let (row, target) = rows.get(*at);
            network.add_slopes(row, target, &mut self.slopes);
        }
        self.powers.0 *= FORGETTING.0;
        self.powers.1 *= FORGETTING.1;
        let rate = rate * (1.0 - self.powers.1).sqrt() / (1.0 - self.powers.0);
        let scale = 1.0 / batch.len() as f32;
        let weights = network.weights_mut().iter_mut().zip(self.slopes.weights());
        let means = self.mean.iter_mut().zip(&mut self.square);
        for ((weight, slope), (mean, square)) in weights.zip(means) {
            let slope = scale * slope + decay * *weight;
            *mean += (1.0 - FORGETTING.0) * (slope - *mean);
            *square += (1.0 - FORGETTING.1) * (slope * slope - *square);
            *weight -= rate * *mean / (square.sqrt() + 1e-8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of two random inputs, and a curve over them.
    fn curve(count: usize, generator: &mut Generator) -> Rows {
        let mut rows = Rows::new(2);
        for _ in 0..count {
            let x = [0, 1].map(|_| (2.0 * generator.unit() - 1.0) as f32);
            rows.push(&x, (4.0 * x[0]).sin() + 0.5 * x[1] * x[0]);
        }
        rows
    }

    #[test]
    fn it_learns_a_curve() {
        let mut generator = Generator::new(1);
        let [rows, held_out, others] = [60, 10, 100].map(|count| curve(count, &mut generator));
        let network = train(&rows, &held_out, &mut generator);
        let error = squared_error(&network, &others).sqrt();
        assert!(error < 0.15, "{error}");
    }

    #[test]
    fn it_ends_where_nothing_can_be_learned() {
        let mut generator = Generator::new(1);
        let mut rows = Rows::new(1);
        for _ in 0..30 {
            rows.push(&[generator.unit() as f32], generator.normal() as f32);
        }
        for (rows, held_out) in [(&rows, &rows), (&rows, &Rows::new(1))] {
            let network = train(rows, held_out, &mut generator);
            assert!(network.weights().iter().all(|weight| weight.is_finite()));
        }
        let none = train(&Rows::new(1), &Rows::new(1), &mut generator);
        assert!(none.predict(&[0.5]).is_finite());
    }
}
