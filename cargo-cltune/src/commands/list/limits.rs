//! Devices that are described and not there.

use cltune_core::device::{DeviceField, DeviceInfo, DeviceLimits, DeviceType};

/// A device whose limits allow everything.
pub(super) fn unlimited(name: &str) -> DeviceInfo {
    let most = i64::from(i32::MAX);
    DeviceInfo {
        platform: String::new(),
        name: name.to_owned(),
        vendor: String::new(),
        device_type: DeviceType::Other,
        driver: String::new(),
        version: String::new(),
        limits: DeviceLimits {
            compute_units: 1,
            max_work_group_size: most,
            max_work_item_size_x: most,
            max_work_item_size_y: most,
            max_work_item_size_z: most,
            local_mem_size: most,
            global_mem_size: i64::MAX,
            max_mem_alloc_size: i64::MAX,
            ..DeviceLimits::default()
        },
    }
}

/// Reads `NAME:max_work_group_size=512,local_mem_size=65536`.
pub(super) fn parse(text: &str) -> Result<DeviceInfo, String> {
    let (name, limits) = text
        .split_once(':')
        .ok_or("expected `NAME:LIMIT=VALUE,…`, for example `GPU:max_work_group_size=512`")?;
    let mut device = unlimited(name.trim());
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
        let value = value.trim().replace('_', "").parse();
        let value = value.map_err(|_| format!("`{part}` needs an integer"))?;
        device.limits.set(known, value);
    }
    Ok(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_are_not_given_allow_everything() {
        let device = parse("HD 4600: max_work_group_size=512, local_mem_size=65_536").unwrap();
        assert_eq!(device.name, "HD 4600");
        assert_eq!(device.limits.max_work_group_size, 512);
        assert_eq!(device.limits.local_mem_size, 65536);
        assert_eq!(device.limits.max_work_item_size_x, i64::from(i32::MAX));
        assert_eq!(device.limits.compute_units, 1);
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text| parse(text).unwrap_err();
        assert!(error("GPU").contains("expected `NAME:"));
        assert!(error("GPU:max_work_group_size").contains("not of the form"));
        assert!(error("GPU:warp_size=32").contains("no limit `warp_size`"));
        assert!(error("GPU:warp_size=32").contains("compute_units"));
        assert!(error("GPU:compute_units=many").contains("integer"));
    }
}
