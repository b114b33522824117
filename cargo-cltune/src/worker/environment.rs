//! Environment variables of workers.

use std::fs::read_to_string;

/// What every worker gets, where the user has not set it.
pub(super) fn of_every_worker() -> &'static [(&'static str, &'static str)] {
    // PoCL's threads keep to a core each. Linux may leave threads that slept on one core for longer
    // than the runs of a configuration take, while others are idle: their times would be of one
    // core or of all by chance.
    if has_all_cores() {
        &[("POCL_AFFINITY", "1")]
    } else {
        &[]
    }
}

/// Whether this process may use all cores. PoCL gives its threads the cores from the first one on,
/// whichever those are that a job of Slurm, a container or `taskset` has; its newer releases end
/// the process where one is refused.
fn has_all_cores() -> bool {
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let online = read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    allowed.is_some_and(|allowed| are_all(allowed, &online))
}

/// Whether the first list of cores has all of the second, which begins at 0 and leaves none out.
fn are_all(allowed: &str, online: &str) -> bool {
    let (Some(allowed), Some(online)) = (cores(allowed), cores(online)) else {
        return false;
    };
    (0..online.len()).all(|core| online.contains(&core) && allowed.contains(&core))
}

/// The cores of a list of Linux's, such as `0-3,8`.
fn cores(list: &str) -> Option<Vec<usize>> {
    let mut cores = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cores.extend(first.parse::<usize>().ok()?..=last.parse().ok()?);
    }
    Some(cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores_are_read() {
        assert_eq!(cores("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(cores("\t5"), Some(vec![5]));
        assert_eq!(cores(""), None);
        assert_eq!(cores("0-"), None);
    }

    #[test]
    fn a_part_of_the_cores_is_not_all() {
        assert!(are_all("\t0-7", "0-7\n"));
        // Cores that could be added.
        assert!(are_all("0-255", "0-1"));
        assert!(!are_all("4-7", "0-7"));
        assert!(!are_all("0-6", "0-7"));
        assert!(!are_all("0-7", "0,2-7"), "core 1 is off");
        assert!(!are_all("0-7", ""));
    }
}
