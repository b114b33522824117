//! The syntax of `CLTUNE_FAULT`.

use opencl_sys::cl_int;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Something that goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) effect: Effect,
    /// The function's name, or the query's.
    pub(crate) call: String,
    /// In processes that use a device whose name begins with this.
    pub(crate) device: Option<String>,
    /// For kernels that were built with this option: `-DA=3`.
    pub(crate) option: Option<String>,
    /// At this one of such calls in the process only, from 1 on.
    pub(crate) nth: Option<u64>,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    Segv,
    Abort,
    Exit(i32),
    KillParent,
    /// The mark that it has happened.
    Killed(PathBuf),
    Hang,
    Sleep(Duration),
    Error(cl_int),
    Unusable,
    Lost(PathBuf),
    Corrupt,
    Print(String),
    Leak(usize),
    Answer(u64),
    /// A word of a text.
    Hide(String),
    /// So many microjoules, in the zone of a folder.
    Spend(u64, PathBuf),
}

/// All faults of a text, or which of them cannot be understood.
pub(crate) fn parse(text: &str) -> Result<Vec<Fault>, String> {
    let parts = text.split(';').map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .map(|part| {
            part.parse()
                .map_err(|()| format!("no fault: `{part}` in CLTUNE_FAULT"))
        })
        .collect()
}

impl FromStr for Fault {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (effect, place) = text.rsplit_once('@').ok_or(())?;
        let (place, nth) = match place.split_once('#') {
            Some((place, nth)) => (place, Some(nth.parse().map_err(drop)?)),
            None => (place, None),
        };
        let (place, option) = match place.split_once(':') {
            Some((place, define)) => (place, Some(format!("-D{define}"))),
            None => (place, None),
        };
        let (call, device) = match place.split_once('/') {
            Some((call, device)) => (call, Some(device.to_owned())),
            None => (place, None),
        };
        Ok(Self {
            effect: effect.parse()?,
            call: call.to_owned(),
            device,
            option,
            nth,
        })
    }
}

impl FromStr for Effect {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        fn number<T: FromStr>(text: &str) -> Result<T, ()> {
            text.parse().map_err(drop)
        }
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        Ok(match (name, value) {
            ("segv", "") => Self::Segv,
            ("abort", "") => Self::Abort,
            ("kill-parent", "") => Self::KillParent,
            ("hang", "") => Self::Hang,
            ("unusable", "") => Self::Unusable,
            ("corrupt", "") => Self::Corrupt,
            ("exit", code) => Self::Exit(number(code)?),
            ("sleep", seconds) => {
                Self::Sleep(Duration::try_from_secs_f64(number(seconds)?).map_err(drop)?)
            }
            ("error", code) => Self::Error(number(code)?),
            ("killed", path) => Self::Killed(path.into()),
            ("lost", path) => Self::Lost(path.into()),
            ("print", text) => Self::Print(text.to_owned()),
            ("leak", bytes) => Self::Leak(number(bytes)?),
            ("answer", value) => Self::Answer(number(value)?),
            ("hide", word) if !word.is_empty() => Self::Hide(word.to_owned()),
            ("spend", value) => {
                let (microjoules, zone) = value.split_once(' ').ok_or(())?;
                Self::Spend(number(microjoules)?, zone.into())
            }
            _ => return Err(()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_an_effect_a_call_and_an_occasion() {
        let text = "hang@clFinish; error=-5@clBuildProgram/gpu:A=3;sleep=0.5@clCreateKernel:A=3#2;";
        let expected = [
            (Effect::Hang, "clFinish", None, None, None),
            (
                Effect::Error(-5),
                "clBuildProgram",
                Some("gpu"),
                Some("-DA=3"),
                None,
            ),
            (
                Effect::Sleep(Duration::from_millis(500)),
                "clCreateKernel",
                None,
                Some("-DA=3"),
                Some(2),
            ),
        ];
        let expected = expected.map(|(effect, call, device, option, nth)| Fault {
            effect,
            call: call.to_owned(),
            device: device.map(str::to_owned),
            option: option.map(str::to_owned),
            nth,
        });
        assert_eq!(parse(text).unwrap(), expected);
        assert_eq!(parse(""), Ok(Vec::new()));
    }

    #[test]
    fn a_fault_that_cannot_be_understood_is_named() {
        for wrong in [
            "hang",
            "hang=1@clFinish",
            "explode@clFinish",
            "error=x@clFinish",
            "sleep=-1@clFinish",
            "abort@clFinish#x",
            "spend=5@clFinish",
            "hide=@clFinish",
        ] {
            let error = parse(&format!("abort@clFinish;{wrong}")).unwrap_err();
            assert!(error.contains(wrong), "{error}");
        }
    }
}
