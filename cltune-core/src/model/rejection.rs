//! The reasons why a configuration cannot be launched.

use super::ScalarType;
use crate::Text;
use crate::device::DeviceField;
use crate::expr::EvalError;
use crate::parameter::{Domain, Parameter};
use std::fmt;

/// Why a configuration is not valid on a device for a problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// As many values as parameters are needed.
    #[error("a configuration of this kernel has {expected} values, not {found}")]
    ValueCount {
        /// The number of parameters.
        expected: usize,
        /// The number of values given.
        found: usize,
    },
    /// As many sizes as problem dimensions are needed.
    #[error("a problem of this kernel has {expected} dimensions, not {found}")]
    DimensionCount {
        /// The number of problem dimensions.
        expected: usize,
        /// The number of sizes given.
        found: usize,
    },
    /// Global size, local size and offset do not have the same 1 to 3 dimensions.
    #[error(
        "the kernel's sizes have {global} (global), {local} (local) and {offset} (offset) dimensions"
    )]
    WorkDimension {
        /// Dimensions of the global size.
        global: usize,
        /// Dimensions of the local size.
        local: usize,
        /// Dimensions of the offset.
        offset: usize,
    },
    /// A value that the parameter cannot take.
    #[error("`{parameter}` cannot be {value}: it is not one of the declared values")]
    NotAValue {
        /// The parameter.
        parameter: Text,
        /// The value given, as [`Domain::show`](crate::parameter::Domain::show) has it.
        value: Text,
    },
    /// A number outside of the parameter's range.
    #[error("`{parameter}` cannot be {value}: its values are the numbers from {range}")]
    OutOfRange {
        /// The parameter.
        parameter: Text,
        /// The value given.
        value: Box<str>,
        /// The first number to the last.
        range: Box<str>,
    },
    /// A value that the parameter cannot take on the device.
    #[error("`{parameter}` cannot be {value} on this device: its values are {values}")]
    NotAValueHere {
        /// The parameter.
        parameter: Text,
        /// The value given.
        value: i64,
        /// The declared values, of which some are formulas.
        values: Text,
    },
    /// A constraint of the user is false.
    #[error("the constraint `{text}` does not hold")]
    Constraint {
        /// The constraint.
        text: Text,
    },
    /// A formula could not be evaluated.
    #[error("{quantity} `{text}` has no value: {reason}")]
    NoValue {
        /// What the formula computes.
        quantity: Quantity,
        /// The formula.
        text: Text,
        /// Why it has none.
        reason: EvalError,
    },
    /// A quantity below what is possible.
    #[error("{quantity} `{text}` is {value}, and must be at least {least}")]
    TooSmall {
        /// What the formula computes.
        quantity: Quantity,
        /// The formula.
        text: Text,
        /// Its value.
        value: i64,
        /// The least possible value.
        least: i64,
    },
    /// A quantity beyond the device's limit.
    #[error("{quantity} is {value}, more than the device's {} = {maximum}", limit.name())]
    BeyondLimit {
        /// What is too large.
        quantity: Quantity,
        /// Its value.
        value: i64,
        /// The limit.
        limit: DeviceField,
        /// The limit's value on the device.
        maximum: i64,
    },
    /// A global size that work-groups do not cover evenly.
    #[error(
        "the global size {global} is not divisible by the local size {local} in dimension {dimension}"
    )]
    NotDivisible {
        /// The dimension, from 0.
        dimension: usize,
        /// The global size in work-items.
        global: i64,
        /// The local size in work-items.
        local: i64,
    },
    /// One stage of a group of launches cannot be launched.
    #[error("in the stage `{kernel}`, {reason}")]
    Stage {
        /// The name of its kernel.
        kernel: Text,
        /// Why not.
        reason: Box<Self>,
    },
    /// No condition of a stage holds, and no steps are repeated.
    #[error("it launches no stage")]
    NothingRuns,
    /// Two buffers that are copied or change places have different lengths.
    #[error(
        "`{first}` has {first_len} elements and `{second}` has {second_len}: buffers that are \
         copied or change places have the same length"
    )]
    DifferentLengths {
        /// One buffer.
        first: Text,
        /// Its length, elements.
        first_len: i64,
        /// The other.
        second: Text,
        /// Its length, elements.
        second_len: i64,
    },
    /// A computed scalar that its type cannot hold.
    #[error("the value `{text}` is {value}, which `{}` cannot hold", scalar.rust_name())]
    BeyondType {
        /// The formula.
        text: Text,
        /// Its value.
        value: i64,
        /// The type.
        scalar: ScalarType,
    },
    /// An argument is an image, and the device has none, or none that kernels write.
    #[error(
        "`{argument}` is an image{}, which the device does not have: its {} is 0",
        if *limit == DeviceField::ImageSupport { "" } else { " that the kernel writes" },
        limit.name()
    )]
    NoImages {
        /// The argument.
        argument: Text,
        /// The limit that is 0.
        limit: DeviceField,
    },
    /// An image of more pixels than its buffer has elements.
    #[error("`{argument}` is an image of {pixels} pixels, and has {elements} elements")]
    ImageTooLarge {
        /// The argument.
        argument: Text,
        /// The pixels of the image.
        pixels: usize,
        /// The declared length.
        elements: i64,
    },
    /// More steps than one call may have.
    #[error("a call has more than {most} steps")]
    TooManySteps {
        /// The most.
        most: usize,
    },
}

