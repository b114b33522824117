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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::elements::{component_at, poison};
    use cltune_core::model::{ScalarType, StructField, StructType};

    static PAIR: StructType = StructType {
        name: "Pair",
        opencl_name: "Pair",
        size: 6,
        fields: &[
            StructField {
                name: "bytes",
                offset: 0,
                element: ElementType::scalar(ScalarType::U8),
                count: Some(2),
                fill: "",
            },
            StructField {
                name: "number",
                offset: 2,
                element: ElementType::vector(ScalarType::I16, 2),
                count: None,
                fill: "",
            },
        ],
    };

    #[test]
    fn columns_are_what_they_were_joined_from() {
        let element = ElementType::Struct(&PAIR);
        let leaves = element.leaves();
        let columns = [vec![1, 2, 3, 4], vec![5, 6, 7, 8, 9, 10, 11, 12]];
        let bytes = joined(&leaves, &columns, 2);
        assert_eq!(bytes, [1, 2, 5, 6, 7, 8, 3, 4, 9, 10, 11, 12]);
        for (leaf, of) in leaves.iter().zip(&columns) {
            assert_eq!(column(&bytes, element, leaf), *of, "{}", leaf.path);
        }
    }

    #[test]
    fn bytes_belong_to_components() {
        let element = ElementType::Struct(&PAIR);
        let components: Vec<usize> = (0..12).map(|byte| component_at(element, byte)).collect();
        assert_eq!(components, [0, 1, 2, 2, 3, 3, 4, 5, 6, 6, 7, 7]);
        let float4 = ElementType::vector(ScalarType::F32, 4);
        assert_eq!([3, 4, 21].map(|byte| component_at(float4, byte)), [0, 1, 5]);
        assert_eq!(poison(element).len(), 6);
    }
}
