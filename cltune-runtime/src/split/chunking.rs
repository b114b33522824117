//! A share in chunks, along the divided dimension or another one, and the decision whether its data
//! goes through pinned memory.

use super::device_set::{Member, Transfers};
use super::problem::{Problem, Role, SplitArg};
use super::profiles::{Choice, DeviceProfiles};
use crate::device::Device;
use cltune_core::device::DeviceLimits;
use cltune_core::expr::Env;
use cltune_core::model::{Access, ArgumentKind};
use cltune_core::split::{Division, Layout, Part, Partition, Share, Span, chunks};

/// Less is transferred directly: threads and staging buffers take longer to begin than they gain.
const LEAST_STAGED: usize = 8 << 20;

/// Bytes of a chunk's own arguments, at least.
const LEAST_PIECE: usize = 8 << 20;

/// Chunks, at most. Only the uploads of the first chunk and the reads of the last have no launch
/// beside them: with so many chunks an eighth of what is divided.
const MOST_PIECES: usize = 8;

/// Work-groups of a chunk for each compute unit, at least: a device with less to do has idle units
/// at the end of each chunk.
const GROUPS: i64 = 16;

/// At most this part of a chunk's data may be a halo that its neighbours transfer, too.
const HALO_PART: usize = 16;

/// A share as a device computes it.
#[derive(Debug)]
pub(super) struct ChunkedShare {
    pub(super) member: usize,
    pub(super) is_pipelined: bool,
    pub(super) chunking: Chunking,
}

/// The chunks of a share, which are computed one after the other.
#[derive(Debug)]
pub(super) enum Chunking {
    /// Along the divided dimension.
    Along(Vec<Share>),
    /// Along another one.
    Across(Share, Across),
}

impl ChunkedShare {
    pub(super) fn new(
        problem: &Problem<'_>,
        profiles: &DeviceProfiles,
        member: &Member,
        transfers: Transfers,
        args: &[SplitArg<'_>],
        share: Share,
    ) -> Self {
        let traffic = along(problem, args, share);
        let is_pipelined = match transfers {
            Transfers::Direct => false,
            Transfers::Pinned => true,
            Transfers::ByDevice => {
                member.has_own_memory && traffic.whole + traffic.parts() >= LEAST_STAGED
            }
        };
        let chunking = match profiles.choice(share.member) {
            Some(choice) if is_pipelined => {
                let chunker = Chunker {
                    problem,
                    choice,
                    device: &member.device,
                    args,
                    share,
                };
                chunker.chunk(&traffic)
            }
            _ => Chunking::Along(vec![share]),
        };
        Self {
            member: share.member,
            is_pipelined,
            chunking,
        }
    }

    /// The share and the problem of each chunk.
    pub(super) fn problems(&self, problem: &Problem<'_>) -> Vec<(Share, Vec<i64>)> {
        match &self.chunking {
            Chunking::Along(chunks) => {
                let dims = |len| problem.division.share_dims(problem.dims, len);
                let chunks = chunks.iter();
                chunks
                    .map(|chunk| (*chunk, dims(chunk.computed.len)))
                    .collect()
            }
            Chunking::Across(share, across) => {
                across.problems().map(|dims| (*share, dims)).collect()
            }
        }
    }
}

/// The bytes that a share transfers when its chunks are along the divided dimension.
fn along(problem: &Problem<'_>, args: &[SplitArg<'_>], share: Share) -> Traffic {
    let mut traffic = Traffic::default();
    for (role, arg) in problem.roles.iter().zip(args) {
        let Role::Buffer {
            element,
            access,
            layout,
        } = *role
        else {
            continue;
        };
        let Some(layout) = layout else {
            traffic.whole += arg.bytes().len();
            continue;
        };
        let part = layout.part(share.computed);
        let bytes = part.len() * element;
        // Only what is read has a halo.
        traffic.halo += layout.halo() * part.rows * element;
        if access != Access::Write {
            traffic.inputs += bytes;
        }
        if access != Access::Read {
            traffic.results += bytes;
        }
    }
    traffic
}

/// The facts that decide how a share is divided into chunks.
struct Chunker<'a> {
    problem: &'a Problem<'a>,
    choice: &'a Choice,
    device: &'a Device,
    args: &'a [SplitArg<'a>],
    share: Share,
}

