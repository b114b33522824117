//! The memory that a kernel sees an argument in: buffers, constant memory and images.
//!
//! A buffer of the call can live where a parameter says. An image of the call is described as a
//! buffer of as many elements: it is filled, compared and recorded like one.

use super::geometry::{at_least, evaluated};
use super::{
    Access, ArgumentKind, ElementType, Model, Quantity, Rejection, ScalarType, Stage, StageArgument,
};
use crate::device::DeviceField;
use crate::expr::{Env, EvalError, Formula};
use crate::parameter::Domain;
use crate::{List, Text};

/// Where the kernel sees a buffer argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Memory {
    /// `__global` or `__constant`, as the kernel's signature says: a buffer object either way.
    Buffer,
    /// A buffer of the call, which lives where a parameter says. The kernel only reads it.
    Chosen(MemoryChoice),
    /// An image of the call.
    Image(ImageDeclaration),
}

impl Memory {
    /// Whether it is an image of the call whose pixels are normalized integers.
    pub fn is_normalized(&self) -> bool {
        matches!(self, Self::Image(image) if image.normalized)
    }
}

/// A parameter that says where an argument lives.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryChoice {
    /// The parameter's position. Its values are names of [`MemorySpace`]s.
    pub parameter: u16,
    /// The image that the argument can be; `None` where no value says so.
    pub image: Option<ImageDeclaration>,
}

/// The memory that an argument lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemorySpace {
    /// A buffer in `__global` memory.
    Buffer,
    /// A buffer in `__constant` memory.
    Constant,
    /// An image.
    Image,
}

impl MemorySpace {
    /// Every space.
    pub const ALL: [Self; 3] = [Self::Buffer, Self::Constant, Self::Image];

    /// The name, as the values of a parameter have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Buffer => "buffer",
            Self::Constant => "constant",
            Self::Image => "image",
        }
    }

    /// The space of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|space| space.name() == name)
    }
}

/// The kind and the size of an image.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageDeclaration {
    /// The kind.
    pub kind: ImageKind,
    /// Whether the kernel sees integers as numbers from 0 or -1 to 1.
    pub normalized: bool,
    /// The pixels in each dimension; last of an array the number of its images.
    pub size: List<Formula>,
}

/// The kinds of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageKind {
    /// `image2d_t`.
    Image2d,
    /// `image3d_t`.
    Image3d,
    /// `image2d_array_t`.
    Image2dArray,
}

impl ImageKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Image2d, Self::Image3d, Self::Image2dArray];

    /// The number of sizes.
    pub const fn rank(self) -> usize {
        match self {
            Self::Image2d => 2,
            Self::Image3d | Self::Image2dArray => 3,
        }
    }

    /// The name of the type in Rust.
    pub const fn rust_name(self) -> &'static str {
        match self {
            Self::Image2d => "Image2d",
            Self::Image3d => "Image3d",
            Self::Image2dArray => "Image2dArray",
        }
    }

    /// The kind whose type has this name in Rust.
    pub fn from_rust_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.rust_name() == name)
    }

    /// The name of the type in OpenCL C.
    pub const fn opencl_name(self) -> &'static str {
        match self {
            Self::Image2d => "image2d_t",
            Self::Image3d => "image3d_t",
            Self::Image2dArray => "image2d_array_t",
        }
    }

    /// The device's limits of the sizes.
    const fn limits(self) -> &'static [DeviceField] {
        match self {
            Self::Image2d => &[DeviceField::Image2dMaxWidth, DeviceField::Image2dMaxHeight],
            Self::Image3d => &[
                DeviceField::Image3dMaxWidth,
                DeviceField::Image3dMaxHeight,
                DeviceField::Image3dMaxDepth,
            ],
            Self::Image2dArray => &[
                DeviceField::Image2dMaxWidth,
                DeviceField::Image2dMaxHeight,
                DeviceField::ImageMaxArraySize,
            ],
        }
    }
}

/// An image for one problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageShape {
    /// The kind.
    pub kind: ImageKind,
    /// The element of a pixel.
    pub element: ElementType,
    /// Whether the kernel sees integers as numbers from 0 or -1 to 1.
    pub normalized: bool,
    /// The pixels in each dimension, 1 where there is none; last of an array the number of images.
    pub size: [usize; 3],
}

impl ImageShape {
    /// The number of pixels.
    pub const fn pixels(&self) -> usize {
        let [width, height, depth] = self.size;
        width.saturating_mul(height).saturating_mul(depth)
    }

    /// The size in bytes.
    pub const fn bytes(&self) -> usize {
        self.pixels().saturating_mul(self.element.size())
    }
}

