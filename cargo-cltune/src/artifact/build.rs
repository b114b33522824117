//! The run of `cargo build`, and the artifacts that it reports.

use super::diagnostics::{Diagnostics, StaleWarning};
use super::packages::{self, SelectError, Selected, cargo, name_and_version};
use cargo_metadata::{Artifact, Message, Metadata, MetadataCommand, PackageId, Target};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::Stdio;

/// Which packages and targets to build, as for `cargo build`.
#[derive(Clone, Debug, Default, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "cargo's own flags")]
pub(crate) struct CargoArgs {
    #[command(flatten, next_help_heading = "Package Selection")]
    pub(crate) workspace: clap_cargo::Workspace,
    #[command(flatten, next_help_heading = "Compilation Options")]
    pub(crate) features: clap_cargo::Features,
    #[command(flatten, next_help_heading = "Manifest Options")]
    pub(crate) manifest: clap_cargo::Manifest,
    /// Only the library.
    #[arg(long, help_heading = "Target Selection")]
    lib: bool,
    /// Only the binaries.
    #[arg(long, help_heading = "Target Selection")]
    bins: bool,
    /// Only this binary; may be repeated.
    #[arg(long, value_name = "NAME", help_heading = "Target Selection")]
    bin: Vec<String>,
    /// Only the examples.
    #[arg(long, help_heading = "Target Selection")]
    examples: bool,
    /// Only this example; may be repeated.
    #[arg(long, value_name = "NAME", help_heading = "Target Selection")]
    example: Vec<String>,
    /// Only the tests.
    #[arg(long, help_heading = "Target Selection")]
    tests: bool,
    /// Only this test; may be repeated.
    #[arg(long, value_name = "NAME", help_heading = "Target Selection")]
    test: Vec<String>,
    /// Only the benchmarks.
    #[arg(long, help_heading = "Target Selection")]
    benches: bool,
    /// Only this benchmark; may be repeated.
    #[arg(long, value_name = "NAME", help_heading = "Target Selection")]
    bench: Vec<String>,
    /// Every target. This is the default: it finds tunables wherever they are. Given to `check`,
    /// what examples, benchmarks and tests declare must be tuned, too.
    #[arg(long, help_heading = "Target Selection")]
    all_targets: bool,
    /// Build in release mode.
    #[arg(long, short, help_heading = "Compilation Options")]
    release: bool,
    /// Build with this profile.
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "release",
        help_heading = "Compilation Options"
    )]
    profile: Option<String>,
    /// Build for this target.
    #[arg(long, value_name = "TRIPLE", help_heading = "Compilation Options")]
    target: Option<String>,
    /// The folder for everything that is built.
    #[arg(long, value_name = "FOLDER", help_heading = "Compilation Options")]
    target_dir: Option<PathBuf>,
    /// Do not touch Cargo.lock.
    #[arg(long, help_heading = "Manifest Options")]
    locked: bool,
    /// Do not use the network.
    #[arg(long, help_heading = "Manifest Options")]
    offline: bool,
    /// As --locked and --offline together.
    #[arg(long, help_heading = "Manifest Options")]
    frozen: bool,
}

/// The packages that cargo built.
pub(super) struct BuildOutput {
    /// The selected packages.
    pub(super) packages: Vec<BuiltPackage>,
    /// The others that were needed for them: their dependencies.
    pub(super) others: Vec<BuiltPackage>,
    /// The warnings of stale results that were held back.
    pub(super) held_back: Vec<StaleWarning>,
    /// The target folder.
    pub(super) target: PathBuf,
}

/// A package, and what was built of it.
pub(super) struct BuiltPackage {
    pub(super) name: String,
    pub(super) version: String,
    /// The folder of its `Cargo.toml`.
    pub(super) folder: PathBuf,
    /// Whether that folder is cargo's copy of a package from a registry or from git.
    pub(super) is_copy: bool,
    pub(super) files: Vec<BuiltFile>,
}

impl BuiltPackage {
    /// A package of which nothing was built.
    fn of(id: &PackageId) -> Option<Self> {
        let (name, version) = name_and_version(&id.repr)?;
        Some(Self {
            name: name.to_owned(),
            version: version.to_owned(),
            folder: PathBuf::new(),
            is_copy: !id.repr.starts_with("path+"),
            files: Vec::new(),
        })
    }
}

/// A file that may hold tunables.
pub(super) struct BuiltFile {
    pub(super) path: PathBuf,
    /// Whether it is of an example, a benchmark or a test, which users of a package do not get.
    pub(super) is_auxiliary: bool,
}

