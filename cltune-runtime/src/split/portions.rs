//! A share in pieces, and whether its data goes through pinned memory.

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

/// Pieces, at most: only the transfers of the first and of the last piece have no launch beside them, which
/// is a quarter of all with as many.
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
    pub(super) is_staged: bool,
    /// One after the other.
    pub(super) pieces: Vec<Share>,
}

/// What a share transfers, bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    /// Arguments that every device gets whole.
    whole: usize,
    /// Parts of arguments, and results.
    parts: usize,
    /// What one more piece adds.
    halo: usize,
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
        let traffic = Traffic::of(problem, args, share);
        let is_staged = match transfers {
            Transfers::Direct => false,
            Transfers::Pinned => true,
            Transfers::ByDevice => {
                member.has_own_memory && traffic.whole + traffic.parts >= LEAST_STAGED
            }
        };
        let pieces = match known.choice(share.member) {
            Some(choice) if is_staged => in_pieces(problem, choice, &member.device, traffic, share),
            _ => vec![share],
        };
        Self {
            member: share.member,
            is_staged,
            pieces,
        }
    }
}

impl Traffic {
    fn of(problem: &Problem<'_>, args: &[SplitArg<'_>], share: Share) -> Self {
        let mut traffic = Self::default();
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
            // Only what is read has a halo.
            traffic.halo += layout.halo() * part.rows * element;
            let ways = match access {
                Access::Read | Access::Write => 1,
                Access::ReadWrite => 2,
            };
            traffic.parts += part.len() * element * ways;
        }
        traffic
    }
}

/// As many pieces as are worth it, if the configuration is valid for them.
fn in_pieces(
    problem: &Problem<'_>,
    choice: &Choice,
    device: &Device,
    traffic: Traffic,
    share: Share,
) -> Vec<Share> {
    let limits = &device.info().limits;
    let model = problem.tunable.model();
    let dims = |len| problem.division.share_dims(problem.dims, len);
    let geometry = model.geometry(&choice.codes, &dims(share.computed.len), limits);
    let groups = geometry.ok().and_then(|geometry| geometry.work_groups());
    let by_halo = match traffic.halo {
        0 => MOST_PIECES,
        halo => 1 + traffic.parts / HALO_PART / halo,
    };
    let by_groups = groups.unwrap_or(0) as i64 / (GROUPS * limits.compute_units.max(1));
    let most = MOST_PIECES.min(traffic.parts / LEAST_PIECE).min(by_halo) as i64;
    let pieces = pieces(share, choice.granule, most.min(by_groups));
    let is_valid = |piece: &Share| {
        let dims = dims(piece.computed.len);
        model.check(&choice.codes, &dims, limits).is_ok()
    };
    if pieces.iter().all(is_valid) {
        pieces
    } else {
        vec![share]
    }
}
