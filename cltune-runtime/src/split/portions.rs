//! A share in pieces, and whether its data goes through pinned memory.

use super::across::{Across, Traffic};
use super::argument::SplitArg;
use super::device_set::{Member, Transfers};
use super::known::{Choice, Known};
use super::problem::{Problem, Role};
use crate::device::Device;
use cltune_core::model::Access;
use cltune_core::split::{Share, pieces};

/// Less is transferred directly: threads and chunks take longer to begin than they gain.
const LEAST_STAGED: usize = 8 << 20;

/// Bytes of a piece's own arguments, at least.
const LEAST_PIECE: usize = 8 << 20;

/// Pieces, at most: what has no launch beside it are only the uploads of the first piece and the reads of the
/// last, an eighth of what is divided with as many.
const MOST_PIECES: usize = 8;

/// Work-groups of a piece for each compute unit, at least: a device with less to do has idle units at the
/// end of each piece.
const GROUPS: i64 = 16;

/// At most this part of a piece's data may be a halo that its neighbours transfer, too.
const HALO_PART: usize = 16;

/// A share as a device computes it.
#[derive(Debug)]
pub(super) struct Portion {
    pub(super) member: usize,
    pub(super) is_pipelined: bool,
    pub(super) cut: Cut,
}

/// The pieces of a share, which are computed one after the other.
#[derive(Debug)]
pub(super) enum Cut {
    /// Along the divided dimension.
    Along(Vec<Share>),
    /// Along another one.
    Across(Share, Across),
}

impl Portion {
    pub(super) fn new(
        problem: &Problem<'_>,
        known: &Known,
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
        let cut = match known.choice(share.member) {
            Some(choice) if is_pipelined => {
                let cutter = Cutter {
                    problem,
                    choice,
                    device: &member.device,
                    args,
                    share,
                };
                cutter.cut(&traffic)
            }
            _ => Cut::Along(vec![share]),
        };
        Self {
            member: share.member,
            is_pipelined,
            cut,
        }
    }

    /// The share and the problem of each piece.
    pub(super) fn problems(&self, problem: &Problem<'_>) -> Vec<(Share, Vec<i64>)> {
        match &self.cut {
            Cut::Along(pieces) => {
                let dims = |len| problem.division.share_dims(problem.dims, len);
                let pieces = pieces.iter();
                pieces
                    .map(|piece| (*piece, dims(piece.computed.len)))
                    .collect()
            }
            Cut::Across(share, across) => across.problems().map(|dims| (*share, dims)).collect(),
        }
    }
}

/// What a share transfers when its pieces are along the divided dimension.
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

/// What decides how a share is cut.
struct Cutter<'a> {
    problem: &'a Problem<'a>,
    choice: &'a Choice,
    device: &'a Device,
    args: &'a [SplitArg<'a>],
    share: Share,
}

impl Cutter<'_> {
    /// As many pieces as are worth it, along the dimension where the first is launched earliest.
    fn cut(&self, along: &Traffic) -> Cut {
        let pieces = pieces(self.share, self.choice.granule, self.count(along));
        let mut least = along.before_first(pieces.len());
        let mut cut = Cut::Along(pieces);
        if !self.is_valid(&cut) {
            cut = Cut::Along(vec![self.share]);
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
            let across = Cut::Across(self.share, across);
            if before_first < least && self.is_valid(&across) {
                (least, cut) = (before_first, across);
            }
        }
        cut
    }

    /// How many pieces are worth it.
    fn count(&self, traffic: &Traffic) -> i64 {
        let limits = &self.device.info().limits;
        let len = self.share.computed.len;
        let dims = self.problem.division.share_dims(self.problem.dims, len);
        let model = self.problem.tunable.model();
        let geometry = model.geometry(&self.choice.codes, &dims, limits);
        let groups = geometry.ok().and_then(|geometry| geometry.work_groups());
        let by_groups = groups.unwrap_or(0) as i64 / (GROUPS * limits.compute_units.max(1));
        let parts = traffic.parts();
        let by_halo = match traffic.halo {
            0 => MOST_PIECES,
            halo => 1 + parts / HALO_PART / halo,
        };
        let most = MOST_PIECES.min(parts / LEAST_PIECE).min(by_halo);
        by_groups.min(most as i64)
    }

    /// Whether the configuration is valid for all pieces.
    fn is_valid(&self, cut: &Cut) -> bool {
        let limits = &self.device.info().limits;
        let model = self.problem.tunable.model();
        let problems = match cut {
            Cut::Along(pieces) => pieces
                .iter()
                .map(|piece| {
                    let len = piece.computed.len;
                    self.problem.division.share_dims(self.problem.dims, len)
                })
                .collect(),
            Cut::Across(_, across) => across.problems().collect::<Vec<_>>(),
        };
        let check = |dims: &Vec<i64>| model.check(&self.choice.codes, dims, limits);
        problems.iter().all(|dims| check(dims).is_ok())
    }
}
