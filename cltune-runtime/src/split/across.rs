//! A share in pieces along another dimension than the one that is divided among the devices.
//!
//! What every device gets whole along the divided dimension is often divided along another one: of a
//! product of matrices each device needs some rows of the first and all of the second, but a piece of some
//! columns needs only these. So the first launch has to wait for less.

use super::argument::SplitArg;
use super::problem::{Problem, Role};
use cltune_core::device::DeviceLimits;
use cltune_core::model::{Access, ArgumentKind};
use cltune_core::split::{Division, Layout, Part, Partition, Share, Span, pieces};

/// The pieces of a share.
#[derive(Clone, Debug)]
pub(super) struct Across {
    /// The problem of the share.
    dims: Vec<i64>,
    /// The position of the dimension.
    dimension: usize,
    /// Positions of the dimension, for each piece.
    pub(super) spans: Vec<Span>,
    /// What becomes of each argument of the share.
    pub(super) arguments: Vec<Second>,
    pub(super) traffic: Traffic,
}

/// What becomes of an argument of the share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Second {
    /// Every piece gets what the share gets.
    Whole,
    /// It is the size of the dimension.
    Size,
    /// A piece gets its part.
    Parts(Layout),
}

/// What a share transfers when it is in pieces, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    /// Inputs that all pieces need.
    pub(super) whole: usize,
    /// Inputs of which a piece needs a part.
    pub(super) inputs: usize,
    /// Results.
    pub(super) results: usize,
    /// What one more piece adds.
    pub(super) halo: usize,
}

impl Traffic {
    /// What has to be there before the first of so many pieces is launched.
    pub(super) fn before_first(&self, pieces: usize) -> usize {
        self.whole + self.inputs / pieces.max(1)
    }

    /// What is divided among pieces.
    pub(super) fn parts(&self) -> usize {
        self.inputs + self.results
    }
}

impl Across {
    /// A share, in as many pieces along another dimension as `count` says of their traffic. `None` where the
    /// arguments do not allow it: what a piece has of each of them has to be in runs of equal lengths, and
    /// pieces may not overlap.
    pub(super) fn new(
        problem: &Problem<'_>,
        division: &Division,
        args: &[SplitArg<'_>],
        codes: &[i64],
        limits: &DeviceLimits,
        share: Share,
        count: impl Fn(&Traffic) -> i64,
    ) -> Option<Self> {
        if share.owned != share.computed {
            return None;
        }
        let dims = problem
            .division
            .share_dims(problem.dims, share.computed.len);
        let total = division.total(&dims);
        let granule = division.granule(codes, &dims, limits).ok()?;
        if total % granule != 0 {
            return None;
        }
        let whole = Span {
            start: 0,
            len: total,
        };
        let mut traffic = Traffic::default();
        let mut arguments = Vec::with_capacity(args.len());
        let declared = problem.tunable.model().passed();
        let partitions = declared.zip(&*division.arguments);
        for (((argument, partition), role), arg) in partitions.zip(&problem.roles).zip(args) {
            arguments.push(match *role {
                Role::Scalar(..) => of_scalar(&argument.kind, partition, division)?,
                Role::Buffer {
                    element,
                    access,
                    layout,
                } => {
                    let own = match layout {
                        Some(layout) => layout.part(share.computed),
                        None => Part::all(arg.bytes().len() / element),
                    };
                    let second = division.layout(partition, &argument.kind, &dims).ok()?;
                    let first = Span { start: 0, len: 1 };
                    let is_part = |span| {
                        let of_share = second.map(|second| second.part(span));
                        of_share.is_none_or(|of_share| own.inner(of_share).is_some())
                    };
                    if !is_part(first) || !is_part(whole) {
                        return None;
                    }
                    let bytes = own.len() * element;
                    match (access, layout, second) {
                        (Access::Read, _, None) => traffic.whole += bytes,
                        (Access::Read, _, Some(second)) => {
                            traffic.inputs += bytes;
                            traffic.halo += second.halo() * second.part(whole).rows * element;
                        }
                        (Access::Write, Some(_), Some(second)) if second.halo() == 0 => {
                            traffic.results += bytes;
                        }
                        _ => return None,
                    }
                    second.map_or(Second::Whole, Second::Parts)
                }
            });
        }
        let all = Share {
            owned: whole,
            computed: whole,
            ..share
        };
        let pieces = pieces(all, granule, count(&traffic));
        Some(Self {
            dims,
            dimension: usize::from(division.dimension),
            spans: pieces.iter().map(|piece| piece.computed).collect(),
            arguments,
            traffic,
        })
    }

    /// The problem of each piece.
    pub(super) fn problems(&self) -> impl Iterator<Item = Vec<i64>> {
        self.spans.iter().map(|span| {
            let mut dims = self.dims.clone();
            if let Some(size) = dims.get_mut(self.dimension) {
                *size = span.len;
            }
            dims
        })
    }
}

/// `None` for a scalar that would be shifted twice.
fn of_scalar(kind: &ArgumentKind, partition: &Partition, division: &Division) -> Option<Second> {
    match (kind, partition) {
        (_, Partition::Shifted) => None,
        (ArgumentKind::Scalar { dimension, .. }, _) if *dimension == Some(division.dimension) => {
            Some(Second::Size)
        }
        _ => Some(Second::Whole),
    }
}
