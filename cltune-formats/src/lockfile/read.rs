//! Text to data.

use super::conflict::first_marker;
use super::error::{LockfileError, Problem};
use super::fields::{Document, Fields};
use super::write::problem_text;
use super::{LockDevice, LockKernel, Lockfile, Tuned, VERSION};
use cltune_core::device::DeviceType;
use cltune_core::measure::{Caches, Measure, Objective};
use cltune_core::select::TunedDevice;
use std::collections::{HashMap, HashSet};
use toml::de::DeTable;

const DEVICE_KEYS: &[&str] = &[
    "id",
    "platform",
    "name",
    "vendor",
    "type",
    "driver",
    "compute_units",
    "max_work_group_size",
    "local_mem_size",
];
const KERNEL_KEYS: &[&str] = &["name", "fingerprint", "params", "tuned"];
const TUNED_KEYS: &[&str] = &[
    "device",
    "problem",
    "values",
    "time_us",
    "default_us",
    "evaluated",
    "valid",
    "strategy",
    "verification",
    "measure",
    "objective",
    "energy_j",
    "default_energy_j",
];

impl Lockfile {
    /// Reads the text of a lockfile. The order of tables in the text does not matter.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line: conflict markers, a syntax error, another
    /// version, then what is missing, unknown, of the wrong type, duplicate or inconsistent.
    pub fn parse(text: &str) -> Result<Self, LockfileError> {
        // Before the TOML parser, which would only say that `<` is unexpected.
        if let Some(line) = first_marker(text) {
            return Err(Problem::ConflictMarkers.at(line));
        }
        let document = Document::new(text);
        let table = DeTable::parse(text).map_err(|error| {
            let position = error.span().map_or(0, |span| span.start);
            Problem::Syntax {
                message: error.message().to_owned(),
            }
            .at(document.line(position))
        })?;
        let fields = Fields::of_document(document, table.get_ref());
        // Before everything else: a newer version may have other keys and types.
        read_version(&fields)?;
        fields.only(&["version", "device", "kernel"])?;

        let devices = read_devices(&fields)?;
        let kernels = read_kernels(&fields, &devices)?;
        let mut lockfile = Self { devices, kernels };
        lockfile.sort();
        Ok(lockfile)
    }
}

fn read_version(fields: &Fields<'_>) -> Result<(), LockfileError> {
    let field = fields.required("version")?;
    match field.int()? {
        VERSION => Ok(()),
        found if found > VERSION => Err(Problem::NewerVersion { found }.at(field.line())),
        found => Err(Problem::NoSuchVersion { found }.at(field.line())),
    }
}

fn read_devices(fields: &Fields<'_>) -> Result<Vec<LockDevice>, LockfileError> {
    let mut ids = HashSet::new();
    // The id under which each device is.
    let mut known: HashMap<[String; 3], String> = HashMap::new();
    let mut devices: Vec<LockDevice> = Vec::new();
    for table in fields.tables("device", "[[device]]")? {
        table.only(DEVICE_KEYS)?;
        let id_field = table.required("id")?;
        let device = LockDevice {
            id: id_field.string()?,
            device: TunedDevice {
                platform: table.required("platform")?.string()?.into(),
                name: table.required("name")?.string()?.into(),
                vendor: table.required("vendor")?.string()?.into(),
                device_type: read_device_type(&table)?,
                compute_units: table.required("compute_units")?.count()?,
                max_work_group_size: table.required("max_work_group_size")?.count()?,
                local_mem_size: table.required("local_mem_size")?.count()?,
            },
            driver: table.required("driver")?.string()?,
        };
        if !ids.insert(device.id.clone()) {
            return Err(Problem::DuplicateDevice { id: device.id }.at(id_field.line()));
        }
        let key = device.device.key();
        let key = [key.platform, key.name, key.vendor].map(str::to_owned);
        if let Some(other) = known.insert(key, device.id.clone()) {
            let id = device.id;
            return Err(Problem::SameDevice { id, other }.at(id_field.line()));
        }
        devices.push(device);
    }
    Ok(devices)
}

fn read_device_type(device: &Fields<'_>) -> Result<DeviceType, LockfileError> {
    let field = device.required("type")?;
    let word = field.string()?;
    // Any word has a type, but only four are ever written: another is a mistake that writing the
    // file anew would hide.
    let device_type = DeviceType::from_word(&word);
    if device_type.as_str() == word {
        Ok(device_type)
    } else {
        Err(field.wrong_type("\"cpu\", \"gpu\", \"accelerator\" or \"other\""))
    }
}

