//! The decision to leave out a device that disturbs the others more than it helps: a CPU that
//! computes 5 % of a problem may slow the transfers of GPUs by more, since these go through it.

/// Calls after which factors have settled.
const SETTLING: u32 = 12;

/// How many calls are compared: the faster of two with the device, and of two without it.
const CALLS: usize = 2;

/// A device is left out when the others alone need less than this part of the time.
const GAIN: f64 = 0.98;

/// Which devices are left out, and what is being tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Worth {
    left_out: Vec<bool>,
    trial: Trial,
}

#[derive(Clone, Debug, PartialEq)]
enum Trial {
    /// So many calls have ended since a device was left out.
    Settling(u32),
    /// Times with a device, seconds.
    With { member: usize, times: Vec<f64> },
    /// The fastest time with it, and those without. The first of these prepares new shares and does
    /// not count.
    Without {
        member: usize,
        with: f64,
        times: Vec<Option<f64>>,
    },
    /// The slowest device is worth its place, so all are.
    Decided,
}

impl Worth {
    /// No device is left out of so many.
    pub fn new(members: usize) -> Self {
        Self {
            left_out: vec![false; members],
            trial: Trial::Settling(0),
        }
    }

    /// Whether a device is to do nothing in the next call.
    pub fn is_left_out(&self, member: usize) -> bool {
        let is_tried =
            matches!(self.trial, Trial::Without { member: tried, .. } if tried == member);
        is_tried || self.left_out.get(member).copied().unwrap_or(false)
    }

    /// Learns from a call that took so long and in which each device computed such a part. Calls
    /// that went otherwise than planned, with devices probed or failing, are not to be told.
    pub fn ended(&mut self, seconds: f64, parts: &[f64]) {
        let trial = std::mem::replace(&mut self.trial, Trial::Decided);
        self.trial = match trial {
            Trial::Settling(calls) if calls < SETTLING => Trial::Settling(calls + 1),
            Trial::Settling(_) => match slowest(parts) {
                Some(member) => with(member, vec![seconds]),
                None => Trial::Decided,
            },
            Trial::With { member, mut times } => {
                times.push(seconds);
                with(member, times)
            }
            Trial::Without {
                member,
                with,
                mut times,
            } => {
                let counts = !times.is_empty();
                times.push(counts.then_some(seconds));
                if times.len() <= CALLS {
                    Trial::Without {
                        member,
                        with,
                        times,
                    }
                } else if fastest(times.into_iter().flatten()) < with * GAIN {
                    if let Some(left_out) = self.left_out.get_mut(member) {
                        *left_out = true;
                    }
                    Trial::Settling(0)
                } else {
                    Trial::Decided
                }
            }
            Trial::Decided => Trial::Decided,
        };
    }
}

fn with(member: usize, times: Vec<f64>) -> Trial {
    if times.len() < CALLS {
        return Trial::With { member, times };
    }
    Trial::Without {
        member,
        with: fastest(times),
        times: Vec::new(),
    }
}

fn fastest(times: impl IntoIterator<Item = f64>) -> f64 {
    times.into_iter().fold(f64::INFINITY, f64::min)
}

/// The device with the smallest part, if there are several with one.
fn slowest(parts: &[f64]) -> Option<usize> {
    let working = parts.iter().enumerate().filter(|(_, part)| **part > 0.0);
    let slowest = working.clone().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    (working.count() > 1).then_some(slowest.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets so many calls end, each as long as `seconds` says of who takes part.
    fn after(calls: usize, seconds: impl Fn(&[bool]) -> f64) -> Worth {
        let parts = [0.5, 0.05, 0.45];
        let mut worth = Worth::new(parts.len());
        for _ in 0..calls {
            let works: Vec<bool> = (0..parts.len())
                .map(|member| !worth.is_left_out(member))
                .collect();
            let part = |member: usize| if works[member] { parts[member] } else { 0.0 };
            let parts: Vec<f64> = (0..parts.len()).map(part).collect();
            worth.ended(seconds(&works), &parts);
        }
        worth
    }

    fn left_out(worth: &Worth) -> Vec<usize> {
        (0..3).filter(|member| worth.is_left_out(*member)).collect()
    }

    #[test]
    fn a_device_that_disturbs_is_left_out_and_no_other() {
        let worth = after(80, |works| match works {
            [true, true, true] => 1.5,
            [true, false, true] => 1.2,
            _ => 2.4,
        });
        assert_eq!(left_out(&worth), [1]);
        assert_eq!(worth.trial, Trial::Decided);
    }

    #[test]
    fn a_device_that_helps_a_little_stays() {
        let worth = after(80, |works| if works[1] { 1.0 } else { 1.03 });
        assert_eq!(left_out(&worth), []);
        assert_eq!(worth.trial, Trial::Decided);
    }

    #[test]
    fn it_is_tried_when_the_split_has_settled_and_for_three_calls() {
        let tried = |calls| left_out(&after(calls, |_| 1.0));
        let settled = SETTLING as usize + CALLS;
        assert_eq!(tried(settled - 1), []);
        for calls in settled..settled + 3 {
            assert_eq!(tried(calls), [1], "{calls}");
        }
        assert_eq!(tried(settled + 3), []);
    }

    #[test]
    fn a_device_alone_is_never_left_out() {
        let mut worth = Worth::new(2);
        for _ in 0..80 {
            worth.ended(1.0, &[1.0, 0.0]);
        }
        assert!(!worth.is_left_out(0) && !worth.is_left_out(1));
    }
}
