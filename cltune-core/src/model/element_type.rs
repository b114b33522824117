//! The types of buffers' elements and of arguments that are passed by value: scalars and vectors.

use super::ScalarType;
use crate::Text;
use std::fmt;

/// A scalar type of OpenCL C, or a vector of 2, 4, 8 or 16 of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementType {
    /// The type of each component.
    pub scalar: ScalarType,
    /// The number of components; 1 for a scalar.
    pub lanes: u8,
}

impl ElementType {
    /// The numbers of components that a vector may have. OpenCL's vectors of 3 are left out: they
    /// take the memory of 4, which no Rust array of 3 does.
    pub const LANES: [u8; 4] = [2, 4, 8, 16];

    /// A scalar.
    pub const fn scalar(scalar: ScalarType) -> Self {
        Self { scalar, lanes: 1 }
    }

    /// A vector of so many components.
    pub const fn vector(scalar: ScalarType, lanes: u8) -> Self {
        Self { scalar, lanes }
    }

    /// The scalar, unless it is a vector.
    pub const fn as_scalar(self) -> Option<ScalarType> {
        if self.lanes == 1 {
            Some(self.scalar)
        } else {
            None
        }
    }

    /// The size in bytes.
    pub const fn size(self) -> usize {
        self.scalar.size() * self.lanes as usize
    }

    /// The number of components of so many elements.
    pub const fn components(self, len: usize) -> usize {
        len.saturating_mul(self.lanes as usize)
    }

    /// The name in Rust: `f32`, `[f32; 4]`.
    pub fn rust_name(self) -> Text {
        let scalar = self.scalar.rust_name();
        match self.lanes {
            1 => scalar.into(),
            lanes => format!("[{scalar}; {lanes}]").into(),
        }
    }

    /// The type with this Rust name, as [`rust_name`](Self::rust_name) writes it.
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
            .then_some(Self { scalar, lanes })
    }

    /// The name in OpenCL C: `float`, `float4`.
    pub fn opencl_name(self) -> Text {
        let scalar = self.scalar.opencl_name();
        match self.lanes {
            1 => scalar.into(),
            lanes => format!("{scalar}{lanes}").into(),
        }
    }

    /// The type with this name in OpenCL C; for vectors of 3, too.
    pub fn from_opencl_name(name: &str) -> Option<Self> {
        let stem = name.trim_end_matches(|character: char| character.is_ascii_digit());
        let lanes = match &name[stem.len()..] {
            "" => 1,
            lanes => lanes.parse().ok()?,
        };
        let mut scalars = ScalarType::ALL.iter().copied();
        let scalar = scalars.find(|scalar| scalar.opencl_name() == stem)?;
        Some(Self { scalar, lanes })
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
                assert_eq!(
                    ElementType::from_opencl_name(&opencl),
                    Some(element),
                    "{opencl}"
                );
                assert_eq!(element.size(), scalar.size() * usize::from(lanes));
            }
        }
        let float4 = ElementType::vector(ScalarType::F32, 4);
        assert_eq!(float4.to_string(), "[f32; 4]");
        assert_eq!(float4.opencl_name(), "float4");
        assert_eq!(float4.as_scalar(), None);
        assert_eq!(float4.components(3), 12);
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
