//! A hash for small keys.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map with keys that no adversary chooses, for which the standard library's hash would take most
/// of the time of a build.
pub(super) type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<Mixer>>;

/// Multiplies each word by an odd constant (2^64 over the golden ratio) and folds the halves of the
/// product.
#[derive(Clone, Copy, Default)]
pub(super) struct Mixer(u64);

impl Mixer {
    fn word(&mut self, word: u64) {
        let product = u128::from(self.0.rotate_left(29) ^ word ^ 0x243F_6A88_85A3_08D3)
            * 0x9E37_79B9_7F4A_7C15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, word: u8) {
        self.word(u64::from(word));
    }

    fn write_u16(&mut self, word: u16) {
        self.word(u64::from(word));
    }

    fn write_u32(&mut self, word: u32) {
        self.word(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.word(word);
    }

    fn write_i64(&mut self, word: i64) {
        self.word(word as u64);
    }

    fn write_usize(&mut self, word: usize) {
        self.word(word as u64);
    }
}
