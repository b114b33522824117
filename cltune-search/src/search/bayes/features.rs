//! Configurations as points in space, for models that measure distance.
//!
//! A parameter's value enters as one coordinate in `0..=1` that is half its rank among the values
//! and half its logarithm: lists such as 1, 2, 4, 8 come out evenly spaced, lists such as 16, 32,
//! 48, …, 256 keep their ratios. Integers that are not all powers of two bring a second
//! coordinate, the exponent of two in them: memory transactions, banks and vector units make
//! multiples of a power of two alike in a way that no distance between the numbers shows
//! (recorded convolutions on an MI250X are fast at 64, 128 and 256 and ten times slower at 48,
//! 80 and 96). The coordinate of a continuous parameter is the place of the value alone.
//!
//! Where such a parameter's values reach multiples of sixteen, which sizes of work-groups do, more
//! factors of two are expected to be faster ([`Features::evenness`]): on average they are, on all
//! recorded spaces with such a parameter, those of two kernels on two GPUs each.

use crate::space::SpaceParameter;
use std::ops::Range;

/// The factors of two that count in evenness: of parameters of which some value has as many as the
/// start says (a multiple of 16: half a warp, the banks of local memory), and up to the end (64: no
/// GPU executes more work-items in step).
const FACTORS: Range<u32> = 4..6;

/// The mapping from configurations (codes) to points.
#[derive(Clone, Debug)]
pub(in crate::search) struct Features {
    columns: Vec<Column>,
    /// The parameters of which evenness counts.
    even: Vec<usize>,
}

/// One coordinate: which parameter it reads, and the coordinate of each of its values.
#[derive(Clone, Debug)]
struct Column {
    parameter: usize,
    /// Sorted by code, for a binary search.
    coordinates: Vec<(i64, f64)>,
}

impl Features {
    /// The mapping for a space of these parameters. Those with one value have no coordinate.
    pub(in crate::search) fn new(parameters: &[SpaceParameter]) -> Self {
        let mut columns = Vec::new();
        let mut even = Vec::new();
        for (parameter, of) in parameters.iter().enumerate() {
            let continuous = of.continuous;
            let mut codes = of.codes.clone();
            codes.sort_unstable();
            codes.dedup();
            if codes.len() < 2 {
                continue;
            }
            columns.push(Column {
                parameter,
                coordinates: position(&codes, continuous),
            });
            if continuous {
                continue;
            }
            if let Some(coordinates) = exponent_of_two(&codes) {
                if codes
                    .iter()
                    .any(|code| factors_of_two(*code) >= FACTORS.start)
                {
                    even.push(parameter);
                }
                columns.push(Column {
                    parameter,
                    coordinates,
                });
            }
        }
        Self { columns, even }
    }

    /// The number of coordinates.
    pub(in crate::search) fn dimensions(&self) -> usize {
        self.columns.len()
    }

    /// The coordinates of a configuration. A code that is no value of its parameter takes the
    /// coordinate of the next larger value.
    pub(in crate::search) fn point(&self, configuration: &[i64]) -> Vec<f64> {
        let columns = self.columns.iter();
        let coordinates = columns.map(|column| column.of(configuration[column.parameter]));
        coordinates.collect()
    }

    /// How many factors of two are in the values of parameters that reach multiples of sixteen and
    /// are not only powers of two, for which it would say that large ones are better.
    pub(in crate::search) fn evenness(&self, configuration: &[i64]) -> f64 {
        let codes = self.even.iter().map(|parameter| configuration[*parameter]);
        let factors = codes.map(|code| factors_of_two(code).min(FACTORS.end));
        factors.map(f64::from).sum()
    }

    /// The coordinates that come from one parameter, for one of its codes: which, and their values.
    pub(in crate::search) fn of_parameter(
        &self,
        parameter: usize,
        code: i64,
    ) -> impl Iterator<Item = (usize, f64)> {
        let columns = self.columns.iter().enumerate();
        columns
            .filter(move |(_, column)| column.parameter == parameter)
            .map(move |(at, column)| (at, column.of(code)))
    }
}

impl Column {
    fn of(&self, code: i64) -> f64 {
        let at = self.coordinates.partition_point(|(value, _)| *value < code);
        self.coordinates[at.min(self.coordinates.len() - 1)].1
    }
}

