//! Limits of the devices that spaces are counted for: all limits of a device of this machine, some
//! limits of one that is described.

use cltune_core::device::{DeviceField, DeviceInfo};

/// A device as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct Described {
    pub(super) name: String,
    /// Each field once.
    limits: Vec<(DeviceField, i64)>,
}

impl Described {
    /// A device of which nothing is known.
    pub(super) fn unknown(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            limits: Vec::new(),
        }
    }

    /// The limit, where it is known.
    pub(super) fn limit(&self, wanted: DeviceField) -> Option<i64> {
        let mut limits = self.limits.iter();
        limits.find_map(|(field, value)| (*field == wanted).then_some(*value))
    }
}

impl From<&DeviceInfo> for Described {
    fn from(device: &DeviceInfo) -> Self {
        let limits = DeviceField::ALL.iter();
        Self {
            name: device.name.clone(),
            limits: limits
                .map(|field| (*field, device.limits.get(*field)))
                .collect(),
        }
    }
}

/// Reads `NAME:max_work_group_size=512,local_mem_size=65536`.
pub(super) fn parse(text: &str) -> Result<Described, String> {
    let (name, limits) = text
        .split_once(':')
        .ok_or("expected `NAME:LIMIT=VALUE,…`, for example `GPU:max_work_group_size=512`")?;
    let mut device = Described::unknown(name.trim());
    for part in limits.split(',').filter(|part| !part.trim().is_empty()) {
        let (field, value) = part
            .split_once('=')
            .ok_or_else(|| format!("`{part}` is not of the form `LIMIT=VALUE`"))?;
        let field = field.trim();
        let known = DeviceField::from_name(field).ok_or_else(|| {
            let names: Vec<&str> = DeviceField::ALL.iter().map(|field| field.name()).collect();
            format!(
                "there is no limit `{field}`; there are: {}",
                names.join(", ")
            )
        })?;
        let value = value.trim().replace('_', "").parse().ok();
        let value = value.filter(|value: &i64| *value >= 0);
        let value = value.ok_or_else(|| format!("`{part}` needs an integer from 0 on"))?;
        if device.limit(known).is_some() {
            return Err(format!("`{field}` is given twice; keep one"));
        }
        device.limits.push((known, value));
    }
    Ok(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_are_not_given_are_not_known() {
        let device = parse("HD 4600: max_work_group_size=512, local_mem_size=65_536").unwrap();
        assert_eq!(device.name, "HD 4600");
        for field in DeviceField::ALL {
            let given = match field {
                DeviceField::MaxWorkGroupSize => Some(512),
                DeviceField::LocalMemSize => Some(65536),
                _ => None,
            };
            assert_eq!(device.limit(*field), given, "{}", field.name());
        }
        assert!(parse("phone:").unwrap().limits.is_empty());
    }

    #[test]
    fn every_limit_can_be_given() {
        for field in DeviceField::ALL {
            let device = parse(&format!("GPU:{}=7", field.name())).unwrap();
            assert_eq!(device.limits, [(*field, 7)]);
        }
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text| parse(text).unwrap_err();
        assert!(error("GPU").contains("expected `NAME:"));
        assert!(error("GPU:max_work_group_size").contains("not of the form"));
        assert!(error("GPU:warp_size=32").contains("no limit `warp_size`"));
        assert!(error("GPU:warp_size=32").contains("compute_units"));
        assert!(error("GPU:compute_units=many").contains("integer"));
        assert!(error("GPU:compute_units=-1").contains("from 0 on"));
        assert!(error("GPU:fp16=1,fp16=0").contains("`fp16` is given twice"));
    }
}
