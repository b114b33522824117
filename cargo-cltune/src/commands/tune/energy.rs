//! Before anything is tuned by energy: whether it can be measured, and what the devices take while
//! nothing runs on them.

use crate::plan::Job;
use crate::session::{IdleWorkers, Messages, WorkerError, idle_power};
use crate::terminal::say;
use cltune_core::measure::{Caches, Objective};
use cltune_runtime::tuning::{EnergyError, IdlePower};
use std::collections::BTreeMap;

/// The power of the devices of jobs that measure energy, while nothing runs on them: once the
/// workers that start have started.
///
/// # Errors
/// Nothing measures the energy of one of them: then nothing is tuned.
pub(super) fn idle_powers(
    jobs: &[Job],
    idle: &IdleWorkers,
    messages: Messages,
    quiet: bool,
) -> Result<BTreeMap<usize, IdlePower>, NoEnergy> {
    let mut powers = BTreeMap::new();
    let metered = jobs
        .iter()
        .filter(|job| job.declaration.measure.objective.needs_energy());
    for job in metered {
        for device in std::iter::once(&job.device).chain(&job.twins) {
            if powers.contains_key(&device.index) {
                continue;
            }
            let no_energy = |reason| NoEnergy {
                device: device.name.clone(),
                objective: job.declaration.measure.objective,
                reason,
            };
            if job.declaration.measure.caches == Caches::Cold {
                return Err(no_energy(WorkerError::Refused(
                    EnergyError::ColdCaches.to_string(),
                )));
            }
            idle.settle();
            let power = idle_power(device).map_err(no_energy)?;
            messages.idle_power(device, &power);
            if !quiet && !messages.enabled {
                say(format_args!(
                    "{}: idle power {:.1} W, by {}, which advances every {:.1} ms or more often",
                    device.name,
                    power.watts,
                    power.source,
                    power.period_s * 1e3,
                ));
            }
            powers.insert(device.index, power);
        }
    }
    Ok(powers)
}

/// The energy of a device that is to be tuned by it cannot be measured.
#[derive(Debug, thiserror::Error)]
#[error(
    "{device} cannot be tuned by {objective}, and nothing was measured: {reason}. `--device` names others"
)]
pub(super) struct NoEnergy {
    device: String,
    objective: Objective,
    reason: WorkerError,
}
