//! From text to a database.

use super::line::{Item, Line};
use super::{Database, Entry, VERSION};
use crate::device::DeviceType;
use crate::parameter::Value;
use crate::select::TunedDevice;
use std::fmt;

/// What is wrong with the text of a database, on which line, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: DatabaseProblem,
}

/// What is wrong with the text of a database.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseProblem {
    /// A later release wrote it.
    #[error(
        "it has version {found} of the format, and this release reads up to version {VERSION}: \
         update cltune, or make the file again with `cargo cltune export --database`"
    )]
    NewerVersion {
        /// The version in the file.
        found: i64,
    },
    /// No release ever wrote it.
    #[error("there is no version {found} of the format; the first line is `version = {VERSION}`")]
    NoSuchVersion {
        /// The version in the file.
        found: i64,
    },
    /// A version control system left both sides of a conflict in the file.
    #[error("merge conflict markers; `cargo cltune merge FILE -o FILE` unites both sides")]
    ConflictMarkers,
    /// Anything else.
    #[error(
        "{message}; correct the line, or make the file again with `cargo cltune export --database`"
    )]
    Damaged {
        /// What is wrong.
        message: String,
    },
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for DatabaseError {}

impl From<String> for DatabaseProblem {
    fn from(message: String) -> Self {
        Self::Damaged { message }
    }
}

/// The list that a line is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    Devices,
    Entries,
}

/// What was read so far.
#[derive(Default)]
struct Reader {
    has_version: bool,
    /// The names by which entries refer to devices.
    ids: Vec<String>,
    database: Database,
}

impl Database {
    /// The database of a text.
    ///
    /// # Errors
    /// The first line that is wrong.
    pub fn parse(text: &str) -> Result<Self, DatabaseError> {
        let mut reader = Reader::default();
        let mut place = Place::Outside;
        for (position, text) in text.lines().enumerate() {
            let at_line = |problem| DatabaseError {
                line: position + 1,
                problem,
            };
            place = reader.line(place, text.trim()).map_err(at_line)?;
        }
        let at_end = |message: &str| DatabaseError {
            line: text.lines().count().max(1),
            problem: message.to_owned().into(),
        };
        if place != Place::Outside {
            return Err(at_end("the `]` of a list is missing"));
        }
        if !reader.has_version {
            return Err(at_end("`version` is missing"));
        }
        Ok(reader.database)
    }
}

impl Reader {
    fn line(&mut self, place: Place, text: &str) -> Result<Place, DatabaseProblem> {
        if text.is_empty() || text.starts_with('#') {
            return Ok(place);
        }
        if ["<<<<<<<", "|||||||", "=======", ">>>>>>>"]
            .iter()
            .any(|marker| text.starts_with(marker))
        {
            return Err(DatabaseProblem::ConflictMarkers);
        }
        match place {
            Place::Outside => return self.outside(text),
            _ if text == "]" => return Ok(Place::Outside),
            Place::Devices => self.device(Fields::of(text)?)?,
            Place::Entries => self.entry(Fields::of(text)?)?,
        }
        Ok(place)
    }

    fn outside(&mut self, text: &str) -> Result<Place, DatabaseProblem> {
        let list = match text {
            "devices = [" => Some(Place::Devices),
            "entries = [" => Some(Place::Entries),
            _ => None,
        };
        if let Some(list) = list {
            if !self.has_version {
                return Err("`version` has to come first".to_owned().into());
            }
            return Ok(list);
        }
        match Line::new(text).assignment()? {
            (name, Item::Value(Value::Int(found))) if name == "version" => match found {
                VERSION => self.has_version = true,
                found if found > VERSION => {
                    return Err(DatabaseProblem::NewerVersion { found });
                }
                found => return Err(DatabaseProblem::NoSuchVersion { found }),
            },
            (name, _) => return Err(format!("`{name}` is not expected here").into()),
        }
        Ok(Place::Outside)
    }

