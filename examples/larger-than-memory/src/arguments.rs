//! The command line.

use clap::{Args, Parser, Subcommand};
use cltune::Device;
use cltune_kernels::gemm::Arithmetic;
use std::path::PathBuf;
use std::str::FromStr;

/// C = (A + B)(A - B) of matrices larger than the memory of the devices
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Rows and columns of the matrices
    #[arg(long, short = 'n', default_value_t = 2048)]
    pub(crate) size: usize,
    /// Memory of each device that may be used, for example 512MB or 2GB
    #[arg(long, default_value = "8MB")]
    pub(crate) limit: Bytes,
    /// Devices by index, name or platform, one after the other; all by default
    #[arg(long, value_delimiter = ',')]
    pub(crate) devices: Vec<String>,
    /// Only the ordinary units of devices, no tensor cores
    #[arg(long)]
    pub(crate) plain: bool,
    /// A file for the timeline, in the Chrome trace format
    #[arg(long)]
    pub(crate) timeline: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measures rates of devices alone, together, and with little memory
    Bench(Bench),
    /// Simulates devices that are not there, from what one was measured to do
    Scale(Scale),
    /// Computes a chain: tunables of two results, a product that is added to what is there
    Chain(Chain),
    /// Computes the largest matrices that a limit of host memory allows, with A + B and A - B in
    /// blocks and as matrices
    Largest(Largest),
}

#[derive(Debug, Args)]
pub(crate) struct Chain {
    /// Rows and columns of the matrices
    #[arg(long, short = 'n', default_value_t = 1024)]
    pub(crate) size: usize,
    /// Memory of each device that may be used
    #[arg(long, default_value = "4MB")]
    pub(crate) limit: Bytes,
    /// Devices by index, name or platform, one after the other; all by default
    #[arg(long, value_delimiter = ',')]
    pub(crate) devices: Vec<String>,
    /// How often, each time with a scheduler of its own
    #[arg(long, default_value_t = 1)]
    pub(crate) rounds: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Largest {
    /// Host memory of all matrices together
    #[arg(long, default_value = "48MB")]
    pub(crate) host: Bytes,
    /// Memory of each device that may be used
    #[arg(long, default_value = "8MB")]
    pub(crate) limit: Bytes,
    /// Devices by index, name or platform, one after the other; all by default
    #[arg(long, value_delimiter = ',')]
    pub(crate) devices: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Scale {
    /// Rows and columns of the matrices
    #[arg(long, short = 'n', default_value_t = 32_768)]
    pub(crate) size: usize,
    /// Memory of each device that may be used
    #[arg(long, default_value = "2GB")]
    pub(crate) limit: Bytes,
    /// What the product reaches in a device's memory, TFLOPS
    #[arg(long, value_parser = positive)]
    pub(crate) kernel: f64,
    /// To a device, and as much from it, GB/s
    #[arg(long, value_parser = positive)]
    pub(crate) link: f64,
    /// What a device reads and writes in its memory, GB/s
    #[arg(long, value_parser = positive)]
    pub(crate) memory: f64,
    /// A launch beside its work, us
    #[arg(long, value_parser = positive, default_value = "20")]
    pub(crate) launch: f64,
    /// A line of a block beside its bytes, where lines are far apart, us
    #[arg(long, value_parser = not_negative, default_value = "0")]
    pub(crate) line: f64,
}

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Rows and columns of the matrices
    #[arg(long, value_delimiter = ',', default_value = "1024")]
    pub(crate) sizes: Vec<usize>,
    /// Memory limits of each device, measured one after the other
    #[arg(long, value_delimiter = ',', default_value = "4MB")]
    pub(crate) limits: Vec<Bytes>,
    /// Devices that are measured alone and together
    #[arg(long, value_delimiter = ',')]
    pub(crate) devices: Vec<String>,
    /// A slow device that is to help the first one
    #[arg(long)]
    pub(crate) helper: Option<String>,
    /// How often each is measured; medians count
    #[arg(long, default_value_t = 3)]
    pub(crate) rounds: usize,
    /// Also with tensor cores, where devices have some
    #[arg(long)]
    pub(crate) automatic: bool,
    /// A Python with PyTorch, which runs the peers for each size
    #[arg(long)]
    pub(crate) python: Option<PathBuf>,
    /// The script of PyTorch with blocks by hand
    #[arg(long, default_value = "benches/scheduler/peer.py")]
    pub(crate) peer: PathBuf,
    /// The script of cuBLASXt
    #[arg(long, default_value = "benches/scheduler/cublasxt.py")]
    pub(crate) cublasxt: PathBuf,
    /// The folder for timelines
    #[arg(long)]
    pub(crate) timelines: Option<PathBuf>,
    /// What the host's memory moves for all devices, GB/s
    #[arg(long)]
    pub(crate) host_rate: Option<f64>,
}

impl Arguments {
    pub(crate) const fn arithmetic(&self) -> Arithmetic {
        if self.plain {
            Arithmetic::Plain
        } else {
            Arithmetic::Automatic
        }
    }
}

/// The devices that any of the filters means, in their order; all without a filter.
pub(crate) fn devices(filters: &[String]) -> Result<Vec<Device>, cltune::Error> {
    let all = Device::all()?;
    if filters.is_empty() {
        return Ok(all);
    }
    let mut found = Vec::new();
    for filter in filters {
        found.extend(Device::find(&all, filter)?);
    }
    Ok(found)
}

/// A number above 0.
fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err(format!("`{text}` is no number above 0")),
    }
}

/// A number from 0 on.
fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
        _ => Err(format!("`{text}` is no number from 0 on")),
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes(pub(crate) usize);

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.trim_end_matches(|of: char| !of.is_ascii_digit());
        let factor = match &text[digits.len()..] {
            "" | "B" => 1.0,
            "KB" => 1e3,
            "MB" => 1e6,
            "GB" => 1e9,
            "KiB" => 1024.0,
            "MiB" => 1_048_576.0,
            "GiB" => 1_073_741_824.0,
            other => {
                return Err(format!(
                    "`{other}` is no unit: B, KB, MB, GB, KiB, MiB, GiB"
                ));
            }
        };
        let number: f64 = digits
            .parse()
            .map_err(|_| format!("`{text}` is no number"))?;
        Ok(Self((number * factor) as usize))
    }
}
