//! The compiled form of a tunable: everything a launch needs, static in generated code.
//!
//! [`Model::check`] says whether a configuration is valid, [`Model::commands`] and
//! [`Model::macros`] what it means for a call, and [`Model::space_spec`] what the space of all
//! valid ones is built from.

mod check;
mod commands;
mod const_text;
mod derived;
mod describe;
mod element_type;
mod geometry;
mod macros;
mod memory;
mod memory_rules;
mod mentioned;
mod rejection;
mod rules;
mod spec;
mod steps;
mod struct_record;
mod struct_type;

pub use commands::{Command, Commands, Given, Launch, ScratchMemory};
pub use describe::assignments;
pub use element_type::ElementType;
pub use geometry::Geometry;
pub use memory::{
    ImageDeclaration, ImageKind, ImageShape, Memory, MemoryChoice, MemorySpace, is_pixel,
};
pub use mentioned::mentioned;
pub use rejection::{Quantity, Rejection};
pub use rules::ConstraintOrigin;
pub use spec::{SpaceConstraint, SpaceParameter, SpaceSpec};
pub use steps::{BufferRef, Scratch, Stage, StageArgument, Step};
pub use struct_record::{
    FINGERPRINT_LENGTH, Named, fingerprint_with_structs, record_length, record_with_structs,
    tables, without_structs,
};
pub use struct_type::{Leaf, StructField, StructType};

use crate::expr::Formula;
use crate::parameter::Parameter;
use crate::{List, Text};

/// A tunable as a launch sees it. The macro emits one as a `static`; the tuner reads one from a
/// record.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Package and function, for example `my_crate::saxpy`; the key in the lockfile.
    pub name: Text,
    /// `b3:` and 64 hexadecimal digits; `cltune_formats::fingerprint` says what it covers.
    pub fingerprint: Text,
    /// OpenCL C, with every `#include "…"` already replaced by the file's text.
    pub source: Text,
    /// Compile options besides the `-D`s that cltune adds.
    pub options: List<CompileOption>,
    /// The parameters, in declaration order.
    pub parameters: List<Parameter>,
    /// The problem dimensions: names of integer scalar arguments, in the order of the function's
    /// arguments.
    pub dimensions: List<Text>,
    /// The user's constraints; those that follow from the device's limits are
    /// [`Model::derived_constraints`].
    pub constraints: List<Formula>,
    /// Extra macros from problem dimensions, parameters and device limits.
    pub defines: List<Define>,
    /// The arguments that a call passes, in the order of the function's.
    pub arguments: List<Argument>,
    /// Buffers of the tunable's own.
    pub scratch: List<Scratch>,
    /// The launches of a call, and what lies between them, in order.
    pub steps: List<Step>,
    /// The default configuration (codes), if the user declared one.
    pub default: Option<List<i64>>,
    /// The template that its kernels were generated from, if they were.
    pub template: Option<Template>,
}

/// The template of generated kernels, and what of an expression decides which values suit it: what
/// the database of template defaults is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// The template: `map`, `reduce`, `rows`, `columns`, `product`.
    pub name: Text,
    /// The size of its scalars in bytes, of the largest ones.
    pub scalar_size: i64,
    /// How many different vectors and matrices it reads or writes.
    pub vectors: i64,
    /// The elements of the longest vector or largest matrix, from the problem dimensions.
    pub elements: Formula,
}

impl Model {
    /// The structs of buffers, arguments, scratch and local memory, each once.
    pub fn structs(&self) -> Vec<&'static StructType> {
        let arguments = self.arguments.iter().map(|argument| match argument.kind {
            ArgumentKind::Scalar { scalar, .. } => scalar,
            ArgumentKind::Buffer { element, .. } => element,
        });
        let scratch = self.scratch.iter().map(|scratch| scratch.element);
        let stages = self.stages();
        let local = stages.iter().flat_map(|stage| stage.local_arguments());
        let local = local.map(|(_, element, _)| element);
        let all = arguments.chain(scratch).chain(local);
        let mut structs = Vec::new();
        for ty in all.filter_map(ElementType::as_struct) {
            if !structs.contains(&ty) {
                structs.push(ty);
            }
        }
        structs
    }
}

/// A compile option.
#[derive(Clone, Debug, PartialEq)]
pub struct CompileOption {
    /// The option, for example `-cl-mad-enable`.
    pub text: Text,
    /// For which configurations it is given; `None`: for all.
    pub condition: Option<Formula>,
}

impl CompileOption {
    /// One that every configuration is compiled with.
    pub fn always(text: impl Into<Text>) -> Self {
        Self {
            text: text.into(),
            condition: None,
        }
    }
}

/// An extra preprocessor macro whose value is a formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Define {
    /// The macro's name.
    pub name: Text,
    /// Its value.
    pub value: Formula,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The name in the Rust declaration.
    pub name: Text,
    /// What is passed.
    pub kind: ArgumentKind,
}

