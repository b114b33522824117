//! Weights as the products of a column and a row.

/// The column and, behind it, the row whose products the `size` x `size` weights are, where there
/// are such: each weight is their product but for `size` times the distance of 1.0 to the next
/// float, relative to the weight. This is no more than what sums of that many weights are rounded
/// by. A weight that is zero is exactly their product, so that pixels that are infinite have the
/// same results.
///
/// None for a single weight, for which nothing is gained, and for weights that are all zero or not
/// all finite.
pub(crate) fn of(size: u32, weights: &[f32]) -> Option<Vec<f32>> {
    let size = size as usize;
    if size < 2 || !weights.iter().all(|weight| weight.is_finite()) {
        return None;
    }
    let largest = weights
        .iter()
        .enumerate()
        .max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()));
    let (place, &largest) = largest.filter(|(_, weight)| **weight != 0.0)?;
    // With the largest weight's row, the elements of the column are at most 1: sums of rows become
    // hardly larger than the sums that are asked for.
    let row = weights.get(place / size * size..)?.get(..size)?;
    let column = weights.iter().skip(place % size).step_by(size);
    let column: Vec<f32> = column.map(|weight| weight / largest).collect();
    let tolerance = size as f64 * f64::from(f32::EPSILON);
    let products = column
        .iter()
        .flat_map(|y| row.iter().map(|x| f64::from(*y) * f64::from(*x)));
    weights
        .iter()
        .map(|weight| f64::from(*weight))
        .zip(products)
        .all(|(weight, product)| (product - weight).abs() <= tolerance * weight.abs())
        .then(|| [&column, row].concat())
}

#[cfg(test)]
mod tests {
    use super::of;

    fn products(column: &[f32], row: &[f32]) -> Vec<f32> {
        column
            .iter()
            .flat_map(|y| row.iter().map(move |x| y * x))
            .collect()
    }

    #[test]
    fn sobel_box_and_gaussian_are_products() {
        let sobel = [-1.0, 0.0, 1.0, -2.0, 0.0, 2.0, -1.0, 0.0, 1.0];
        assert_eq!(of(3, &sobel).unwrap(), [0.5, 1.0, 0.5, -2.0, 0.0, 2.0]);

        let ninth = 1.0 / 9.0;
        let factors = of(3, &[ninth; 9]).unwrap();
        assert_eq!(factors, [1.0, 1.0, 1.0, ninth, ninth, ninth]);

        // Each weight is rounded by itself, and the sum of all is one.
        for (size, sigma) in [(3_u32, 0.8), (7, 1.5), (11, 2.0), (31, 5.0), (127, 25.0)] {
            let radius = i64::from(size / 2);
            let at = |x: i64, y: i64| (-((x * x + y * y) as f64) / (2.0 * sigma * sigma)).exp();
            let places =
                || (-radius..=radius).flat_map(|y| (-radius..=radius).map(move |x| (x, y)));
            let sum: f64 = places().map(|(x, y)| at(x, y)).sum();
            let weights: Vec<f32> = places().map(|(x, y)| (at(x, y) / sum) as f32).collect();
            assert!(of(size, &weights).is_some(), "{size}");
            let float = |x: i64, y: i64| -((x * x + y * y) as f32) / (2.0 * (sigma * sigma) as f32);
            let weights: Vec<f32> = places().map(|(x, y)| float(x, y).exp()).collect();
            assert!(of(size, &weights).is_some(), "{size}, computed in f32");
        }
    }

    #[test]
    fn one_row_and_one_column_are_products() {
        for (column, row) in [
            ([0.0, 0.0, 1.0, 0.0, 0.0], [1.0, -2.0, 3.0, 0.5, 0.0]),
            ([1.0, -2.0, 3.0, 0.5, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0]),
        ] {
            let factors = of(5, &products(&column, &row)).unwrap();
            assert_eq!(
                products(&factors[..5], &factors[5..]),
                products(&column, &row)
            );
        }
    }

    #[test]
    fn what_is_no_product_is_told() {
        let laplace = [0.0, 1.0, 0.0, 1.0, -4.0, 1.0, 0.0, 1.0, 0.0];
        assert_eq!(of(3, &laplace), None);

        let row = [1.0, 2.0, 3.0, 2.0, 1.0];
        let weights = products(&row, &row);
        assert!(of(5, &weights).is_some());
        for place in 0..25 {
            let mut other = weights.clone();
            other[place] *= 1.0 + 20.0 * f32::EPSILON;
            assert_eq!(of(5, &other), None, "{place}");
        }
        // Zero instead of a product that is small.
        let mut other = products(&[1.0, 1e-15, 1.0], &[1.0, 1e-15, 1.0]);
        assert!(of(3, &other).is_some());
        other[4] = 0.0;
        assert_eq!(of(3, &other), None);
    }

    #[test]
    fn weights_without_factors() {
        assert_eq!(of(1, &[2.0]), None);
        assert_eq!(of(3, &[0.0; 9]), None);
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut weights = [1.0; 9];
            weights[5] = value;
            assert_eq!(of(3, &weights), None, "{value}");
        }
    }
}
