//! The names by which entries refer to devices.

use super::{LockDevice, Lockfile};
use cltune_core::device::DeviceInfo;
use std::collections::{HashMap, HashSet};

impl Lockfile {
    /// The id under which this device is, or would be, in the file.
    ///
    /// A device that is in the file keeps its id for ever. A new one gets the slug of its name;
    /// where another device has that already, the platform is added, and then a number.
    pub fn device_id(&self, info: &DeviceInfo) -> String {
        match self.device_of(info) {
            Some(device) => device.id.clone(),
            None => Ids::of(&self.devices).free(&info.name, &info.platform),
        }
    }
}

/// The ids of some devices.
#[derive(Default)]
pub(crate) struct Ids {
    taken: HashSet<String>,
    /// The next number to try for ids that end in one, by their beginning.
    numbers: HashMap<String, usize>,
}

impl Ids {
    pub(super) fn of(devices: &[LockDevice]) -> Self {
        Self {
            taken: devices.iter().map(|device| device.id.clone()).collect(),
            numbers: HashMap::new(),
        }
    }

    /// Takes an id. Whether no other device has it.
    pub(super) fn take(&mut self, id: &str) -> bool {
        self.taken.insert(id.to_owned())
    }

    /// Takes an id that none of the devices has.
    pub(crate) fn free(&mut self, name: &str, platform: &str) -> String {
        let plain = slug(name);
        if self.take(&plain) {
            return plain;
        }
        let with_platform = format!("{plain}-{}", slug(platform));
        if self.take(&with_platform) {
            return with_platform;
        }
        let number = self.numbers.entry(with_platform.clone()).or_insert(2);
        loop {
            let numbered = format!("{with_platform}-{number}");
            *number += 1;
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// Lower-case letters and digits, with one `-` for everything between them: `NVIDIA H200` becomes
/// `nvidia-h200`. Trademark signs, as in `Intel(R)`, say nothing and are left out.
fn slug(name: &str) -> String {
    let name = name
        .replace("(R)", " ")
        .replace("(TM)", " ")
        .replace("(tm)", " ");
    let mut slug = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() {
        "device".to_owned()
    } else {
        slug.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_readable() {
        for (name, expected) in [
            ("NVIDIA H200", "nvidia-h200"),
            (
                "pthread-skylake-avx512-AMD EPYC",
                "pthread-skylake-avx512-amd-epyc",
            ),
            (
                "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz",
                "intel-xeon-platinum-8481c-cpu-2-70ghz",
            ),
            ("  --  ", "device"),
            ("日本", "device"),
        ] {
            assert_eq!(slug(name), expected);
        }
    }
}
