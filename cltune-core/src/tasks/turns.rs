//! The device that a task is for: the one that ends it first.

/// A device and the tasks of one operation, seconds from now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// When it has ended what it was given.
    pub free: f64,
    /// For one task more.
    pub task: f64,
}

/// When all of `tasks` equal tasks have ended at the earliest, if these devices compute them.
/// Infinite without devices.
pub fn makespan(tasks: usize, devices: impl Iterator<Item = Turn> + Clone) -> f64 {
    let able = |turn: &Turn| turn.task.is_finite() && turn.task > 0.0;
    let devices = devices.filter(able);
    if tasks == 0 {
        return 0.0;
    }
    let first = devices.clone().map(|turn| turn.free + turn.task);
    let Some(first) = first.min_by(f64::total_cmp) else {
        return f64::INFINITY;
    };
    // Between the end of the first task, and of all on the device that ends one first.
    let alone = devices
        .clone()
        .map(|turn| turn.free + turn.task * tasks as f64)
        .fold(f64::INFINITY, f64::min);
    let done_by = |time: f64| -> f64 {
        let count = |turn: Turn| ((time - turn.free) / turn.task + 1e-9).floor().max(0.0);
        devices.clone().map(count).sum()
    };
    let (mut low, mut high) = (first, alone);
    for _ in 0..48 {
        let middle = 0.5 * (low + high);
        if done_by(middle) >= tasks as f64 {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Whether a device is to take one of the tasks that are left: not where the others would have
/// ended all of them before it has ended this one.
pub fn takes(device: usize, tasks: usize, devices: &[Option<Turn>]) -> bool {
    let Some(Some(own)) = devices.get(device) else {
        return false;
    };
    if tasks == 0 {
        return false;
    }
    let others = devices.iter().enumerate();
    let others = others.filter(|(other, _)| *other != device);
    let without = makespan(tasks, others.filter_map(|(_, turn)| *turn));
    // Those of equal speed do not leave the last task to each other.
    own.free + own.task <= without * (1.0 + 1e-6)
}

/// Whether a device without tasks is to compute one of another device's a second time: it would
/// end it well before the other one does. Times in seconds.
pub fn is_worth_repeating(here: f64, left_there: f64) -> bool {
    here * 1.25 + LEAST_GAIN < left_there
}

/// A gain that is worth computing something twice, seconds.
const LEAST_GAIN: f64 = 5e-3;

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(
        clippy::unnecessary_wraps,
        reason = "devices that are there, of a list with others"
    )]
    fn turn(free: f64, task: f64) -> Option<Turn> {
        Some(Turn { free, task })
    }

    #[test]
    fn a_device_that_would_end_last_gets_nothing() {
        // The fast one ends ten tasks in ten seconds, the slow one needs a hundred for one.
        let devices = [turn(0.0, 1.0), turn(0.0, 100.0)];
        assert!(takes(0, 10, &devices));
        assert!(!takes(1, 10, &devices));
        assert!(takes(1, 101, &devices));
        // Once the fast one has failed, the slow one does all.
        assert!(takes(1, 1, &[None, turn(0.0, 100.0)]));
        assert!(!takes(0, 1, &[None, turn(0.0, 100.0)]));
        assert!(!takes(0, 0, &devices));
    }

    #[test]
    fn somebody_takes_the_last_task() {
        for (a, b) in [(1.0, 1.0), (1.0, 1.0001), (3.0, 0.5), (1e-3, 1e3)] {
            let devices = [turn(0.0, a), turn(0.0, b)];
            assert!(takes(0, 1, &devices) || takes(1, 1, &devices));
        }
        // The device that is busy would end it sooner than the idle one.
        let devices = [turn(1.0, 1.0), turn(0.0, 2.5)];
        assert_eq!(
            [0, 1].map(|device| takes(device, 1, &devices)),
            [true, false]
        );
    }

    #[test]
    fn a_makespan_is_that_of_giving_each_task_to_who_ends_it_first() {
        let devices = [(0.0, 1.0), (0.5, 2.0), (3.0, 0.7)].map(|(free, task)| Turn { free, task });
        for tasks in 1..40 {
            let mut free = devices.map(|turn| turn.free);
            let mut last = 0.0_f64;
            for _ in 0..tasks {
                let ends = [0, 1, 2].map(|device| free[device] + devices[device].task);
                let best = [0, 1, 2]
                    .into_iter()
                    .min_by(|a, b| ends[*a].total_cmp(&ends[*b]))
                    .unwrap();
                free[best] = ends[best];
                last = last.max(ends[best]);
            }
            let found = makespan(tasks, devices.into_iter());
            assert!((found - last).abs() < 1e-6, "{tasks}: {found} {last}");
        }
        assert_eq!(makespan(0, devices.into_iter()), 0.0);
        assert_eq!(makespan(3, [].into_iter()), f64::INFINITY);
    }
}
