//! The choice of the fault that is due: counts calls, and remembers what kernels were built with.

use crate::fault::{Effect, Fault};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A program or a kernel: its address.
pub(crate) type Handle = usize;

/// The faults, and what is known of this process's calls.
pub(crate) struct Occasions {
    faults: Vec<Fault>,
    known: Mutex<Environment>,
}

#[derive(Default)]
struct Environment {
    /// How many calls each fault was about.
    calls: HashMap<usize, u64>,
    options: HashMap<Handle, String>,
    /// The options of the kernel that was launched last.
    launched: String,
    /// The name of the device that a context was made for last.
    device: String,
}

impl Occasions {
    pub(crate) fn new(faults: Vec<Fault>) -> Self {
        Self {
            faults,
            known: Mutex::default(),
        }
    }

    /// A context is made for the device of this name.
    pub(crate) fn used(&self, device: &str) {
        device.clone_into(&mut self.known().device);
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
        let Environment {
            calls,
            options,
            launched,
            device,
        } = &mut *known;
        let options = match of {
            Some(handle) => options.get(&handle).map_or("", String::as_str),
            None => launched,
        };
        let is_due = |(number, fault): &(usize, &Fault)| {
            let has = |option: &String| options.split_whitespace().any(|word| word == option);
            let is_on = |name: &String| device.starts_with(name.as_str());
            if fault.call != call
                || !fault.option.as_ref().is_none_or(has)
                || !fault.device.as_ref().is_none_or(is_on)
            {
                return false;
            }
            let count = calls.entry(*number).or_default();
            *count += 1;
            fault.nth.is_none_or(|nth| nth == *count)
        };
        let due = self.faults.iter().enumerate().filter(is_due);
        due.map(|(_, fault)| &fault.effect).collect()
    }

    /// The files of `lost`.
    pub(crate) fn marks(&self) -> impl Iterator<Item = &Path> {
        self.faults.iter().filter_map(|fault| match &fault.effect {
            Effect::Lost(mark) => Some(mark.as_path()),
            _ => None,
        })
    }

    fn known(&self) -> MutexGuard<'_, Environment> {
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
    fn the_nth_call_is_counted_for_each_fault() {
        let occasions = Occasions::new(parse("hang@clFinish#2").unwrap());
        assert_eq!(due(&occasions, "clFinish", None), 0);
        assert_eq!(due(&occasions, "clFlush", None), 0);
        assert_eq!(due(&occasions, "clFinish", None), 1);
        assert_eq!(due(&occasions, "clFinish", None), 0);
    }

    #[test]
    fn a_device_is_remembered_from_its_context() {
        let occasions = Occasions::new(parse("hang@clFinish/basic").unwrap());
        assert_eq!(due(&occasions, "clFinish", None), 0);
        occasions.used("basic-x86");
        assert_eq!(due(&occasions, "clFinish", None), 1);
        occasions.used("other");
        assert_eq!(due(&occasions, "clFinish", None), 0);
    }

    #[test]
    fn options_are_remembered_from_the_program_to_its_launch() {
        let faults = "abort@clEnqueueNDRangeKernel:A=3#2;segv@clFinish:A=3";
        let occasions = Occasions::new(parse(faults).unwrap());
        let (other, program) = (1, 2);
        occasions.built(other, "-DA=33 -DB=1");
        occasions.built(program, "-DB=1 -DA=3");
        occasions.created(11, other);
        occasions.created(12, program);
        assert_eq!(due(&occasions, "clEnqueueNDRangeKernel", Some(11)), 0);
        assert_eq!(due(&occasions, "clEnqueueNDRangeKernel", Some(12)), 0);
        assert_eq!(due(&occasions, "clEnqueueNDRangeKernel", Some(12)), 1);
        occasions.launched(11);
        assert_eq!(due(&occasions, "clFinish", None), 0);
        occasions.launched(12);
        assert_eq!(due(&occasions, "clFinish", None), 1);
    }
}
