//! The meters of this machine's devices: what can be read is plausible, and what cannot be read is
//! an error that says why.

use cltune_runtime::Device;
use cltune_runtime::tuning::{EnergyError, Meter};

#[test]
fn each_device_has_a_meter_or_a_reason_why_not() {
    let mut metered = 0;
    for device in Device::all().expect("there is a driver") {
        let name = &device.info().name;
        let mut meter = match Meter::of(&device) {
            Ok(meter) => meter,
            Err(error) => {
                // Whoever reads it learns what to do.
                let text = error.to_string();
                let is_helpful = text.contains("--objective time") || text.contains("sudo chmod");
                assert!(is_helpful, "{text}");
                println!("SKIPPED: {text}");
                continue;
            }
        };
        metered += 1;
        // A counter that does not advance (some virtual machines have one) is an error as well.
        match meter.idle() {
            Ok(idle) => {
                println!("{name}: {idle:?}");
                assert!(idle.watts.is_finite() && idle.watts > 0.0, "{idle:?}");
                assert!(idle.period_s > 0.0 && idle.period() < std::time::Duration::from_secs(5));
            }
            Err(error) => assert!(
                matches!(error, EnergyError::StandsStill { .. }),
                "{name}: {error}"
            ),
        }
    }
    if metered == 0 {
        println!("SKIPPED: no device of this machine tells its energy");
    }
}
