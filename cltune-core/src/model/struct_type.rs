//! Structs as elements of buffers and as arguments that are passed by value.

use super::const_text::ConstText;
use super::{ElementType, ScalarType};

/// A struct whose bytes are the same on the host and on the device: fields in the order of memory,
/// without padding.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct StructType {
    /// The name in Rust.
    pub name: &'static str,
    /// The name of the type in OpenCL C.
    pub opencl_name: &'static str,
    /// The size on the host, bytes.
    pub size: usize,
    /// The fields.
    pub fields: &'static [StructField],
}

/// A field of a struct.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct StructField {
    /// The name, in both languages.
    pub name: &'static str,
    /// The offset on the host, bytes.
    pub offset: usize,
    /// The type of the field, or of the elements of an array.
    pub element: ElementType,
    /// The number of an array's elements; `None` for a field that is no array.
    pub count: Option<usize>,
    /// What the tuner fills the field with, in the words of
    /// `cltune_formats::declaration::Fill::of_field`; empty where nothing is declared.
    pub fill: &'static str,
}

/// Scalars of one type that follow each other in an element: a vector, or a field of a struct that
/// is not a struct itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The field's name with those of the structs that it is in: `spin.axis`. Empty for an element
    /// that is no struct.
    pub path: String,
    /// The offset in the element, bytes.
    pub offset: usize,
    /// The type of the scalars.
    pub scalar: ScalarType,
    /// Their number.
    pub count: usize,
    /// What the tuner fills the field with, as declared with the struct.
    pub fill: &'static str,
}

impl Leaf {
    /// The size in bytes.
    pub fn size(&self) -> usize {
        self.scalar.size() * self.count
    }
}

impl StructField {
    /// The size in bytes, elements of an array together.
    pub const fn size(&self) -> usize {
        self.element.size() * self.elements()
    }

    const fn elements(&self) -> usize {
        match self.count {
            Some(count) => count,
            None => 1,
        }
    }
}

impl StructType {
    /// The fields as runs of scalars, in the order of memory. For the tuner.
    #[doc(hidden)]
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.push_leaves("", 0, &mut leaves);
        leaves
    }

    fn push_leaves(&self, prefix: &str, base: usize, leaves: &mut Vec<Leaf>) {
        for field in self.fields {
            let (path, offset) = (format!("{prefix}{}", field.name), base + field.offset);
            match field.element {
                ElementType::Vector { scalar, lanes } => leaves.push(Leaf {
                    path,
                    offset,
                    scalar,
                    count: usize::from(lanes) * field.elements(),
                    fill: field.fill,
                }),
                ElementType::Struct(inner) => {
                    for index in 0..field.elements() {
                        let prefix = match field.count {
                            None => format!("{path}."),
                            Some(_) => format!("{path}[{index}]."),
                        };
                        inner.push_leaves(&prefix, offset + index * inner.size, leaves);
                    }
                }
            }
        }
    }

    /// This struct and those that it contains, each once. For asking the device.
    #[doc(hidden)]
    pub fn with_inner(&'static self) -> Vec<&'static Self> {
        let mut all = vec![self];
        let mut at = 0;
        while at < all.len() {
            let inner = all[at].fields.iter();
            let inner: Vec<_> = inner
                .filter_map(|field| field.element.as_struct())
                .collect();
            for of in inner {
                if !all.contains(&of) {
                    all.push(of);
                }
            }
            at += 1;
        }
        all
    }

    /// The first bytes that belong to no field: their offset and number. Nothing says what they
    /// hold.
    pub const fn padding(&self) -> Option<(usize, usize)> {
        let (mut end, mut at) = (0, 0);
        while at < self.fields.len() {
            let field = &self.fields[at];
            if field.offset > end {
                return Some((end, field.offset - end));
            }
            end = field.offset + field.size();
            at += 1;
        }
        if self.size > end {
            return Some((end, self.size - end));
        }
        None
    }

    /// Stops the compiler where a struct cannot be the same on the host and on devices. Generated
    /// code calls it in a constant.
    ///
    /// # Panics
    /// With the reason: padding, or a vector that does not begin at a multiple of its size.
    #[track_caller]
    pub const fn assert_portable(&self) {
        let mut buffer = [0; 512];
        let mut text = ConstText::new(&mut buffer);
        if let Some((offset, bytes)) = self.padding() {
            text.push("the struct `");
            text.push(self.name);
            text.push("` has padding on the host: ");
            text.push_number(bytes);
            text.push(if bytes == 1 {
                " byte at offset "
            } else {
                " bytes at offset "
            });
            text.push_number(offset);
            self.push_neighbours(offset, &mut text);
            text.push(
                "; what they hold is not defined. Order the fields by their alignment, or declare the bytes \
                 as a field on both sides, for example `padding: [u8; ",
            );
            text.push_number(bytes);
            text.push("]`");
            panic!("{}", text.as_str());
        }
        let alignment = self.device_alignment();
        let mut at = 0;
        while at < self.fields.len() {
            let field = &self.fields[at];
            if field.size() == 0 {
                text.push("the field `");
                text.push(field.name);
                text.push("` of the struct `");
                text.push(self.name);
                text.push("` has no elements, which OpenCL C does not have");
                panic!("{}", text.as_str());
            }
            let own = field.element.device_alignment();
            if !field.offset.is_multiple_of(own) {
                text.push("the field `");
                text.push(field.name);
                text.push("` of the struct `");
                text.push(self.name);
                text.push("` has offset ");
                text.push_number(field.offset);
                text.push(" on the host; on a device it begins at a multiple of ");
                text.push_number(own);
                text.push(" bytes. Put larger fields first, or declare the bytes before it as a field on both sides");
                panic!("{}", text.as_str());
            }
            at += 1;
        }
        if !self.size.is_multiple_of(alignment) {
            text.push("the struct `");
            text.push(self.name);
            text.push("` has ");
            text.push_number(self.size);
            text.push(" bytes on the host; on a device its size is a multiple of ");
            text.push_number(alignment);
            text.push(" bytes, the alignment of its vectors. Declare the missing bytes as a field at its end, on both sides");
            panic!("{}", text.as_str());
        }
    }

    /// Between which fields an offset is.
    const fn push_neighbours(&self, offset: usize, text: &mut ConstText<'_>) {
        let mut at = 0;
        while at < self.fields.len() {
            if self.fields[at].offset >= offset {
                text.push(", before `");
                text.push(self.fields[at].name);
                text.push("`");
                return;
            }
            at += 1;
        }
        text.push(", after the last field");
    }

    /// The alignment on a device, bytes: the largest of the fields'.
    pub const fn device_alignment(&self) -> usize {
        let (mut at, mut alignment) = (0, 1);
        while at < self.fields.len() {
            let own = self.fields[at].element.device_alignment();
            if own > alignment {
                alignment = own;
            }
            at += 1;
        }
        alignment
    }
}

#[cfg(test)]
#[path = "../../tests/unit/struct_type.rs"]
mod tests;
