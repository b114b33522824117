//! Which tunables belong to which package; each once.

use super::build::{BuildError, CargoArgs};
use super::read::{ReadError, declarations};
use cltune_core::declaration::Declaration;
use std::collections::BTreeSet;
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

/// Builds with cargo and reads what was built.
fn discover(args: &CargoArgs) -> Result<Discovery, DiscoverError> {
    let built = args.build()?;
    let mut packages = Vec::new();
    let mut names = Vec::new();
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
        names.push(package.name.to_string());
        let declarations = each_once(found)?;
        if !declarations.is_empty() {
            let manifest: PathBuf = package.manifest_path.into();
            let names = declarations
                .iter()
                .map(|found| found.model.name.to_string());
            let auxiliary = names.filter(|name| !for_users.contains(name)).collect();
            packages.push(PackageTunables {
                package: package.name.to_string(),
                manifest_dir: manifest.parent().map(Path::to_owned).unwrap_or_default(),
                declarations,
                auxiliary,
            });
        }
    }
    if packages.is_empty() {
        let where_looked = format!("the artifacts of {}", names.join(", "));
        return Err(DiscoverError::None { where_looked });
    }
    Ok(Discovery {
        packages,
        state: built.target.join("cltune"),
    })
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
    let mut once: Vec<Declaration> = Vec::new();
    for declaration in found {
        match once
            .iter()
            .find(|other| other.model.name == declaration.model.name)
        {
            None => once.push(declaration),
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
    once.sort_by(|a, b| a.model.name.cmp(&b.model.name));
    Ok(once)
}
