//! Contents of arguments: bytes of elements in the device's (little-endian) order.

use cltune_core::declaration::Fill;
use cltune_core::model::ScalarType;
use half::f16;
use rand::{Rng, RngExt};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Why an argument cannot be filled.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// The file cannot be read.
    #[error("cannot read `{}` for the fill of `{argument}`: {error}", path.display())]
    Unreadable {
        /// The argument.
        argument: String,
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// The file holds less than one element.
    #[error("`{}`, the fill of `{argument}`, holds no whole element", path.display())]
    Empty {
        /// The argument.
        argument: String,
        /// The file.
        path: PathBuf,
    },
}

/// `len` elements.
pub(super) fn elements(
    fill: &Fill,
    scalar: ScalarType,
    len: usize,
    argument: &str,
    folder: &Path,
    random: &mut impl Rng,
) -> Result<Vec<u8>, FillError> {
    let mut bytes = Vec::with_capacity(len * scalar.size());
    match fill {
        Fill::Uniform { low, high } => {
            let span = high - low;
            for _ in 0..len {
                let unit: f64 = random.random();
                // Both bounds are values of an integer argument.
                let value = if scalar.is_integer() {
                    (low + unit * (span + 1.0)).floor().min(*high)
                } else {
                    low + unit * span
                };
                push(&mut bytes, scalar, value);
            }
        }
        Fill::Iota => (0..len).for_each(|index| push(&mut bytes, scalar, index as f64)),
        Fill::Constant(value) => (0..len).for_each(|_| push(&mut bytes, scalar, *value)),
        Fill::Zeros | Fill::None => bytes.resize(len * scalar.size(), 0),
        Fill::File(name) => {
            let path = folder.join(name);
            let wanted = (len * scalar.size()) as u64;
            let mut content = Vec::new();
            // No more of it than is needed.
            let read = cltune_files::open(&path, u64::MAX)
                .and_then(|file| file.take(wanted).read_to_end(&mut content));
            read.map_err(|error| FillError::Unreadable {
                argument: argument.to_string(),
                path: path.clone(),
                error,
            })?;
            let whole = content.len() / scalar.size() * scalar.size();
            if whole == 0 && len > 0 {
                return Err(FillError::Empty {
                    argument: argument.to_string(),
                    path,
                });
            }
            bytes.extend(content[..whole].iter().cycle().take(len * scalar.size()));
        }
    }
    Ok(bytes)
}

/// Appends one element; a value beyond the type's range becomes its nearest bound, and a fraction
/// is dropped for integers (Rust's `as`).
fn push(bytes: &mut Vec<u8>, scalar: ScalarType, value: f64) {
    match scalar {
        ScalarType::I8 => bytes.extend((value as i8).to_le_bytes()),
        ScalarType::U8 => bytes.extend((value as u8).to_le_bytes()),
        ScalarType::I16 => bytes.extend((value as i16).to_le_bytes()),
        ScalarType::U16 => bytes.extend((value as u16).to_le_bytes()),
        ScalarType::I32 => bytes.extend((value as i32).to_le_bytes()),
        ScalarType::U32 => bytes.extend((value as u32).to_le_bytes()),
        ScalarType::I64 => bytes.extend((value as i64).to_le_bytes()),
        ScalarType::U64 => bytes.extend((value as u64).to_le_bytes()),
        ScalarType::F16 => bytes.extend(f16::from_f64(value).to_le_bytes()),
        ScalarType::F32 => bytes.extend((value as f32).to_le_bytes()),
        ScalarType::F64 => bytes.extend(value.to_le_bytes()),
    }
}

/// The bytes of an integer scalar; saturating, as a launch's conversion does.
pub(super) fn integer(scalar: ScalarType, value: i64) -> Vec<u8> {
    match scalar {
        // These two do not fit into the f64 that `push` takes.
        ScalarType::I64 => value.to_le_bytes().to_vec(),
        ScalarType::U64 => u64::try_from(value).unwrap_or(0).to_le_bytes().to_vec(),
        _ => {
            let mut bytes = Vec::new();
            push(&mut bytes, scalar, value as f64);
            bytes
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::value::text;
    use super::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    fn filled(fill: &Fill, scalar: ScalarType, len: usize) -> Vec<f64> {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let bytes = elements(fill, scalar, len, "x", Path::new("."), &mut random).unwrap();
        bytes
            .chunks(scalar.size())
            .map(|element| text(scalar, element).parse().unwrap())
            .collect()
    }

    #[test]
    fn uniform_stays_in_its_bounds_and_reaches_both_integers() {
        let floats = filled(
            &Fill::Uniform {
                low: -1.0,
                high: 1.0,
            },
            ScalarType::F32,
            1000,
        );
        assert!(floats.iter().all(|x| (-1.0..=1.0).contains(x)));
        assert!(floats.iter().any(|x| *x < -0.5) && floats.iter().any(|x| *x > 0.5));
        let integers = filled(
            &Fill::Uniform {
                low: 3.0,
                high: 5.0,
            },
            ScalarType::U8,
            200,
        );
        for expected in [3.0, 4.0, 5.0] {
            assert!(integers.contains(&expected));
        }
        assert!(integers.iter().all(|x| (3.0..=5.0).contains(x)));
    }

    #[test]
    fn every_fill_has_its_values_in_every_type() {
        for scalar in ScalarType::ALL {
            assert_eq!(filled(&Fill::Iota, *scalar, 4), [0.0, 1.0, 2.0, 3.0]);
            assert_eq!(filled(&Fill::Constant(2.0), *scalar, 2), [2.0, 2.0]);
            assert_eq!(filled(&Fill::Zeros, *scalar, 2), [0.0, 0.0]);
        }
    }

    #[test]
    fn a_file_is_repeated_and_a_missing_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("data.bin"), [1_u8, 0, 2, 0, 9]).unwrap();
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let mut load = |name: &str| {
            let fill = Fill::File(name.into());
            elements(&fill, ScalarType::U16, 3, "x", folder.path(), &mut random)
        };
        assert_eq!(load("data.bin").unwrap(), [1, 0, 2, 0, 1, 0]);
        assert!(
            load("none.bin")
                .unwrap_err()
                .to_string()
                .contains("none.bin")
        );
    }

    #[test]
    fn wide_integers_keep_every_bit() {
        assert_eq!(
            integer(ScalarType::I64, i64::MAX - 1),
            (i64::MAX - 1).to_le_bytes()
        );
        assert_eq!(integer(ScalarType::U32, 7), 7_u32.to_le_bytes());
    }
}
