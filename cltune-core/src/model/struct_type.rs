//! Structs as elements of buffers and as arguments that are passed by value.

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
    /// What the tuner fills the field with, in the words of [`Fill::of_field`]; empty where nothing
    /// is declared.
    ///
    /// [`Fill::of_field`]: crate::declaration::Fill::of_field
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
        let (mut at, mut alignment) = (0, 1);
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
            if own > alignment {
                alignment = own;
            }
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

/// A struct as a declaration names it: the path that is written there, and the type.
pub type Named = (&'static str, &'static StructType);

/// The length of the record of a declaration with structs, see [`record_with_structs`].
pub const fn record_length(header: &[u8], text: &str, structs: &[Named]) -> usize {
    let mut tables = ConstText::new(&mut []);
    push_tables(structs, &mut tables);
    header.len() + 8 + text.len() + tables.len
}

/// The record of a declaration with structs: the macro, which sees no type of another item, makes
/// the header up to the text's length and the text, and the compiler appends the tables of the
/// structs.
pub const fn record_with_structs<const N: usize>(
    header: &[u8],
    text: &str,
    structs: &[Named],
) -> [u8; N] {
    let mut bytes = [0; N];
    let mut record = ConstText::new(&mut bytes);
    record.push_bytes(header);
    let length = (N - header.len() - 8) as u64;
    record.push_bytes(&length.to_le_bytes());
    record.push(text);
    push_tables(structs, &mut record);
    bytes
}

/// The tables of structs as a record has them.
#[cfg(feature = "lockfile")]
pub(crate) fn tables(structs: &[Named]) -> String {
    let mut bytes = vec![0; record_length(&[], "", structs)];
    let mut text = ConstText::new(&mut bytes);
    push_tables(structs, &mut text);
    text.as_str().to_owned()
}

const fn push_tables(structs: &[Named], out: &mut ConstText<'_>) {
    let mut at = 0;
    while at < structs.len() {
        let (name, ty) = structs[at];
        push_table(name, "", ty, out);
        at += 1;
    }
}

/// The table of a struct after those of the structs that it contains, which are named by the way to
/// them: `Body.spin`.
const fn push_table(name: &str, suffix: &str, ty: &StructType, out: &mut ConstText<'_>) {
    let mut at = 0;
    while at < ty.fields.len() {
        let field = &ty.fields[at];
        if let ElementType::Struct(inner) = field.element {
            let mut buffer = [0; 256];
            let mut way = ConstText::new(&mut buffer);
            way.push(suffix);
            way.push(".");
            way.push(field.name);
            push_table(name, way.as_str(), inner, out);
        }
        at += 1;
    }
    out.push("\n[[struct]]\nname = \"");
    out.push(name);
    out.push(suffix);
    out.push("\"\nopencl = \"");
    out.push(ty.opencl_name);
    out.push("\"\nsize = [");
    out.push_number(ty.size);
    out.push("]\nfields = [");
    let mut at = 0;
    while at < ty.fields.len() {
        let field = &ty.fields[at];
        out.push(if at == 0 { "\"" } else { ", \"" });
        out.push(field.name);
        out.push(": ");
        match field.element {
            ElementType::Vector { scalar, lanes: 1 } => out.push(scalar.rust_name()),
            ElementType::Vector { scalar, lanes } => {
                out.push("[");
                out.push(scalar.rust_name());
                out.push("; ");
                out.push_number(lanes as usize);
                out.push("]");
            }
            ElementType::Struct(_) => {
                out.push(name);
                out.push(suffix);
                out.push(".");
                out.push(field.name);
            }
        }
        if let Some(count) = field.count {
            out.push(" * ");
            out.push_number(count);
        }
        out.push(" at ");
        out.push_number(field.offset);
        if !field.fill.is_empty() {
            out.push(" fill ");
            out.push(field.fill);
        }
        out.push("\"");
        at += 1;
    }
    out.push("]\n");
}

/// The digits of a fingerprint that tell the layouts of a declaration's structs.
const STRUCT_DIGITS: usize = 16;
/// The length of a fingerprint.
pub const FINGERPRINT_LENGTH: usize = "b3:".len() + 64;

