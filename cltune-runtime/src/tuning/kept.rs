//! Bytes on the host that the tuner keeps and nobody may change: inputs, and the reference's
//! results.

use crate::opencl::Sealed;
use cltune_search::ready_threads;
use rayon::prelude::*;
use std::convert::Infallible;
use std::ops::Deref;

/// The protection of kept bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeping {
    /// They are in pages that can only be read: who writes to them dies of it.
    Sealed,
    /// They have a checksum.
    Summed,
    /// The device cannot write to the host's memory, or nobody looks.
    OutOfReach,
}

/// Bytes that nobody may change.
#[derive(Debug)]
pub(crate) struct Kept {
    bytes: Bytes,
    /// Their checksum.
    sum: Option<u64>,
}

#[derive(Debug)]
enum Bytes {
    Ordinary(Vec<u8>),
    Sealed(Sealed),
}

impl Kept {
    /// So many bytes, which `write` finds as zeros. Where the system seals nothing, they get a
    /// checksum.
    ///
    /// # Errors
    /// The error of `write`.
    pub(super) fn new<E>(
        len: usize,
        keeping: Keeping,
        write: impl Fn(&mut [u8]) -> Result<(), E>,
    ) -> Result<Self, E> {
        if keeping == Keeping::Sealed
            && let Some(sealed) = Sealed::new(len, &write)?
        {
            return Ok(Self {
                bytes: Bytes::Sealed(sealed),
                sum: None,
            });
        }
        let mut bytes = vec![0; len];
        write(&mut bytes)?;
        Ok(Self::of(bytes, keeping))
    }

    /// These bytes.
    pub(super) fn of(bytes: Vec<u8>, keeping: Keeping) -> Self {
        let copy = |target: &mut [u8]| {
            target.copy_from_slice(&bytes);
            Ok::<_, Infallible>(())
        };
        if keeping == Keeping::Sealed
            && let Ok(Some(sealed)) = Sealed::new(bytes.len(), copy)
        {
            return Self {
                bytes: Bytes::Sealed(sealed),
                sum: None,
            };
        }
        let sum = (keeping != Keeping::OutOfReach).then(|| sum(&bytes));
        let bytes = Bytes::Ordinary(bytes);
        Self { bytes, sum }
    }

    /// Whether they are still what they were, as far as that is watched.
    pub(super) fn is_intact(&self) -> bool {
        self.sum.is_none_or(|sum_before| sum(self) == sum_before)
    }
}

/// Bytes that nobody watches.
impl From<Vec<u8>> for Kept {
    fn from(bytes: Vec<u8>) -> Self {
        Self::of(bytes, Keeping::OutOfReach)
    }
}

impl Deref for Kept {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Ordinary(bytes) => bytes,
            Bytes::Sealed(sealed) => sealed.bytes(),
        }
    }
}

/// The number of bytes that a thread adds up at a time.
const CHUNK: usize = 1 << 20;

/// A checksum, on all cores. A single changed word always changes it.
fn sum(bytes: &[u8]) -> u64 {
    ready_threads();
    let chunks = bytes.par_chunks(CHUNK).enumerate();
    let sums = chunks.map(|(chunk, bytes)| {
        let (words, rest) = bytes.as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let words = words.iter().chain([&last]).zip((chunk * CHUNK) as u64..);
        words.fold(0_u64, |sum, (word, at)| {
            sum.wrapping_add(mixed(u64::from_ne_bytes(*word), at))
        })
    });
    sums.reduce(|| 0, u64::wrapping_add)
}

/// Another number for each word, at each place.
fn mixed(word: u64, at: u64) -> u64 {
    let mixed = (word ^ at.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_byte_is_noticed() {
        let bytes: Vec<u8> = (0..2 * CHUNK + 13).map(|i| (i % 251) as u8).collect();
        let right = sum(&bytes);
        for at in [0, 7, 8, CHUNK - 1, CHUNK, 2 * CHUNK, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert_ne!(sum(&changed), right, "{at}");
        }
        let mut swapped = bytes.clone();
        swapped.swap(8, CHUNK + 8);
        assert_ne!(sum(&swapped), right);
    }

    #[test]
    fn bytes_are_the_same_however_they_are_kept() {
        for keeping in [Keeping::Sealed, Keeping::Summed, Keeping::OutOfReach] {
            let write = |target: &mut [u8]| {
                target.copy_from_slice(&[1, 2, 3]);
                Ok::<_, ()>(())
            };
            for kept in [
                Kept::of(vec![1, 2, 3], keeping),
                Kept::new(3, keeping, write).unwrap(),
            ] {
                assert_eq!(*kept, [1, 2, 3]);
                assert!(kept.is_intact());
            }
            assert_eq!(Kept::new(3, keeping, |_| Err(7)).unwrap_err(), 7);
        }
    }

    #[test]
    fn what_was_changed_is_not_intact() {
        let mut kept = Kept::of(vec![0; 100], Keeping::Summed);
        let Bytes::Ordinary(bytes) = &mut kept.bytes else {
            panic!()
        };
        bytes[99] = 1;
        assert!(!kept.is_intact());
    }
}
