//! Notes: the results and refusals of a kernel on a device, as text: a line for each fact, fields
//! separated by tabs.

use cltune_core::device::{DeviceInfo, DeviceType};
use cltune_core::measure::{Caches, Measure};
use cltune_core::model::Model;
use cltune_core::parameter::{Fraction, Value};
use cltune_core::select::{Table, TunedDevice, TunedResult};
use std::fmt::Write as _;

/// So many results are kept, and so many refusals: the latest.
const MOST: usize = 1000;

/// Results and refusals of a kernel on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Notes {
    /// Package and function.
    pub kernel: String,
    /// The fingerprint of the declaration.
    pub fingerprint: String,
    /// The names of the parameters.
    pub params: Vec<String>,
    /// The names of the problem's dimensions.
    pub dimensions: Vec<String>,
    /// The device.
    pub device: TunedDevice,
    /// Its driver when the notes were last changed.
    pub driver: String,
    /// Results of tuning, the oldest first.
    pub results: Vec<NotedResult>,
    /// Configurations that did not run, the oldest first.
    pub refusals: Vec<NotedRefusal>,
}

/// A result of tuning for a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct NotedResult {
    /// The problem's sizes.
    pub problem: Vec<i64>,
    /// The values of the parameters.
    pub values: Vec<Value>,
    /// The time of one launch, microseconds.
    pub time_us: f64,
    /// That of the default, microseconds.
    pub default_us: Option<f64>,
    /// The number of configurations that were tried.
    pub evaluated: u64,
    /// The number of valid configurations.
    pub valid: u128,
    /// The strategy that found it.
    pub strategy: String,
    /// The state of the caches when its time was measured.
    pub measure: Measure,
}

/// A configuration that did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedRefusal {
    /// The problem's sizes.
    pub problem: Vec<i64>,
    /// The values of the parameters.
    pub values: Vec<Value>,
    /// The driver that refused it; another one may not.
    pub driver: String,
    /// Why, in a line.
    pub reason: String,
}

/// A text that is no notes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not what cltune writes")]
pub struct DamagedNotes {
    /// The line, counted from 1.
    pub line: usize,
}

impl Notes {
    /// Nothing is known yet.
    pub(super) fn new(model: &Model, info: &DeviceInfo) -> Self {
        let texts = |names: &mut dyn Iterator<Item = &str>| names.map(line).collect();
        Self {
            kernel: line(&model.name),
            fingerprint: line(&model.fingerprint),
            params: texts(&mut model.parameters.iter().map(|parameter| &*parameter.name)),
            dimensions: texts(&mut model.dimensions.iter().map(|name| &**name)),
            device: TunedDevice::of(info),
            driver: line(&info.driver),
            results: Vec::new(),
            refusals: Vec::new(),
        }
    }

    /// Whether they are of this kernel and this device.
    pub(super) fn is_of(&self, model: &Model, info: &DeviceInfo) -> bool {
        self.fingerprint == line(&model.fingerprint)
            && self.kernel == line(&model.name)
            && self.params.len() == model.parameters.len()
            && self.dimensions.len() == model.dimensions.len()
            && self.device.key().is(info.key())
    }

    /// Adds a result in place of one for the same problem.
    #[cfg(any(test, feature = "tuning"))]
    pub(super) fn add_result(&mut self, result: NotedResult) {
        self.results.retain(|old| old.problem != result.problem);
        self.results.push(result);
        let surplus = self.results.len().saturating_sub(MOST);
        self.results.drain(..surplus);
    }

    /// Adds a refusal; those of other drivers are forgotten, and a result that it contradicts.
    pub(super) fn add_refusal(&mut self, refusal: NotedRefusal) {
        self.refusals.retain(|old| {
            old.driver == refusal.driver
                && (old.problem != refusal.problem || old.values != refusal.values)
        });
        self.results
            .retain(|old| old.problem != refusal.problem || old.values != refusal.values);
        self.refusals.push(refusal);
        let surplus = self.refusals.len().saturating_sub(MOST);
        self.refusals.drain(..surplus);
    }

