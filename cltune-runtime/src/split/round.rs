//! Devices that work at the same time, each on its share.

use super::argument::{Given, SplitArg};
use super::blame::Failure;
use super::device_set::{DeviceSet, Member};
use super::known::Known;
use super::portions::Portion;
use super::problem::{Problem, Role};
use super::turn::{Download, Ended, Operand, Piece, Target, Turn};
use crate::error::{Error, Result};
use crate::opencl::{Region, Runs};
use cltune_core::model::Access;
use cltune_core::split::{Layout, Part, Share, Span};
use std::ops::Range;
use std::thread;

/// What became of a share.
pub(super) type Outcome = Result<Ended, Failure>;

/// Lets every device compute its share, all at the same time; returns when all have ended. No device
/// has two shares.
///
/// # Errors
/// Arguments that cannot be divided. What devices fail with is in the outcomes, which are in the order
/// of the shares.
pub(super) fn work(
    problem: &Problem<'_>,
    devices: &mut DeviceSet,
    known: &Known,
    args: &mut [SplitArg<'_>],
    shares: &[Share],
) -> Result<Vec<Outcome>> {
    let portion = |share: &Share| {
        let member = &devices.members[share.member];
        Portion::new(problem, known, member, devices.transfers, args, *share)
    };
    let portions: Vec<Portion> = shares.iter().map(portion).collect();
    let turns = turns(problem, known, args, portions)?;
    let mut workers: Vec<Option<&mut Member>> = devices.members.iter_mut().map(Some).collect();
    thread::scope(|scope| {
        let mut started = Vec::with_capacity(turns.len());
        for (share, turn) in shares.iter().zip(turns) {
            let Some(member) = workers.get_mut(share.member).and_then(Option::take) else {
                started.push(Err(Failure::before(Error::NoDevice)));
                continue;
            };
            let work = move || match &mut member.state {
                Ok(worker) => worker.run(turn),
                Err(lost) => Err(Failure::during(lost.clone())),
            };
            // Not `scope.spawn`, which panics where the system has no thread left.
            let thread = thread::Builder::new().spawn_scoped(scope, work);
            started.push(thread.map_err(|error| {
                Failure::before(Error::NoThread {
                    reason: error.to_string(),
                })
            }));
        }
        let ended = started.into_iter().map(|thread| {
            let joined = thread?.join();
            joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        Ok(ended.collect())
    })
}

/// What each device has to do, in the order of the shares.
fn turns<'r>(
    problem: &Problem<'_>,
    known: &Known,
    args: &'r mut [SplitArg<'_>],
    portions: Vec<Portion>,
) -> Result<Vec<Turn<'r>>> {
    let shares: Vec<Share> = portions
        .iter()
        .flat_map(|portion| portion.pieces.iter().copied())
        .collect();
    let mut operands: Vec<Vec<Operand<'r>>> = shares
        .iter()
        .map(|_| Vec::with_capacity(args.len()))
        .collect();
    for (position, (arg, role)) in args.iter_mut().zip(&problem.roles).enumerate() {
        let of_argument = match *role {
            Role::Scalar(scalar, meaning) => {
                let of_share = |share: &Share| {
                    let given = arg.bytes();
                    let bytes = problem.scalar(position, given, scalar, meaning, *share)?;
                    Ok(Operand::Scalar(bytes))
                };
                shares.iter().map(of_share).collect::<Result<Vec<_>>>()?
            }
            Role::Buffer {
                element,
                access,
                layout,
            } => buffers(arg, element, access, layout, &shares)
                .ok_or_else(|| problem.undivided(position))?,
        };
        for (operands, operand) in operands.iter_mut().zip(of_argument) {
            operands.push(operand);
        }
    }
    let mut operands = operands.into_iter();
    let turn = |portion: Portion| {
        let piece = |share: Share| Piece {
            share,
            dims: problem
                .division
                .share_dims(problem.dims, share.computed.len),
            operands: operands.next().unwrap_or_default(),
        };
        let choice = known.choice(portion.member);
        Turn {
            tunable: problem.tunable,
            codes: choice.map_or_else(Vec::new, |choice| choice.codes.clone()),
            is_staged: portion.is_staged,
            pieces: portion.pieces.into_iter().map(piece).collect(),
        }
    };
    Ok(portions.into_iter().map(turn).collect())
}

