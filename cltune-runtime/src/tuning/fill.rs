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
    /// The file holds more or fewer elements than the argument has.
    #[error(
        "`{}`, the fill of `{argument}`, has {found} bytes ({} elements of {}), and `{argument}` has {} bytes \
         ({len} elements) for this problem: write a file of that length, or tune for the size that the file \
         has",
        path.display(), *found as f64 / scalar.size() as f64, scalar.rust_name(), len * scalar.size()
    )]
    WrongLength {
        /// The argument.
        argument: String,
        /// The file.
        path: PathBuf,
        /// The argument's type.
        scalar: ScalarType,
        /// The file's length, bytes.
        found: u64,
        /// The argument's length, elements.
        len: usize,
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
            for _ in 0..len {
                let unit: f64 = random.random();
                push(&mut bytes, scalar, uniform(scalar, *low, *high, unit));
            }
        }
        Fill::Iota => (0..len).for_each(|index| push(&mut bytes, scalar, index as f64)),
        Fill::Constant(value) => (0..len).for_each(|_| push(&mut bytes, scalar, *value)),
        Fill::Zeros | Fill::None => bytes.resize(len * scalar.size(), 0),
        Fill::File(name) => return file(folder.join(name), scalar, len, argument),
    }
    Ok(bytes)
}

/// The elements of a file, which must be as many. Nothing is read of one that has another length.
fn file(
    path: PathBuf,
    scalar: ScalarType,
    len: usize,
    argument: &str,
) -> Result<Vec<u8>, FillError> {
    let argument = argument.to_string();
    let wanted = len * scalar.size();
    let read = || {
        let mut file = cltune_files::open(&path, u64::MAX)?;
        let found = file.get_ref().metadata()?.len();
        let mut bytes = Vec::new();
        if found == wanted as u64 {
            file.read_to_end(&mut bytes)?;
        }
        Ok((found, bytes))
    };
    match read() {
        // Something may write to it at this moment.
        Ok((_, bytes)) if bytes.len() == wanted => Ok(bytes),
        Ok((found, _)) => Err(FillError::WrongLength {
            argument,
            path,
            scalar,
            found,
            len,
        }),
        Err(error) => Err(FillError::Unreadable {
            argument,
            path,
            error,
        }),
    }
}

/// A number from `low` to `high`, from one in `0.0..1.0`. Both bounds are values of an integer.
pub(super) fn uniform(scalar: ScalarType, low: f64, high: f64, unit: f64) -> f64 {
    let span = high - low;
    if scalar.is_integer() {
        (low + unit * (span + 1.0)).floor().min(high)
    } else {
        low + unit * span
    }
}

/// Appends one element; a value beyond the type's range becomes its nearest bound, and a fraction
/// is dropped for integers (Rust's `as`).
pub(super) fn push(bytes: &mut Vec<u8>, scalar: ScalarType, value: f64) {
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
    fn a_file_has_as_many_elements_as_the_argument_or_is_an_error_with_both_lengths() {
        let folder = tempfile::tempdir().unwrap();
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let mut load = |name: &str, len| {
            let fill = Fill::File(name.into());
            let found = elements(&fill, ScalarType::U16, len, "x", folder.path(), &mut random);
            found.map_err(|error| error.to_string())
        };
        let mut of_bytes = |bytes: &[u8], len| {
            std::fs::write(folder.path().join("data.bin"), bytes).unwrap();
            load("data.bin", len)
        };
        let whole = [1, 0, 2, 0, 3, 0];
        assert_eq!(of_bytes(&whole, 3).unwrap(), whole);
        assert!(of_bytes(&[], 0).unwrap().is_empty());
        for (wrong, said) in [
            (&[1, 0, 2, 0, 9][..], "5 bytes (2.5 elements of u16)"),
            (&[1, 0], "2 bytes (1 elements of u16)"),
            (&[], "0 bytes (0 elements of u16)"),
            (&[0; 8], "8 bytes (4 elements of u16)"),
        ] {
            let error = of_bytes(wrong, 3).unwrap_err();
            for part in [said, "data.bin", "`x` has 6 bytes (3 elements)"] {
                assert!(error.contains(part), "{error}");
            }
        }
        assert!(load("none.bin", 3).unwrap_err().contains("none.bin"));
    }

    /// Reading one would never end.
    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_an_error() {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        for name in ["/dev/zero", "/dev/null", "/"] {
            let fill = Fill::File(name.into());
            let found = elements(&fill, ScalarType::U8, 0, "x", Path::new(""), &mut random);
            assert!(
                matches!(found, Err(FillError::Unreadable { .. })),
                "{found:?}"
            );
        }
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
