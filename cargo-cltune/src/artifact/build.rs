//! Running `cargo build` and learning what it built.

use cargo_metadata::{Message, Metadata, MetadataCommand, Package, PackageId, Target};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::{Command, Stdio};

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
    /// Every target. This is the default: it finds tunables wherever they are. Given to `check`, what
    /// examples, benchmarks and tests declare must be tuned, too.
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

/// What cargo built.
pub(super) struct Built {
    /// The selected packages with the files built for each.
    pub(super) packages: Vec<(Package, Vec<BuiltFile>)>,
    /// The target folder.
    pub(super) target: PathBuf,
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
    /// A package that is not in the workspace.
    #[error("there is no package `{name}` in the workspace; there are: {}", known.join(", "))]
    NoPackage {
        /// What was asked for.
        name: String,
        /// The workspace's packages.
        known: Vec<String>,
    },
    /// cargo could not be run.
    #[error("cannot run cargo: {0}")]
    Run(#[from] std::io::Error),
    /// The build failed; cargo has said why.
    #[error("the build failed, so its tunables cannot be read")]
    Failed,
}

/// What cargo says, without the word that errors begin with here, too.
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
    /// Builds the selected targets of the selected packages.
    pub(super) fn build(&self) -> Result<Built, BuildError> {
        let metadata = self.metadata()?;
        let packages = self.select(&metadata)?;
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .arg("build")
            .arg("--message-format=json-render-diagnostics");
        for package in &packages {
            command.arg("--package").arg(package.id.to_string());
        }
        command.args(self.flags());
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
        let mut files: BTreeMap<PackageId, Vec<BuiltFile>> = BTreeMap::new();
        if let Some(stdout) = child.stdout.take() {
            for message in Message::parse_stream(BufReader::new(stdout)) {
                if let Message::CompilerArtifact(artifact) = message?
                    && self.wants(&artifact.target)
                {
                    // Unit tests are a library or a program, built for testing.
                    let is_auxiliary = artifact.profile.test || is_auxiliary(&artifact.target);
                    let built = artifact.filenames.into_iter().chain(artifact.executable);
                    let built = built.map(PathBuf::from);
                    let list = files.entry(artifact.package_id).or_default();
                    list.extend(
                        built
                            .filter(|path| may_hold_sections(path))
                            .map(|path| BuiltFile { path, is_auxiliary }),
                    );
                }
            }
        }
        if !child.wait()?.success() {
            return Err(BuildError::Failed);
        }
        let packages = packages
            .into_iter()
            .map(|package| {
                let built = files.remove(&package.id).unwrap_or_default();
                (package, built)
            })
            .collect();
        Ok(Built {
            packages,
            target: metadata.target_directory.into(),
        })
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

    fn select(&self, metadata: &Metadata) -> Result<Vec<Package>, BuildError> {
        let members = metadata.workspace_packages();
        let known = || {
            members
                .iter()
                .map(|package| package.name.to_string())
                .collect()
        };
        let chosen: Vec<&Package> = if self.workspace.workspace || self.workspace.all {
            members.clone()
        } else if self.workspace.package.is_empty() {
            metadata.workspace_default_packages()
        } else {
            let find = |name: &String| {
                let found = members
                    .iter()
                    .find(|package| *package.name == **name)
                    .copied();
                found.ok_or_else(|| BuildError::NoPackage {
                    name: name.clone(),
                    known: known(),
                })
            };
            self.workspace
                .package
                .iter()
                .map(find)
                .collect::<Result<_, _>>()?
        };
        let excluded = |package: &&Package| {
            !self
                .workspace
                .exclude
                .iter()
                .any(|name| *name == *package.name)
        };
        Ok(chosen.into_iter().filter(excluded).cloned().collect())
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

    fn flags(&self) -> Vec<OsString> {
        let mut flags = self.chosen_targets();
        if flags.is_empty() {
            flags.push("--all-targets".into());
        }
        if let Some(path) = &self.manifest.manifest_path {
            flags.extend(["--manifest-path".into(), path.into()]);
        }
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
        flags.extend(
            self.lock_flags()
                .iter()
                .filter(|(set, _)| *set)
                .map(|(_, flag)| (*flag).into()),
        );
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
