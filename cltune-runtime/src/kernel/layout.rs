//! Layouts of structs: what the device's compiler makes of them, compared with the host's.
//!
//! A kernel at the end of the program's source says the size of each struct and the place of each
//! field, as the program's own options make them.

use crate::error::{Error, Result};
use crate::opencl::{RawBuffer, RawContext, RawDevice, RawKernel, RawProgram, RawQueue};
use cltune_core::model::{Geometry, StructType};
use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// The name of the kernel that asks the device's compiler.
pub(crate) const LAYOUT_KERNEL: &str = "cltune_struct_layouts";

/// A struct has another layout on the device than on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StructLayout {
    /// The tunable.
    pub kernel: String,
    /// The struct in Rust.
    pub name: &'static str,
    /// The struct in OpenCL C.
    pub opencl_name: &'static str,
    /// Its size on the host and on the device, bytes.
    pub size: [usize; 2],
    /// Its fields in the order of the declaration.
    pub fields: Vec<FieldLayout>,
}

/// The place of a field on the host and on the device, bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldLayout {
    /// The field's name.
    pub name: &'static str,
    /// Its offsets.
    pub offset: [usize; 2],
    /// Its sizes.
    pub size: [usize; 2],
}

impl fmt::Display for StructLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const WHOLE: &str = "(all)";
        let (kernel, name, opencl_name) = (&self.kernel, self.name, self.opencl_name);
        writeln!(
            f,
            "kernel `{kernel}`: the struct `{name}` of the host and `{opencl_name}` of the device differ (bytes):"
        )?;
        let names = self.fields.iter().map(|field| field.name.len());
        let width = names.chain([WHOLE.len()]).max().unwrap_or(0);
        writeln!(
            f,
            "  {:width$}  host offset   size  device offset   size",
            "field"
        )?;
        for field in &self.fields {
            let is_same = field.offset[0] == field.offset[1] && field.size[0] == field.size[1];
            writeln!(
                f,
                "{} {:width$}  {:>11} {:>6}  {:>13} {:>6}",
                if is_same { ' ' } else { '!' },
                field.name,
                field.offset[0],
                field.size[0],
                field.offset[1],
                field.size[1],
            )?;
        }
        writeln!(
            f,
            "{} {WHOLE:width$}  {:>11} {:>6}  {:>13} {:>6}",
            if self.size[0] == self.size[1] {
                ' '
            } else {
                '!'
            },
            "",
            self.size[0],
            "",
            self.size[1],
        )?;
        f.write_str(
            "make them the same: `[f32; 4]` with `#[kernel_struct(vector)]` is a `float4`, without it a \
             `float[4]`; a `float3` takes the memory of a `float4`",
        )
    }
}

/// A source with the kernel that asks for the layouts of structs; the source itself where there are
/// none.
pub(crate) fn with_layout_kernel<'a>(
    source: &'a str,
    structs: &[&'static StructType],
) -> Cow<'a, str> {
    if structs.is_empty() {
        return source.into();
    }
    // A compiler that misses a struct or a field says where.
    let mut text = format!(
        "{source}\n#line 1 \"the layouts of structs that kernels take\"\n\
         __kernel void {LAYOUT_KERNEL}(__global uint* out) {{\n"
    );
    let mut at = 0;
    for ty in all(structs) {
        let name = ty.opencl_name;
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "  {{ __global {name}* s = (__global {name}*)out; out[{at}] = (uint)sizeof({name});"
        );
        at += 1;
        for field in ty.fields {
            let _ = writeln!(
                text,
                "    out[{at}] = (uint)((__global uchar*)&s->{0} - (__global uchar*)s); out[{1}] = \
                 (uint)sizeof(s->{0});",
                field.name,
                at + 1
            );
            at += 2;
        }
        text.push_str("  }\n");
    }
    text.push_str("}\n");
    text.into()
}