impl Chunker<'_> {
    /// As many chunks as are worth it, along the dimension where the first is launched earliest.
    fn chunk(&self, along: &Traffic) -> Chunking {
        let chunks = chunks(self.share, self.choice.granule, self.count(along));
        let mut least = along.before_first(chunks.len());
        let mut chunking = Chunking::Along(chunks);
        if !self.is_valid(&chunking) {
            chunking = Chunking::Along(vec![self.share]);
            least = along.before_first(1);
        }
        for division in self.problem.others {
            let count = |traffic: &Traffic| self.count(traffic);
            let limits = &self.device.info().limits;
            let codes = &self.choice.codes;
            let (problem, args, share) = (self.problem, self.args, self.share);
            let across = Across::new(problem, division, args, codes, limits, share, count);
            let Some(across) = across else { continue };
            let before_first = across.traffic.before_first(across.spans.len());
            let across = Chunking::Across(self.share, across);
            if before_first < least && self.is_valid(&across) {
                (least, chunking) = (before_first, across);
            }
        }
        chunking
    }

    /// The number of chunks that is worth it.
    fn count(&self, traffic: &Traffic) -> i64 {
        let limits = &self.device.info().limits;
        let len = self.share.computed.len;
        let dims = self.problem.division.share_dims(self.problem.dims, len);
        let model = self.problem.tunable.model();
        let env = Env {
            params: &self.choice.codes,
            dims: &dims,
            device: limits,
        };
        // Only a single launch can be divided.
        let stage = model.single_stage();
        let geometry = stage.and_then(|stage| stage.geometry(&env).ok());
        let groups = geometry.and_then(|geometry| geometry.work_groups());
        let by_groups = groups.unwrap_or(0) as i64 / (GROUPS * limits.compute_units.max(1));
        let parts = traffic.parts();
        let by_halo = match traffic.halo {
            0 => MOST_PIECES,
            halo => 1 + parts / HALO_PART / halo,
        };
        let most = MOST_PIECES.min(parts / LEAST_PIECE).min(by_halo);
        by_groups.min(most as i64)
    }

    /// Whether the configuration is valid for all chunks.
    fn is_valid(&self, chunking: &Chunking) -> bool {
        let limits = &self.device.info().limits;
        let model = self.problem.tunable.model();
        let problems = match chunking {
            Chunking::Along(chunks) => chunks
                .iter()
                .map(|chunk| {
                    let len = chunk.computed.len;
                    self.problem.division.share_dims(self.problem.dims, len)
                })
                .collect(),
            Chunking::Across(_, across) => across.problems().collect::<Vec<_>>(),
        };
        let check = |dims: &Vec<i64>| model.check(&self.choice.codes, dims, limits);
        problems.iter().all(|dims| check(dims).is_ok())
    }
}

/// A share in chunks along another dimension than the one that is divided among the devices.
///
/// Arguments that every device gets whole along the divided dimension are often divided along
/// another one: of a product of matrices each device needs some rows of the first and all of the
/// second, but a chunk of some columns needs only these of the second. The first launch thus waits
/// for less.
#[derive(Clone, Debug)]
pub(super) struct Across {
    /// The problem of the share.
    dims: Vec<i64>,
    /// The position of the dimension.
    dimension: usize,
    /// Positions of the dimension, for each chunk.
    pub(super) spans: Vec<Span>,
    /// One for each argument of the share.
    pub(super) arguments: Vec<ChunkPart>,
    pub(super) traffic: Traffic,
}

/// The part of an argument that a chunk gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ChunkPart {
    /// Every chunk gets what the share gets.
    Whole,
    /// It is the size of the dimension.
    Size,
    /// A chunk gets its part.
    Parts(Layout),
}

/// The bytes that a share transfers when it is in chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    /// Inputs that all chunks need.
    pub(super) whole: usize,
    /// Inputs of which a chunk needs a part.
    pub(super) inputs: usize,
    /// Results.
    pub(super) results: usize,
    /// The bytes that one more chunk adds.
    pub(super) halo: usize,
}

impl Traffic {
    /// The bytes that have to arrive before the first of so many chunks is launched.
    pub(super) fn before_first(&self, chunks: usize) -> usize {
        self.whole + self.inputs / chunks.max(1)
    }

    /// The bytes that are divided among chunks.
    pub(super) fn parts(&self) -> usize {
        self.inputs + self.results
    }
}

impl Across {
    /// A share, in as many chunks along another dimension as `count` says of their traffic. `None`
    /// where the arguments do not allow it: a chunk's part of each of them has to be in runs of
    /// equal lengths, and chunks may not overlap.
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
        let declared = problem.tunable.model().arguments.iter();
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
                    second.map_or(ChunkPart::Whole, ChunkPart::Parts)
                }
            });
        }
        let all = Share {
            owned: whole,
            computed: whole,
            ..share
        };
        let chunks = chunks(all, granule, count(&traffic));
        Some(Self {
            dims,
            dimension: usize::from(division.dimension),
            spans: chunks.iter().map(|chunk| chunk.computed).collect(),
            arguments,
            traffic,
        })
    }

    /// The problem of each chunk.
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
fn of_scalar(kind: &ArgumentKind, partition: &Partition, division: &Division) -> Option<ChunkPart> {
    match (kind, partition) {
        (_, Partition::Shifted) => None,
        (ArgumentKind::Scalar { dimension, .. }, _) if *dimension == Some(division.dimension) => {
            Some(ChunkPart::Size)
        }
        _ => Some(ChunkPart::Whole),
    }
}
