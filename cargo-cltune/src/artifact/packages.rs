//! The packages that a command line asks for: those of the workspace, and dependencies that it
//! names.

use crate::terminal::say;
use cargo_metadata::{Metadata, Package, PackageId};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The selection of the command line.
pub(super) struct Selected {
    /// Packages of the workspace.
    pub(super) members: Vec<PackageId>,
    /// Others that it depends on.
    pub(super) dependencies: Vec<PackageId>,
}

/// Why a selection means no packages.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SelectError {
    /// A package that is neither in the workspace nor a dependency, or a pattern that matches none.
    #[error(
        "there is no package `{name}` in the workspace or among its dependencies; in the workspace \
         there are: {}",
        known.join(", ")
    )]
    NoPackage {
        /// The package that was asked for.
        name: String,
        /// The workspace's packages.
        known: Vec<String>,
    },
    /// The workspace has no packages, or none is left of them.
    #[error(
        "the workspace of {} has no packages{}",
        root.display(),
        if *are_excluded {
            " but those that `--exclude` leaves out"
        } else {
            ": write them to its `members`"
        }
    )]
    NoMembers {
        /// Its folder.
        root: PathBuf,
        /// Whether there are some.
        are_excluded: bool,
    },
    /// As cargo has it.
    #[error("--exclude leaves packages out of those of --workspace: give that, too")]
    ExcludeAlone,
    /// A name with a `*`, `?` or `[` that is no pattern.
    #[error("`{name}` is no pattern of packages: {error}")]
    Pattern {
        /// As it was given.
        name: String,
        /// What is wrong with it.
        error: glob::PatternError,
    },
    /// cargo could not be run.
    #[error("cannot run cargo: {0}")]
    Run(#[from] std::io::Error),
}

/// The packages that are asked for, as `cargo build` understands it: names and patterns of them.
/// `flags` are those that each run of cargo gets.
pub(super) fn select(
    workspace: &clap_cargo::Workspace,
    metadata: &Metadata,
    flags: &[OsString],
) -> Result<Selected, SelectError> {
    let all = workspace.workspace || workspace.all;
    if !all && !workspace.exclude.is_empty() {
        return Err(SelectError::ExcludeAlone);
    }
    let members = metadata.workspace_packages();
    let mut chosen: Vec<&Package> = Vec::new();
    if all {
        chosen.clone_from(&members);
    } else if workspace.package.is_empty() {
        chosen = metadata.workspace_default_packages();
    }
    let mut dependencies = Vec::new();
    for name in &workspace.package {
        let named = Named::new(name)?;
        let matching = members.iter().copied().filter(|of| named.is(&of.name));
        let matching: Vec<&Package> = matching.collect();
        if matching.is_empty() {
            let dependency = dependency(name, flags)?.ok_or_else(|| SelectError::NoPackage {
                name: name.clone(),
                known: members.iter().map(|of| of.name.to_string()).collect(),
            })?;
            dependencies.push(dependency);
        }
        chosen.extend(matching);
    }
    let excluded = workspace.exclude.iter().map(|name| Named::new(name));
    let excluded = excluded.collect::<Result<Vec<Named<'_>>, SelectError>>()?;
    let is_unknown = |of: &&Named<'_>| !members.iter().any(|member| of.is(&member.name));
    let unknown: Vec<&str> = excluded
        .iter()
        .filter(is_unknown)
        .map(Named::text)
        .collect();
    if !unknown.is_empty() {
        say(format_args!(
            "warning: excluded package(s) `{}` not found in workspace `{}`",
            unknown.join(", "),
            metadata.workspace_root
        ));
    }
    chosen.retain(|of| !excluded.iter().any(|excluded| excluded.is(&of.name)));
    // Two patterns may match the same.
    let mut seen = BTreeSet::new();
    chosen.retain(|of| seen.insert(&of.id));
    if chosen.is_empty() && dependencies.is_empty() {
        return Err(SelectError::NoMembers {
            root: metadata.workspace_root.clone().into(),
            are_excluded: !members.is_empty(),
        });
    }
    Ok(Selected {
        members: chosen.into_iter().map(|of| of.id.clone()).collect(),
        dependencies,
    })
}

