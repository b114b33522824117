//! The types that buffers hold and kernels take by value.

use crate::opencl::KernelStruct;
use cltune_core::model::{ElementType, ScalarType};

mod sealed {
    pub trait Sealed {}
}

/// A scalar type of OpenCL C (`i8` to `u64`, `f32`, `f64`, and `f16` with the feature of that
/// name), `bf16` (the same feature; the kernel sees a `ushort`), a vector of 2, 4, 8 or 16 of them
/// (`[f32; 4]` is `float4`), or a struct that derives
/// [`KernelStruct`](trait@crate::KernelStruct). Sealed, because any bit pattern must be a value:
/// buffers are read back from devices.
///
/// An array of 3 is none: OpenCL's `float3` takes the memory of a `float4`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a buffer or an argument of a kernel",
    label = "neither a scalar or vector of OpenCL C nor a struct that derives `KernelStruct`",
    note = "for a struct: `#[derive(Clone, Copy, Default, KernelStruct)] #[repr(C)]`"
)]
pub trait Element: Copy + Default + Send + Sync + sealed::Sealed + 'static {
    /// The type's description.
    const TYPE: ElementType;

    /// The bytes of a slice.
    #[inline]
    fn as_bytes(slice: &[Self]) -> &[u8] {
        crate::opencl::bytes_of(slice)
    }

    /// The bytes of a slice, to be overwritten.
    #[inline]
    fn as_bytes_mut(slice: &mut [Self]) -> &mut [u8] {
        crate::opencl::bytes_of_mut(slice)
    }
}

macro_rules! elements {
    ($($ty:ty => $variant:ident),+ $(,)?) => { $(
        elements!(@ $ty, $variant, 1);
        elements!(@ [$ty; 2], $variant, 2);
        elements!(@ [$ty; 4], $variant, 4);
        elements!(@ [$ty; 8], $variant, 8);
        elements!(@ [$ty; 16], $variant, 16);
    )+ };
    (@ $ty:ty, $variant:ident, $lanes:literal) => {
        impl sealed::Sealed for $ty {}
        impl Element for $ty {
            const TYPE: ElementType = ElementType::vector(ScalarType::$variant, $lanes);
        }
    };
}

elements! {
    i8 => I8, u8 => U8, i16 => I16, u16 => U16, i32 => I32, u32 => U32, i64 => I64, u64 => U64,
    f32 => F32, f64 => F64,
}

#[cfg(feature = "f16")]
elements! { half::f16 => F16, half::bf16 => BF16 }

impl<T: KernelStruct> sealed::Sealed for T {}
impl<T: KernelStruct> Element for T {
    const TYPE: ElementType = ElementType::Struct(T::LAYOUT);
}

/// The type of a field that is not declared to be a vector, for derived code.
///
/// # Panics
/// With the message, where it is one.
#[track_caller]
pub const fn no_vector(element: ElementType, message: &str) -> ElementType {
    match element {
        ElementType::Vector { lanes: 1, .. } | ElementType::Struct(_) => element,
        ElementType::Vector { .. } => panic!("{}", message),
    }
}

/// Bytes of ASCII as text, for generated code.
pub const fn text(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => "",
    }
}

/// Whether two texts are the same, for generated constants.
pub const fn is_same_text(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    one.len() == other.len()
}
