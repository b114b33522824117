//! A folder in which several machines tune one artifact, each a part of it.

use crate::process::Output;
use crate::{samples, tools};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// The tunables of the artifact; each is tuned for `n = 256` and `n = 512`, so that on one device
/// there are 6 units in 3 groups.
pub const KERNELS: [&str; 3] = [
    "cltune_e2e_fleet::first",
    "cltune_e2e_fleet::second",
    "cltune_e2e_fleet::third",
];

/// The values of each: the farther from 2, the slower, by more than any timing errs.
const TUNABLE: &str = r#"
mod NAME {
    use cltune::{Buffer, Event, Queue, Result, tunable};
    #[tunable(params(A = 0..=5), defaults(A = 5), global(n), tune(n = [256, 512]))]
    pub fn NAME(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<i32>) -> Result<Event> {
        "__kernel void NAME(const uint n, __global int* y) {
            float waste = get_global_id(0);
            for (int i = 0; i < 500 << (2 * abs(A - 2)); i++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
            y[get_global_id(0)] = waste > 1e30f ? 0 : (int)n;
        }"
    }
}
"#;

/// The folder, with the artifact as `app`. Removed when dropped.
pub struct Fleet {
    folder: TempDir,
}

impl Fleet {
    /// With the artifact in it.
    ///
    /// # Panics
    /// When the artifact cannot be built or copied.
    #[expect(clippy::new_without_default, reason = "it builds a package")]
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("cltune-fleet-").tempdir();
        let folder = folder.expect("there is a folder for temporary files");
        fs::copy(artifact(), folder.path().join("app")).expect("the artifact can be copied");
        Self { folder }
    }

    /// The same in another folder.
    ///
    /// # Panics
    /// When something cannot be copied.
    #[must_use]
    pub fn copied(&self) -> Self {
        let fleet = Self::new();
        copy(self.folder.path(), fleet.folder.path());
        fleet
    }

    /// A place in the folder.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Reads a file.
    ///
    /// # Panics
    /// When it is not there.
    pub fn read(&self, path: &str) -> String {
        let path = self.path(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Writes a file.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(&self, path: &str, text: &str) {
        fs::write(self.path(path), text).expect("a file can be written");
    }

    /// `cargo-cltune …` in the folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(tools::cargo_cltune());
        command.args(arguments).current_dir(self.folder.path());
        command
    }

    /// Runs `cargo-cltune …`.
    pub fn cltune(&self, arguments: &[&str]) -> Output {
        Output::of(&mut self.command(arguments))
    }

    /// `cargo-cltune tune` of a part into a folder, of all configurations.
    ///
    /// # Panics
    /// When the folder cannot be made.
    pub fn part_command(&self, partition: &str, folder: &str, arguments: &[&str]) -> Command {
        fs::create_dir_all(self.path(folder)).expect("a folder can be made");
        let lockfile = format!("{folder}/cltune.lock");
        let tune = ["tune", "--artifact", "app", "--strategy", "full"];
        let part = ["--partition", partition, "--lockfile", &lockfile];
        // What it checks is tested elsewhere.
        let usual = ["--soundness", "off", "--jobs", "1", "--device", "0"];
        self.command(&[&tune, &part[..], &usual, arguments].concat())
    }

    /// Runs it.
    pub fn part(&self, partition: &str, folder: &str, arguments: &[&str]) -> Output {
        Output::of(&mut self.part_command(partition, folder, arguments))
    }
}

/// The fenced block of the book's page on fleets that follows this mark: what users copy.
///
/// # Panics
/// When there is none.
pub fn job_script(mark: &str) -> String {
    let page = tools::repository().join("docs/fleets.md");
    let page = fs::read_to_string(page).expect("the page is there");
    let begin = format!("<!-- {mark} -->\n```bash\n");
    let after = page.split_once(&begin).expect("it has the block").1;
    let (script, _) = after.split_once("```\n").expect("the block ends");
    script.to_owned()
}

/// Copies what a folder holds.
///
/// # Panics
/// When it cannot.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder can be read").flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir_all(&to).expect("a folder can be made");
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("a file can be copied");
        }
    }
}

/// The artifact, built once.
pub fn artifact() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let modules = ["first", "second", "third"].map(|name| TUNABLE.replace("NAME", name));
        build("cltune-e2e-fleet", &modules.concat())
    })
}

/// Another build with one tunable less, as with other features.
pub fn other_artifact() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let modules = ["first", "second"].map(|name| TUNABLE.replace("NAME", name));
        build("cltune-e2e-fleet-less", &modules.concat())
    })
}

/// The library of a package with this source.
fn build(name: &str, source: &str) -> PathBuf {
    let project = samples::inline(name, "params(A = [1])", samples::FILL);
    project.write("src/lib.rs", source);
    let built = project.cargo(&["build", "--message-format", "json"]);
    let artifacts = built.expect_code(0).messages("compiler-artifact");
    let target = name.replace('-', "_");
    let library = artifacts
        .iter()
        .find(|artifact| artifact["target"]["name"] == *target)
        .and_then(|artifact| artifact["filenames"][0].as_str());
    library.expect("the package is a library").into()
}
