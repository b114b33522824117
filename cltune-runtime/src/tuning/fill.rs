//! Contents of arguments: bytes of elements in the device's (little-endian) order.

use cltune_core::declaration::Fill;
use cltune_core::model::ScalarType;
use cltune_search::ready_threads;
use half::f16;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
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
    random: &Pcg64Mcg,
) -> Result<Vec<u8>, FillError> {
    let mut bytes = Vec::with_capacity(len * scalar.size());
    match fill {
        Fill::Uniform { low, high } => {
            return Ok(generated(scalar, len, random, 1, |bytes, _, random| {
                let unit: f64 = random.random();
                push(bytes, scalar, uniform(scalar, *low, *high, unit));
            }));
        }
        Fill::Iota => (0..len).for_each(|index| push(&mut bytes, scalar, index as f64)),
        Fill::Constant(value) => (0..len).for_each(|_| push(&mut bytes, scalar, *value)),
        Fill::Zeros | Fill::None => bytes.resize(len * scalar.size(), 0),
        Fill::File(name) => return file(folder.join(name), scalar, len, argument),
    }
    Ok(bytes)
}

/// So many elements that a thread makes at a time.
const CHUNK: usize = 1 << 16;

/// Elements that are made one after the other of `numbers` random numbers each, on all cores: the same, however many
/// there are.
pub(super) fn generated(
    scalar: ScalarType,
    len: usize,
    random: &Pcg64Mcg,
    numbers: u8,
    push: impl Fn(&mut Vec<u8>, usize, &mut Pcg64Mcg) + Sync,
) -> Vec<u8> {
    let chunk = |begin: usize| {
        let mut random = random.clone();
        random.advance(begin as u128 * u128::from(numbers));
        let end = len.min(begin + CHUNK);
        let mut bytes = Vec::with_capacity((end - begin) * scalar.size());
        (begin..end).for_each(|index| push(&mut bytes, index, &mut random));
        bytes
    };
    if len <= CHUNK {
        return chunk(0);
    }
    ready_threads();
    let chunks = (0..len.div_ceil(CHUNK)).into_par_iter();
    let chunks: Vec<_> = chunks.map(|index| chunk(index * CHUNK)).collect();
    chunks.concat()
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
    use super::super::elements::text;
    use super::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    fn filled(fill: &Fill, scalar: ScalarType, len: usize) -> Vec<f64> {
        let random = Pcg64Mcg::seed_from_u64(1);
        let bytes = elements(fill, scalar, len, "x", Path::new("."), &random).unwrap();
        bytes
            .chunks(scalar.size())
            .map(|element| text(scalar, element).parse().unwrap())
            .collect()
    }

    #[test]
    fn a_sequence_is_the_same_however_many_threads_make_it() {
        let random = Pcg64Mcg::seed_from_u64(7);
        let len = 2 * CHUNK + 5;
        let fill = Fill::Uniform {
            low: -1.0,
            high: 1.0,
        };
        let found = elements(&fill, ScalarType::F64, len, "x", Path::new("."), &random).unwrap();
        let mut random = random;
        for (index, element) in found.chunks_exact(8).enumerate() {
            let unit: f64 = random.random();
            let expected = uniform(ScalarType::F64, -1.0, 1.0, unit);
            assert_eq!(element, expected.to_le_bytes(), "{index}");
        }
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
        let random = Pcg64Mcg::seed_from_u64(1);
        let load = |name: &str, len| {
            let fill = Fill::File(name.into());
            let found = elements(&fill, ScalarType::U16, len, "x", folder.path(), &random);
            found.map_err(|error| error.to_string())
        };
        let of_bytes = |bytes: &[u8], len| {
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
        let random = Pcg64Mcg::seed_from_u64(1);
        for name in ["/dev/zero", "/dev/null", "/"] {
            let fill = Fill::File(name.into());
            let found = elements(&fill, ScalarType::U8, 0, "x", Path::new(""), &random);
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