/// Whether pixels of an image can be such elements: 1, 2 or 4 channels of at most 32 bits, but
/// not bfloat16, and integers of at most 16 where they are normalized.
pub const fn is_pixel(element: ElementType, normalized: bool) -> bool {
    let ElementType::Vector { scalar, lanes } = element else {
        return false;
    };
    let size = scalar.size();
    let channel = if normalized {
        scalar.is_integer() && size <= 2
    } else {
        size <= 4 && !matches!(scalar, ScalarType::BF16)
    };
    channel && matches!(lanes, 1 | 2 | 4)
}

/// A count of arguments that a device limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CountLimit {
    pub(super) counted: Counted,
    pub(super) limit: DeviceField,
}

/// What is counted among a kernel's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    Constant,
    Image(Access),
}

pub(super) const COUNT_LIMITS: [CountLimit; 4] = [
    CountLimit {
        counted: Counted::Constant,
        limit: DeviceField::MaxConstantArgs,
    },
    CountLimit {
        counted: Counted::Image(Access::Read),
        limit: DeviceField::MaxReadImageArgs,
    },
    CountLimit {
        counted: Counted::Image(Access::Write),
        limit: DeviceField::MaxWriteImageArgs,
    },
    CountLimit {
        counted: Counted::Image(Access::ReadWrite),
        limit: DeviceField::MaxReadWriteImageArgs,
    },
];

impl Counted {
    /// Whether an argument in a space counts.
    pub(super) fn has(self, space: MemorySpace, access: Access) -> bool {
        match self {
            Self::Constant => space == MemorySpace::Constant,
            Self::Image(of) => space == MemorySpace::Image && access == of,
        }
    }

    pub(super) const fn quantity(self) -> Quantity {
        match self {
            Self::Constant => Quantity::ConstantArguments,
            Self::Image(Access::Read) => Quantity::ReadImages,
            Self::Image(Access::Write) => Quantity::WrittenImages,
            Self::Image(Access::ReadWrite) => Quantity::ReadWriteImages,
        }
    }
}

impl ImageDeclaration {
    /// The limit of each size, with the size.
    pub(super) fn limited_sizes(&self) -> impl Iterator<Item = (&Formula, DeviceField)> {
        self.size.iter().zip(self.kind.limits().iter().copied())
    }

    fn check(
        &self,
        name: &Text,
        element: ElementType,
        access: Access,
        len: Option<&Formula>,
        env: &Env<'_>,
    ) -> Result<(), Rejection> {
        let needed = [
            (true, DeviceField::ImageSupport),
            (self.writes_3d(access), DeviceField::Image3dWrites),
        ];
        for (needed, limit) in needed {
            if needed && env.device.get(limit) == 0 {
                let argument = name.clone();
                return Err(Rejection::NoImages { argument, limit });
            }
        }
        for (dimension, (size, limit)) in self.limited_sizes().enumerate() {
            let quantity = || Quantity::ImageSize(name.clone(), dimension);
            let value = at_least(size, 1, quantity, env)?;
            within(value, limit, quantity, env)?;
        }
        let shape = self.shape(name, element, env)?;
        let Some(len) = len else { return Ok(()) };
        let elements = evaluated(len, || Quantity::ArgumentLength(name.clone()), env)?;
        let pixels = shape.pixels();
        if i64::try_from(pixels).is_ok_and(|pixels| pixels <= elements) {
            return Ok(());
        }
        Err(Rejection::ImageTooLarge {
            argument: name.clone(),
            pixels,
            elements,
        })
    }

    /// Whether writing it takes what not all devices with images have.
    pub(super) fn writes_3d(&self, access: Access) -> bool {
        self.kind == ImageKind::Image3d && access != Access::Read
    }

    /// The image for one problem.
    fn shape(
        &self,
        name: &Text,
        element: ElementType,
        env: &Env<'_>,
    ) -> Result<ImageShape, Rejection> {
        let mut size = [1; 3];
        for (dimension, (formula, size)) in self.size.iter().zip(&mut size).enumerate() {
            let quantity = || Quantity::ImageSize(name.clone(), dimension);
            let value = at_least(formula, 1, quantity, env)?;
            *size = usize::try_from(value).map_err(|_| Rejection::NoValue {
                quantity: quantity(),
                text: formula.text.clone(),
                reason: EvalError::Overflow,
            })?;
        }
        Ok(ImageShape {
            kind: self.kind,
            element,
            normalized: self.normalized,
            size,
        })
    }
}

/// That a value is within a limit of the device.
fn within(
    value: i64,
    limit: DeviceField,
    quantity: impl FnOnce() -> Quantity,
    env: &Env<'_>,
) -> Result<(), Rejection> {
    let maximum = env.device.get(limit);
    if value <= maximum {
        return Ok(());
    }
    Err(Rejection::BeyondLimit {
        quantity: quantity(),
        value,
        limit,
        maximum,
    })
}