    fn device(&mut self, mut fields: Fields) -> Result<(), DatabaseProblem> {
        let id = fields.text("id")?;
        let device = TunedDevice {
            platform: fields.text("platform")?.into(),
            name: fields.text("name")?.into(),
            vendor: fields.text("vendor")?.into(),
            device_type: DeviceType::from_word(&fields.text("type")?),
            compute_units: fields.integer("compute_units")?,
            max_work_group_size: fields.integer("max_work_group_size")?,
            local_mem_size: fields.integer("local_mem_size")?,
        };
        fields.end()?;
        let known = &self.database.devices;
        if self.ids.contains(&id) || known.iter().any(|known| known.key() == device.key()) {
            return Err(format!("device \"{id}\" is described twice").into());
        }
        self.ids.push(id);
        self.database.devices.push(device);
        Ok(())
    }

    fn entry(&mut self, mut fields: Fields) -> Result<(), DatabaseProblem> {
        let id = fields.text("device")?;
        let device = self.ids.iter().position(|known| *known == id);
        let entry = Entry {
            device: device.ok_or_else(|| format!("no device before has the id \"{id}\""))?,
            template: fields.text("template")?,
            scalar_size: fields.integer("scalar_size")?,
            vectors: fields.integer("vectors")?,
            elements: fields.integer("elements")?,
            values: fields.values("values")?,
            time_us: fields.time("time_us")?,
            kernel: fields.text("kernel")?,
        };
        fields.end()?;
        let of_device = |known: &&Entry| known.device == entry.device;
        let mut known = self.database.entries.iter().filter(of_device);
        if known.any(|known| known.key() == entry.key()) {
            return Err("there is such an entry already".to_owned().into());
        }
        self.database.entries.push(entry);
        Ok(())
    }
}

/// The fields of a line that were not asked for yet.
struct Fields(Vec<(String, Item)>);

impl Fields {
    fn of(text: &str) -> Result<Self, String> {
        Line::new(text).table().map(Self)
    }

    fn take(&mut self, name: &str) -> Result<Item, String> {
        let position = self.0.iter().position(|(known, _)| known == name);
        let position = position.ok_or_else(|| format!("`{name}` is missing"))?;
        Ok(self.0.swap_remove(position).1)
    }

    fn text(&mut self, name: &str) -> Result<String, String> {
        match self.take(name)? {
            // Control characters would reach the user's terminal.
            Item::Value(Value::Name(text)) if !text.contains(char::is_control) => {
                Ok(text.into_owned())
            }
            _ => Err(format!("`{name}` has to be a text")),
        }
    }

    fn integer(&mut self, name: &str) -> Result<i64, String> {
        match self.take(name)? {
            Item::Value(Value::Int(number)) => Ok(number),
            _ => Err(format!("`{name}` has to be an integer")),
        }
    }

    fn time(&mut self, name: &str) -> Result<f64, String> {
        let time = match self.take(name)? {
            Item::Value(Value::Int(number)) => Some(number as f64),
            Item::Value(Value::Fraction(number)) => Some(number.get()),
            _ => None,
        };
        time.filter(|time| *time >= 0.0)
            .ok_or_else(|| format!("`{name}` has to be a time in microseconds"))
    }

    fn values(&mut self, name: &str) -> Result<Vec<(String, Value)>, String> {
        let wrong = || format!("`{name}` has to be a table of values");
        let Item::Table(fields) = self.take(name)? else {
            return Err(wrong());
        };
        let values = fields.into_iter().map(|(name, item)| match item {
            Item::Value(value) => Ok((name, value)),
            Item::Table(_) => Err(wrong()),
        });
        values.collect()
    }

    /// # Errors
    /// There are fields that nobody knows: writing the file anew would lose them.
    fn end(self) -> Result<(), String> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(format!("`{name}` is not expected here")),
        }
    }
}
