//! What the lines of a journal are.

use super::checksum::is_whole;
use super::read::{Place, Session};
use cltune_core::declaration::Declaration;
use cltune_core::fingerprint;
use cltune_core::model::Model;
use cltune_core::parameter::Value;
use serde::Deserialize;

/// The size of a journal, bytes: some ten million results.
pub(super) const LARGEST: u64 = 4 << 30;

/// A line, understood.
#[derive(Debug)]
pub(super) enum Entry {
    /// A session begins.
    Header(Box<Header>),
    /// A configuration is about to be measured.
    Begin(Begin),
    /// One that was begun is not measured now, for no fault of its own.
    Abandoned(Abandoned),
    /// What became of one.
    Result(Box<Result>),
    /// The session ended by itself.
    End,
    /// What no session wrote, or something has changed since. Whether a header may have been in it.
    Damaged { header: bool },
}

#[derive(Debug, Deserialize)]
pub(super) struct Header {
    pub(super) kernel: String,
    pub(super) fingerprint: String,
    /// Empty in journals of releases that did not write it.
    #[serde(default)]
    pub(super) verification: String,
    pub(super) params: Vec<String>,
    #[serde(flatten)]
    pub(super) place: Place,
    #[serde(flatten)]
    pub(super) session: Session,
}

#[derive(Debug, Deserialize)]
pub(super) struct Begin {
    pub(super) begin: Vec<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Abandoned {
    pub(super) abandoned: Vec<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Result {
    pub(super) values: Vec<serde_json::Value>,
    pub(super) time_us: Option<f64>,
    #[serde(default)]
    pub(super) status: String,
    pub(super) detail: Option<String>,
    #[serde(default)]
    pub(super) samples_us: Vec<f64>,
    pub(super) build_seconds: Option<f64>,
    #[serde(default)]
    pub(super) killed: bool,
}

#[derive(Deserialize)]
struct End {
    #[serde(rename = "end")]
    _reason: String,
}

impl Entry {
    /// Understands a line, without its newline.
    pub(super) fn of(line: &[u8]) -> Self {
        // Two signs: the damage may be in one of them, and lines may have run together.
        const SIGNS: [&[u8]; 2] = [br#""kernel":"#, br#""fingerprint":"#];
        let has = |sign: &[u8]| line.windows(sign.len()).any(|bytes| bytes == sign);
        let damaged = || Self::Damaged {
            header: SIGNS.iter().any(|sign| has(sign)),
        };
        if !is_whole(line) {
            return damaged();
        }
        let header = serde_json::from_slice(line).map(Self::Header);
        header
            .or_else(|_| serde_json::from_slice(line).map(Self::Result))
            .or_else(|_| serde_json::from_slice(line).map(Self::Begin))
            .or_else(|_| serde_json::from_slice(line).map(Self::Abandoned))
            .or_else(|_| serde_json::from_slice::<End>(line).map(|_| Self::End))
            .unwrap_or_else(|_| damaged())
    }
}

impl Header {
    /// Whether this session measured this very declaration, and judged results as they are judged now; of old
    /// journals nobody knows how.
    pub(super) fn is_of(&self, declaration: &Declaration) -> bool {
        let model = &declaration.model;
        let parameters = model.parameters.iter().map(|parameter| &*parameter.name);
        self.kernel == model.name
            && self.fingerprint == model.fingerprint
            && (self.verification.is_empty()
                || self.verification == fingerprint::of_verification(declaration))
            && self.place.problem.len() == model.dimensions.len()
            && parameters.eq(self.params.iter().map(String::as_str))
    }
}

/// A configuration as its values are written; `None` where it is none of the model's.
pub(super) fn codes(values: &[serde_json::Value], model: &Model) -> Option<Vec<i64>> {
    if values.len() != model.parameters.len() {
        return None;
    }
    let parameters = model.parameters.iter().zip(values);
    let codes = parameters.map(|(parameter, value)| {
        let value = match value {
            serde_json::Value::Bool(value) => Value::Bool(*value),
            serde_json::Value::String(name) => Value::Name(name.clone().into()),
            number => Value::Int(number.as_i64()?),
        };
        parameter.domain.code(&value)
    });
    codes.collect()
}