impl Rejection {
    pub(super) fn not_a_value(parameter: &Parameter, code: i64) -> Self {
        let name = parameter.name.clone();
        match &parameter.domain {
            Domain::PerDevice(formulas) => {
                let formulas: Vec<&str> = formulas.iter().map(|of| &*of.text).collect();
                Self::NotAValueHere {
                    parameter: name,
                    value: code,
                    values: formulas.join(", ").into(),
                }
            }
            Domain::Reals(range) => Self::OutOfRange {
                parameter: name,
                value: parameter.domain.show(code).into(),
                range: format!("{} to {}", range.first, range.last).into(),
            },
            _ => Self::NotAValue {
                parameter: name,
                value: parameter.domain.show(code).into(),
            },
        }
    }
}

/// What a formula of a declaration computes, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantity {
    /// A constraint of the user.
    Constraint,
    /// The global size in a dimension, in work-items.
    GlobalSize(usize),
    /// The local size in a dimension, in work-items.
    LocalSize(usize),
    /// The global offset in a dimension, in work-items.
    Offset(usize),
    /// The number of work-items of a work-group, over all dimensions.
    WorkGroupSize,
    /// The local memory of a work-group, in bytes.
    LocalMemory,
    /// The length of an argument, in elements.
    ArgumentLength(Text),
    /// The value of an extra macro.
    Define(Text),
    /// The length of a scratch buffer, in elements.
    ScratchLength(Text),
    /// The size of a scratch buffer, in bytes.
    ScratchBytes(Text),
    /// The condition of a step.
    Condition,
    /// The number of rounds of repeated steps.
    Rounds,
    /// The value of a scalar that a stage computes.
    Value,
    /// The condition of a compile option.
    CompileOption(Text),
    /// The size of an argument in constant memory, in bytes.
    ConstantBytes(Text),
    /// The size of an image in a dimension, in pixels.
    ImageSize(Text, usize),
    /// The number of a kernel's arguments in constant memory.
    ConstantArguments,
    /// The number of images that a kernel reads.
    ReadImages,
    /// The number of images that a kernel writes.
    WrittenImages,
    /// The number of images that a kernel both reads and writes.
    ReadWriteImages,
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constraint => f.write_str("the constraint"),
            Self::GlobalSize(dimension) => write!(f, "the global size in dimension {dimension}"),
            Self::LocalSize(dimension) => write!(f, "the local size in dimension {dimension}"),
            Self::Offset(dimension) => write!(f, "the global offset in dimension {dimension}"),
            Self::WorkGroupSize => f.write_str("the work-group size"),
            Self::LocalMemory => f.write_str("the local memory of a work-group in bytes"),
            Self::ArgumentLength(name) => write!(f, "the length of the argument `{name}`"),
            Self::Define(name) => write!(f, "the macro {name} ="),
            Self::ScratchLength(name) => write!(f, "the length of the scratch buffer `{name}`"),
            Self::ScratchBytes(name) => write!(f, "the scratch buffer `{name}` in bytes"),
            Self::Condition => f.write_str("the condition"),
            Self::Rounds => f.write_str("the number of rounds"),
            Self::Value => f.write_str("the value"),
            Self::CompileOption(text) => write!(f, "the condition of the option `{text}`,"),
            Self::ConstantBytes(name) => {
                write!(f, "the argument `{name}` in constant memory in bytes")
            }
            Self::ImageSize(name, dimension) => {
                write!(f, "the size of the image `{name}` in dimension {dimension}")
            }
            Self::ConstantArguments => f.write_str("the number of arguments in constant memory"),
            Self::ReadImages => f.write_str("the number of images that are read"),
            Self::WrittenImages => f.write_str("the number of images that are written"),
            Self::ReadWriteImages => f.write_str("the number of images that are read and written"),
        }
    }
}
