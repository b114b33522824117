//! Errors at run time, each with a way out.

use crate::interop::ForeignError;
use crate::kernel::StructLayout;
use crate::opencl::Status;
use crate::policy::PolicyError;
use cltune_core::model::Rejection;
use cltune_core::split::LayoutError;
use std::fmt;

/// The result of cltune's run-time functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the run time.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An OpenCL call failed.
    #[error("{call} failed: {status}")]
    OpenCl {
        /// The call, for example `clEnqueueNDRangeKernel`, with what it was made for.
        call: String,
        /// The code it returned.
        status: Status,
    },
    /// The OpenCL library works but there is no device.
    #[error(
        "OpenCL works but no device was found: install a driver for your device \
         (for the CPU: pocl-opencl-icd, which shows no device where it has no folder for its cache: set \
         HOME or POCL_CACHE_DIR to one that can be written to)"
    )]
    NoDevice,
    /// `CLTUNE_DEVICE` or a filter matches no device.
    #[error(
        "no device matches `{filter}`; there are: {}. Give an index from that list or a part of a \
         name",
        available.join(", ")
    )]
    NoSuchDevice {
        /// The filter.
        filter: String,
        /// The devices that exist, as `index: name (platform)`.
        available: Vec<String>,
    },
    /// The environment variable `CLTUNE_POLICY` cannot be read, or not be followed.
    #[error("CLTUNE_POLICY: {0}")]
    Policy(PolicyError),
    /// A program does not compile for this device and configuration.
    #[error("kernel `{kernel}` does not build{}: {status}\n{log}", with(options))]
    Build {
        /// The kernel.
        kernel: String,
        /// The compile options.
        options: String,
        /// The code of `clBuildProgram`.
        status: Status,
        /// The compiler's log.
        log: String,
    },
    /// A struct that a kernel takes has another layout on the device than on the host.
    #[error("{0}")]
    StructLayout(Box<StructLayout>),
    /// The source of a kernel that takes a struct does not mention it.
    #[error(
        "kernel `{kernel}`: its source has no type `{opencl_name}`, which is the struct `{name}` of the host: define \
         it there, or write its name with `#[kernel_struct(name = \"…\")]`"
    )]
    UnknownStruct {
        /// The tunable.
        kernel: String,
        /// The struct in Rust.
        name: &'static str,
        /// The struct in OpenCL C.
        opencl_name: &'static str,
    },
    /// No configuration is valid on this device for this problem.
    #[error(
        "kernel `{kernel}` has no valid configuration for {problem} on {device}; the last one \
         tried: {reason}"
    )]
    NoConfiguration {
        /// The tunable.
        kernel: String,
        /// The problem's dimensions.
        problem: String,
        /// The device's name.
        device: String,
        /// Why the last candidate was skipped.
        reason: String,
    },
    /// A configuration given by the caller breaks a constraint or a limit.
    #[error("kernel `{kernel}` cannot run with {configuration}: {reason}")]
    InvalidConfiguration {
        /// The tunable.
        kernel: String,
        /// The configuration's parameters and values.
        configuration: String,
        /// The constraint or limit that it breaks.
        reason: Rejection,
    },
    /// A buffer is shorter than the attribute's `len` says.
    #[error(
        "kernel `{kernel}`: buffer `{argument}` has {found} elements, but this problem needs at \
         least {needed}"
    )]
    BufferTooShort {
        /// The tunable.
        kernel: String,
        /// The argument's name.
        argument: String,
        /// The declared least length for this problem, elements.
        needed: usize,
        /// The buffer's length, elements.
        found: usize,
    },
    /// The elements of a vector that the kernel writes are all the same one.
    #[error(
        "kernel `{kernel}`: `{argument}` is written with stride 0, so that all of its elements are \
         one: give a stride other than 0"
    )]
    ZeroStride {
        /// The tunable.
        kernel: String,
        /// The argument's name.
        argument: String,
    },
    /// The kernel in the source has another number of arguments than its declaration.
    #[error(
        "kernel `{kernel}`: the declaration has {expected} arguments (local memory included), but \
         `__kernel void {function}` in the source has {found}: make them equal; `cargo cltune` \
         shows both sides"
    )]
    Signature {
        /// The tunable.
        kernel: String,
        /// The function in the source.
        function: String,
        /// The number declared.
        expected: usize,
        /// The number in the source.
        found: usize,
    },
    /// A call passes another number of arguments than the tunable has; generated functions do not.
    #[error("kernel `{kernel}` takes {expected} arguments, the call passes {found}")]
    Arguments {
        /// The tunable.
        kernel: String,
        /// The number of arguments of the declared function that the kernel takes.
        expected: usize,
        /// The number passed.
        found: usize,
    },
    /// A call passes a scalar of another type, or a buffer for a scalar; generated functions do
    /// not.
    #[error("kernel `{kernel}`: `{argument}` is of another kind than declared")]
    ArgumentKind {
        /// The tunable.
        kernel: String,
        /// The argument's name.
        argument: String,
    },
    /// Compiled with this configuration, the kernel cannot run in work-groups of this size.
    #[error(
        "kernel `{kernel}` with {configuration} needs work-groups of {work_items} work-items, but \
         compiled for this device it can run in groups of at most {limit}; \
         `__attribute__((reqd_work_group_size(x, y, z)))` before the kernel lets the compiler plan \
         its registers for larger ones"
    )]
    WorkGroupTooLarge {
        /// The tunable.
        kernel: String,
        /// The configuration's parameters and values.
        configuration: String,
        /// The size of a work-group, work-items.
        work_items: usize,
        /// The largest possible, work-items.
        limit: usize,
    },
    /// Compiled with this configuration, the kernel uses more private memory than there is memory.
    #[error(
        "kernel `{kernel}` with {configuration} needs {needed} bytes of private memory for one \
         work-group on each compute unit, the device has {available} bytes of memory"
    )]
    PrivateMemoryTooLarge {
        /// The tunable.
        kernel: String,
        /// The configuration's parameters and values.
        configuration: String,
        /// The memory that is needed, bytes.
        needed: u64,
        /// The device's global memory, bytes.
        available: u64,
    },
    /// Compiled with this configuration, the kernel uses more local memory than there is.
    #[error(
        "kernel `{kernel}` with {configuration} needs {needed} bytes of local memory, the device \
         has {available}"
    )]
    LocalMemoryTooLarge {
        /// The tunable.
        kernel: String,
        /// The configuration's parameters and values.
        configuration: String,
        /// The need of the compiled kernel, bytes.
        needed: u64,
        /// The memory of the device, bytes.
        available: u64,
    },
    /// A buffer, event or queue belongs to another context.
    #[error("{what} belongs to another context than the queue: create both from one `Context`")]
    OtherContext {
        /// The object that does not belong here.
        what: String,
    },
    /// A kernel must not use a buffer as declared, because of the flag that another part of the
    /// program made it with.
    #[error(
        "kernel `{kernel}`: buffer `{argument}` was made with {flag}, and {}",
        remedy_of_access(flag)
    )]
    BufferAccess {
        /// The tunable.
        kernel: String,
        /// The argument's name.
        argument: String,
        /// The flag, `CL_MEM_READ_ONLY` or `CL_MEM_WRITE_ONLY`.
        flag: &'static str,
    },
    /// The device has no images of a format.
    #[error(
        "{device} has no `{kind}` of `{pixel}` pixels{usage}: take another type of pixels, of which \
         those of four channels are the most common"
    )]
    ImageFormat {
        /// The kind of image.
        kind: &'static str,
        /// The type of a pixel.
        pixel: String,
        /// The device's name.
        device: String,
        /// The end of the sentence where the use is a special one.
        usage: &'static str,
    },
    /// An image has another size than the attribute's `size` says.
    #[error(
        "kernel `{kernel}`: image `{argument}` has {found} pixels, and this problem needs {needed}"
    )]
    ImageSize {
        /// The tunable.
        kernel: String,
        /// The argument's name.
        argument: String,
        /// The declared size for this problem.
        needed: String,
        /// The image's size.
        found: String,
    },
    /// A call of several launches failed when some of them had begun, so that buffers may have
    /// changed.
    #[error("{reason}; {begun} of the commands of this call had begun")]
    PartlyLaunched {
        /// The number of commands that had begun.
        begun: usize,
        /// Why the next one did not.
        reason: Box<Self>,
    },
    /// An object that another part of the program made cannot be used.
    #[error("{what} cannot be used with cltune: {reason}")]
    Foreign {
        /// The object, for example `the command queue`.
        what: &'static str,
        /// The reason, with the remedy.
        reason: ForeignError,
    },
    /// A host slice and a device buffer differ in length.
    #[error("the buffer has {buffer} elements, the slice {slice}: they must be equal")]
    LengthMismatch {
        /// The buffer's length, elements.
        buffer: usize,
        /// The slice's length, elements.
        slice: usize,
    },
    /// An argument of a split call cannot be cut into parts.
    #[error(
        "kernel `{kernel}`: `{argument}` cannot be divided for {problem}: {reason}; check `len`, \
         `rows` and `halo` in its `#[arg(…)]`"
    )]
    Division {
        /// The tunable.
        kernel: String,
        /// The argument's name.
        argument: String,
        /// The problem's dimensions.
        problem: String,
        /// The reason why it does not fit.
        reason: LayoutError,
    },
    /// A split call would have several devices write the same elements; generated functions do not.
    #[error(
        "kernel `{kernel}` writes `{argument}`, of which every device needs a part of its own \
         without a halo"
    )]
    UndividedResult {
        /// The tunable.
        kernel: String,
        /// The argument's name.
        argument: String,
    },
    /// A share's position or size is not a value of the argument that is to hold it.
    #[error(
        "kernel `{kernel}`: `{argument}` is of type {scalar}, too small for the share that begins at \
         {first}: declare it with a larger type"
    )]
    ShareBeyondType {
        /// The tunable.
        kernel: String,
        /// The argument's name.
        argument: String,
        /// Its type.
        scalar: &'static str,
        /// The first position of the share.
        first: i64,
    },
    /// The system has no thread for a device of a split call.
    #[error("a device has no share, because no thread can be started for it: {reason}")]
    NoThread {
        /// The system's reason.
        reason: String,
    },
    /// Every device of a split call failed.
    #[error(
        "kernel `{kernel}`: no device of the set is left to compute it; {}",
        reasons.join("; ")
    )]
    NoDeviceLeft {
        /// The tunable.
        kernel: String,
        /// The reason of each device.
        reasons: Vec<String>,
    },
    /// The system has no memory on the host.
    #[error("the system has no {bytes} bytes of memory: {reason}")]
    HostMemory {
        /// The bytes that were asked for.
        bytes: usize,
        /// The system's reason.
        reason: String,
    },
    /// A kernel of the scheduler refuses its blocks.
    #[error("{reason}")]
    BlockKernel {
        /// The kernel's reason.
        reason: String,
    },
    /// A view of elements that a buffer does not have.
    #[error("a buffer of {len} elements has no elements {start}..{end}")]
    BeyondBuffer {
        /// The first element of the view.
        start: usize,
        /// The element after its last.
        end: usize,
        /// The buffer's length, elements.
        len: usize,
    },
    /// A view that begins where no buffer can begin on the device.
    #[error(
        "a view cannot begin at element {start}: on {device} it begins at a multiple of {bytes} bytes, \
         which are {elements} elements here"
    )]
    MisalignedView {
        /// The first element of the view.
        start: usize,
        /// The alignment, elements.
        elements: usize,
        /// The alignment, bytes.
        bytes: usize,
        /// The device.
        device: String,
    },
    /// A buffer so large that its size in bytes overflows.
    #[error("a buffer of {len} elements of {size} bytes does not fit into the address space")]
    TooLarge {
        /// Elements.
        len: usize,
        /// Bytes of an element.
        size: usize,
    },
    /// A buffer larger than all of the device's memory, which some drivers only notice when it is
    /// used.
    #[error("a buffer of {bytes} bytes does not fit into the {memory} bytes of {device}'s memory")]
    LargerThanMemory {
        /// Bytes of the buffer.
        bytes: usize,
        /// The device.
        device: String,
        /// Bytes of its memory.
        memory: i64,
    },
}

