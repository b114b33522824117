//! Networks whose predictions are averaged (Breiman 1996; Falch & Elster, section 5.2).

use super::super::bayes::features::Features;
use super::super::generator::Generator;
use super::super::threads::ready_threads;
use super::network::{Hidden, Network, add_scaled};
use super::training::{Rows, train};
use rayon::prelude::*;

/// Networks in a bag, and parts of the data, of which each network misses one (k of Falch & Elster,
/// section 5.2).
const BAG: usize = 11;

/// See the module.
pub(super) struct Bag {
    networks: Vec<Network>,
    /// What the networks predict is in units of `scale` above `mean`.
    mean: f64,
    scale: f64,
    /// The errors of networks on the part of the data that each misses: prediction minus target.
    pub(super) errors: Vec<f64>,
}

impl Bag {
    /// Trains each network on ten of eleven parts of the data, until its error on the eleventh no
    /// longer falls. Points have so many coordinates.
    pub(super) fn train(
        dimensions: usize,
        points: &[Vec<f64>],
        targets: &[f64],
        generator: &mut Generator,
    ) -> Self {
        let count = targets.len().max(1) as f64;
        let mean = targets.iter().sum::<f64>() / count;
        let squares = targets.iter().map(|target| (target - mean).powi(2));
        let scale = (squares.sum::<f64>() / count).sqrt().max(1e-9);
        let mut order: Vec<usize> = (0..targets.len()).collect();
        generator.shuffle(&mut order);
        let mut parts = vec![Rows::new(dimensions); BAG];
        for (at, row) in order.into_iter().enumerate() {
            let inputs: Vec<f32> = points[row].iter().map(|x| centred(*x)).collect();
            parts[at % BAG].push(&inputs, ((targets[row] - mean) / scale) as f32);
        }
        let seeds: Vec<Generator> = (0..BAG).map(|_| generator.split()).collect();
        ready_threads();
        let trained: Vec<(Network, Vec<f64>)> = seeds
            .into_par_iter()
            .enumerate()
            .map(|(missing, mut generator)| {
                let mut rows = Rows::new(dimensions);
                for (part, of) in parts.iter().enumerate() {
                    if part != missing {
                        of.iter().for_each(|(row, target)| rows.push(row, target));
                    }
                }
                let held_out = &parts[missing];
                // Of fewer results than networks some parts are empty.
                let stopping = if held_out.len() > 0 { held_out } else { &rows };
                let network = train(&rows, stopping, &mut generator);
                let error =
                    |(row, target): (&[f32], f32)| f64::from(network.predict(row) - target) * scale;
                let errors = held_out.iter().map(error).collect();
                (network, errors)
            })
            .collect();
        let (networks, errors): (Vec<Network>, Vec<Vec<f64>>) = trained.into_iter().unzip();
        Self {
            networks,
            mean,
            scale,
            errors: errors.concat(),
        }
    }
}

/// A coordinate from 0 to 1 as an input from -1 to 1.
fn centred(coordinate: f64) -> f32 {
    (2.0 * coordinate - 1.0) as f32
}

/// What the networks of a bag say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Prediction {
    pub(super) mean: f64,
    /// How far they are apart.
    deviation: f64,
}

impl Prediction {
    /// So many deviations below the mean.
    pub(super) fn below_mean(self, deviations: f64) -> f64 {
        self.mean - deviations * self.deviation
    }
}

/// Predictions of a bag for one configuration after another.
///
/// What the parameters contribute to the sums of the hidden units is kept, parameter by parameter,
/// up to the first whose value is another than in the configuration before. Where the last
/// parameters change most often, as in the order of a space, little besides the sigmoids is left
/// to compute.
pub(super) struct Predictor<'a> {
    bag: &'a Bag,
    features: &'a Features,
    /// Parameters, those that change most often last.
    order: &'a [usize],
    /// The last configuration's codes, in that order, as far as sums are known.
    codes: Vec<i64>,
    /// Before the first parameter and after each: for each network the sums of its hidden units.
    sums: Vec<[Hidden; BAG]>,
}