impl Model {
    /// The space that an argument lives in for a configuration, and the image that it is there.
    pub(super) fn space<'a>(
        &'a self,
        memory: &'a Memory,
        codes: &[i64],
    ) -> (MemorySpace, Option<&'a ImageDeclaration>) {
        match memory {
            Memory::Buffer => (MemorySpace::Buffer, None),
            Memory::Image(image) => (MemorySpace::Image, Some(image)),
            Memory::Chosen(choice) => {
                let spaces = self.spaces(choice);
                let code = codes.get(usize::from(choice.parameter)).copied();
                let space = spaces.into_iter().find(|(of, _)| Some(*of) == code);
                let space = space.map_or(MemorySpace::Buffer, |(_, space)| space);
                let image = (space == MemorySpace::Image).then_some(choice.image.as_ref());
                (space, image.flatten())
            }
        }
    }

    /// The codes of a parameter that chooses, with the spaces.
    pub(super) fn spaces(
        &self,
        choice: &MemoryChoice,
    ) -> impl IntoIterator<Item = (i64, MemorySpace)> {
        let parameter = self.parameters.get(usize::from(choice.parameter));
        let names = match parameter.map(|parameter| &parameter.domain) {
            Some(Domain::Names(names)) => &**names,
            _ => &[],
        };
        (0..)
            .zip(names)
            .filter_map(|(code, name)| Some((code, MemorySpace::from_name(name)?)))
    }

    /// Whether the arguments can live where the configuration says.
    pub(super) fn check_memory(&self, env: &Env<'_>) -> Result<(), Rejection> {
        for argument in self.arguments.iter() {
            let ArgumentKind::Buffer {
                element,
                access,
                len,
                memory,
            } = &argument.kind
            else {
                continue;
            };
            match self.space(memory, env.params) {
                (MemorySpace::Constant, _) => {
                    let Some(len) = len else { continue };
                    let quantity = || Quantity::ConstantBytes(argument.name.clone());
                    let len = evaluated(len, quantity, env)?;
                    let bytes = len.saturating_mul(element.size() as i64);
                    within(bytes, DeviceField::MaxConstantBufferSize, quantity, env)?;
                }
                (_, Some(image)) => {
                    // Of an image of the call the length is the product of its sizes.
                    let len = len.as_ref().filter(|_| matches!(memory, Memory::Chosen(_)));
                    image.check(&argument.name, *element, *access, len, env)?;
                }
                (_, None) => {}
            }
        }
        Ok(())
    }

    /// Whether a kernel has no more arguments in a memory than the device allows.
    pub(super) fn check_counts(&self, stage: &Stage, env: &Env<'_>) -> Result<(), Rejection> {
        for CountLimit { counted, limit } in COUNT_LIMITS {
            let spaces = self.passed_buffers(stage).map(|(_, access, memory)| {
                let (space, _) = self.space(memory, env.params);
                i64::from(counted.has(space, access))
            });
            let count: i64 = spaces.sum();
            if count > 0 {
                within(count, limit, || counted.quantity(), env)?;
            }
        }
        Ok(())
    }

    /// The buffers of the call that a stage's kernel gets.
    pub(super) fn passed_buffers<'a>(
        &'a self,
        stage: &'a Stage,
    ) -> impl Iterator<Item = (&'a Text, Access, &'a Memory)> {
        stage.arguments.iter().filter_map(|argument| {
            let StageArgument::Passed(position) = argument else {
                return None;
            };
            let argument = self.arguments.get(usize::from(*position))?;
            match &argument.kind {
                ArgumentKind::Buffer { access, memory, .. } => {
                    Some((&argument.name, *access, memory))
                }
                ArgumentKind::Scalar { .. } => None,
            }
        })
    }

    /// The images of a call of a configuration, by the positions of arguments; nothing where there
    /// is none. The configuration must have passed [`check`](Self::check).
    ///
    /// # Errors
    /// A size that has no value.
    pub fn images(
        &self,
        codes: &[i64],
        dims: &[i64],
        device: &crate::device::DeviceLimits,
    ) -> Result<Vec<(usize, ImageShape)>, Rejection> {
        let env = Env {
            params: codes,
            dims,
            device,
        };
        let mut images = Vec::new();
        for (position, argument) in self.arguments.iter().enumerate() {
            if let ArgumentKind::Buffer {
                element, memory, ..
            } = &argument.kind
                && let (_, Some(image)) = self.space(memory, codes)
            {
                images.push((position, image.shape(&argument.name, *element, &env)?));
            }
        }
        Ok(images)
    }

    /// The space that an argument lives in for a configuration, with the kind of an image;
    /// `None` for a scalar.
    pub fn memory_space(
        &self,
        position: usize,
        codes: &[i64],
    ) -> Option<(MemorySpace, Option<ImageKind>)> {
        match &self.arguments.get(position)?.kind {
            ArgumentKind::Buffer { memory, .. } => {
                let (space, image) = self.space(memory, codes);
                Some((space, image.map(|image| image.kind)))
            }
            ArgumentKind::Scalar { .. } => None,
        }
    }
}
