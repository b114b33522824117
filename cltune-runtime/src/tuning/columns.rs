//! Columns of a buffer of structs: one field of all elements, one after the other, as a buffer of
//! its own scalars would have them.

use cltune_core::model::{ElementType, Leaf};
use rand_pcg::Pcg64Mcg;

/// The column of a field. A buffer that has no structs is its own column.
pub(super) fn column(bytes: &[u8], element: ElementType, leaf: &Leaf) -> Vec<u8> {
    let elements = bytes.chunks_exact(element.size());
    let field = leaf.offset..leaf.offset + leaf.size();
    elements
        .flat_map(|element| &element[field.clone()])
        .copied()
        .collect()
}

/// The bytes of a buffer of so many structs, of which these are the columns.
pub(super) fn joined(leaves: &[Leaf], columns: &[Vec<u8>], len: usize) -> Vec<u8> {
    let size: usize = leaves.iter().map(Leaf::size).sum();
    let mut bytes = Vec::with_capacity(size * len);
    for index in 0..len {
        for (leaf, column) in leaves.iter().zip(columns) {
            let size = leaf.size();
            bytes.extend_from_slice(&column[index * size..(index + 1) * size]);
        }
    }
    bytes
}

/// The random sequence of a column.
pub(super) fn random_of(random: &Pcg64Mcg, column: usize) -> Pcg64Mcg {
    // Far from each other; an odd distance keeps their bits apart.
    let mut random = random.clone();
    random.advance((column as u128 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_0C60_5CED_C835));
    random
}
