//! The layouts of structs in the record and in the fingerprint. The compiler adds them: the macro
//! sees the names of structs alone.

use super::const_text::ConstText;
use super::{ElementType, StructType};

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
pub fn tables(structs: &[Named]) -> String {
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
