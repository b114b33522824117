//! Which tunables belong to which package; each once.

use super::build::{BuildError, CargoArgs};
use super::read::{ReadError, declarations};
use super::sources::{changed, touch};
use crate::terminal::say;
use cltune_core::Text;
use cltune_core::declaration::Declaration;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A package and the tunables found in its artifacts.
#[derive(Clone, Debug)]
pub(crate) struct PackageTunables {
    /// The package's name.
    pub(crate) package: String,
    /// The folder of its `Cargo.toml`, where its lockfile lies.
    pub(crate) manifest_dir: PathBuf,
    /// Its tunables, each once.
    pub(crate) declarations: Vec<Declaration>,
    /// The names of those that only examples, benchmarks and tests have, where the command line does
    /// not name targets.
    pub(crate) auxiliary: BTreeSet<String>,
}

/// What was found.
pub(crate) struct Discovery {
    /// The packages that have tunables.
    pub(crate) packages: Vec<PackageTunables>,
    /// Where cltune keeps what is not committed: locks and journals.
    pub(crate) state: PathBuf,
}

/// Why no tunables were found.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DiscoverError {
    /// The build failed.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// There is no current folder.
    #[error("the current folder cannot be used: {0}")]
    Folder(std::io::Error),
    /// Two different tunables have the same name.
    #[error(
        "two different tunables are named `{name}`: in {first} and in {second}; \
         give one of them `name = \"…\"` in its attribute"
    )]
    SameName {
        /// The name.
        name: String,
        /// The Rust file of one.
        first: String,
        /// The Rust file of the other.
        second: String,
    },
    /// There is none.
    #[error(
        "no tunable was found in {where_looked}. A function is found when it has `#[tunable]`, is \
         compiled for the selected features (`--features`), targets (`--all-targets`, `--bin`, …) \
         and packages (`-p`, `--workspace`), and is not excluded by a `#[cfg]`"
    )]
    None {
        /// What was searched.
        where_looked: String,
    },
}

/// Reads `artifact`, for `--artifact`, or builds with cargo and reads what was built. Without cargo
/// everything lies beside `lockfile`, or in the current folder.
pub(crate) fn discover_or_read(
    artifact: Option<&Path>,
    lockfile: Option<&Path>,
    args: &CargoArgs,
) -> Result<Discovery, DiscoverError> {
    let Some(file) = artifact else {
        return discover(args);
    };
    let folder = std::env::current_dir().map_err(DiscoverError::Folder)?;
    // What is kept goes where the lockfile does: that place can be written to.
    let beside = lockfile.and_then(Path::parent).unwrap_or(Path::new(""));
    let state = folder.join(beside).join("cltune-state");
    from_artifact(file, folder, state)
}

/// What was found of a package, in any of its files: the same tunable many times.
struct Found {
    package: String,
    manifest_dir: PathBuf,
    declarations: Vec<Declaration>,
    /// The names of those that not only examples, benchmarks and tests have.
    for_users: BTreeSet<String>,
}

/// Builds with cargo and reads what was built: again where it was not built from what lies there.
fn discover(args: &CargoArgs) -> Result<Discovery, DiscoverError> {
    let (mut found, mut target) = build(args)?;
    let is_changed = touch_changed(&found, |file| {
        say(format_args!(
            "{file} is another than when it was built, though not newer: building again"
        ));
    });
    if is_changed {
        (found, target) = build(args)?;
        touch_changed(&found, |file| {
            say(format_args!(
                "warning: {file} changed while it was built; what is found may be of an earlier version"
            ));
        });
    }
    let names: Vec<String> = found.iter().map(|found| found.package.clone()).collect();
    let mut packages = Vec::new();
    for found in found {
        let declarations = each_once(found.declarations)?;
        if !declarations.is_empty() {
            let names = declarations.iter();
            let names = names.map(|declaration| declaration.model.name.to_string());
            let auxiliary = names.filter(|name| !found.for_users.contains(name));
            packages.push(PackageTunables {
                package: found.package,
                manifest_dir: found.manifest_dir,
                auxiliary: auxiliary.collect(),
                declarations,
            });
        }
    }
    if packages.is_empty() {
        let where_looked = format!("the artifacts of {}", names.join(", "));
        return Err(DiscoverError::None { where_looked });
    }
    Ok(Discovery {
        packages,
        state: target.join("cltune"),
    })
}

/// Makes cargo build again what was not built from what lies there. Whether there is something; `tell` is told
/// each file once.
fn touch_changed(found: &[Found], tell: impl Fn(&str)) -> bool {
    let mut told = BTreeSet::new();
    for package in found {
        for declaration in &package.declarations {
            let Some(file) = changed(&package.manifest_dir, declaration) else {
                continue;
            };
            touch(&package.manifest_dir, declaration);
            if told.insert((&package.manifest_dir, file)) {
                tell(file);
            }
        }
    }
    !told.is_empty()
}

/// Builds with cargo and reads what was built; with cargo's target folder.
fn build(args: &CargoArgs) -> Result<(Vec<Found>, PathBuf), DiscoverError> {
    let built = args.build()?;
    let mut packages = Vec::new();
    for (package, files) in built.packages {
        // Artifacts hold the tunables of their dependencies too.
        let is_own = |declaration: &Declaration| {
            *package.name == declaration.package
                && package.version.to_string() == declaration.version
        };
        let mut found = Vec::new();
        let mut for_users = BTreeSet::new();
        for file in &files {
            let own = declarations(&file.path)?.into_iter().filter(is_own);
            let own: Vec<Declaration> = own.collect();
            if !file.is_auxiliary || args.names_targets() {
                for_users.extend(own.iter().map(|own| own.model.name.to_string()));
            }
            found.extend(own);
        }
        let manifest: PathBuf = package.manifest_path.into();
        packages.push(Found {
            package: package.name.to_string(),
            manifest_dir: manifest.parent().map(Path::to_owned).unwrap_or_default(),
            declarations: found,
            for_users,
        });
    }
    Ok((packages, built.target))
}

/// Reads one file, of whatever packages. Its lockfile is in `folder`.
fn from_artifact(file: &Path, folder: PathBuf, state: PathBuf) -> Result<Discovery, DiscoverError> {
    let declarations = each_once(declarations(file)?)?;
    if declarations.is_empty() {
        return Err(DiscoverError::None {
            where_looked: file.display().to_string(),
        });
    }
    let package = file
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let packages = vec![PackageTunables {
        package: package.unwrap_or_default(),
        manifest_dir: folder,
        declarations,
        auxiliary: BTreeSet::new(),
    }];
    Ok(Discovery { packages, state })
}

/// Several targets of a package carry the same tunable.
fn each_once(found: Vec<Declaration>) -> Result<Vec<Declaration>, DiscoverError> {
    let mut once: BTreeMap<Text, Declaration> = BTreeMap::new();
    for declaration in found {
        match once.get(&declaration.model.name) {
            None => drop(once.insert(declaration.model.name.clone(), declaration)),
            Some(other) if other.model == declaration.model => {}
            Some(other) => {
                return Err(DiscoverError::SameName {
                    name: declaration.model.name.to_string(),
                    first: other.source_file.clone(),
                    second: declaration.source_file,
                });
            }
        }
    }
    Ok(once.into_values().collect())
}
