//! Comparison of the declared arguments with the kernel's real signature.

use crate::opencl::{ArgInfo, RawKernel};
use cltune_core::model::{
    Access, ArgumentKind, ElementType, ImageKind, MemorySpace, Model, ScalarType, StageArgument,
};
use std::fmt;

/// The declaration and the kernel disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureMismatch {
    /// The kernel's name.
    pub kernel: String,
    /// Every position of both sides.
    pub rows: Vec<SignatureRow>,
}

/// One position of both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureRow {
    /// The declared argument; `None` past the end.
    pub declared: Option<String>,
    /// The kernel's argument; `None` past the end.
    pub kernel: Option<String>,
    /// Whether they agree.
    pub agrees: bool,
}

impl std::error::Error for SignatureMismatch {}

impl fmt::Display for SignatureMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "the declaration and the kernel `{}` disagree:",
            self.kernel
        )?;
        let text = |side: &Option<String>| side.clone().unwrap_or_else(|| "(nothing)".into());
        let width = self
            .rows
            .iter()
            .map(|row| text(&row.declared).len())
            .max()
            .unwrap_or(0);
        let width = width.max("declared".len());
        write!(f, "     {:width$}  kernel", "declared")?;
        for (position, row) in self.rows.iter().enumerate() {
            let mark = if row.agrees { ' ' } else { '!' };
            let (declared, kernel) = (text(&row.declared), text(&row.kernel));
            write!(f, "\n{mark} {position:>2} {declared:width$}  {kernel}")?;
        }
        Ok(())
    }
}

/// A declared argument of a kernel.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) kind: DeclaredKind,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum DeclaredKind {
    Scalar(ElementType),
    Buffer {
        element: ElementType,
        access: Access,
    },
    Local(ElementType),
    Image {
        kind: ImageKind,
        access: Access,
    },
}

/// The declaration of a stage's argument for a configuration.
pub(super) fn declared(model: &Model, argument: &StageArgument, codes: &[i64]) -> Declared {
    let (name, kind) = match argument {
        StageArgument::Passed(position) => {
            let argument = &model.arguments[usize::from(*position)];
            let space = model.memory_space(usize::from(*position), codes);
            let kind = match &argument.kind {
                ArgumentKind::Buffer { access, .. }
                    if let Some((MemorySpace::Image, Some(kind))) = space =>
                {
                    DeclaredKind::Image {
                        kind,
                        access: *access,
                    }
                }
                ArgumentKind::Scalar { scalar, .. } => DeclaredKind::Scalar(*scalar),
                ArgumentKind::Buffer {
                    element, access, ..
                } => DeclaredKind::Buffer {
                    element: *element,
                    access: *access,
                },
            };
            (argument.name.to_string(), kind)
        }
        StageArgument::Scratch(position) => {
            let scratch = &model.scratch[usize::from(*position)];
            let kind = DeclaredKind::Buffer {
                element: scratch.element,
                access: Access::ReadWrite,
            };
            (scratch.name.to_string(), kind)
        }
        StageArgument::Value { scalar, value } => (
            value.text.to_string(),
            DeclaredKind::Scalar((*scalar).into()),
        ),
        StageArgument::Local { name, element, .. } => {
            (name.to_string(), DeclaredKind::Local(*element))
        }
    };
    Declared { name, kind }
}

/// Checks number, address spaces and types. Where the driver keeps no argument information, only
/// the number.
pub(super) fn check(
    name: &str,
    arguments: &[Declared],
    kernel: &RawKernel,
) -> Result<(), SignatureMismatch> {
    let count = kernel
        .arg_count()
        .map_or(arguments.len(), |count| count as usize);
    let infos: Vec<Option<ArgInfo>> = (0..count).map(|at| kernel.arg_info(at as u32)).collect();
    compare(name, arguments, &infos)
}