/// The part of a fingerprint that is the same whatever the layouts of structs are.
pub fn without_structs(fingerprint: &str) -> &str {
    let end = fingerprint.len().saturating_sub(STRUCT_DIGITS);
    fingerprint.get(..end).unwrap_or(fingerprint)
}

/// The fingerprint of a declaration with structs, from the one that the macro makes without their
/// layouts, or from itself. The last digits are those of a hash that is simple enough for the
/// compiler to compute.
pub const fn fingerprint_with_structs(macros: &str, structs: &[Named]) -> [u8; FINGERPRINT_LENGTH] {
    let macros = macros.as_bytes();
    if macros.len() != FINGERPRINT_LENGTH {
        // Of a declaration with mistakes, which has none.
        return [b'0'; FINGERPRINT_LENGTH];
    }
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.bytes(macros.split_at(FINGERPRINT_LENGTH - STRUCT_DIGITS).0);
    let mut at = 0;
    while at < structs.len() {
        hash.structure(structs[at].1);
        at += 1;
    }
    let mut out = [0; FINGERPRINT_LENGTH];
    let mut at = 0;
    while at < FINGERPRINT_LENGTH - STRUCT_DIGITS {
        out[at] = macros[at];
        at += 1;
    }
    while at < FINGERPRINT_LENGTH {
        let shift = 4 * (FINGERPRINT_LENGTH - 1 - at);
        out[at] = b"0123456789abcdef"[(hash.0 >> shift & 15) as usize];
        at += 1;
    }
    out
}

/// FNV-1a.
struct Fnv(u64);

impl Fnv {
    const fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        let mut at = 0;
        while at < bytes.len() {
            self.byte(bytes[at]);
            at += 1;
        }
    }

    const fn number(&mut self, number: usize) {
        let bytes = (number as u64).to_le_bytes();
        let mut at = 0;
        while at < bytes.len() {
            self.byte(bytes[at]);
            at += 1;
        }
    }

    const fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ byte as u64).wrapping_mul(0x0100_0000_01b3);
    }

    const fn structure(&mut self, ty: &StructType) {
        self.bytes(ty.opencl_name.as_bytes());
        self.number(ty.size);
        self.number(ty.fields.len());
        let mut at = 0;
        while at < ty.fields.len() {
            let field = &ty.fields[at];
            self.bytes(field.name.as_bytes());
            self.number(field.offset);
            match field.count {
                None => self.number(0),
                Some(count) => {
                    self.number(1);
                    self.number(count);
                }
            }
            match field.element {
                ElementType::Vector { scalar, lanes } => {
                    self.bytes(scalar.rust_name().as_bytes());
                    self.byte(lanes);
                }
                ElementType::Struct(inner) => self.structure(inner),
            }
            at += 1;
        }
    }
}

/// Text that the compiler puts together. What is beyond the buffer counts in its length and is left
/// out.
struct ConstText<'a> {
    bytes: &'a mut [u8],
    len: usize,
}

impl<'a> ConstText<'a> {
    const fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, len: 0 }
    }

    const fn push_bytes(&mut self, bytes: &[u8]) {
        let capacity = self.bytes.len();
        let begin = if self.len < capacity {
            self.len
        } else {
            capacity
        };
        let room = capacity - begin;
        let fitting = if bytes.len() < room {
            bytes.len()
        } else {
            room
        };
        // At once: a loop over a long source is more than the compiler likes to evaluate.
        let (_, rest) = self.bytes.split_at_mut(begin);
        let (target, _) = rest.split_at_mut(fitting);
        target.copy_from_slice(bytes.split_at(fitting).0);
        self.len += bytes.len();
    }

    const fn push(&mut self, text: &str) {
        self.push_bytes(text.as_bytes());
    }

    const fn push_number(&mut self, number: usize) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        self.push_bytes(&[b'0' + (number % 10) as u8]);
    }

    const fn as_str(&self) -> &str {
        let capacity = self.bytes.len();
        let len = if self.len < capacity {
            self.len
        } else {
            capacity
        };
        match std::str::from_utf8(self.bytes.split_at(len).0) {
            Ok(text) => text,
            // Cut within a character.
            Err(_) => "a text that is too long",
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/struct_type.rs"]
mod tests;