impl<'a> Predictor<'a> {
    /// `order` has every parameter once.
    pub(super) fn new(bag: &'a Bag, features: &'a Features, order: &'a [usize]) -> Self {
        let mut sums = vec![[[0.0; _]; BAG]; order.len() + 1];
        for (sums, network) in sums[0].iter_mut().zip(&bag.networks) {
            *sums = *network.biases();
        }
        Self {
            bag,
            features,
            order,
            codes: Vec::with_capacity(order.len()),
            sums,
        }
    }

    /// The prediction for a configuration.
    pub(super) fn predict(&mut self, configuration: &[i64]) -> Prediction {
        let known = self.codes.iter().zip(self.order);
        let same = known.take_while(|(code, parameter)| **code == configuration[**parameter]);
        let same = same.count();
        self.codes.truncate(same);
        for (at, parameter) in self.order.iter().enumerate().skip(same) {
            let code = configuration[*parameter];
            self.codes.push(code);
            let mut sums = self.sums[at];
            for (column, coordinate) in self.features.of_parameter(*parameter, code) {
                for (sums, network) in sums.iter_mut().zip(&self.bag.networks) {
                    let weights = &network.input_weights()[column];
                    add_scaled(sums, centred(coordinate), weights);
                }
            }
            self.sums[at + 1] = sums;
        }
        let networks = self.bag.networks.iter().zip(&self.sums[self.order.len()]);
        let outputs = networks.map(|(network, sums)| f64::from(network.output(*sums)));
        let (sum, squares) = outputs.fold((0.0, 0.0), |(sum, squares), output| {
            (sum + output, squares + output * output)
        });
        let mean = sum / BAG as f64;
        let variance = (squares / BAG as f64 - mean * mean).max(0.0);
        Prediction {
            mean: self.bag.mean + self.bag.scale * mean,
            deviation: self.bag.scale * variance.sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::bayes::features::of_listed;
    use super::*;

    /// Two parameters, of which one has two coordinates.
    fn learned() -> (Features, Bag) {
        let domains: [&[i64]; 2] = [&[1, 2, 4, 8], &[16, 32, 48, 64, 80]];
        let features = of_listed(&domains);
        let all = domains[0]
            .iter()
            .flat_map(|a| domains[1].iter().map(move |b| [*a, *b]));
        let all: Vec<[i64; 2]> = all.collect();
        let points: Vec<Vec<f64>> = all.iter().map(|codes| features.point(codes)).collect();
        let targets: Vec<f64> = all.iter().map(|[a, b]| ((a * b) as f64).ln()).collect();
        let bag = Bag::train(3, &points, &targets, &mut Generator::new(3));
        (features, bag)
    }

    #[test]
    fn every_result_is_held_out_once_and_predictions_are_near() {
        let (features, bag) = learned();
        assert_eq!(bag.errors.len(), 20);
        let mut predictor = Predictor::new(&bag, &features, &[0, 1]);
        let predicted = predictor.predict(&[4, 48]).mean;
        assert!((predicted - 192_f64.ln()).abs() < 0.2, "{predicted}");
    }

    #[test]
    fn predictions_do_not_depend_on_the_configuration_before() {
        let (features, bag) = learned();
        let mut predictor = Predictor::new(&bag, &features, &[1, 0]);
        for codes in [[1, 16], [8, 16], [8, 64], [1, 16], [1, 32]] {
            let alone = Predictor::new(&bag, &features, &[1, 0]).predict(&codes);
            assert_eq!(predictor.predict(&codes), alone);
        }
    }

    #[test]
    fn few_results_or_equal_ones_are_no_problem() {
        let features = of_listed(&[&[1, 2, 4]]);
        for targets in [vec![], vec![1.0], vec![2.0, 2.0, 2.0]] {
            let points = [1, 2, 4].map(|code| features.point(&[code]));
            let points = &points[..targets.len()];
            let bag = Bag::train(1, points, &targets, &mut Generator::new(3));
            assert!(
                Predictor::new(&bag, &features, &[0])
                    .predict(&[2])
                    .mean
                    .is_finite()
            );
        }
    }
}
