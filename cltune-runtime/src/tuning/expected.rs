//! The reference's results for a buffer. Of structs, each field is compared by itself: one may hold
//! positions and another masses, or integers.

use super::columns::column;
use super::kept::Kept;
use super::outcome::WrongKind;
use super::verify::{Expected, Unfit};
use cltune_core::model::{ElementType, Leaf};
use cltune_formats::declaration::Tolerance;
use std::ops::Range;

/// The reference's results for a buffer.
#[derive(Debug)]
pub(crate) struct ExpectedBuffer {
    element: ElementType,
    /// The elements that are compared.
    compared: Range<usize>,
    /// The bytes, where the columns hold them in another order.
    whole: Option<Kept>,
    /// One for each field; one alone where elements are scalars or vectors.
    columns: Vec<(Leaf, Expected)>,
}

impl ExpectedBuffer {
    /// As [`Expected::new`], of elements. The error is the index of a component.
    pub(crate) fn new(
        element: ElementType,
        bytes: impl Into<Kept>,
        compared: Range<usize>,
        declared: &Tolerance,
        accumulates: Option<u64>,
    ) -> Result<Self, usize> {
        Self::of_columns(element, bytes.into(), &compared, |leaf, bytes, compared| {
            Expected::new(leaf.scalar, bytes, compared, declared, accumulates)
                .map_err(|index| component(element, leaf, index))
        })
    }

    /// As [`Expected::of_kind`]; `usual` is what the reference makes of a random draw.
    pub(super) fn of_kind(
        bytes: Kept,
        compared: Range<usize>,
        declared: (&Tolerance, Option<u64>),
        usual: &Roots,
    ) -> Result<Self, Unfit> {
        let element = usual.element;
        let mut roots = usual.of_columns.iter();
        Self::of_columns(element, bytes, &compared, |leaf, bytes, compared| {
            let usual = roots.next().copied().unwrap_or(0.0);
            let expected = Expected::of_kind(leaf.scalar, bytes, compared, declared, usual);
            expected.map_err(|unfit| match unfit {
                Unfit::Nan(index) => Unfit::Nan(component(element, leaf, index)),
                Unfit::Infinite(index) => Unfit::Infinite(component(element, leaf, index)),
            })
        })
    }

    fn of_columns<E>(
        element: ElementType,
        bytes: Kept,
        compared: &Range<usize>,
        mut expected: impl FnMut(&Leaf, Kept, Range<usize>) -> Result<Expected, E>,
    ) -> Result<Self, E> {
        let leaves = element.leaves();
        let of_column = |leaf: &Leaf| compared.start * leaf.count..compared.end * leaf.count;
        if let ElementType::Vector { .. } = element {
            let columns = leaves.into_iter().take(1);
            let columns = columns.zip([bytes]).map(|(leaf, bytes)| {
                let expected = expected(&leaf, bytes, of_column(&leaf))?;
                Ok((leaf, expected))
            });
            return Ok(Self {
                element,
                compared: compared.clone(),
                whole: None,
                columns: columns.collect::<Result<_, E>>()?,
            });
        }
        let columns = leaves.into_iter().map(|leaf| {
            let bytes = column(&bytes, element, &leaf).into();
            let of_leaf = expected(&leaf, bytes, of_column(&leaf))?;
            Ok((leaf, of_leaf))
        });
        Ok(Self {
            element,
            compared: compared.clone(),
            columns: columns.collect::<Result<_, E>>()?,
            whole: Some(bytes),
        })
    }

    /// As [`Expected::rounded`].
    pub(crate) fn rounded(self, are_rounded: bool, declared: &Tolerance) -> Self {
        let columns = self.columns.into_iter();
        let rounded =
            columns.map(|(leaf, expected)| (leaf, expected.rounded(are_rounded, declared)));
        Self {
            columns: rounded.collect(),
            ..self
        }
    }

    /// The elements that are compared.
    pub(super) fn compared(&self) -> &Range<usize> {
        &self.compared
    }

    /// The results where all are scalars of one type.
    pub(super) fn as_one(&self) -> Option<&Expected> {
        match (&self.whole, &self.columns[..]) {
            (None, [(_, expected)]) => Some(expected),
            _ => None,
        }
    }

    /// Whether it is still what it was, as far as that is watched.
    pub(super) fn is_intact(&self) -> bool {
        let mut columns = self.columns.iter();
        self.whole.as_ref().is_none_or(Kept::is_intact)
            && columns.all(|(_, expected)| expected.is_intact())
    }

    /// The root mean square of each column.
    pub(super) fn roots(&self) -> Roots {
        let columns = self.columns.iter();
        Roots {
            element: self.element,
            of_columns: columns
                .map(|(_, expected)| expected.root_mean_square())
                .collect(),
        }
    }

    /// Whether others are nearer than a part of what is allowed.
    pub(super) fn is_nearer(&self, part: f64, others: &Self) -> bool {
        let mut pairs = self.columns.iter().zip(&others.columns);
        pairs.all(|((leaf, expected), (_, other))| expected.is_nearer(part, leaf.scalar, other))
    }

    /// The reference's result.
    pub(super) fn bytes(&self) -> &[u8] {
        match (&self.whole, &self.columns[..]) {
            (Some(whole), _) => whole,
            (None, [(_, expected), ..]) => expected.bytes(),
            (None, []) => &[],
        }
    }

    /// Whether the reference left all of a poisoned output unwritten.
    pub(super) fn is_unwritten(&self) -> bool {
        let mut columns = self.columns.iter();
        columns.all(|(leaf, expected)| expected.is_unwritten(leaf.scalar))
    }

    /// The error in a result, if there is one. `poisoned`: the output held the poison before.
    pub(crate) fn compare(&self, found: &[u8], poisoned: bool) -> Option<WrongKind> {
        if let Some(expected) = self.as_one() {
            let scalar = self.columns[0].0.scalar;
            return expected.compare(scalar, found, poisoned);
        }
        self.columns.iter().find_map(|(leaf, expected)| {
            let found = column(found, self.element, leaf);
            let wrong = expected.compare(leaf.scalar, &found, poisoned)?;
            Some(wrong.with_indices(|index| component(self.element, leaf, index)))
        })
    }
}

/// The root mean squares of results, one for each column.
#[derive(Debug)]
pub(super) struct Roots {
    element: ElementType,
    of_columns: Vec<f64>,
}

/// The index among all components of a buffer of one in a column.
fn component(element: ElementType, leaf: &Leaf, index: usize) -> usize {
    let leaves = element.leaves();
    let of_element: usize = leaves.iter().map(|leaf| leaf.count).sum();
    let before = leaves.iter().take_while(|other| other.offset < leaf.offset);
    let before: usize = before.map(|leaf| leaf.count).sum();
    index / leaf.count * of_element + before + index % leaf.count
}