/// A buffer argument for each share; `None` where results have no place of their own.
fn buffers<'r>(
    arg: &'r mut SplitArg<'_>,
    element: usize,
    access: Access,
    layout: Option<Layout>,
    shares: &[Share],
) -> Option<Vec<Operand<'r>>> {
    match (&mut arg.0, access) {
        (Given::Scalar(_), _) => None,
        (Given::Written(bytes), Access::Write) => outputs(bytes, element, layout?, shares),
        (Given::Written(bytes), _) => inputs(bytes, element, access, layout, shares),
        (Given::Read(bytes), _) => inputs(bytes, element, access, layout, shares),
    }
}

/// An argument that is read: by all devices at the same time, so results wait until they have ended.
fn inputs<'r>(
    bytes: &'r [u8],
    element: usize,
    access: Access,
    layout: Option<Layout>,
    shares: &[Share],
) -> Option<Vec<Operand<'r>>> {
    let mut before: Option<usize> = None;
    let operand = |share: &Share| {
        let is_first = before.replace(share.member) != Some(share.member);
        let part = match layout {
            Some(layout) => layout.part(share.computed),
            None => whole(bytes.len() / element),
        };
        if layout.is_none() && !is_first {
            return Some(Operand::OfFirst { len: part.len() });
        }
        let download = match access {
            Access::Read => None,
            Access::ReadWrite | Access::Write => {
                let own = layout?.own_part(share.owned);
                let target = Target::Kept {
                    rows: own.rows,
                    width: own.width * element,
                };
                Some(download(layout?, *share, element, target))
            }
        };
        Some(Operand::Buffer {
            len: part.len(),
            bytes: part.len() * element,
            upload: Some((bytes, runs(part, element))),
            download,
        })
    };
    shares.iter().map(operand).collect()
}

/// An argument that is only written: results go right to their places.
fn outputs<'r>(
    bytes: &'r mut [u8],
    element: usize,
    layout: Layout,
    shares: &[Share],
) -> Option<Vec<Operand<'r>>> {
    let places: Vec<Part> = shares
        .iter()
        .map(|share| layout.own_part(share.owned))
        .collect();
    let first = places.first()?;
    let columns: Vec<Range<usize>> = places
        .iter()
        .map(|place| place.first * element..(place.first + place.width) * element)
        .collect();
    let regions = Region::columns(bytes, first.rows, first.pitch * element, &columns)?;
    let operands = shares.iter().zip(regions).map(|(share, region)| {
        let part = layout.part(share.computed);
        Operand::Buffer {
            len: part.len(),
            bytes: part.len() * element,
            upload: None,
            download: Some(download(layout, *share, element, Target::Place(region))),
        }
    });
    Some(operands.collect())
}

/// What a share owns of what it computes, in its buffer.
fn download(layout: Layout, share: Share, element: usize, target: Target<'_>) -> Download<'_> {
    let skipped = Span {
        start: share.owned.start - share.computed.start,
        len: share.owned.len,
    };
    Download {
        first: layout.own_part(skipped).first * element,
        pitch: layout.part(share.computed).width * element,
        target,
    }
}

fn whole(len: usize) -> Part {
    Part {
        first: 0,
        width: len,
        rows: 1,
        pitch: len,
    }
}

fn runs(part: Part, element: usize) -> Runs {
    Runs {
        first: part.first * element,
        width: part.width * element,
        rows: part.rows,
        pitch: part.pitch * element,
    }
}