fn compare(
    name: &str,
    arguments: &[Declared],
    kernel: &[Option<ArgInfo>],
) -> Result<(), SignatureMismatch> {
    let rows: Vec<SignatureRow> = (0..arguments.len().max(kernel.len()))
        .map(|position| {
            let declared = arguments.get(position);
            let found = kernel.get(position);
            let agrees = match (declared, found) {
                (Some(declared), Some(Some(found))) => agree(declared.kind, found),
                (Some(_), Some(None)) => true,
                _ => false,
            };
            SignatureRow {
                declared: declared.map(describe),
                kernel: found.map(|found| match found {
                    Some(info) => format!("__{} {} {}", info.address, info.type_name, info.name),
                    None => "(not told by the driver)".into(),
                }),
                agrees,
            }
        })
        .collect();
    if rows.iter().all(|row| row.agrees) {
        return Ok(());
    }
    Err(SignatureMismatch {
        kernel: name.to_string(),
        rows,
    })
}

fn describe(argument: &Declared) -> String {
    let name = &argument.name;
    match &argument.kind {
        DeclaredKind::Scalar(scalar) => format!("{name}: {}", scalar.rust_name()),
        DeclaredKind::Buffer {
            element,
            access: Access::Read,
        } => {
            format!("{name}: &Buffer<{}>", element.rust_name())
        }
        DeclaredKind::Buffer { element, .. } => {
            format!("{name}: &mut Buffer<{}>", element.rust_name())
        }
        DeclaredKind::Local(element) => format!("{name}: local [{}]", element.rust_name()),
        DeclaredKind::Image { kind, access } => {
            let access = match access {
                Access::Read => "read_only",
                Access::Write => "write_only",
                Access::ReadWrite => "read_write",
            };
            format!("{name}: {access} {}", kind.opencl_name())
        }
    }
}

fn agree(declared: DeclaredKind, found: &ArgInfo) -> bool {
    let (base, is_pointer) = base_type(&found.type_name);
    // A typedef or struct of the source's own is nothing to compare with. A pointer may be to
    // another vector of the same scalar: the memory is the same. By names of OpenCL C, where two
    // types of the host have the same one.
    let component = |of: ElementType| of.component().map(ScalarType::opencl_name);
    let same = |declared: ElementType| {
        base.and_then(element_of).is_none_or(|found| {
            found.opencl_name() == declared.opencl_name()
                || (is_pointer && component(found) == component(declared))
        })
    };
    match declared {
        DeclaredKind::Scalar(element) => found.address == "private" && !is_pointer && same(element),
        DeclaredKind::Buffer { element, access } => {
            let address = found.address == "global"
                || (found.address == "constant" && access == Access::Read);
            address && is_pointer && same(element)
        }
        DeclaredKind::Local(element) => found.address == "local" && is_pointer && same(element),
        DeclaredKind::Image { kind, .. } => is_image(&found.type_name, kind),
    }
}

/// Whether an argument is such an image. Drivers name the type with its access or without.
fn is_image(type_name: &str, kind: ImageKind) -> bool {
    let last = type_name.split_whitespace().next_back();
    last == Some(kind.opencl_name())
}

/// The type without pointer, and whether it is one. `None` for empty names.
fn base_type(name: &str) -> (Option<&str>, bool) {
    let base = name.trim_end_matches('*').trim();
    (
        Some(base).filter(|base| !base.is_empty()),
        name.trim_end().ends_with('*'),
    )
}

/// The type of an OpenCL type's name; `None` for others.
fn element_of(name: &str) -> Option<ElementType> {
    ElementType::from_opencl_name(match name {
        "unsigned char" => "uchar",
        "unsigned short" => "ushort",
        "unsigned int" | "unsigned" => "uint",
        "unsigned long" => "ulong",
        "signed char" => "char",
        other => other,
    })
}

#[cfg(test)]
#[path = "../../tests/unit/tuning_signature.rs"]
mod tests;
