//! The tunables of each package, each one once.

use super::build::{BuildError, BuiltPackage, CargoArgs};
use super::diagnostics::StaleWarning;
use super::read::{ReadError, Reader};
use super::sources::{changed, touch};
use crate::terminal::say;
use cltune_core::Text;
use cltune_formats::declaration::Declaration;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The folder of what cltune keeps of an artifact, beside the lockfile.
pub(crate) const STATE: &str = "cltune-state";

/// A package and the tunables found in its artifacts.
#[derive(Clone, Debug)]
pub(crate) struct PackageTunables {
    /// The package's name.
    pub(crate) package: String,
    /// The folder of its `Cargo.toml`, where its lockfile lies.
    pub(crate) manifest_dir: PathBuf,
    /// Whether that folder is cargo's copy of a package from a registry or from git, to which
    /// nothing is written.
    pub(crate) is_copy: bool,
    /// Its tunables, each once.
    pub(crate) declarations: Vec<Declaration>,
    /// The names of those that only examples, benchmarks and tests have, where the command line
    /// does not name targets.
    pub(crate) auxiliary: BTreeSet<String>,
}

/// The tunables that were found.
pub(crate) struct Discovery {
    /// The selected packages that have tunables.
    pub(crate) packages: Vec<PackageTunables>,
    /// The names of the selected packages that have none.
    pub(crate) without: Vec<String>,
    /// The other packages whose tunables are in what was built: dependencies.
    pub(crate) dependencies: Vec<PackageTunables>,
    /// The compiler's warnings of stale results, where these were held back.
    pub(crate) held_back: Vec<StaleWarning>,
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
    /// There is none but in dependencies.
    #[error(
        "no tunable was found in the artifacts of {where_looked}, but in its dependencies there are: {}. They \
         come with their own results; to work on those, name the package: {}",
        found.iter().map(|(name, count)| format!("{count} in {name}")).collect::<Vec<_>>().join(", "),
        found.iter().map(|(name, _)| format!("`-p {name}`")).collect::<Vec<_>>().join(", ")
    )]
    OnlyInDependencies {
        /// The packages or files that were searched.
        where_looked: String,
        /// Dependencies, each with how many it has.
        found: Vec<(String, usize)>,
    },
    /// There is none.
    #[error(
        "no tunable was found in {where_looked}. A function is found when it has `#[tunable]`, is \
         compiled for the selected features (`--features`), targets (`--all-targets`, `--bin`, …) \
         and packages (`-p`, `--workspace`), and is not excluded by a `#[cfg]`"
    )]
    None {
        /// The packages that were searched.
        where_looked: String,
    },
    /// There is none in a file.
    #[error(
        "no tunable was found in {}: no function with `#[tunable]` is linked into it. Name the executable, or the \
         library, of a program that has one",
        file.display()
    )]
    NoneInFile {
        /// The file.
        file: PathBuf,
    },
}

/// Reads `artifact`, for `--artifact`, or builds with cargo and reads what was built. Without cargo
/// everything lies beside `lockfile`, or in the current folder. There is a selected package with a
/// tunable.
pub(crate) fn discover_or_read(
    artifact: Option<&Path>,
    lockfile: Option<&Path>,
    args: &CargoArgs,
) -> Result<Discovery, DiscoverError> {
    with_tunables(find(artifact, lockfile, args, false)?)
}

/// As [`discover_or_read`], for tuning: the compiler's warnings of stale results are held back.
pub(crate) fn discover_to_tune(
    artifact: Option<&Path>,
    lockfile: Option<&Path>,
    args: &CargoArgs,
) -> Result<Discovery, DiscoverError> {
    with_tunables(find(artifact, lockfile, args, true)?)
}

fn with_tunables(found: Discovery) -> Result<Discovery, DiscoverError> {
    if found.packages.is_empty() {
        let count = |of: &PackageTunables| (of.package.clone(), of.declarations.len());
        return Err(DiscoverError::OnlyInDependencies {
            where_looked: found.without.join(", "),
            found: found.dependencies.iter().map(count).collect(),
        });
    }
    Ok(found)
}

/// As [`discover_or_read`], where it is enough that there is a tunable in a dependency.
pub(crate) fn discover(
    artifact: Option<&Path>,
    args: &CargoArgs,
) -> Result<Discovery, DiscoverError> {
    find(artifact, None, args, false)
}

fn find(
    artifact: Option<&Path>,
    lockfile: Option<&Path>,
    args: &CargoArgs,
    hold_back: bool,
) -> Result<Discovery, DiscoverError> {
    let Some(file) = artifact else {
        return from_cargo(args, hold_back);
    };
    let folder = std::env::current_dir().map_err(DiscoverError::Folder)?;
    // What is kept goes where the lockfile does: that place can be written to.
    let beside = lockfile.and_then(Path::parent).unwrap_or(Path::new(""));
    let state = folder.join(beside).join(STATE);
    from_artifact(file, folder, state)
}

/// The tunables of all packages that were built.
struct Collected {
    packages: Vec<CollectedPackage>,
    /// The tunables of other packages.
    foreign: Vec<Declaration>,
    /// Those packages.
    others: Vec<BuiltPackage>,
    held_back: Vec<StaleWarning>,
    state: PathBuf,
}

