//! Environment variables of workers.

use std::fs::read_to_string;

/// What every worker gets, where the user has not set it.
pub(super) fn of_every_worker() -> &'static [(&'static str, &'static str)] {
    // PoCL's threads keep to a core each. Linux leaves threads that slept on one core for up to
    // some 20 ms, while others are idle, and the runs of a configuration are over in less: their
    // times would be of one core or of all by chance.
    if has_all_cores() {
        &[("POCL_AFFINITY", "1")]
    } else {
        &[]
    }
}

/// Whether this process may use all cores. PoCL gives its threads the cores from the first one on,
/// whichever those are that a job of Slurm, a container or `taskset` has, and ends the process
/// where one is refused.
fn has_all_cores() -> bool {
    let allowed = || {
        let status = read_to_string("/proc/self/status").ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        cores(line)
    };
    let online = || cores(&read_to_string("/sys/devices/system/cpu/online").ok()?);
    match (allowed(), online()) {
        (Some(allowed), Some(online)) => {
            online.iter().enumerate().all(|(at, core)| at == *core)
                && online.iter().all(|core| allowed.contains(core))
        }
        _ => false,
    }
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
}
