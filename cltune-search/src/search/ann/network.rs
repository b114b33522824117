//! A network of one hidden layer of sigmoid units and a linear output, trained on its whole data at
//! once.

use super::super::generator::Generator;

/// Units of the hidden layer (Falch & Elster, section on the machine-learning model).
const HIDDEN: usize = 30;
/// Passes over the data.
const EPOCHS: usize = 250;
/// Weight decay, which keeps a network of more weights than data from wild guesses between them.
const DECAY: f64 = 1e-4;
/// Bounds of the steps of resilient back-propagation, and its factors.
const STEPS: (f64, f64) = (1e-6, 1.0);
const FASTER: f64 = 1.2;
const SLOWER: f64 = 0.5;

/// A trained network.
#[derive(Clone, Debug)]
pub(super) struct Network {
    inputs: usize,
    /// For each hidden unit its input weights, its bias, its output weight; last the output's bias.
    weights: Vec<f64>,
}

impl Network {
    /// Trains on rows of `inputs` numbers each and their targets, by resilient back-propagation
    /// (Riedmiller & Braun 1993; the variant iRprop- of Igel & Hüsken 2000).
    pub(super) fn train(
        inputs: usize,
        rows: &[&[f64]],
        targets: &[f64],
        generator: &mut Generator,
    ) -> Self {
        let count = HIDDEN * (inputs + 2) + 1;
        let scale = 1.0 / (inputs as f64 + 1.0).sqrt();
        let mut network = Self {
            inputs,
            weights: (0..count).map(|_| scale * generator.normal()).collect(),
        };
        let mut steps = vec![0.02; count];
        let mut last = vec![0.0; count];
        let mut gradient = vec![0.0; count];
        for _ in 0..EPOCHS {
            network.gradient(rows, targets, &mut gradient);
            let all = network.weights.iter_mut().zip(&mut steps);
            for ((weight, step), (slope, last)) in all.zip(gradient.iter_mut().zip(&mut last)) {
                let sign = *slope * *last;
                if sign > 0.0 {
                    *step = (*step * FASTER).min(STEPS.1);
                } else if sign < 0.0 {
                    *step = (*step * SLOWER).max(STEPS.0);
                    *slope = 0.0;
                }
                if *slope != 0.0 {
                    *weight -= step.copysign(*slope);
                }
                *last = *slope;
            }
        }
        network
    }

    /// The prediction for a row.
    pub(super) fn predict(&self, row: &[f64]) -> f64 {
        let mut output = self.weights[self.weights.len() - 1];
        for unit in self.weights.chunks_exact(self.inputs + 2) {
            output += unit[self.inputs + 1] * self.activation(unit, row);
        }
        output
    }

    fn activation(&self, unit: &[f64], row: &[f64]) -> f64 {
        let sum: f64 = unit
            .iter()
            .zip(row)
            .map(|(weight, input)| weight * input)
            .sum();
        1.0 / (1.0 + (-sum - unit[self.inputs]).exp())
    }

    /// The slope of the mean squared error (and of the decay) along each weight.
    fn gradient(&self, rows: &[&[f64]], targets: &[f64], gradient: &mut [f64]) {
        let scale = 1.0 / rows.len().max(1) as f64;
        for (slope, weight) in gradient.iter_mut().zip(&self.weights) {
            *slope = DECAY * weight;
        }
        let width = self.inputs + 2;
        let mut hidden = [0.0; HIDDEN];
        for (row, target) in rows.iter().zip(targets) {
            let mut output = self.weights[self.weights.len() - 1];
            for (unit, hidden) in self.weights.chunks_exact(width).zip(&mut hidden) {
                *hidden = self.activation(unit, row);
                output += unit[self.inputs + 1] * *hidden;
            }
            let error = scale * (output - target);
            let slopes = gradient.chunks_exact_mut(width);
            for ((unit, slopes), hidden) in
                self.weights.chunks_exact(width).zip(slopes).zip(&hidden)
            {
                slopes[self.inputs + 1] += error * hidden;
                let back = error * unit[self.inputs + 1] * hidden * (1.0 - hidden);
                for (slope, input) in slopes.iter_mut().zip(*row) {
                    *slope += back * input;
                }
                slopes[self.inputs] += back;
            }
            gradient[self.weights.len() - 1] += error;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_learns_a_curve() {
        let mut generator = Generator::new(1);
        let inputs: Vec<[f64; 2]> = (0..60)
            .map(|_| [generator.unit(), generator.unit()])
            .collect();
        let curve = |x: &[f64; 2]| (4.0 * x[0]).sin() + 0.5 * x[1];
        let rows: Vec<&[f64]> = inputs.iter().map(<[f64; 2]>::as_slice).collect();
        let targets: Vec<f64> = inputs.iter().map(curve).collect();
        let network = Network::train(2, &rows, &targets, &mut generator);
        for x in [[0.3, 0.7], [0.8, 0.2], [0.5, 0.5]] {
            let predicted = network.predict(&x);
            assert!((predicted - curve(&x)).abs() < 0.15, "{x:?}: {predicted}");
        }
    }
}