/// What is passed for an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentKind {
    /// A scalar or a vector of the call, passed by value.
    Scalar {
        /// Its type.
        scalar: ElementType,
        /// Its position among the problem dimensions, if it is one.
        dimension: Option<u16>,
    },
    /// A buffer of the call, or an image.
    Buffer {
        /// The element's type. The kernel may see it as another vector of the same scalar.
        element: ElementType,
        /// Who reads and writes it.
        access: Access,
        /// The least number of elements, if declared; checked before a launch.
        len: Option<Formula>,
        /// Where the kernel sees it.
        memory: Memory,
    },
}

/// Who reads and writes a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `&Buffer<T>`: the kernel only reads it.
    Read,
    /// `&mut Buffer<T>`: the kernel reads and writes it.
    ReadWrite,
    /// `#[arg(out)] &mut Buffer<T>`: the kernel writes it and never reads it before.
    Write,
}

/// The scalar types of OpenCL C that can be passed to a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// `char`.
    I8,
    /// `uchar`.
    U8,
    /// `short`.
    I16,
    /// `ushort`.
    U16,
    /// `int`.
    I32,
    /// `uint`.
    U32,
    /// `long`.
    I64,
    /// `ulong`.
    U64,
    /// `half`.
    F16,
    /// bfloat16: the upper half of a `float`. OpenCL C has no type for it: `ushort`, its bits.
    BF16,
    /// `float`.
    F32,
    /// `double`.
    F64,
}

impl ScalarType {
    /// Every type.
    pub const ALL: &[Self] = &[
        Self::I8,
        Self::U8,
        Self::I16,
        Self::U16,
        Self::I32,
        Self::U32,
        Self::I64,
        Self::U64,
        Self::F16,
        Self::BF16,
        Self::F32,
        Self::F64,
    ];

    /// The size in bytes.
    pub const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::BF16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// The least and the largest integer that the type holds, as far as 64 bits reach; of
    /// floating-point types those up to which all integers are exact.
    pub const fn integers(self) -> (i64, i64) {
        match self {
            Self::I8 => (i8::MIN as i64, i8::MAX as i64),
            Self::U8 => (0, u8::MAX as i64),
            Self::I16 => (i16::MIN as i64, i16::MAX as i64),
            Self::U16 => (0, u16::MAX as i64),
            Self::I32 => (i32::MIN as i64, i32::MAX as i64),
            Self::U32 => (0, u32::MAX as i64),
            Self::I64 => (i64::MIN, i64::MAX),
            Self::U64 => (0, i64::MAX),
            Self::F16 => (-(1 << 11), 1 << 11),
            Self::BF16 => (-(1 << 8), 1 << 8),
            Self::F32 => (-(1 << 24), 1 << 24),
            Self::F64 => (-(1 << 53), 1 << 53),
        }
    }

    /// An integer as this type's bytes in the host's order, the first [`size`](Self::size) of the
    /// array; `None` beyond [`integers`](Self::integers). `f16` and `bf16` are left out, since
    /// the host has no such types.
    pub fn bytes_of(self, value: i64) -> Option<[u8; 8]> {
        fn padded<const N: usize>(bytes: [u8; N]) -> [u8; 8] {
            let mut padded = [0; 8];
            padded[..N].copy_from_slice(&bytes);
            padded
        }
        let (least, most) = self.integers();
        if !(least..=most).contains(&value) {
            return None;
        }
        Some(match self {
            Self::I8 => padded((value as i8).to_ne_bytes()),
            Self::U8 => padded((value as u8).to_ne_bytes()),
            Self::I16 => padded((value as i16).to_ne_bytes()),
            Self::U16 => padded((value as u16).to_ne_bytes()),
            Self::I32 => padded((value as i32).to_ne_bytes()),
            Self::U32 => padded((value as u32).to_ne_bytes()),
            Self::I64 | Self::U64 => value.to_ne_bytes(),
            Self::F16 | Self::BF16 => return None,
            Self::F32 => padded((value as f32).to_ne_bytes()),
            Self::F64 => (value as f64).to_ne_bytes(),
        })
    }

    /// The name in Rust: `f32`.
    pub const fn rust_name(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The name in OpenCL C: `float`. Both `u16` and `bf16` are `ushort` there.
    pub const fn opencl_name(self) -> &'static str {
        match self {
            Self::I8 => "char",
            Self::U8 => "uchar",
            Self::I16 => "short",
            Self::U16 | Self::BF16 => "ushort",
            Self::I32 => "int",
            Self::U32 => "uint",
            Self::I64 => "long",
            Self::U64 => "ulong",
            Self::F16 => "half",
            Self::F32 => "float",
            Self::F64 => "double",
        }
    }

    /// The variant's identifier, for generated code.
    pub const fn variant(self) -> &'static str {
        match self {
            Self::I8 => "I8",
            Self::U8 => "U8",
            Self::I16 => "I16",
            Self::U16 => "U16",
            Self::I32 => "I32",
            Self::U32 => "U32",
            Self::I64 => "I64",
            Self::U64 => "U64",
            Self::F16 => "F16",
            Self::BF16 => "BF16",
            Self::F32 => "F32",
            Self::F64 => "F64",
        }
    }

    /// The type with this Rust name.
    pub fn from_rust_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|scalar| scalar.rust_name() == name)
    }

    /// Whether it is an integer type.
    pub const fn is_integer(self) -> bool {
        !matches!(self, Self::F16 | Self::BF16 | Self::F32 | Self::F64)
    }
}
