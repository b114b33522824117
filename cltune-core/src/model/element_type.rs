//! The types of buffers' elements and of arguments that are passed by value: scalars, vectors and
//! structs.

use super::{Leaf, ScalarType, StructType};
use crate::Text;
use std::fmt;

/// A scalar type of OpenCL C, a vector of 2, 4, 8 or 16 of them, or a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// A vector, or a scalar.
    Vector {
        /// The type of each component.
        scalar: ScalarType,
        /// The number of components; 1 for a scalar.
        lanes: u8,
    },
    /// A struct of the program's own.
    Struct(&'static StructType),
}

impl ElementType {
    /// The numbers of components that a vector may have. OpenCL's vectors of 3 are left out: they
    /// take the memory of 4, which no Rust array of 3 does.
    pub const LANES: [u8; 4] = [2, 4, 8, 16];

    /// A scalar.
    pub const fn scalar(scalar: ScalarType) -> Self {
        Self::vector(scalar, 1)
    }

    /// A vector of so many components.
    pub const fn vector(scalar: ScalarType, lanes: u8) -> Self {
        Self::Vector { scalar, lanes }
    }

    /// The scalar, unless it is a vector or a struct.
    pub const fn as_scalar(self) -> Option<ScalarType> {
        match self {
            Self::Vector { scalar, lanes: 1 } => Some(scalar),
            _ => None,
        }
    }

    /// The type of all components; `None` for a struct.
    pub const fn component(self) -> Option<ScalarType> {
        match self {
            Self::Vector { scalar, .. } => Some(scalar),
            Self::Struct(_) => None,
        }
    }

    /// The struct, if it is one.
    pub const fn as_struct(self) -> Option<&'static StructType> {
        match self {
            Self::Struct(ty) => Some(ty),
            Self::Vector { .. } => None,
        }
    }

    /// The size in bytes.
    pub const fn size(self) -> usize {
        match self {
            Self::Vector { scalar, lanes } => scalar.size() * lanes as usize,
            Self::Struct(ty) => ty.size,
        }
    }

    /// The alignment on a device, bytes.
    pub const fn device_alignment(self) -> usize {
        match self {
            Self::Vector { .. } => self.size(),
            Self::Struct(ty) => ty.device_alignment(),
        }
    }

    /// The runs of scalars of one type, in the order of memory: one, unless it is a struct. For the
    /// tuner.
    #[doc(hidden)]
    pub fn leaves(self) -> Vec<Leaf> {
        match self {
            Self::Vector { scalar, lanes } => vec![Leaf {
                path: String::new(),
                offset: 0,
                scalar,
                count: lanes.into(),
                fill: "",
            }],
            Self::Struct(ty) => ty.leaves(),
        }
    }

    /// Whether all components are integers.
    pub fn is_integer(self) -> bool {
        match self {
            Self::Vector { scalar, .. } => scalar.is_integer(),
            Self::Struct(ty) => ty.leaves().iter().all(|leaf| leaf.scalar.is_integer()),
        }
    }

    /// The name in Rust: `f32`, `[f32; 4]`, `Particle`.
    pub fn rust_name(self) -> Text {
        match self {
            Self::Vector { scalar, lanes: 1 } => scalar.rust_name().into(),
            Self::Vector { scalar, lanes } => format!("[{}; {lanes}]", scalar.rust_name()).into(),
            Self::Struct(ty) => ty.name.into(),
        }
    }

    /// The scalar or vector with this Rust name, as [`rust_name`](Self::rust_name) writes it.
    pub fn from_rust_name(name: &str) -> Option<Self> {
        let vector = name
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'));
        let Some(vector) = vector else {
            return ScalarType::from_rust_name(name).map(Self::scalar);
        };
        let (scalar, lanes) = vector.split_once("; ")?;
        let lanes = lanes.parse().ok()?;
        let scalar = ScalarType::from_rust_name(scalar)?;
        Self::LANES
            .contains(&lanes)
            .then_some(Self::vector(scalar, lanes))
    }

    /// The name in OpenCL C: `float`, `float4`, `Particle`.
    pub fn opencl_name(self) -> Text {
        match self {
            Self::Vector { scalar, lanes: 1 } => scalar.opencl_name().into(),
            Self::Vector { scalar, lanes } => format!("{}{lanes}", scalar.opencl_name()).into(),
            Self::Struct(ty) => ty.opencl_name.into(),
        }
    }

    /// The scalar or vector with this name in OpenCL C; for vectors of 3, too. `ushort` is `u16`.
    pub fn from_opencl_name(name: &str) -> Option<Self> {
        let stem = name.trim_end_matches(|character: char| character.is_ascii_digit());
        let lanes = match &name[stem.len()..] {
            "" => 1,
            lanes => lanes.parse().ok()?,
        };
        let mut scalars = ScalarType::ALL.iter().copied();
        let scalar = scalars.find(|scalar| scalar.opencl_name() == stem)?;
        Some(Self::vector(scalar, lanes))
    }
}

impl From<ScalarType> for ElementType {
    fn from(scalar: ScalarType) -> Self {
        Self::scalar(scalar)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rust_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_both_languages_are_read_again() {
        for scalar in ScalarType::ALL {
            for lanes in [1].into_iter().chain(ElementType::LANES) {
                let element = ElementType::vector(*scalar, lanes);
                let rust = element.rust_name();
                assert_eq!(ElementType::from_rust_name(&rust), Some(element), "{rust}");
                let opencl = element.opencl_name();
                let of_the_kernel = match scalar {
                    ScalarType::BF16 => ElementType::vector(ScalarType::U16, lanes),
                    _ => element,
                };
                assert_eq!(
                    ElementType::from_opencl_name(&opencl),
                    Some(of_the_kernel),
                    "{opencl}"
                );
                assert_eq!(element.size(), scalar.size() * usize::from(lanes));
            }
        }
        let float4 = ElementType::vector(ScalarType::F32, 4);
        assert_eq!(float4.to_string(), "[f32; 4]");
        assert_eq!(float4.opencl_name(), "float4");
        assert_eq!(float4.as_scalar(), None);
        assert_eq!(float4.component(), Some(ScalarType::F32));
    }

    #[test]
    fn other_names_are_no_types() {
        for name in [
            "",
            "[]",
            "[f32]",
            "[f32; 3]",
            "[f32; 1]",
            "[f32;4]",
            "f32; 4]",
            "[bool; 4]",
        ] {
            assert_eq!(ElementType::from_rust_name(name), None, "{name}");
        }
        for name in ["", "4", "float99999", "Particle", "image2d_t"] {
            assert_eq!(ElementType::from_opencl_name(name), None, "{name}");
        }
    }
}
