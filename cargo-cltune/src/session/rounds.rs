//! Which devices are tuned at the same time.
//!
//! GPUs and accelerators do not disturb each other, so they are tuned side by side. A CPU shares its
//! cores with all that builds, so it has a round of its own. So has what may be the same hardware
//! through another driver: a device of the same vendor on another platform.

use super::plan::Job;
use crate::worker::DeviceRecord;

/// The searches of one device, in their order.
pub(crate) type Searches = Vec<Job>;

/// The rounds of a session, one after another; the devices of a round are tuned side by side.
pub(crate) fn rounds(jobs: Vec<Job>) -> Vec<Vec<Searches>> {
    let mut devices: Vec<Searches> = Vec::new();
    for job in jobs {
        let index = job.device.index;
        match devices.iter_mut().find(|of| of[0].device.index == index) {
            Some(searches) => searches.push(job),
            None => devices.push(vec![job]),
        }
    }
    let mut rounds: Vec<Vec<Searches>> = Vec::new();
    // CPUs come last: what they share with the others is busy till then.
    devices.sort_by_key(|searches| searches[0].device.is_cpu());
    for searches in devices {
        let device = &searches[0].device;
        let fits = |round: &&mut Vec<Searches>| {
            let mut others = round.iter();
            others.all(|other| !disturb(&other[0].device, device))
        };
        match rounds.iter_mut().find(fits) {
            Some(round) => round.push(searches),
            None => rounds.push(vec![searches]),
        }
    }
    rounds
}

/// Whether measuring on one may disturb measuring on the other.
fn disturb(a: &DeviceRecord, b: &DeviceRecord) -> bool {
    let maybe_one = a.platform != b.platform && a.vendor == b.vendor;
    a.is_cpu() || b.is_cpu() || maybe_one
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    /// The indices of the devices of each round, and how many searches each has.
    fn indices(devices: &[(&str, &str, &str)]) -> Vec<Vec<(usize, usize)>> {
        let devices = devices.iter().enumerate();
        let records: Vec<DeviceRecord> = devices
            .map(|(index, (kind, platform, vendor))| DeviceRecord {
                platform: (*platform).to_owned(),
                vendor: (*vendor).to_owned(),
                device_type: (*kind).to_owned(),
                ..DeviceRecord::new(index, &samples::device("x"))
            })
            .collect();
        let jobs = [8, 16].iter().flat_map(|size| {
            records.iter().map(|device| Job {
                folder: "app".into(),
                declaration: samples::declaration("app::saxpy", "b3:1", &[8]),
                device: device.clone(),
                twins: Vec::new(),
                dims: vec![*size],
            })
        });
        let rounds = rounds(jobs.collect()).into_iter();
        let searches = |of: &Searches| (of[0].device.index, of.len());
        rounds
            .map(|round| round.iter().map(searches).collect())
            .collect()
    }

    #[test]
    fn what_does_not_disturb_each_other_is_tuned_side_by_side() {
        assert_eq!(
            indices(&[("cpu", "a", "x"), ("gpu", "b", "y"), ("gpu", "c", "z")]),
            [vec![(1, 2), (2, 2)], vec![(0, 2)]]
        );
        assert_eq!(
            indices(&[("gpu", "a", "x"), ("gpu", "b", "x"), ("gpu", "a", "x")]),
            [vec![(0, 2), (2, 2)], vec![(1, 2)]]
        );
        assert_eq!(
            indices(&[("cpu", "a", "x"), ("cpu", "b", "y")]),
            [vec![(0, 2)], vec![(1, 2)]]
        );
        assert!(indices(&[]).is_empty());
    }
}