/// As [`Display`](fmt::Display): what a program says whose `main` returns the error, or which
/// unwraps it, is for its user.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The rest of a sentence about a buffer's flag.
fn remedy_of_access(flag: &str) -> &'static str {
    if flag == "CL_MEM_READ_ONLY" {
        "the kernel writes to it: make it with CL_MEM_READ_WRITE"
    } else {
        "the kernel may read from it: make it with CL_MEM_READ_WRITE, or declare the argument with \
         `#[arg(out)]` if the kernel only writes to it"
    }
}

/// ` with -DWG=64`; nothing where there are no options.
fn with(options: &str) -> String {
    if options.is_empty() {
        String::new()
    } else {
        format!(" with {options}")
    }
}

impl Error {
    /// An error of the call `call`.
    pub(crate) fn call(call: impl Into<String>) -> impl FnOnce(Status) -> Self {
        move |status| Self::OpenCl {
            call: call.into(),
            status,
        }
    }

    /// Whether the same would happen again, in another process as well: not where the device was
    /// short of something that it may have another time.
    pub(crate) fn is_lasting(&self) -> bool {
        match self {
            Self::Build { status, .. } => status.is_of_source(),
            Self::ImageFormat { .. }
            | Self::WorkGroupTooLarge { .. }
            | Self::LocalMemoryTooLarge { .. }
            | Self::PrivateMemoryTooLarge { .. } => true,
            _ => false,
        }
    }

    /// Whether there may have been too little memory, so that it may succeed when some is freed.
    pub(crate) fn is_of_memory(&self) -> bool {
        matches!(self, Self::OpenCl { status, .. } if status.is_of_memory())
    }

    /// Whether another configuration of the same kernel may succeed.
    pub(crate) fn is_of_configuration(&self) -> bool {
        match self {
            Self::Build { .. }
            | Self::ImageFormat { .. }
            | Self::WorkGroupTooLarge { .. }
            | Self::LocalMemoryTooLarge { .. }
            | Self::PrivateMemoryTooLarge { .. } => true,
            Self::OpenCl { status, .. } => status.is_of_configuration(),
            Self::PartlyLaunched { reason, .. } => reason.is_of_configuration(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_main_that_returns_an_error_says_what_to_do() {
        let error = Error::NoSuchDevice {
            filter: "nvidia".into(),
            available: vec!["0: cpu (PoCL)".into()],
        };
        let said = format!("Error: {error:?}");
        assert!(said.starts_with("Error: no device matches `nvidia`; there are: 0: cpu (PoCL)"));
        assert!(said.contains("Give an index"), "{said}");
    }
}
