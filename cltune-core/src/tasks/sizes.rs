//! The choice of the size of blocks: of all that fit, those with which an operation is expected to
//! end first. One block for all is among them, so that nothing is divided that is faster whole.

use super::blocks::{Cut, Grain, Shape};
use super::cost::{Cost, DeviceFacts, Need};
use super::turns::{Turn, makespan};

/// The blocks of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The size of blocks.
    pub cut: Cut,
    /// The time that the operation is expected to take, seconds.
    pub seconds: f64,
    /// For each device what a tile costs; `None` where blocks do not fit.
    pub costs: Vec<Option<Cost>>,
}

/// An operation has no blocks that are small enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the smallest blocks of this operation need {least} bytes on a device, {largest} of them in one \
     buffer, and no device has so much: raise a memory limit"
)]
pub struct PlanError {
    /// The memory of the smallest blocks, bytes.
    pub least: usize,
    /// Of the largest of them, bytes.
    pub largest: usize,
}

/// The most tiles of an operation, as long as larger ones fit.
const MOST_TILES: usize = 1024;

/// Tiles along an axis begin at multiples of this where there is more than one: work-groups of
/// kernels and lines of memory are then whole.
const GRAIN: usize = 64;

/// How much later one more tile is worth being ended, as a part of the time: all else equal,
/// operations are divided less.
const FOR_TILE: f64 = 1e-4;

/// A gain for which nothing is divided, seconds: threads have to wake each other.
const DIVIDING: f64 = 1e-4;

/// Chooses the blocks of an operation.
///
/// `host` is what the host's memory moves for all devices together, bytes per second; infinite
/// where that is no limit. Where nothing is known of any device's speed, they count as equally
/// fast, and transfers decide.
///
/// # Errors
/// [`PlanError`] when no device has the memory for the smallest blocks.
pub fn choose(shape: &Shape, devices: &[DeviceFacts], host: f64) -> Result<Plan, PlanError> {
    let [of_i, of_j] = shape.grains;
    let grains = [of_i, of_j, Grain::ONE];
    let axes = [0, 1, 2].map(|axis| parts(shape.sizes[axis], grains[axis]));
    for most in [MOST_TILES, usize::MAX] {
        let mut best: Option<(f64, Plan)> = None;
        for &height in &axes[0] {
            for &width in &axes[1] {
                let tiles = shape.sizes[0].div_ceil(height) * shape.sizes[1].div_ceil(width);
                if tiles > most {
                    continue;
                }
                for &depth in &axes[2] {
                    let cut = Cut([height, width, depth]);
                    let dividing = if tiles == 1 { 0.0 } else { DIVIDING };
                    let rank = |seconds: f64| seconds * (1.0 + FOR_TILE * tiles as f64) + dividing;
                    let is_slow = |seconds: f64| {
                        let least = best.as_ref().map(|(least, _)| *least);
                        least.is_some_and(|least| rank(seconds) >= least)
                    };
                    let Some(plan) = plan(shape, cut, devices, host, is_slow) else {
                        continue;
                    };
                    let rank = rank(plan.seconds);
                    if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                        best = Some((rank, plan));
                    }
                }
            }
        }
        if let Some((_, plan)) = best {
            return Ok(plan);
        }
    }
    let smallest = [0, 1, 2].map(|axis| grains[axis].block(1, shape.sizes[axis]));
    let Need { least, largest, .. } = Need::of(shape, Cut(smallest));
    Err(PlanError { least, largest })
}

/// What an operation costs in blocks of a size; `None` where they fit no device, or where `is_slow`
/// says so of a time that is not reached.
fn plan(
    shape: &Shape,
    cut: Cut,
    devices: &[DeviceFacts],
    host: f64,
    is_slow: impl Fn(f64) -> bool,
) -> Option<Plan> {
    let need = Need::of(shape, cut);
    let fitting = |device: &&DeviceFacts| need.fits(device);
    if !devices.iter().any(|device| need.fits(device)) {
        return None;
    }
    let is_known = devices
        .iter()
        .filter(fitting)
        .any(|device| device.speed.is_some());
    let speeds: Vec<Option<f64>> = devices
        .iter()
        .map(|device| {
            let speed = if is_known { device.speed } else { Some(1e12) };
            speed.filter(|_| need.fits(device))
        })
        .collect();
    let [down, across, _] = shape.counts(cut);
    let tiles = down * across;
    let total: f64 = speeds.iter().flatten().sum();
    let mut costs: Vec<Option<Cost>> = devices
        .iter()
        .zip(&speeds)
        .map(|(device, speed)| {
            let speed = (*speed)?;
            let own = (tiles as f64 * speed / total).max(1.0);
            Some(Cost::of(shape, cut, device, speed, own))
        })
        .collect();
    // What all move at the same time goes through the host's memory. Of more devices than tiles,
    // only some have one.
    let able = costs.iter().flatten();
    let busy = (tiles as f64 / able.clone().count() as f64).min(1.0);
    let moved = busy * able.map(|of| of.traffic / of.tile).sum::<f64>();
    if moved > host {
        for cost in costs.iter_mut().flatten() {
            *cost = cost.slowed(moved / host);
        }
    }
    // Tasks that could be divided further would end sooner; that is known without a search.
    let rate: f64 = costs.iter().flatten().map(|cost| cost.tile.recip()).sum();
    if is_slow(tiles as f64 / rate) {
        return None;
    }
    let turns = costs.iter().flatten().map(|cost| Turn {
        free: cost.begin + if tiles == 1 { cost.end } else { 0.0 },
        task: cost.tile,
    });
    let end = costs.iter().flatten().map(|cost| cost.end);
    let end = if tiles == 1 {
        0.0
    } else {
        end.fold(f64::INFINITY, f64::min)
    };
    Some(Plan {
        cut,
        seconds: makespan(tiles, turns) + end,
        costs,
    })
}

/// The sizes of blocks of an axis that are tried, largest first: parts that are nearly equal, of
/// whole grains.
fn parts(size: usize, grain: Grain) -> Vec<usize> {
    let mut sizes = Vec::new();
    let mut count = 1;
    while count <= size {
        let exact = size.div_ceil(count);
        let block = if count == 1 {
            size
        } else if exact >= 2 * GRAIN {
            exact.next_multiple_of(GRAIN)
        } else {
            exact
        };
        let block = grain.block(block, size);
        if sizes.last() != Some(&block) {
            sizes.push(block);
        }
        // 1 to 12, and then in steps of a quarter.
        count += if count < 12 { 1 } else { count / 4 };
    }
    let smallest = grain.block(1, size);
    if sizes.last() != Some(&smallest) {
        sizes.push(smallest);
    }
    sizes
}

#[cfg(test)]
#[path = "../../tests/unit/tasks_sizes.rs"]
mod tests;
