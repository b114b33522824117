//! A part of a launch: enough to see that a configuration is far slower than the best.
//!
//! Only where the declaration says that all work-groups do about the same (`even_work = true`),
//! whichever of them are launched. A kernel that divides its work by the number of work-groups
//! (`get_global_size(0)`) does not: then a part takes as long as the whole.

use cltune_core::model::Geometry;

/// The part has at most one of so many work-groups, where that leaves one for each compute unit.
const PARTS: usize = 8;
/// A larger part takes nearly as long as the whole.
const LEAST_GAIN: usize = 2;

/// The first work-groups of a launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) geometry: Geometry,
    /// The factor by which the whole launch has more work-groups.
    times: f64,
}

impl Part {
    /// A part of `whole`, cut across the dimension with the most work-groups; `None` where it would
    /// be too large, or the driver chooses the work-groups.
    pub(super) fn of(whole: &Geometry, compute_units: usize) -> Option<Self> {
        let local = whole.local?;
        let groups: [usize; 3] = std::array::from_fn(|at| whole.global[at] / local[at].max(1));
        let all = groups
            .iter()
            .try_fold(1_usize, |all, count| all.checked_mul(*count))?;
        let (cut, most) = groups
            .into_iter()
            .enumerate()
            .max_by_key(|(_, count)| *count)?;
        let wanted = all.div_ceil(PARTS).max(compute_units);
        let kept = wanted.div_ceil(all.checked_div(most)?);
        if kept * LEAST_GAIN > most {
            return None;
        }
        let mut geometry = *whole;
        geometry.global[cut] = kept * local[cut];
        Some(Self {
            geometry,
            times: most as f64 / kept as f64,
        })
    }

    /// The least time of the whole launch, microseconds, where the part took so many.
    ///
    /// A CPU's cores work on a work-group each, so that the whole takes as many times as long as it
    /// has work-groups; half of that, since cores may have had nothing to do at the end of the
    /// part. Other devices have many work-groups on a compute unit at a time: the part may have
    /// taken as long as the whole does, but not longer.
    pub(super) fn whole_takes_at_least_us(&self, part_us: f64, is_cpu: bool) -> f64 {
        if is_cpu {
            part_us * (self.times / 2.0).max(1.0)
        } else {
            part_us
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry(global: [usize; 3], local: Option<[usize; 3]>) -> Geometry {
        Geometry {
            work_dim: 2,
            global,
            local,
            offset: None,
        }
    }

    fn part(global: [usize; 3], compute_units: usize) -> Option<([usize; 3], f64)> {
        let whole = geometry(global, Some([8, 4, 1]));
        Part::of(&whole, compute_units).map(|part| (part.geometry.global, part.times))
    }

    #[test]
    fn a_part_has_whole_work_groups_and_one_for_each_compute_unit() {
        // 16 x 8 work-groups.
        assert_eq!(part([128, 32, 1], 2), Some(([16, 32, 1], 8.0)));
        assert_eq!(part([128, 32, 1], 40), Some(([40, 32, 1], 3.2)));
        assert_eq!(part([128, 32, 1], 80), None, "more than half");
        // 2 x 16.
        assert_eq!(part([16, 64, 1], 2), Some(([16, 8, 1], 8.0)));
        assert_eq!(part([8, 4, 1], 1), None, "one work-group");
        assert_eq!(Part::of(&geometry([128, 32, 1], None), 2), None);
        let endless = [1 << 36, 1 << 36, 1];
        assert_eq!(
            part(endless, 2),
            None,
            "more work-groups than 64 bits count"
        );
    }

    #[test]
    fn the_whole_takes_no_less_than_what_is_certain() {
        let whole = geometry([128, 32, 1], Some([8, 4, 1]));
        let part = Part::of(&whole, 2).unwrap();
        assert_eq!(part.whole_takes_at_least_us(10.0, true), 40.0);
        assert_eq!(part.whole_takes_at_least_us(10.0, false), 10.0);
    }
}