fn read_kernels(
    fields: &Fields<'_>,
    devices: &[LockDevice],
) -> Result<Vec<LockKernel>, LockfileError> {
    let ids: HashSet<&str> = devices.iter().map(|device| device.id.as_str()).collect();
    let mut names = HashSet::new();
    let mut kernels = Vec::new();
    for table in fields.tables("kernel", "[[kernel]]")? {
        table.only(KERNEL_KEYS)?;
        let name_field = table.required("name")?;
        let mut kernel = LockKernel {
            name: name_field.string()?,
            fingerprint: table.required("fingerprint")?.string()?,
            params: read_params(&table)?,
            tuned: Vec::new(),
        };
        if !names.insert(kernel.name.clone()) {
            return Err(Problem::DuplicateKernel { name: kernel.name }.at(name_field.line()));
        }
        read_entries(&table, &ids, &mut kernel)?;
        kernels.push(kernel);
    }
    Ok(kernels)
}

fn read_params(kernel: &Fields<'_>) -> Result<Vec<String>, LockfileError> {
    let mut params = Vec::new();
    let mut names = HashSet::new();
    for item in kernel.required("params")?.items()? {
        let name = item.string()?;
        if !names.insert(name.clone()) {
            return Err(Problem::DuplicateParameter { name }.at(item.line()));
        }
        params.push(name);
    }
    Ok(params)
}

fn read_entries(
    table: &Fields<'_>,
    device_ids: &HashSet<&str>,
    kernel: &mut LockKernel,
) -> Result<(), LockfileError> {
    let mut keys = HashSet::new();
    for entry in table.tables("tuned", "[[kernel.tuned]]")? {
        let mut tuned = read_entry(&entry)?;
        if !device_ids.contains(tuned.device.as_str()) {
            let line = entry.required("device")?.line();
            return Err(Problem::UnknownDevice { id: tuned.device }.at(line));
        }
        if tuned.values.len() != kernel.params.len() {
            let line = entry.required("values")?.line();
            let (found, expected) = (tuned.values.len(), kernel.params.len());
            return Err(Problem::ValueCount { found, expected }.at(line));
        }
        if let Some(first) = kernel.tuned.first()
            && !tuned.order_dimensions_like(first)
        {
            let problem = Problem::OtherDimensions {
                kernel: kernel.name.clone(),
                found: dimension_names(&tuned.problem),
                expected: dimension_names(&first.problem),
            };
            return Err(problem.at(entry.required("problem")?.line()));
        }
        if !keys.insert((tuned.device.clone(), tuned.dims().collect::<Vec<_>>())) {
            let problem = Problem::DuplicateEntry {
                kernel: kernel.name.clone(),
                problem: problem_text(&tuned.problem),
                device: tuned.device,
            };
            return Err(problem.at(entry.line()));
        }
        kernel.tuned.push(tuned);
    }
    Ok(())
}

fn read_entry(entry: &Fields<'_>) -> Result<Tuned, LockfileError> {
    entry.only(TUNED_KEYS)?;
    let mut problem = Vec::new();
    for (name, field) in entry.required("problem")?.entries()? {
        problem.push((name, field.int()?));
    }
    let mut values = Vec::new();
    for item in entry.required("values")?.items()? {
        values.push(item.parameter_value()?);
    }
    let quantity = |key: &'static str| {
        let field = entry.optional(key);
        field.map(|field| field.quantity(key)).transpose()
    };
    Ok(Tuned {
        device: entry.required("device")?.string()?,
        problem,
        values,
        time_us: entry.required("time_us")?.quantity("time_us")?,
        default_us: quantity("default_us")?,
        evaluated: entry.required("evaluated")?.count()?,
        valid: entry.required("valid")?.count()?,
        strategy: entry.required("strategy")?.string()?,
        verification: entry
            .optional("verification")
            .map(|field| field.string())
            .transpose()?,
        measure: read_measure(entry)?,
        energy_j: quantity("energy_j")?,
        default_energy_j: quantity("default_energy_j")?,
    })
}

fn read_measure(entry: &Fields<'_>) -> Result<Measure, LockfileError> {
    let mut measure = Measure::default();
    if let Some(field) = entry.optional("measure") {
        measure.caches = Caches::from_word(&field.string()?)
            .ok_or_else(|| field.wrong_type("\"warm\" or \"cold\""))?;
    }
    if let Some(field) = entry.optional("objective") {
        measure.objective = Objective::from_word(&field.string()?)
            .ok_or_else(|| field.wrong_type("\"time\", \"energy\" or \"energy-delay\""))?;
    }
    Ok(measure)
}

fn dimension_names(problem: &[(String, i64)]) -> String {
    if problem.is_empty() {
        return "no dimension".to_owned();
    }
    let names: Vec<&str> = problem.iter().map(|(name, _)| name.as_str()).collect();
    names.join(", ")
}
