//! Messages for tools: a JSON object per line on standard output, each with a `reason`.

use super::cost::Cost;
use super::journal::{Interrupted, Recorded};
use super::result::Finished;
use crate::captured::Coverage;
use crate::json;
use crate::oclgrind::Verdict;
use crate::plan::Job;
use crate::terminal;
use crate::worker::DeviceRecord;
use cltune_runtime::tuning::IdlePower;
use serde_json::{Map, Value, json};

/// Prints messages, or nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Messages {
    /// Whether `--message-format json` was given.
    pub(crate) enabled: bool,
}

impl Messages {
    pub(crate) fn device(self, device: &DeviceRecord) {
        let mut value = serde_json::to_value(device).unwrap_or_default();
        if let Some(object) = value.as_object_mut() {
            object.insert("reason".into(), "device".into());
        }
        self.print(&value);
    }

    pub(crate) fn space(self, job: &Job, cartesian: u128, valid: u128) {
        self.about(
            job,
            "space",
            json!({ "cartesian": json::count(cartesian), "valid": json::count(valid) }),
        );
    }

    /// The lockfile's coverage of a capture.
    pub(crate) fn captured(self, coverage: &Coverage) {
        self.print(&json!({
            "reason": "captured",
            "seconds": coverage.total,
            "covered_seconds": coverage.covered,
            "problems": coverage.problems,
            "tuned": coverage.tuned,
        }));
    }

    /// Where the search starts from; nothing where nothing is known.
    pub(crate) fn known(self, job: &Job, places: &[String]) {
        if !places.is_empty() {
            self.about(job, "known", json!({ "places": places }));
        }
    }

    /// The results of an interrupted search; nothing where nothing is resumed.
    pub(crate) fn resumed(self, job: &Job, left: &Interrupted) {
        if !left.results.is_empty() || !left.unfinished.is_empty() {
            let unfinished = left.unfinished.iter();
            let unfinished = unfinished.map(|(codes, times)| {
                json!({ "values": json::values(&job.declaration.model, codes), "times": times })
            });
            let fields = json!({
                "results": left.results.len(),
                "unfinished": unfinished.collect::<Vec<_>>(),
            });
            self.about(job, "resumed", fields);
        }
    }

    /// A result; where it is `revised` it takes the place of an earlier one.
    pub(crate) fn configuration(self, job: &Job, recorded: &Recorded, revised: bool) {
        let mut fields = json!({
            "values": json::values(&job.declaration.model, &recorded.codes),
            "status": recorded.status,
            "time_us": recorded.time_us,
            "repeats": recorded.samples_us.len(),
        });
        if let (Some(detail), Some(object)) = (&recorded.detail, fields.as_object_mut()) {
            object.insert("detail".into(), detail.as_str().into());
        }
        if let (Some(energy), Some(object)) = (&recorded.energy, fields.as_object_mut()) {
            let energy = serde_json::to_value(energy).unwrap_or_default();
            object.insert("energy".into(), energy);
        }
        if let (false, Some(object)) = (recorded.stages.is_empty(), fields.as_object_mut()) {
            let stages = serde_json::to_value(&recorded.stages).unwrap_or_default();
            object.insert("stages".into(), stages);
        }
        if let (Some(time_us), Some(object)) = (recorded.conversion_us, fields.as_object_mut()) {
            object.insert("conversion_us".into(), time_us.into());
        }
        // Whoever counts configurations counts each once.
        let reason = if revised { "revised" } else { "configuration" };
        self.about(job, reason, fields);
    }

    pub(crate) fn best(self, job: &Job, codes: &[i64], cost: Cost) {
        let values = json::values(&job.declaration.model, codes);
        let mut fields = json!({ "values": values, "time_us": cost.time_us });
        if let (Some(energy_j), Some(object)) = (cost.energy_j, fields.as_object_mut()) {
            object.insert("energy_j".into(), energy_j.into());
        }
        self.about(job, "best", fields);
    }

    /// The power of a device while nothing runs on it.
    pub(crate) fn idle_power(self, device: &DeviceRecord, power: &IdlePower) {
        self.print(&json!({
            "reason": "idle-power",
            "device": device.name,
            "watts": power.watts,
            "source": power.source,
            "period_s": power.period_s,
        }));
    }

    /// Of a search that found something.
    pub(crate) fn finished(self, job: &Job, finished: &Finished) {
        let Some(choice) = &finished.choice else {
            return;
        };
        let spent = &finished.spent;
        let measure = job.declaration.measure;
        let soundness = finished.soundness.as_ref();
        let repeatability = choice.repeatability;
        let failed: u64 = finished.failures.values().map(|(count, _)| count).sum();
        self.about(
            job,
            "finished",
            json!({
                "values": json::values(&job.declaration.model, &choice.codes),
                "time_us": choice.cost.time_us,
                "default_us": choice.default.map(|default| default.time_us),
                "measure": measure.caches.word(),
                "objective": measure.objective.word(),
                "energy_j": choice.cost.energy_j,
                "default_energy_j": choice.default.and_then(|default| default.energy_j),
                "idle_w": finished.idle_power.as_ref().map(|power| power.watts),
                "spread": repeatability.map(|of| of.spread),
                "flip_rate": repeatability.map(|of| of.flip_rate),
                "regret": repeatability.map(|of| of.regret),
                "evaluated": finished.evaluated,
                "failed": failed,
                "stagnant": finished.stagnant,
                "held_out_error": finished.held_out_error,
                "limitation": finished.limitation,
                "enough_budget_s": finished.startup.map(|startup| startup.enough_s()),
                "steady": finished.steadiness.is_none_or(|of| of.is_steady()),
                "soundness": soundness.map_or("off", Verdict::word),
                "soundness_reason": soundness.and_then(Verdict::reason),
                "seconds": spent.total().as_secs_f64(),
                "starting_s": spent.starting.as_secs_f64(),
                "measuring_s": spent.measuring.as_secs_f64(),
                "waiting_s": spent.waiting.as_secs_f64(),
                "comparing_s": spent.comparing.as_secs_f64(),
                "simulating_s": spent.simulating.as_secs_f64(),
                "building_s": spent.building.as_secs_f64(),
            }),
        );
    }

    fn about(self, job: &Job, reason: &str, fields: Value) {
        if !self.enabled {
            return;
        }
        let model = &job.declaration.model;
        let mut object = Map::new();
        object.insert("reason".into(), reason.into());
        object.insert("kernel".into(), model.name.as_ref().into());
        object.insert("device".into(), job.device.name.as_str().into());
        object.insert("problem".into(), json::problem(model, &job.dims).into());
        if let Value::Object(fields) = fields {
            object.extend(fields);
        }
        self.print(&Value::Object(object));
    }

    fn print(self, value: &Value) {
        if self.enabled {
            terminal::line(value);
        }
    }
}