/// Half rank, half logarithm (only rank where a value is not positive, all lie close together, or
/// codes are those of a continuous parameter, whose ranks have its scale).
fn position(codes: &[i64], continuous: bool) -> Vec<(i64, f64)> {
    let (first, last) = (codes[0] as f64, codes[codes.len() - 1] as f64);
    let logarithmic = !continuous && first > 0.0 && last / first >= 4.0;
    let rank = |index: usize| index as f64 / (codes.len() - 1) as f64;
    codes
        .iter()
        .enumerate()
        .map(|(index, code)| {
            let coordinate = if logarithmic {
                0.5 * (*code as f64 / first).ln() / (last / first).ln() + 0.5 * rank(index)
            } else {
                rank(index)
            };
            (*code, coordinate)
        })
        .collect()
}

/// The exponent of two in each value, scaled to `0..=1`; `None` for powers of two, whose position
/// says the same, and for fewer than three values.
fn exponent_of_two(codes: &[i64]) -> Option<Vec<(i64, f64)>> {
    if codes.len() < 3 || codes.iter().all(|code| *code > 0 && code.count_ones() == 1) {
        return None;
    }
    let exponent = |code: i64| f64::from(factors_of_two(code));
    let largest = codes.iter().map(|code| exponent(*code)).fold(0.0, f64::max);
    if largest == 0.0 {
        return None;
    }
    Some(
        codes
            .iter()
            .map(|code| (*code, exponent(*code) / largest))
            .collect(),
    )
}

/// How often a value is divisible by two; 0, which stands for none of something, never.
fn factors_of_two(code: i64) -> u32 {
    if code == 0 { 0 } else { code.trailing_zeros() }
}

/// The mapping for parameters with these values.
#[cfg(test)]
pub(in crate::search) fn of_listed(domains: &[&[i64]]) -> Features {
    let listed = |codes: &&[i64]| SpaceParameter::listed("A", codes.to_vec());
    Features::new(&domains.iter().map(listed).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_evenly_spaced_and_need_one_coordinate() {
        let features = of_listed(&[&[1, 2, 4, 8]]);
        assert_eq!(features.dimensions(), 1);
        let at: Vec<f64> = [1, 2, 4, 8]
            .iter()
            .map(|code| features.point(&[*code])[0])
            .collect();
        for (index, coordinate) in at.iter().enumerate() {
            assert!((coordinate - index as f64 / 3.0).abs() < 1e-12, "{at:?}");
        }
    }

    #[test]
    fn multiples_bring_their_exponent_of_two() {
        let features = of_listed(&[&[16, 32, 48, 64]]);
        assert_eq!(features.dimensions(), 2);
        assert!(features.point(&[48])[1] < features.point(&[32])[1]);
        assert_eq!(features.point(&[64])[1], 1.0);
    }

    #[test]
    fn evenness_counts_factors_of_two_up_to_64_where_values_reach_multiples_of_16() {
        let small: &[i64] = &[0, 1, 2, 3, 8];
        let features = of_listed(&[&[16, 32, 48, 64, 192, 256], small, &[16, 32, 64]]);
        let of = |code: i64| features.evenness(&[code, 8, 64]);
        assert_eq!(
            [48, 16, 32, 64, 192, 256].map(of),
            [4.0, 4.0, 5.0, 6.0, 6.0, 6.0]
        );
        assert_eq!(of_listed(&[&[0, 1, 16, 24]]).evenness(&[0]), 0.0);
    }

    #[test]
    fn constants_have_no_coordinate_and_extreme_values_are_finite() {
        let features = of_listed(&[&[7], &[i64::MIN, 0, i64::MAX]]);
        assert!(
            features
                .point(&[7, i64::MAX])
                .iter()
                .all(|x| (0.0..=1.0).contains(x))
        );
        assert_eq!(features.point(&[7, i64::MIN])[0], 0.0);
    }

    #[test]
    fn a_continuous_parameter_has_the_place_of_its_value_as_its_only_coordinate() {
        let mut parameter = SpaceParameter::listed("A", vec![16, 32, 48, 1000]);
        parameter.continuous = true;
        let features = Features::new(&[parameter]);
        assert_eq!(features.dimensions(), 1);
        let third = features.point(&[32])[0];
        assert!((third - 1.0 / 3.0).abs() < 1e-12, "{third}");
        // One that is not listed takes that of the next.
        assert_eq!(features.point(&[20])[0], third);
    }
}
