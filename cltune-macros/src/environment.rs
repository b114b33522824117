//! The input from outside: cargo's variables, kernel files, the lockfile. The only I/O of the
//! macro, and only reading.

use cltune_formats::declaration::SourceFile;
use cltune_formats::fingerprint;
use std::io;
use std::path::{Path, PathBuf};

/// The size of a kernel file, bytes: what a source may have with all that it includes.
const LARGEST_SOURCE: u64 = cltune_formats::source::MAX_BYTES as u64;

/// The package that is being compiled.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    /// `CARGO_MANIFEST_DIR`: never the working directory, which differs between workspace members
    /// and dependencies.
    pub(crate) directory: PathBuf,
    /// `CARGO_PKG_NAME`.
    pub(crate) package: String,
    /// `CARGO_PKG_VERSION`.
    pub(crate) version: String,
    /// `CLTUNE_LOCK`, as it was given: a lockfile that goes before the package's own. A relative
    /// path counts from the package.
    pub(crate) override_lock: Option<PathBuf>,
    /// The Rust file that is being expanded, relative to the package, with `/`.
    pub(crate) source_file: String,
}

impl Environment {
    /// The environment of the running compiler, or why there is none.
    pub(crate) fn current() -> Result<Self, String> {
        let variable = |name: &str| {
            std::env::var(name).map_err(|error| {
                format!("`#[tunable]` needs cargo's variable `{name}`: {error}; build with cargo")
            })
        };
        let directory = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
        let override_lock = std::env::var_os("CLTUNE_LOCK")
            .filter(|path| !path.is_empty())
            .map(PathBuf::from);
        Ok(Self {
            source_file: source_file(&directory),
            package: variable("CARGO_PKG_NAME")?,
            version: variable("CARGO_PKG_VERSION")?,
            override_lock,
            directory,
        })
    }

    /// The package's own lockfile, which need not exist.
    pub(crate) fn own_lock(&self) -> PathBuf {
        self.directory.join(cltune_formats::lockfile::FILE_NAME)
    }

    /// The absolute path of a path that is relative to the package and written with `/`.
    pub(crate) fn absolute(&self, path: &str) -> PathBuf {
        // Part by part, since `/` is no separator in the extended paths of Windows.
        let mut absolute = self.directory.clone();
        absolute.extend(path.split('/'));
        absolute
    }

    /// The Rust file that is being expanded, where it can be read: it may have been made up by a
    /// tool.
    pub(crate) fn rust_file(&self) -> Option<SourceFile> {
        let path = self.absolute(&self.source_file);
        let text = cltune_files::read_text(&path, LARGEST_SOURCE).ok()?;
        Some(SourceFile {
            path: self.source_file.clone(),
            content: fingerprint::of_text(&text),
        })
    }

    /// The text of a kernel file of the package, or why there is none, with the path that was
    /// looked at.
    pub(crate) fn read(&self, path: &str) -> Result<String, String> {
        let path = self.absolute(path);
        let text = cltune_files::read_text(&path, LARGEST_SOURCE);
        text.map_err(|error| format!("{} (looked at `{}`)", reason(&error), path.display()))
    }
}

/// Why a file cannot be read, after its name.
fn reason(error: &io::Error) -> String {
    // The system's own words begin with its name for the error.
    match error.raw_os_error() {
        Some(_) if error.kind() == io::ErrorKind::NotFound => "there is no such file".to_owned(),
        Some(_) => format!("it cannot be read: {error}"),
        None => error.to_string(),
    }
}

/// The text of a lockfile; `None` where there is no such file. An error says why it cannot be read.
pub(crate) fn read_lockfile(path: &Path) -> Result<Option<String>, String> {
    match cltune_files::read_text(path, cltune_formats::lockfile::LARGEST) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(reason(&error)),
    }
}

/// The expanded file relative to the package. The compiler's paths are relative to the folder it
/// runs in, which is the workspace's root for members.
fn source_file(directory: &Path) -> String {
    let span = proc_macro::Span::call_site();
    let file = span.local_file().unwrap_or_else(|| span.file().into());
    let file = std::path::absolute(&file).unwrap_or(file);
    let relative = file.strip_prefix(directory).unwrap_or(&file);
    let parts = relative
        .components()
        .map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}