    /// The results as the selection rule takes them. Values that the parameters cannot take are
    /// left out.
    pub(super) fn table(&self, model: &Model) -> Table {
        let result = |noted: &NotedResult| {
            Some(TunedResult {
                device: 0,
                problem: noted.problem.clone().into(),
                values: codes(model, &noted.values)?.into(),
                time_us: noted.time_us,
            })
        };
        let mut results: Vec<TunedResult> = self.results.iter().filter_map(result).collect();
        results.sort_by(|a, b| a.problem.cmp(&b.problem));
        Table {
            devices: vec![self.device.clone()].into(),
            results: results.into(),
        }
    }

    /// As text.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        let device = &self.device;
        for (word, value) in [
            ("kernel", self.kernel.clone()),
            ("fingerprint", self.fingerprint.clone()),
            ("params", self.params.join("\t")),
            ("dimensions", self.dimensions.join("\t")),
            ("platform", line(&device.platform)),
            ("device", line(&device.name)),
            ("vendor", line(&device.vendor)),
            ("type", device.device_type.to_string()),
            ("compute_units", device.compute_units.to_string()),
            (
                "max_work_group_size",
                device.max_work_group_size.to_string(),
            ),
            ("local_mem_size", device.local_mem_size.to_string()),
            ("driver", self.driver.clone()),
        ] {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{word}\t{value}");
        }
        for noted in &self.results {
            let default = noted.default_us.map_or(String::new(), |us| us.to_string());
            // Programs choose by time.
            let measure = match noted.measure.caches {
                Caches::Warm => String::new(),
                Caches::Cold => format!("\t{}", Caches::Cold),
            };
            let _ = writeln!(
                text,
                "result\t{}\t{}\t{}\t{default}\t{}\t{}\t{}{measure}",
                list(&noted.problem),
                value_list(&noted.values),
                noted.time_us,
                noted.evaluated,
                noted.valid,
                noted.strategy
            );
        }
        for noted in &self.refusals {
            let (problem, values) = (list(&noted.problem), value_list(&noted.values));
            let (driver, reason) = (&noted.driver, &noted.reason);
            let _ = writeln!(text, "refusal\t{problem}\t{values}\t{driver}\t{reason}");
        }
        text
    }

    /// From text.
    ///
    /// # Errors
    /// [`DamagedNotes`].
    pub(super) fn parse(text: &str) -> Result<Self, DamagedNotes> {
        let mut lines = Lines::new(text);
        let mut notes = Self {
            kernel: lines.word("kernel")?,
            fingerprint: lines.word("fingerprint")?,
            params: names(&lines.word("params")?),
            dimensions: names(&lines.word("dimensions")?),
            device: TunedDevice {
                platform: lines.word("platform")?.into(),
                name: lines.word("device")?.into(),
                vendor: lines.word("vendor")?.into(),
                device_type: DeviceType::from_word(&lines.word("type")?),
                compute_units: lines.number("compute_units")?,
                max_work_group_size: lines.number("max_work_group_size")?,
                local_mem_size: lines.number("local_mem_size")?,
            },
            driver: lines.word("driver")?,
            results: Vec::new(),
            refusals: Vec::new(),
        };
        while let Some(line) = lines.next() {
            if notes.fact(line).is_none() {
                return Err(lines.damaged());
            }
        }
        Ok(notes)
    }

    fn fact(&mut self, line: &str) -> Option<()> {
        let fields: Vec<&str> = line.split('\t').collect();
        match *fields.as_slice() {
            [
                "result",
                problem,
                values,
                time,
                default,
                evaluated,
                valid,
                strategy,
                ref measure @ ..,
            ] => {
                self.results.push(NotedResult {
                    problem: self.problem(problem)?,
                    values: self.values(values)?,
                    time_us: positive(time)?,
                    default_us: match default {
                        "" => None,
                        default => Some(positive(default)?),
                    },
                    evaluated: evaluated.parse().ok()?,
                    valid: valid.parse().ok()?,
                    strategy: strategy.to_owned(),
                    measure: match *measure {
                        [] => Measure::WARM,
                        [word] => Measure {
                            caches: Caches::from_word(word)?,
                            ..Measure::WARM
                        },
                        _ => return None,
                    },
                });
            }
            ["refusal", problem, values, driver, reason] => self.refusals.push(NotedRefusal {
                problem: self.problem(problem)?,
                values: self.values(values)?,
                driver: driver.to_owned(),
                reason: reason.to_owned(),
            }),
            _ => return None,
        }
        Some(())
    }

    fn problem(&self, text: &str) -> Option<Vec<i64>> {
        sizes(text).filter(|sizes| sizes.len() == self.dimensions.len())
    }

    fn values(&self, text: &str) -> Option<Vec<Value>> {
        value_items(text).filter(|values| values.len() == self.params.len())
    }
}

