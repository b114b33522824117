//! `cargo cltune contribute`: what this machine's devices were found to like, for somebody else.

use super::Exit;
use super::filter_args::FilterArgs;
use super::source_args::SourceArgs;
use crate::fleet::{Contribution, DeviceFacts};
use crate::kernel_filter::KernelFilter;
use crate::lockfile_store;
use crate::plan::{check_kernel_filters, choose_devices};
use crate::session::list_devices;
use crate::worker::DeviceRecord;
use cltune_formats::lockfile::{BakeError, Lockfile};
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

/// Writes what this machine's devices were found to like.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ContributeArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// Where to write the contribution; without it, standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    source: SourceArgs,
}

/// Why there is nothing to contribute.
#[derive(Debug, thiserror::Error)]
enum ContributeError {
    #[error(
        "nothing to contribute: no lockfile has values of {kernels} as declared now for {devices}. Tune first, with \
         `cargo cltune`"
    )]
    Nothing { kernels: String, devices: String },
    /// An entry that was edited by hand. Whoever is given it could not build with it.
    #[error("{}: {source}", path.display())]
    Entry { path: PathBuf, source: BakeError },
}

/// Writes the contribution.
pub(crate) fn run(args: &ContributeArgs, stdout: &mut dyn Write) -> Result<Exit, Box<dyn Error>> {
    let named = args.source.lockfile.existing()?;
    let output = args.output.as_deref();
    let discovery = args.source.discover_to_write(named, output)?;
    check_kernel_filters(&discovery.packages, &args.filter.kernel)?;
    let filter = KernelFilter::new(&args.filter.kernel, &discovery.packages);
    let devices = choose_devices(&list_devices()?, &args.filter.device)?;
    let mut given = Lockfile::default();
    let mut names = Vec::new();
    for package in &discovery.packages {
        let path = lockfile_store::path(named, &package.manifest_dir);
        let lockfile = lockfile_store::read(&path)?;
        let declarations = package.declarations.iter();
        let wanted = declarations.filter(|of| filter.means(&of.model.name));
        for declaration in wanted {
            let model = &declaration.model;
            names.push(model.name.to_string());
            if let Some(lockfile) = &lockfile
                && let Some(kernel) = lockfile.kernel(&model.name)
                && kernel.is_current(model)
            {
                lockfile
                    .table(model)
                    .map_err(|source| ContributeError::Entry {
                        path: path.clone(),
                        source,
                    })?;
                let mut kernel = kernel.clone();
                let is_here =
                    |id: &str| devices.iter().any(|device| is_device(lockfile, id, device));
                kernel.tuned.retain(|tuned| is_here(&tuned.device));
                let used = |id: &str| kernel.tuned.iter().any(|tuned| tuned.device == id);
                let used = lockfile.devices.iter().filter(|device| used(&device.id));
                let used = used.cloned().collect::<Vec<_>>();
                if !kernel.tuned.is_empty() {
                    given.merge(&Lockfile {
                        devices: used,
                        kernels: vec![kernel],
                    });
                }
            }
        }
    }
    if given.is_empty() {
        let devices: Vec<&str> = devices.iter().map(|device| &*device.name).collect();
        let nothing = ContributeError::Nothing {
            kernels: names.join(", "),
            devices: devices.join(", "),
        };
        return Err(nothing.into());
    }
    let facts = given.devices.iter().filter_map(|known| {
        let mut here = devices.iter();
        let device = here.find(|device| is_device(&given, &known.id, device))?;
        Some(DeviceFacts::of(&known.id, device))
    });
    let contribution = Contribution {
        cltune: env!("CARGO_PKG_VERSION").to_owned(),
        devices: facts.collect(),
        lockfile: given,
    };
    let text = contribution.to_text()?;
    match output {
        Some(path) => lockfile_store::write_text(path, &text)?,
        None => stdout.write_all(text.as_bytes())?,
    }
    Ok(Exit::Done)
}

/// Whether a lockfile's device is this one.
fn is_device(lockfile: &Lockfile, id: &str, device: &DeviceRecord) -> bool {
    let known = lockfile.device(id);
    known.is_some_and(|known| known.device.key().is(device.key()))
}