/// What names packages: one of them, or a pattern, where cargo takes it for one.
enum Named<'a> {
    Package(&'a str),
    Pattern(glob::Pattern),
}

impl<'a> Named<'a> {
    fn new(name: &'a str) -> Result<Self, SelectError> {
        if !name.contains(['*', '?', '[', ']']) {
            return Ok(Self::Package(name));
        }
        let pattern = glob::Pattern::new(name);
        pattern
            .map(Self::Pattern)
            .map_err(|error| SelectError::Pattern {
                name: name.to_owned(),
                error,
            })
    }

    fn is(&self, package: &str) -> bool {
        match self {
            Self::Package(name) => *name == package,
            Self::Pattern(pattern) => pattern.matches(package),
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Package(name) => name,
            Self::Pattern(pattern) => pattern.as_str(),
        }
    }
}

/// The package of this name or specification among the dependencies; `None` where there is none.
fn dependency(name: &str, flags: &[OsString]) -> Result<Option<PackageId>, SelectError> {
    let run = |command: &[&str]| {
        let mut cargo = cargo();
        cargo.args(command).args(flags);
        cargo.stdin(Stdio::null()).output()
    };
    let mut said = run(&["pkgid", name])?;
    if !said.status.success() {
        // A Cargo.lock that is missing, or older than the manifest, does not have all
        // dependencies; this adds them and changes nothing else.
        run(&["update", "--workspace"])?;
        said = run(&["pkgid", name])?;
    }
    let id = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    let is_known = said.status.success() && name_and_version(&id).is_some();
    Ok(is_known.then_some(PackageId { repr: id }))
}

/// The cargo that started this command.
pub(super) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Name and version in a package's id, which is `SOURCE#NAME@VERSION`, or `SOURCE#VERSION` where
/// the name is the last part of the source's path.
pub(super) fn name_and_version(id: &str) -> Option<(&str, &str)> {
    let (source, fragment) = id.rsplit_once('#')?;
    if let Some(both) = fragment.rsplit_once('@') {
        return Some(both);
    }
    let path = source.split('?').next()?.trim_end_matches('/');
    Some((path.rsplit('/').next()?, fragment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_patterns_mean_packages_as_for_cargo() {
        let matches = |name: &str, package: &str| Named::new(name).unwrap().is(package);
        for (name, package, expected) in [
            ("kernels", "kernels", true),
            ("kernels", "my-kernels", false),
            ("*kernels", "my-kernels", true),
            ("my-*", "my-kernels", true),
            ("m?-kernels", "my-kernels", true),
            ("[a-m]y-*", "my-kernels", true),
            ("[n-z]*", "my-kernels", false),
        ] {
            assert_eq!(matches(name, package), expected, "{name} and {package}");
        }
        let said = Named::new("my-[").err().unwrap().to_string();
        assert!(
            said.starts_with("`my-[` is no pattern of packages: "),
            "{said}"
        );
    }

    #[test]
    fn ids_tell_names_and_versions() {
        for (id, name, version) in [
            (
                "path+file:///work/app/kernels#my-kernels@0.1.0",
                "my-kernels",
                "0.1.0",
            ),
            (
                "path+file:///work/app/my-kernels#0.1.0",
                "my-kernels",
                "0.1.0",
            ),
            (
                "registry+https://github.com/rust-lang/crates.io-index#half@2.7.1",
                "half",
                "2.7.1",
            ),
            (
                "git+https://host/team/kernels.git?branch=a/b#kernels@1.0.0-rc.1+x",
                "kernels",
                "1.0.0-rc.1+x",
            ),
            (
                "git+ssh://git@host/team/kernels?rev=1#2.0.0",
                "kernels",
                "2.0.0",
            ),
        ] {
            assert_eq!(name_and_version(id), Some((name, version)), "{id}");
        }
        assert_eq!(name_and_version("no id"), None);
    }
}
