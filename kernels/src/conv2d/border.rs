//! The values outside of a picture.

/// The values that a filter meets beyond the edges of a picture.
///
/// For the row `a b c d`, with three pixels shown on both sides:
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Border {
    /// Zeros: `0 0 0 | a b c d | 0 0 0`.
    Zero,
    /// The nearest pixel: `a a a | a b c d | d d d`.
    Nearest,
    /// The picture mirrored at its outermost pixels: `d c b | a b c d | c b a`.
    Mirror,
    /// The picture again: `b c d | a b c d | a b c`.
    Wrap,
}

impl Border {
    /// The kernel's number for it, from `picture.cl`.
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::Zero => 0,
            Self::Nearest => 1,
            Self::Mirror => 2,
            Self::Wrap => 3,
        }
    }
}
