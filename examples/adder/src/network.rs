//! A network that adds two numbers of eight bits, with weights that were thought out and not
//! trained.
//!
//! The carry out of bit i is 1 where S = sum of 2^j (a_j + b_j) for j up to i is at least 2^(i+1).
//! Since S is a whole number, that is relu(S - 2^(i+1) + 1) - relu(S - 2^(i+1)): two hidden units
//! for each bit. Bit i of the sum is a_i + b_i + carry(i-1) - 2 carry(i): the output layer. All
//! sums are whole numbers below 2^24, so single precision has them exactly.

/// The bits of a number.
pub(crate) const BITS: usize = 8;
/// Inputs: the bits of a, and those of b.
pub(crate) const INPUTS: usize = 2 * BITS;
/// Hidden units: two for each carry, and a_i + b_i.
pub(crate) const HIDDEN: usize = 3 * BITS;
/// Outputs: the bits of the sum.
pub(crate) const OUTPUTS: usize = BITS + 1;

/// The weights of the hidden layer, `INPUTS` x `HIDDEN`, row after row.
pub(crate) fn hidden_weights() -> Vec<f32> {
    let mut weights = vec![0.0; INPUTS * HIDDEN];
    let mut set = |input: usize, unit: usize, weight: f32| weights[input * HIDDEN + unit] = weight;
    for bit in 0..BITS {
        for unit in [2 * bit, 2 * bit + 1] {
            for lower in 0..=bit {
                set(lower, unit, power(lower));
                set(BITS + lower, unit, power(lower));
            }
        }
        set(bit, 2 * BITS + bit, 1.0);
        set(BITS + bit, 2 * BITS + bit, 1.0);
    }
    weights
}

/// The bias of each hidden unit.
pub(crate) fn hidden_bias() -> Vec<f32> {
    let mut bias = vec![0.0; HIDDEN];
    for bit in 0..BITS {
        let threshold = power(bit + 1);
        bias[2 * bit] = 1.0 - threshold;
        bias[2 * bit + 1] = -threshold;
    }
    bias
}

/// The weights of the output layer, `HIDDEN` x `OUTPUTS`, row after row.
pub(crate) fn output_weights() -> Vec<f32> {
    let mut weights = vec![0.0; HIDDEN * OUTPUTS];
    let mut set =
        |unit: usize, output: usize, weight: f32| weights[unit * OUTPUTS + output] = weight;
    for bit in 0..BITS {
        set(2 * BITS + bit, bit, 1.0);
        for (unit, sign) in [(2 * bit, 1.0), (2 * bit + 1, -1.0)] {
            set(unit, bit, -2.0 * sign);
            set(unit, bit + 1, sign);
        }
    }
    weights
}

/// The inputs for every pair of numbers, a row each: the pair of row r is (r / 256, r % 256).
pub(crate) fn all_pairs() -> Vec<f32> {
    let numbers = 1_usize << BITS;
    let bit = |number: usize, bit: usize| if number >> bit & 1 == 1 { 1.0 } else { 0.0 };
    (0..numbers * numbers)
        .flat_map(|row| {
            let of = move |number: usize| (0..BITS).map(move |at| bit(number, at));
            of(row / numbers).chain(of(row % numbers))
        })
        .collect()
}

/// The number that a row of outputs shows; `None` where an output is not 0 or 1.
pub(crate) fn number(outputs: &[f32]) -> Option<usize> {
    let bits = outputs.iter().rev();
    bits.copied().try_fold(0, |number, bit| match bit {
        0.0 => Some(number * 2),
        1.0 => Some(number * 2 + 1),
        _ => None,
    })
}

fn power(exponent: usize) -> f32 {
    (1_u16 << exponent).into()
}
