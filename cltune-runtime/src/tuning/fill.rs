//! Contents of arguments: bytes of elements in the device's (little-endian) order.

use super::columns::{joined, random_of};
use cltune_core::model::{ElementType, ScalarType};
use cltune_formats::declaration::Fill;
use cltune_search::ready_threads;
use half::{bf16, f16};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Why an argument cannot be filled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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
        path.display(), *found as f64 / element.size() as f64, element, len * element.size()
    )]
    WrongLength {
        /// The argument.
        argument: String,
        /// The file.
        path: PathBuf,
        /// The type of its elements.
        element: ElementType,
        /// The file's length, bytes.
        found: u64,
        /// The argument's length, elements.
        len: usize,
    },
}

/// `len` elements, of which every component is filled.
pub(super) fn elements(
    fill: &Fill,
    element: ElementType,
    len: usize,
    argument: &str,
    folder: &Path,
    random: &Pcg64Mcg,
) -> Result<Vec<u8>, FillError> {
    if let Fill::File(name) = fill {
        return file(folder.join(name), element, len, argument);
    }
    let leaves = element.leaves();
    let columns = leaves.iter().enumerate().map(|(at, leaf)| match element {
        ElementType::Vector { .. } => scalars(fill, leaf.scalar, leaf.count * len, random),
        ElementType::Struct(_) => {
            let (fill, random) = (fill.of_leaf(leaf), random_of(random, at));
            scalars(&fill, leaf.scalar, leaf.count * len, &random)
        }
    });
    let mut columns: Vec<Vec<u8>> = columns.collect();
    Ok(match element {
        ElementType::Vector { .. } => columns.swap_remove(0),
        ElementType::Struct(_) => joined(&leaves, &columns, len),
    })
}

/// So many scalars; zeros for a fill that has no scalars of its own.
pub(super) fn scalars(fill: &Fill, scalar: ScalarType, count: usize, random: &Pcg64Mcg) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(count * scalar.size());
    match fill {
        Fill::Uniform { low, high } => {
            return generated(scalar, count, random, 1, |bytes, _, random| {
                let unit: f64 = random.random();
                push(bytes, scalar, uniform(scalar, *low, *high, unit));
            });
        }
        Fill::Iota => (0..count).for_each(|index| push(&mut bytes, scalar, index as f64)),
        Fill::Constant(value) => (0..count).for_each(|_| push(&mut bytes, scalar, *value)),
        // What kernels prepare is not filled, and the others are known by now.
        Fill::Zeros | Fill::None | Fill::Prepared | Fill::File(_) | Fill::ByType => {
            bytes.resize(count * scalar.size(), 0);
        }
    }
    bytes
}

/// So many elements that a thread makes at a time.
const CHUNK: usize = 1 << 16;

/// Elements that are made one after the other of `numbers` random numbers each, on all cores: the
/// same, however many there are.
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
    element: ElementType,
    len: usize,
    argument: &str,
) -> Result<Vec<u8>, FillError> {
    let argument = argument.to_string();
    let wanted = len * element.size();
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
            element,
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
        ScalarType::BF16 => bytes.extend(bf16::from_f64(value).to_le_bytes()),
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
#[path = "../../tests/unit/tuning_fill.rs"]
mod tests;
