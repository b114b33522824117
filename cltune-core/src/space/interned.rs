//! Short lists, each stored once and known by its number.

use super::hash::Mixer;
use std::hash::{Hash, Hasher};

/// Lists of equal or different lengths, in one piece of memory: millions of them are made while a
/// space is built, and a box for each would take more time and memory than its contents.
pub(super) struct Interned<T> {
    items: Vec<T>,
    /// Where each list ends.
    ends: Vec<usize>,
    /// Numbers by hash, with open addressing; the size is a power of two.
    table: Vec<u32>,
}

/// No list.
const FREE: u32 = u32::MAX;

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            ends: Vec::new(),
            table: vec![FREE; 16],
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
        let at = self.find(list);
        if self.table[at] != FREE {
            return (self.table[at], false);
        }
        let number = self.ends.len() as u32;
        self.table[at] = number;
        self.items.extend_from_slice(list);
        self.ends.push(self.items.len());
        (number, true)
    }

    /// Where the table has a list, or would have it.
    fn find(&self, list: &[T]) -> usize {
        let mask = self.table.len() - 1;
        let mut at = hash(list) & mask;
        while self.table[at] != FREE && self.get(self.table[at]) != list {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let mask = self.table.len() * 2 - 1;
        self.table = vec![FREE; mask + 1];
        for number in 0..self.ends.len() as u32 {
            let mut at = hash(self.get(number)) & mask;
            while self.table[at] != FREE {
                at = (at + 1) & mask;
            }
            self.table[at] = number;
        }
    }
}

fn hash<T: Hash>(list: &[T]) -> usize {
    let mut mixer = Mixer::default();
    for item in list {
        item.hash(&mut mixer);
    }
    mixer.finish() as usize
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
