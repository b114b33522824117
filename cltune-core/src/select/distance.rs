//! The distances between problems and between devices.

use super::TunedDevice;
use crate::device::{DeviceInfo, DeviceType};

/// The distance of two problems: the sum over the dimensions of the squared logarithm of their
/// ratio, so that twice the size is as far as half the size. Sizes below 1 count as a half, so that
/// a dimension that says no or yes by 0 and 1 makes a difference.
pub fn problem_distance(a: &[i64], b: &[i64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(&a, &b)| squared_log_ratio(a, b))
        .sum()
}

/// Whether two problems are so alike that what was tuned for the one does for the other: no
/// dimension differs by more than a factor of two.
pub fn is_near(a: &[i64], b: &[i64]) -> bool {
    let is_near = |(&a, &b): (&i64, &i64)| {
        let (low, high) = (a.min(b).max(1), a.max(b).max(1));
        high <= low.saturating_mul(2)
    };
    a.len() == b.len() && a.iter().zip(b).all(is_near)
}

/// How similar another device is; the least is the most similar.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct DeviceDistance {
    /// Whether it is another device, which may have the same limits.
    other_device: bool,
    /// What is more than a difference in numbers.
    foreign: Foreign,
    /// Whether the vendor is another.
    pub(super) other_vendor: bool,
    /// The sum of the squared logarithms of the ratios of compute units and local memory.
    pub(super) limits: f64,
}

impl DeviceDistance {
    /// That of the device itself.
    pub(super) const SAME: Self = Self {
        other_device: false,
        foreign: Foreign::Neither,
        other_vendor: false,
        limits: 0.0,
    };
}

/// In which of platform and vendor a device differs. On CPUs the platform weighs more: its compiler
/// decides how work-items become vectors and loops, and CPUs of one instruction set differ less.
/// (Values of the same platform's CPU from another vendor were worth 82 % of the optimum, those of
/// another platform on the very same CPU 24 % and 42 %: docs/run-time.md.) Elsewhere the vendor is
/// the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Foreign {
    Neither,
    TheLesser,
    TheGreater,
    Both,
}

impl Foreign {
    const fn of(lesser: bool, greater: bool) -> Self {
        match (lesser, greater) {
            (false, false) => Self::Neither,
            (true, false) => Self::TheLesser,
            (false, true) => Self::TheGreater,
            (true, true) => Self::Both,
        }
    }
}

/// How similar a device is to this one, for the selection rule and for the prior results of a
/// search; `None` for other types of device, whose values say nothing.
pub fn device_distance(known: &TunedDevice, info: &DeviceInfo) -> Option<DeviceDistance> {
    if known.key().is(info.key()) {
        return Some(DeviceDistance::SAME);
    }
    if known.device_type != info.device_type {
        return None;
    }
    let compute_units = squared_log_ratio(known.compute_units, info.limits.compute_units);
    let local_memory = squared_log_ratio(known.local_mem_size, info.limits.local_mem_size);
    let other_vendor = known.vendor != info.vendor;
    let other_platform = known.platform != info.platform;
    let foreign = match info.device_type {
        DeviceType::Cpu => Foreign::of(other_vendor, other_platform),
        _ => Foreign::of(other_platform, other_vendor),
    };
    Some(DeviceDistance {
        other_device: true,
        foreign,
        other_vendor,
        limits: compute_units + local_memory,
    })
}

/// `ln(a / b)²`. The larger is divided by the smaller, so that equal ratios in either direction
/// are equal to the last bit and ties are ties.
pub(super) fn squared_log_ratio(a: i64, b: i64) -> f64 {
    if a == b {
        return 0.0;
    }
    let size = |number: i64| if number < 1 { 0.5 } else { number as f64 };
    let (a, b) = (size(a), size(b));
    let log = (a.max(b) / a.min(b)).ln();
    log * log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_symmetric_in_log_space() {
        assert_eq!(
            problem_distance(&[64], &[32]),
            problem_distance(&[64], &[128])
        );
        assert_eq!(
            problem_distance(&[6, 6], &[9, 6]),
            problem_distance(&[6, 6], &[6, 4])
        );
        assert!(problem_distance(&[100], &[90]) < problem_distance(&[100], &[120]));
        assert!(problem_distance(&[8, 8], &[16, 16]) < problem_distance(&[8, 8], &[64, 8]));
    }

    #[test]
    fn near_is_up_to_twice_as_large_in_every_dimension() {
        assert!(is_near(&[100, 64], &[50, 128]) && is_near(&[], &[]));
        assert!(!is_near(&[100, 64], &[49, 64]) && !is_near(&[100, 64], &[100, 129]));
        assert!(is_near(&[i64::MAX], &[i64::MAX / 2 + 1]) && is_near(&[-3], &[0]));
        assert!(!is_near(&[1], &[1, 1]));
    }

    #[test]
    fn sizes_that_have_no_logarithm_are_half_of_one() {
        for odd in [0, -5, i64::MIN] {
            assert_eq!(problem_distance(&[odd], &[1]), problem_distance(&[2], &[1]));
            assert_eq!(problem_distance(&[odd], &[-1]), 0.0);
        }
        assert!(problem_distance(&[i64::MIN], &[i64::MAX]).is_finite());
        assert_eq!(problem_distance(&[], &[]), 0.0);
    }

    #[test]
    fn no_and_yes_are_different() {
        let (no, yes) = ([4096, 0], [4096, 1]);
        let asked = [8192, 1];
        assert!(problem_distance(&yes, &asked) < problem_distance(&no, &asked));
    }
}
