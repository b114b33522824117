//! Small keys and short lists: a fast hash, and lists that are stored once and known by their
//! number.

use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher as _};

/// A map with keys that no adversary chooses, for which the standard library's hash would take most
/// of the time of a build.
pub(super) type FastMap<K, V> = FxHashMap<K, V>;

/// Lists of equal or different lengths, in one piece of memory: millions of them are made while a
/// space is built, and a box for each would take more time and memory than its contents.
pub(super) struct Interned<T> {
    items: Vec<T>,
    /// Where each list ends.
    ends: Vec<usize>,
    /// Where lists are by their hashes, with open addressing; the size is a power of two.
    table: Vec<Slot>,
}

/// A list's number and the hash of its contents, which tells most others apart without a look at
/// them.
#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    number: u32,
}

impl Slot {
    /// No list.
    const FREE: Self = Self {
        hash: 0,
        number: u32::MAX,
    };

    const fn is_free(self) -> bool {
        self.number == u32::MAX
    }
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            ends: Vec::new(),
            table: vec![Slot::FREE; 16],
        }
    }
}

impl<T: Copy + Eq + Hash> Interned<T> {
    /// How many different lists there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The list with a number.
    pub(super) fn get(&self, number: u32) -> &[T] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start..self.ends[number]]
    }

    /// The number of a list, and whether it was not known before.
    pub(super) fn enter(&mut self, list: &[T]) -> (u32, bool) {
        if self.ends.len() * 2 >= self.table.len() {
            self.grow();
        }
        let hash = hash(list);
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        while !self.table[at].is_free() {
            let slot = self.table[at];
            if slot.hash == hash && self.get(slot.number) == list {
                return (slot.number, false);
            }
            at = (at + 1) & mask;
        }
        let number = self.ends.len() as u32;
        self.table[at] = Slot { hash, number };
        self.items.extend_from_slice(list);
        self.ends.push(self.items.len());
        (number, true)
    }

    fn grow(&mut self) {
        let mask = self.table.len() * 2 - 1;
        let before = std::mem::replace(&mut self.table, vec![Slot::FREE; mask + 1]);
        for slot in before.into_iter().filter(|slot| !slot.is_free()) {
            let mut at = slot.hash as usize & mask;
            while !self.table[at].is_free() {
                at = (at + 1) & mask;
            }
            self.table[at] = slot;
        }
    }
}

fn hash<T: Hash>(list: &[T]) -> u32 {
    let mut hasher = FxHasher::default();
    for item in list {
        item.hash(&mut hasher);
    }
    let hash = hasher.finish();
    (hash >> 32) as u32 ^ hash as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lists_have_one_number() {
        let mut lists = Interned::default();
        for round in 0..2 {
            for number in 0..1000_u32 {
                let list: Vec<u32> = (0..number % 7).map(|item| item * number).collect();
                let list = [&[number], &*list].concat();
                assert_eq!(lists.enter(&list), (number, round == 0));
                assert_eq!(lists.get(number), list);
            }
        }
        assert_eq!(lists.len(), 1000);
        assert_eq!(lists.enter(&[]), (1000, true));
        assert_eq!(lists.enter(&[]), (1000, false));
        assert!(lists.get(1000).is_empty());
    }
}
