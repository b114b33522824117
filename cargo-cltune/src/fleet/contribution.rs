//! A contribution: what a device was found to like, in one file for somebody who does not own it.
//!
//! It is a JSON object of the release that wrote it, facts of devices, and the text of a lockfile
//! by lines, so that a person can read what is given away. A seal over all of it shows whether it
//! was changed on the way; whoever changes it on purpose can seal it again.

use crate::newer_version::NewerVersion;
use crate::worker::DeviceRecord;
use cltune_formats::fingerprint;
use cltune_formats::lockfile::{Lockfile, LockfileError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the format.
const VERSION: u32 = 1;

/// The values of some devices, and facts of these devices.
#[derive(Debug, PartialEq)]
pub(crate) struct Contribution {
    /// The release that wrote it.
    pub(crate) cltune: String,
    pub(crate) devices: Vec<DeviceFacts>,
    pub(crate) lockfile: Lockfile,
}

/// What a device tells of itself, besides what the lockfile has.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeviceFacts {
    /// Its name in the lockfile.
    id: String,
    /// `CL_DEVICE_VERSION`.
    version: String,
    /// Those that constraints may ask for, by name.
    limits: BTreeMap<String, i64>,
}

/// The file. The seal covers these keys alone, thus there may be no others.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Text {
    cltune_contribution: u32,
    cltune: String,
    devices: Vec<DeviceFacts>,
    /// The lines of a lockfile.
    lockfile: Vec<String>,
    /// A fingerprint of the rest.
    seal: String,
}

/// As much of the file as every version has.
#[derive(Deserialize)]
struct AnyText {
    cltune_contribution: u32,
    #[serde(default)]
    cltune: String,
}

/// Why a text is no contribution.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ContributionError {
    /// It is no JSON, or not of this form.
    #[error("it is no contribution: {0}")]
    Form(#[from] serde_json::Error),
    /// A newer release wrote it.
    #[error(transparent)]
    Newer(#[from] NewerVersion),
    /// Its seal is another's.
    #[error(
        "the contribution was changed after it was made: its seal does not fit. Ask for the file that \
         `cargo cltune contribute` wrote"
    )]
    Changed,
    /// What it holds is no lockfile.
    #[error("in its lockfile, {0}")]
    Lockfile(#[from] LockfileError),
}

impl DeviceFacts {
    /// Of a device, under its name in a lockfile.
    pub(crate) fn of(id: &str, device: &DeviceRecord) -> Self {
        Self {
            id: id.to_owned(),
            version: device.version.clone(),
            limits: device.limits.clone(),
        }
    }
}

impl Contribution {
    /// The text of the file.
    ///
    /// # Errors
    /// Never, for what is held here.
    pub(crate) fn to_text(&self) -> serde_json::Result<String> {
        let lockfile = self.lockfile.to_text();
        let mut text = Text {
            cltune_contribution: VERSION,
            cltune: self.cltune.clone(),
            devices: self.devices.clone(),
            lockfile: lockfile.lines().map(str::to_owned).collect(),
            seal: String::new(),
        };
        text.seal = text.sealed_by()?;
        Ok(serde_json::to_string_pretty(&text)? + "\n")
    }

    /// Understands the text of a file.
    ///
    /// # Errors
    /// See [`ContributionError`].
    pub(crate) fn parse(text: &str) -> Result<Self, ContributionError> {
        let any: AnyText = serde_json::from_str(text)?;
        NewerVersion::check(any.cltune_contribution, VERSION, any.cltune)?;
        let text: Text = serde_json::from_str(text)?;
        if text.seal != text.sealed_by()? {
            return Err(ContributionError::Changed);
        }
        Ok(Self {
            lockfile: Lockfile::parse(&text.lockfile.join("\n"))?,
            cltune: text.cltune,
            devices: text.devices,
        })
    }
}

impl Text {
    /// The seal that fits. How the file is indented does not matter.
    fn sealed_by(&self) -> serde_json::Result<String> {
        let content = (
            self.cltune_contribution,
            &self.cltune,
            &self.devices,
            &self.lockfile,
        );
        Ok(fingerprint::of_text(&serde_json::to_string(&content)?))
    }
}

/// Whether a text is a contribution rather than TOML.
pub(crate) fn is_contribution(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

#[cfg(test)]
#[path = "../../tests/unit/fleet_contribution.rs"]
mod tests;
