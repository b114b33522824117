//! A network of one hidden layer of sigmoid units and a linear output (Falch & Elster, figure 2 and
//! section 5.2).

use super::super::generator::Generator;

/// Units of the hidden layer (Falch & Elster, section 5.2).
pub(super) const HIDDEN: usize = 30;

/// A number for each hidden unit.
pub(super) type Hidden = [f32; HIDDEN];

/// The weights of a network, or a slope for each of them.
#[derive(Clone, Debug)]
pub(super) struct Network {
    /// For each input its weights into the hidden units; the biases of the hidden units; their
    /// weights into the output; the output's bias.
    weights: Vec<f32>,
}

impl Network {
    /// With random weights, as large as keeps sums near the sigmoid's steep part.
    pub(super) fn random(inputs: usize, generator: &mut Generator) -> Self {
        let mut network = Self::zero(inputs);
        let into_hidden = 1.0 / (inputs as f64 + 1.0).sqrt();
        let into_output = 1.0 / (HIDDEN as f64).sqrt();
        let (rows, _) = network.weights.as_chunks_mut::<HIDDEN>();
        for (at, row) in rows.iter_mut().enumerate() {
            let scale = if at <= inputs {
                into_hidden
            } else {
                into_output
            };
            row.fill_with(|| (scale * generator.normal()) as f32);
        }
        network
    }

    /// With all weights 0.
    pub(super) fn zero(inputs: usize) -> Self {
        Self {
            weights: vec![0.0; (inputs + 2) * HIDDEN + 1],
        }
    }

    /// Every weight.
    pub(super) fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Every weight, to be changed.
    pub(super) fn weights_mut(&mut self) -> &mut [f32] {
        &mut self.weights
    }

    /// For each input its weights into the hidden units.
    pub(super) fn input_weights(&self) -> &[Hidden] {
        let rows = self.rows();
        &rows[..rows.len() - 2]
    }

    /// The biases of the hidden units.
    pub(super) fn biases(&self) -> &Hidden {
        let rows = self.rows();
        &rows[rows.len() - 2]
    }

    /// The output for the weighted sums of the hidden units.
    pub(super) fn output(&self, mut sums: Hidden) -> f32 {
        sigmoid(&mut sums);
        self.of_hidden(&sums)
    }

    /// The output for a row of inputs.
    pub(super) fn predict(&self, row: &[f32]) -> f32 {
        self.of_hidden(&self.hidden(row))
    }

    /// Adds to `slopes` what a row contributes to the slope of half the squared error along each
    /// weight.
    pub(super) fn add_slopes(&self, row: &[f32], target: f32, slopes: &mut Self) {
        let hidden = self.hidden(row);
        let error = self.of_hidden(&hidden) - target;
        let (rows, rest) = slopes.weights.as_chunks_mut::<HIDDEN>();
        let [inputs @ .., biases, outputs] = rows else {
            return;
        };
        let weights = &self.rows()[inputs.len() + 1];
        // What the sum of each hidden unit does to the error.
        let mut back = [0.0; HIDDEN];
        for unit in 0..HIDDEN {
            outputs[unit] += error * hidden[unit];
            back[unit] = error * weights[unit] * hidden[unit] * (1.0 - hidden[unit]);
        }
        for (slopes, input) in inputs.iter_mut().zip(row) {
            add_scaled(slopes, *input, &back);
        }
        add_scaled(biases, 1.0, &back);
        rest[0] += error;
    }

    fn rows(&self) -> &[Hidden] {
        self.weights.as_chunks().0
    }

    /// The values of the hidden units for a row of inputs.
    fn hidden(&self, row: &[f32]) -> Hidden {
        let mut sums = *self.biases();
        for (input, weights) in row.iter().zip(self.input_weights()) {
            add_scaled(&mut sums, *input, weights);
        }
        sigmoid(&mut sums);
        sums
    }

    fn of_hidden(&self, hidden: &Hidden) -> f32 {
        let rows = self.rows();
        let weights = &rows[rows.len() - 1];
        // Two sums at once, which the compiler may not make of one.
        let mut sums = [0.0; 2];
        for (hidden, weights) in hidden
            .as_chunks::<2>()
            .0
            .iter()
            .zip(weights.as_chunks::<2>().0)
        {
            sums[0] += hidden[0] * weights[0];
            sums[1] += hidden[1] * weights[1];
        }
        self.weights[self.weights.len() - 1] + sums[0] + sums[1]
    }
}

/// `sums += factor * addends`, for all units at once.
pub(super) fn add_scaled(sums: &mut Hidden, factor: f32, addends: &Hidden) {
    for (sum, addend) in sums.iter_mut().zip(addends) {
        *sum += factor * addend;
    }
}

/// 1 / (1 + e^-x) of each number, to six digits.
///
/// The exponential is computed here and not by the system: its bits are the same on every platform,
/// as a seed promises, and the compiler makes vector instructions of it.
fn sigmoid(numbers: &mut Hidden) {
    /// Adding it rounds to a whole number, which is then in the low bits.
    const ROUNDING: f32 = 12_582_912.0;
    const COEFFICIENTS: [f32; 5] = [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0];
    for number in numbers {
        // e^-x = 2^whole * e^rest, rest at most ln(2) / 2.
        let exponent = (-*number).clamp(-60.0, 60.0) * std::f32::consts::LOG2_E;
        let shifted = exponent + ROUNDING;
        let rest = (exponent - (shifted - ROUNDING)) * std::f32::consts::LN_2;
        let series = COEFFICIENTS
            .iter()
            .fold(0.0, |sum, coefficient| sum * rest + coefficient);
        let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()));
        *number = 1.0 / (1.0 + power * (1.0 + rest * series));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sigmoid_is_right_to_six_digits() {
        for tenth in -2000..=2000 {
            let x = tenth as f32 / 10.0;
            let mut all = [x; HIDDEN];
            sigmoid(&mut all);
            let exact = 1.0 / (1.0 + f64::from(-x).exp());
            assert!(
                (f64::from(all[29]) - exact).abs() < 1e-6,
                "{x}: {} {exact}",
                all[29]
            );
        }
    }

    #[test]
    fn slopes_are_those_of_the_error() {
        let mut generator = Generator::new(5);
        let network = Network::random(3, &mut generator);
        let (row, target) = ([0.3, -0.9, 0.5], 0.7);
        let mut slopes = Network::zero(3);
        network.add_slopes(&row, target, &mut slopes);
        let half_square = |network: &Network| 0.5 * (network.predict(&row) - target).powi(2);
        for at in 0..slopes.weights.len() {
            let moved = |by: f32| {
                let mut moved = network.clone();
                moved.weights[at] += by;
                half_square(&moved)
            };
            let slope = (moved(0.01) - moved(-0.01)) / 0.02;
            assert!(
                (slope - slopes.weights[at]).abs() < 1e-3,
                "{at}: {slope} {}",
                slopes.weights[at]
            );
        }
    }

    #[test]
    fn the_output_of_sums_is_the_prediction() {
        let network = Network::random(2, &mut Generator::new(2));
        let mut sums = *network.biases();
        for (weights, input) in network.input_weights().iter().zip([0.4, -1.0]) {
            add_scaled(&mut sums, input, weights);
        }
        assert_eq!(network.output(sums), network.predict(&[0.4, -1.0]));
    }
}