/// Why nothing could be built.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildError {
    /// `cargo metadata` failed, as in a folder without a package.
    #[error("{}", reason(.0))]
    Metadata(#[from] cargo_metadata::Error),
    /// The packages that were asked for are not there.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// cargo could not be run.
    #[error("cannot run cargo: {0}")]
    Run(#[from] std::io::Error),
    /// The build failed; cargo has said why.
    #[error("the build failed, so its tunables cannot be read")]
    Failed,
}

/// Cargo's message, without the word `error`, with which errors begin here, too.
fn reason(error: &cargo_metadata::Error) -> String {
    match error {
        cargo_metadata::Error::CargoMetadata { stderr } => {
            let said = stderr.trim();
            said.strip_prefix("error: ").unwrap_or(said).to_owned()
        }
        other => other.to_string(),
    }
}

impl CargoArgs {
    /// The names of these options. With `--artifact` they mean nothing, since cargo is not run.
    pub(crate) const OPTIONS: [&str; 25] = [
        "package",
        "workspace",
        "all",
        "exclude",
        "features",
        "all_features",
        "no_default_features",
        // That of --manifest-path.
        "PATH",
        "lib",
        "bins",
        "bin",
        "examples",
        "example",
        "tests",
        "test",
        "benches",
        "bench",
        "all_targets",
        "release",
        "profile",
        "target",
        "target_dir",
        "locked",
        "offline",
        "frozen",
    ];

    /// Builds the selected targets of the selected packages. What the compiler says is printed,
    /// unless it is of stale results and these are held back.
    pub(super) fn build(&self, hold_back: bool) -> Result<BuildOutput, BuildError> {
        let metadata = self.metadata()?;
        let Selected {
            members,
            dependencies,
        } = packages::select(&self.workspace, &metadata, &self.manifest_flags())?;
        let mut built = BTreeMap::new();
        let mut said = Diagnostics::new(hold_back);
        if !members.is_empty() {
            self.compile(&members, &self.target_flags(), &mut built, &mut said)?;
        }
        // Only the libraries of dependencies are part of a program.
        if !dependencies.is_empty() {
            self.compile(&dependencies, &["--lib".into()], &mut built, &mut said)?;
        }
        let chosen = members.into_iter().chain(dependencies);
        // Of a package without a target of the chosen kind nothing is built.
        let packages = chosen
            .filter_map(|id| built.remove(&id).or_else(|| BuiltPackage::of(&id)))
            .collect();
        Ok(BuildOutput {
            packages,
            others: built.into_values().collect(),
            held_back: said.held_back(),
            target: metadata.target_directory.into(),
        })
    }

    /// Builds targets of packages, and adds what cargo tells of them and of their dependencies.
    fn compile(
        &self,
        packages: &[PackageId],
        targets: &[OsString],
        built: &mut BTreeMap<PackageId, BuiltPackage>,
        said: &mut Diagnostics,
    ) -> Result<(), BuildError> {
        let mut command = cargo();
        command
            .arg("build")
            .arg("--message-format=json-diagnostic-rendered-ansi");
        for id in packages {
            command.arg("--package").arg(&id.repr);
        }
        command.args(targets).args(self.flags());
        // A library optimised as a whole at link time holds no sections that could be read.
        let profile =
            self.profile
                .as_deref()
                .unwrap_or(if self.release { "release" } else { "dev" });
        let variable = profile.to_uppercase().replace('-', "_");
        command.env(format!("CARGO_PROFILE_{variable}_LTO"), "false");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        if let Some(stdout) = child.stdout.take() {
            for message in Message::parse_stream(BufReader::new(stdout)) {
                match message? {
                    Message::CompilerArtifact(artifact) => self.add(artifact, built),
                    Message::CompilerMessage(message) => said.take(message.message),
                    _ => {}
                }
            }
        }
        if !child.wait()?.success() {
            return Err(BuildError::Failed);
        }
        Ok(())
    }

    /// Adds an artifact to its package.
    fn add(&self, artifact: Artifact, built: &mut BTreeMap<PackageId, BuiltPackage>) {
        let id = artifact.package_id;
        let Some(mut package) = BuiltPackage::of(&id) else {
            return;
        };
        let folder = artifact.manifest_path.parent();
        package.folder = folder.map(Into::into).unwrap_or_default();
        let package = built.entry(id).or_insert(package);
        if !self.wants(&artifact.target) {
            return;
        }
        // Unit tests are a library or a program, built for testing.
        let is_auxiliary = artifact.profile.test || is_auxiliary(&artifact.target);
        let files = artifact.filenames.into_iter().chain(artifact.executable);
        let files = files
            .map(PathBuf::from)
            .filter(|path| may_hold_sections(path));
        let files = files.map(|path| BuiltFile { path, is_auxiliary });
        package.files.extend(files);
    }

    fn metadata(&self) -> Result<Metadata, BuildError> {
        let mut command = MetadataCommand::new();
        if let Some(path) = &self.manifest.manifest_path {
            command.manifest_path(path);
        }
        let mut other: Vec<String> = Vec::new();
        for (set, flag) in self.lock_flags() {
            if set {
                other.push(flag.into());
            }
        }
        let mut metadata = command.no_deps().other_options(other).exec()?;
        if let Some(folder) = &self.target_dir {
            let folder = std::path::absolute(folder)?;
            if let Ok(folder) = folder.try_into() {
                metadata.target_directory = folder;
            }
        }
        Ok(metadata)
    }

    fn lock_flags(&self) -> [(bool, &'static str); 3] {
        [
            (self.locked, "--locked"),
            (self.offline, "--offline"),
            (self.frozen, "--frozen"),
        ]
    }

    /// Whether a target was asked for: cargo also builds a package's programs for its tests and
    /// benchmarks, which may run them.
    fn wants(&self, target: &Target) -> bool {
        let named = |names: &[String]| names.contains(&target.name);
        if target.is_bin() {
            self.wants_all() || self.bins || named(&self.bin)
        } else if target.is_example() {
            self.wants_all() || self.examples || named(&self.example)
        } else if target.is_test() {
            self.wants_all() || named(&self.test)
        } else if target.is_bench() {
            self.wants_all() || named(&self.bench)
        } else {
            true
        }
    }

    /// Whether targets of all kinds may hold what was asked for. `--tests` and `--benches` mean
    /// every target that has tests or benchmarks, and so may mean all.
    fn wants_all(&self) -> bool {
        self.tests || self.benches || self.chosen_targets().is_empty()
    }

    /// Whether the command line says which targets it is about; without, it is about all.
    pub(super) fn names_targets(&self) -> bool {
        self.all_targets || !self.chosen_targets().is_empty()
    }

    /// The flags that choose targets; none where every target is meant.
    fn chosen_targets(&self) -> Vec<OsString> {
        if self.all_targets {
            return Vec::new();
        }
        let whole = [
            ("--lib", self.lib),
            ("--bins", self.bins),
            ("--examples", self.examples),
            ("--tests", self.tests),
            ("--benches", self.benches),
        ];
        let named = [
            ("--bin", &self.bin),
            ("--example", &self.example),
            ("--test", &self.test),
            ("--bench", &self.bench),
        ];
        let whole = whole.iter().filter(|(_, set)| *set);
        let mut flags: Vec<OsString> = whole.map(|(flag, _)| (*flag).into()).collect();
        for (flag, names) in named {
            for name in names {
                flags.extend([flag.into(), name.into()]);
            }
        }
        flags
    }

    /// The flags that choose targets, or that choose all.
    fn target_flags(&self) -> Vec<OsString> {
        let chosen = self.chosen_targets();
        if chosen.is_empty() {
            return vec!["--all-targets".into()];
        }
        chosen
    }

    /// The flags that do not choose packages or targets.
    fn flags(&self) -> Vec<OsString> {
        let mut flags = self.manifest_flags();
        if self.features.all_features {
            flags.push("--all-features".into());
        }
        if self.features.no_default_features {
            flags.push("--no-default-features".into());
        }
        for feature in &self.features.features {
            flags.extend(["--features".into(), feature.into()]);
        }
        if self.release {
            flags.push("--release".into());
        }
        for (flag, value) in [("--profile", &self.profile), ("--target", &self.target)] {
            if let Some(value) = value {
                flags.extend([flag.into(), value.into()]);
            }
        }
        if let Some(folder) = &self.target_dir {
            flags.extend(["--target-dir".into(), folder.into()]);
        }
        flags
    }

    /// The flags that every command of cargo takes here.
    fn manifest_flags(&self) -> Vec<OsString> {
        let mut flags = Vec::new();
        if let Some(path) = &self.manifest.manifest_path {
            flags.extend(["--manifest-path".into(), path.into()]);
        }
        let locks = self.lock_flags().into_iter().filter(|(set, _)| *set);
        flags.extend(locks.map(|(_, flag)| flag.into()));
        flags
    }
}

/// Whether a target is for those who work on a package, and not for its users.
fn is_auxiliary(target: &Target) -> bool {
    target.is_example() || target.is_bench() || target.is_test()
}

/// Whether a built file is of a kind that has link sections; metadata and debug files have none.
fn may_hold_sections(file: &std::path::Path) -> bool {
    let extension = file
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or("");
    !matches!(
        extension,
        "rmeta" | "d" | "pdb" | "dwp" | "dSYM" | "wasm" | "js"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_of_which_nothing_is_left_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("Cargo.toml");
        let of = |exclude: &str, workspace: bool| {
            let mut cargo = CargoArgs::default();
            cargo.manifest.manifest_path = Some(manifest.clone());
            cargo.workspace.workspace = workspace;
            cargo.workspace.exclude = exclude.split_whitespace().map(str::to_owned).collect();
            cargo.build(false).err().unwrap().to_string()
        };
        std::fs::write(&manifest, "[workspace]\n").unwrap();
        let said = of("", false);
        assert!(
            said.ends_with(" has no packages: write them to its `members`"),
            "{said}"
        );
        let package = "[package]\nname = \"alone\"\n[lib]\npath = \"Cargo.toml\"\n";
        std::fs::write(&manifest, package).unwrap();
        let said = of("alone", true);
        assert!(
            said.ends_with(" but those that `--exclude` leaves out"),
            "{said}"
        );
        // Cargo, too, takes it with --workspace only.
        let said = of("alone", false);
        assert!(said.contains("--workspace: give that, too"), "{said}");
    }
}
