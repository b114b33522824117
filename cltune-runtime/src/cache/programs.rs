//! Program binaries, so that a second start compiles nothing, and the times that building took. A
//! binary belongs to a source, its options, a device and its driver; both its name and its head
//! depend on them.

use super::bound;
use super::file;
use super::folder::CacheError;
use super::notes::line;
use super::store::Store;
use cltune_core::device::DeviceInfo;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

/// The source, options, device and driver that a binary belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramId {
    /// In front of the binary: a line for each of the device's facts, and of the source.
    head: String,
}

/// The kept form of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptProgram {
    /// The time that building it from source took.
    pub(crate) build_time: Duration,
    /// `None` where the driver keeps programs itself.
    pub(crate) binary: Option<Vec<u8>>,
}

impl KeptProgram {
    /// A line for the time, then the binary.
    fn content(&self) -> Vec<u8> {
        let time = format!("took\t{}\n", self.build_time.as_micros());
        [time.as_bytes(), self.binary.as_deref().unwrap_or_default()].concat()
    }

    fn of(content: &[u8]) -> Option<Self> {
        let rest = content.strip_prefix(b"took\t")?;
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let micros = std::str::from_utf8(&rest[..end]).ok()?.parse().ok()?;
        let binary = rest[end + 1..].to_vec();
        Some(Self {
            build_time: Duration::from_micros(micros),
            binary: Some(binary).filter(|binary| !binary.is_empty()),
        })
    }
}

impl ProgramId {
    pub(crate) fn new(info: &DeviceInfo, source: &str, options: &str) -> Self {
        let mut head = String::new();
        for (word, value) in [
            ("platform", &info.platform),
            ("device", &info.name),
            ("vendor", &info.vendor),
            ("version", &info.version),
            ("driver", &info.driver),
        ] {
            // Writing to a String cannot fail.
            let _ = writeln!(head, "{word}\t{}", line(value));
        }
        let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex();
        let _ = writeln!(
            head,
            "source\t{}\noptions\t{}\n",
            hash(source),
            hash(options)
        );
        Self { head }
    }

    fn name(&self) -> String {
        blake3::hash(self.head.as_bytes()).to_hex()[..32].to_owned()
    }
}

impl Store {
    /// Whether programs are kept at all.
    pub(crate) fn keeps_programs(&self) -> bool {
        self.folder().is_some()
    }

    /// The kept form of a program, if there is one.
    pub(crate) fn program(&self, id: &ProgramId) -> Option<KeptProgram> {
        let path = self.path(id)?;
        let content = file::read(&path).unwrap_or_else(|reason| {
            tracing::warn!(%reason, "a program in cltune's cache is not used");
            None
        });
        let program = KeptProgram::of(content?.strip_prefix(id.head.as_bytes())?)?;
        bound::touch(&path);
        Some(program)
    }

    /// Keeps a program.
    pub(crate) fn keep_program(&self, id: &ProgramId, program: &KeptProgram) {
        let Some(path) = self.path(id) else {
            return;
        };
        let content = [id.head.as_bytes(), &program.content()].concat();
        let written = file::replace(&path, &content);
        let folder = path.parent().map(PathBuf::from).unwrap_or_default();
        let bounded = written.and_then(|()| bound::keep_bounded(&folder, bound::PROGRAMS));
        warn(bounded);
    }

    /// Forgets a binary that the driver does not accept.
    pub(crate) fn forget_program(&self, id: &ProgramId) {
        if let Some(path) = self.path(id) {
            let _ = std::fs::remove_file(path);
        }
    }

    fn path(&self, id: &ProgramId) -> Option<PathBuf> {
        Some(self.folder()?.programs().join(id.name()))
    }
}

fn warn(result: Result<(), CacheError>) {
    if let Err(reason) = result {
        tracing::warn!(%reason, "cltune's cache cannot be written");
    }
}

#[cfg(test)]
mod tests {
    use super::super::folder::Folder;
    use super::super::store::tests::device;
    use super::*;

    fn id(driver: &str, source: &str, options: &str) -> ProgramId {
        ProgramId::new(&device(driver), source, options)
    }

    fn kept(binary: &[u8]) -> KeptProgram {
        KeptProgram {
            build_time: Duration::from_micros(1234),
            binary: (!binary.is_empty()).then(|| binary.to_vec()),
        }
    }

    #[test]
    fn a_program_is_kept_for_its_driver_source_and_options_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = || Store::new(Some(Folder::at(folder.path()).unwrap()));
        let mine = id("1", "source", "-DA=1");
        for program in [kept(b""), kept(b"\n\nbinary\0")] {
            store().keep_program(&mine, &program);
            assert_eq!(store().program(&mine), Some(program));
        }
        let others = [
            id("2", "source", "-DA=1"),
            id("1", "source ", "-DA=1"),
            id("1", "source", "-DA=2"),
        ];
        for other in &others {
            assert_eq!(store().program(other), None);
        }
        // Somebody calls it the program of another driver.
        let path = |id: &ProgramId| store().path(id).unwrap();
        std::fs::copy(path(&mine), path(&others[0])).unwrap();
        assert_eq!(store().program(&others[0]), None);
        store().forget_program(&mine);
        assert_eq!(store().program(&mine), None);
    }

    #[test]
    fn a_changed_program_is_not_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(Some(Folder::at(folder.path()).unwrap()));
        let id = id("1", "source", "");
        store.keep_program(&id, &kept(b"binary"));
        let path = store.path(&id).unwrap();
        let sound = std::fs::read(&path).unwrap();
        for position in [0, 20, sound.len() - 1] {
            let mut changed = sound.clone();
            changed[position] ^= 1;
            std::fs::write(&path, changed).unwrap();
            assert_eq!(store.program(&id), None);
        }
        store.keep_program(&id, &kept(b"binary"));
        assert!(store.program(&id).is_some());
    }
}
