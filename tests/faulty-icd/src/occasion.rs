//! Which fault is due: counts calls, and remembers what kernels were built with.

use crate::fault::{Effect, Fault, When};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A program or a kernel: its address.
pub(crate) type Handle = usize;

/// The faults, and what is known of this process's calls.
pub(crate) struct Occasions {
    faults: Vec<Fault>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    calls: HashMap<&'static str, u64>,
    options: HashMap<Handle, String>,
    /// The options of the kernel that was launched last.
    launched: String,
}

impl Occasions {
    pub(crate) fn new(faults: Vec<Fault>) -> Self {
        Self {
            faults,
            known: Mutex::default(),
        }
    }

    /// A program is built with these options.
    pub(crate) fn built(&self, program: Handle, options: &str) {
        self.known().options.insert(program, options.to_owned());
    }

    /// A kernel was made from a program.
    pub(crate) fn created(&self, kernel: Handle, program: Handle) {
        let mut known = self.known();
        let options = known.options.get(&program).cloned().unwrap_or_default();
        known.options.insert(kernel, options);
    }

    /// A kernel is launched.
    pub(crate) fn launched(&self, kernel: Handle) {
        let mut known = self.known();
        known.launched = known.options.get(&kernel).cloned().unwrap_or_default();
    }

    /// The effects that are due at a call: of a program or kernel, or of what was launched last.
    pub(crate) fn due(&self, call: &'static str, of: Option<Handle>) -> Vec<&Effect> {
        let mut known = self.known();
        let count = known.calls.entry(call).or_default();
        *count += 1;
        let count = *count;
        let options = match of {
            Some(handle) => known.options.get(&handle).map_or("", String::as_str),
            None => &known.launched,
        };
        let is_due = |fault: &&Fault| {
            fault.call == call
                && match &fault.when {
                    When::Always => true,
                    When::Nth(nth) => count == *nth,
                    When::Option(option) => options.split_whitespace().any(|word| word == option),
                }
        };
        let due = self.faults.iter().filter(is_due);
        due.map(|fault| &fault.effect).collect()
    }

    /// The files of `lost`.
    pub(crate) fn marks(&self) -> impl Iterator<Item = &Path> {
        self.faults.iter().filter_map(|fault| match &fault.effect {
            Effect::Lost(mark) => Some(mark.as_path()),
            _ => None,
        })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::parse;

    fn due(occasions: &Occasions, call: &'static str, of: Option<Handle>) -> usize {
        occasions.due(call, of).len()
    }

    #[test]
    fn the_nth_call_is_counted_by_name() {
        let occasions = Occasions::new(parse("hang@clFinish:#2").unwrap());
        assert_eq!(due(&occasions, "clFinish", None), 0);
        assert_eq!(due(&occasions, "clFlush", None), 0);
        assert_eq!(due(&occasions, "clFinish", None), 1);
        assert_eq!(due(&occasions, "clFinish", None), 0);
    }

    #[test]
    fn options_are_remembered_from_the_program_to_its_launch() {
        let faults = "abort@clEnqueueNDRangeKernel:A=3;segv@clFinish:A=3";
        let occasions = Occasions::new(parse(faults).unwrap());
        let (other, program) = (1, 2);
        occasions.built(other, "-DA=33 -DB=1");
        occasions.built(program, "-DB=1 -DA=3");
        occasions.created(11, other);
        occasions.created(12, program);
        assert_eq!(due(&occasions, "clEnqueueNDRangeKernel", Some(11)), 0);
        assert_eq!(due(&occasions, "clEnqueueNDRangeKernel", Some(12)), 1);
        occasions.launched(11);
        assert_eq!(due(&occasions, "clFinish", None), 0);
        occasions.launched(12);
        assert_eq!(due(&occasions, "clFinish", None), 1);
    }
}
