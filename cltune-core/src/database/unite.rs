//! A database with another's entries.

use super::{Database, Entry};
use crate::select::TunedDevice;

impl Database {
    /// Adds an entry for a device, in the place of one with the same key. Its
    /// [`device`](Entry::device) is set. Whether there was none.
    pub fn put(&mut self, device: &TunedDevice, entry: Entry) -> bool {
        let device = self.position(device);
        let entry = Entry { device, ..entry };
        let mut known = self.entries.iter_mut();
        if let Some(known) =
            known.find(|known| known.device == device && known.key() == entry.key())
        {
            *known = entry;
            return false;
        }
        self.entries.push(entry);
        true
    }

    /// Takes over what another holds; of two entries with the same key the faster one. How many
    /// entries are new.
    pub fn merge(&mut self, other: &Self) -> usize {
        let mut added = 0;
        for entry in &other.entries {
            let Some(device) = other.devices.get(entry.device) else {
                continue;
            };
            let position = self.position(device);
            let is_same = |known: &&Entry| known.device == position && known.key() == entry.key();
            let known = self.entries.iter().find(is_same);
            if known.is_none_or(|known| entry.time_us < known.time_us) {
                added += usize::from(self.put(device, entry.clone()));
            }
        }
        added
    }

    /// Takes over the user's own: where that has something about a device, a template and a size
    /// of scalars, nothing else is known of these.
    pub fn override_by(&mut self, own: &Self) {
        let overridden: Vec<bool> = self
            .entries
            .iter()
            .map(|entry| {
                let key = self.device_key(entry);
                let is_overriding = |of: &Entry| of.is_like(entry) && own.device_key(of) == key;
                own.entries.iter().any(is_overriding)
            })
            .collect();
        let mut overridden = overridden.into_iter();
        self.entries.retain(|_| !overridden.next().unwrap_or(false));
        self.merge(own);
    }

    /// Without what was found with this tunable: what is left is what a new expression like it
    /// would get.
    #[must_use]
    pub fn without(&self, kernel: &str) -> Self {
        let entries = self.entries.iter().filter(|entry| entry.kernel != kernel);
        Self {
            devices: self.devices.clone(),
            entries: entries.cloned().collect(),
        }
    }

    /// The position of a device, which is added where it is not known.
    fn position(&mut self, device: &TunedDevice) -> usize {
        let mut known = self.devices.iter();
        let position = known.position(|known| known.key() == device.key());
        position.unwrap_or_else(|| {
            self.devices.push(device.clone());
            self.devices.len() - 1
        })
    }
}
