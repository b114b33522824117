//! The hash by which prepared launches are found. It costs a few nanoseconds, since every launch
//! computes it.
//!
//! The standard library's hash withstands keys that are made to collide, and takes longer for that.
//! Here such keys only make a bucket of a bounded table longer.

use std::hash::{BuildHasherDefault, Hasher};

/// The hash of a call: the tunable, its policy, the configuration if the caller gives one, and the
/// problem.
pub(super) fn hash(tunable: usize, policy: u32, given: Option<&[i64]>, dims: &[i64]) -> u64 {
    // The tunable's address and the number of given codes keep apart what the words alone do not.
    let given_len = given.map_or(0, <[i64]>::len) as u64;
    let mut state = mix(tunable as u64, u64::from(policy) << 32 | given_len);
    for word in given.unwrap_or_default().iter().chain(dims) {
        state = mix(state, *word as u64);
    }
    state
}

/// The full product of two words folded, as in wyhash (Wang Yi, 2019): every bit of either reaches
/// all bits of the result.
fn mix(state: u64, word: u64) -> u64 {
    let product =
        u128::from(state ^ 0x9E37_79B9_7F4A_7C15) * u128::from(word ^ 0xE703_7ED1_A0B4_28DB);
    (product as u64) ^ ((product >> 64) as u64)
}

/// The hasher of a map whose keys are [`hash`]es already.
#[derive(Debug, Default)]
pub(super) struct AsIs(u64);

/// Builds [`AsIs`].
pub(super) type BuildAsIs = BuildHasherDefault<AsIs>;

impl Hasher for AsIs {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = mix(self.0, u64::from(*byte));
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn similar_calls_have_different_hashes() {
        let mut seen = HashSet::new();
        for tunable in [0x5000_1000, 0x5000_1008] {
            for n in 0..64_i64 {
                for m in [0, 1, 1 << 20, i64::MAX, i64::MIN] {
                    assert!(seen.insert(hash(tunable, 1, None, &[n, m])));
                    assert!(seen.insert(hash(tunable, 2, None, &[n, m])));
                    assert!(seen.insert(hash(tunable, 0, Some(&[n]), &[m])));
                    assert!(seen.insert(hash(tunable, 0, Some(&[n, m]), &[])));
                }
            }
        }
        let low_bits: HashSet<u64> = seen.iter().map(|hash| hash & 0xfff).collect();
        assert!(low_bits.len() > 1000, "{}", low_bits.len());
    }
}