/// The codes of values; `None` where one is not its parameter's.
pub(super) fn codes(model: &Model, values: &[Value]) -> Option<Vec<i64>> {
    let parameters = model.parameters.iter();
    let codes = parameters
        .zip(values)
        .map(|(parameter, value)| parameter.domain.code(value));
    codes.collect()
}

/// The values of codes; `None` where one is not its parameter's.
pub(super) fn values(model: &Model, codes: &[i64]) -> Option<Vec<Value>> {
    let parameters = model.parameters.iter();
    let values = parameters
        .zip(codes)
        .map(|(parameter, code)| parameter.domain.value(*code));
    values.collect()
}

/// A text as part of a line: drivers may answer anything.
pub(super) fn line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

pub(super) fn list<T: ToString>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    items.join(",")
}

fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|item| !item.is_empty())
}

pub(super) fn sizes(text: &str) -> Option<Vec<i64>> {
    items(text).map(|size| size.parse().ok()).collect()
}

pub(super) fn value_items(text: &str) -> Option<Vec<Value>> {
    items(text).map(value).collect()
}

fn names(text: &str) -> Vec<String> {
    let names = text.split('\t').filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

/// A named value, which is an identifier of C, has a mark in front, so that none looks like a
/// number or a truth value.
const NAMED: char = '\'';

pub(super) fn value_list(values: &[Value]) -> String {
    let text = |value: &Value| match value {
        Value::Name(name) => format!("{NAMED}{name}"),
        other => other.to_string(),
    };
    list(&values.iter().map(text).collect::<Vec<_>>())
}

fn value(text: &str) -> Option<Value> {
    match (text, text.strip_prefix(NAMED)) {
        (_, Some(name)) => Some(Value::Name(name.to_owned().into())),
        ("true", None) => Some(Value::Bool(true)),
        ("false", None) => Some(Value::Bool(false)),
        (number, None) => number.parse().map(Value::Int).ok().or_else(|| {
            let number: f64 = number.parse().ok()?;
            number
                .is_finite()
                .then(|| Value::Fraction(Fraction::of(number)))
        }),
    }
}

fn positive(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// The lines of a text, counted.
struct Lines<'a> {
    lines: std::str::Lines<'a>,
    line: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let lines = text.lines();
        Self { lines, line: 0 }
    }

    fn next(&mut self) -> Option<&'a str> {
        self.line += 1;
        self.lines.next()
    }

    /// The rest of the next line, which begins with this word.
    fn word(&mut self, word: &str) -> Result<String, DamagedNotes> {
        let line = self.next().and_then(|line| line.strip_prefix(word));
        let rest = line.and_then(|rest| rest.strip_prefix('\t'));
        rest.map(str::to_owned).ok_or_else(|| self.damaged())
    }

    fn number(&mut self, word: &str) -> Result<i64, DamagedNotes> {
        let number = self.word(word)?.parse();
        number.map_err(|_| self.damaged())
    }

    fn damaged(&self) -> DamagedNotes {
        DamagedNotes { line: self.line }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/cache_notes.rs"]
pub(super) mod tests;