/// The structs and those that they contain, each once.
fn all(structs: &[&'static StructType]) -> Vec<&'static StructType> {
    let mut all = Vec::new();
    for ty in structs.iter().flat_map(|ty| ty.with_inner()) {
        if !all.contains(&ty) {
            all.push(ty);
        }
    }
    all
}

/// Whether a source mentions all structs.
#[cfg(feature = "tuning")]
pub(crate) fn mentions(source: &str, structs: &[&'static StructType]) -> bool {
    structs.iter().all(|ty| mentions_one(source, ty))
}

fn mentions_one(source: &str, ty: &StructType) -> bool {
    let name = ty.opencl_name;
    let name = name.strip_prefix("struct ").unwrap_or(name);
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    source
        .split(|character| !is_part(character))
        .any(|word| word == name)
}

/// Says of which struct a source knows nothing. Building it would say so less clearly.
///
/// # Errors
/// [`Error::UnknownStruct`].
pub(crate) fn check_names(
    kernel: &str,
    source: &str,
    structs: &[&'static StructType],
) -> Result<()> {
    match structs.iter().find(|ty| !mentions_one(source, ty)) {
        None => Ok(()),
        Some(ty) => Err(Error::UnknownStruct {
            kernel: kernel.to_string(),
            name: ty.name,
            opencl_name: ty.opencl_name,
        }),
    }
}

/// Asks the device's compiler, in a program that was built of such a source.
///
/// # Errors
/// [`Error::StructLayout`], and what OpenCL says where it cannot be asked.
pub(crate) fn check_layouts(
    kernel: &str,
    context: &RawContext,
    device: RawDevice,
    program: &RawProgram,
    structs: &[&'static StructType],
) -> Result<()> {
    if structs.is_empty() {
        return Ok(());
    }
    let structs = all(structs);
    let queue = RawQueue::new(context, device, false);
    let queue = queue.map_err(Error::call("clCreateCommandQueue"))?;
    let count: usize = structs.iter().map(|ty| 1 + 2 * ty.fields.len()).sum();
    let mut bytes = vec![0; count * size_of::<u32>()];
    let out = RawBuffer::new(context, bytes.len()).map_err(Error::call(format!(
        "clCreateBuffer of {} bytes",
        bytes.len()
    )))?;
    let asking = RawKernel::new(program, LAYOUT_KERNEL)
        .map_err(Error::call(format!("clCreateKernel of {LAYOUT_KERNEL}")))?;
    asking
        .set_buffer(0, &out)
        .map_err(Error::call("clSetKernelArg"))?;
    let geometry = Geometry {
        work_dim: 1,
        global: [1, 1, 1],
        local: None,
        offset: None,
    };
    queue
        .launch_after(&asking, &geometry, None)
        .map_err(Error::call(format!(
            "clEnqueueNDRangeKernel of {LAYOUT_KERNEL}"
        )))?;
    queue
        .read(&out, 0, &mut bytes)
        .map_err(Error::call("clEnqueueReadBuffer"))?;
    let (numbers, _) = bytes.as_chunks::<{ size_of::<u32>() }>();
    let mut numbers = numbers
        .iter()
        .map(|bytes| u32::from_ne_bytes(*bytes) as usize);
    let mut next = || numbers.next().unwrap_or(0);
    for ty in structs {
        let size = [ty.size, next()];
        let fields = ty.fields.iter().map(|field| FieldLayout {
            name: field.name,
            offset: [field.offset, next()],
            size: [field.size(), next()],
        });
        let found = StructLayout {
            kernel: kernel.to_string(),
            name: ty.name,
            opencl_name: ty.opencl_name,
            fields: fields.collect(),
            size,
        };
        let is_same = |[host, device]: [usize; 2]| host == device;
        let mut fields = found.fields.iter();
        if !is_same(size) || !fields.all(|field| is_same(field.offset) && is_same(field.size)) {
            return Err(Error::StructLayout(Box::new(found)));
        }
    }
    Ok(())
}