/// The tunables of a package, in any of its files: the same one many times.
struct CollectedPackage {
    package: BuiltPackage,
    declarations: Vec<Declaration>,
    /// The names of those that not only examples, benchmarks and tests have.
    for_users: BTreeSet<String>,
}

/// Builds with cargo and reads what was built: again where it was not built from what lies there.
fn from_cargo(args: &CargoArgs, hold_back: bool) -> Result<Discovery, DiscoverError> {
    let mut built = build(args, hold_back)?;
    let is_changed = touch_changed(&built.packages, |file| {
        say(format_args!(
            "{file} is another than when it was built, though not newer: building again"
        ));
    });
    if is_changed {
        built = build(args, hold_back)?;
        touch_changed(&built.packages, |file| {
            say(format_args!(
                "warning: {file} changed while it was built; what is found may be of an earlier version"
            ));
        });
    }
    discovery(built)
}

/// Makes cargo build again what was not built from what lies there. Whether there is something;
/// `tell` is told each file once.
fn touch_changed(found: &[CollectedPackage], tell: impl Fn(&str)) -> bool {
    let mut told = BTreeSet::new();
    for found in found.iter().filter(|found| !found.package.is_copy) {
        let folder = &found.package.folder;
        for declaration in &found.declarations {
            let Some(file) = changed(folder, declaration) else {
                continue;
            };
            touch(folder, declaration);
            if told.insert((folder, file)) {
                tell(file);
            }
        }
    }
    !told.is_empty()
}

/// Builds with cargo and reads what was built.
fn build(args: &CargoArgs, hold_back: bool) -> Result<Collected, DiscoverError> {
    let built = args.build(hold_back)?;
    // Artifacts hold the tunables of their dependencies, too.
    let mut foreign = Vec::new();
    let mut packages = Vec::new();
    let mut reader = Reader::default();
    for package in built.packages {
        let mut found = CollectedPackage {
            package,
            declarations: Vec::new(),
            for_users: BTreeSet::new(),
        };
        for file in &found.package.files {
            let (own, others): (Vec<_>, Vec<_>) = reader
                .declarations(&file.path)?
                .into_iter()
                .partition(|declaration| is_of(declaration, &found.package));
            if !file.is_auxiliary || args.names_targets() {
                let names = own.iter().map(|own| own.model.name.to_string());
                found.for_users.extend(names);
            }
            found.declarations.extend(own);
            foreign.extend(others);
        }
        packages.push(found);
    }
    Ok(Collected {
        packages,
        foreign,
        others: built.others,
        held_back: built.held_back,
        state: built.target.join("cltune"),
    })
}

/// Each tunable once, by its package.
fn discovery(mut built: Collected) -> Result<Discovery, DiscoverError> {
    let mut discovery = Discovery {
        packages: Vec::new(),
        without: Vec::new(),
        dependencies: Vec::new(),
        held_back: built.held_back,
        state: built.state,
    };
    for found in built.packages {
        if found.declarations.is_empty() {
            discovery.without.push(found.package.name);
            continue;
        }
        let mut tunables = tunables(found.package, found.declarations)?;
        let names = tunables.declarations.iter();
        let names = names.map(|of| of.model.name.to_string());
        tunables.auxiliary = names
            .filter(|name| !found.for_users.contains(name))
            .collect();
        discovery.packages.push(tunables);
    }
    for package in built.others {
        let of_it = built
            .foreign
            .extract_if(.., |declaration| is_of(declaration, &package));
        let of_it: Vec<Declaration> = of_it.collect();
        if !of_it.is_empty() {
            discovery.dependencies.push(tunables(package, of_it)?);
        }
    }
    if discovery.packages.is_empty() && discovery.dependencies.is_empty() {
        let where_looked = format!("the artifacts of {}", discovery.without.join(", "));
        return Err(DiscoverError::None { where_looked });
    }
    Ok(discovery)
}

/// Whether a package declares a tunable.
fn is_of(declaration: &Declaration, package: &BuiltPackage) -> bool {
    package.name == declaration.package && package.version == declaration.version
}

fn tunables(
    package: BuiltPackage,
    found: Vec<Declaration>,
) -> Result<PackageTunables, DiscoverError> {
    Ok(PackageTunables {
        package: package.name,
        manifest_dir: package.folder,
        is_copy: package.is_copy,
        declarations: each_once(found)?,
        auxiliary: BTreeSet::new(),
    })
}

/// Reads one file, of whatever packages. Its lockfile is in `folder`.
fn from_artifact(file: &Path, folder: PathBuf, state: PathBuf) -> Result<Discovery, DiscoverError> {
    let declarations = each_once(Reader::default().declarations(file)?)?;
    if declarations.is_empty() {
        return Err(DiscoverError::NoneInFile {
            file: file.to_owned(),
        });
    }
    let package = file
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let packages = vec![PackageTunables {
        package: package.unwrap_or_default(),
        manifest_dir: folder,
        is_copy: false,
        declarations,
        auxiliary: BTreeSet::new(),
    }];
    Ok(Discovery {
        packages,
        without: Vec::new(),
        dependencies: Vec::new(),
        held_back: Vec::new(),
        state,
    })
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
