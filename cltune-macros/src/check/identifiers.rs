//! Identifiers that the preprocessor, OpenCL C and Rust take.

use cltune_core::Text;
use cltune_core::parameter::is_c_identifier;
use proc_macro2::Ident;
use syn::ext::IdentExt;

/// Words of OpenCL C that a kernel needs as they are: C99's keywords, OpenCL's qualifiers, and the
/// scalar types.
const OPENCL_WORDS: &str = "auto break case char const continue default do double else enum \
    extern float for goto half if inline int long register restrict return short signed sizeof \
    static struct switch typedef union unsigned void volatile while bool uchar ushort uint ulong \
    size_t ptrdiff_t kernel global local constant private generic __kernel __global __local \
    __constant __private __attribute__ defined";

/// Names of Rust that cannot be written as raw identifiers.
pub(super) const RUST_WORDS: [&str; 5] = ["self", "Self", "super", "crate", "_"];

/// An identifier as formulas, the kernel and the lockfile know it.
pub(super) fn text(ident: &Ident) -> Text {
    ident.unraw().to_string().into()
}

/// Why a name cannot be that of a macro of the kernel, if so.
pub(super) fn macro_name(name: &str) -> Result<(), &'static str> {
    if !is_c_identifier(name) {
        return Err(
            "it becomes a macro of the kernel, so it consists of ASCII letters, digits \
                    and `_`",
        );
    }
    if name == "device" {
        return Err("in formulas it stands for the device's limits");
    }
    if OPENCL_WORDS
        .split_ascii_whitespace()
        .any(|word| word == name)
    {
        return Err("it is a word of OpenCL C, which the macro would replace everywhere");
    }
    Ok(())
}

/// An identifier that may also be a keyword, as a field's name.
pub(super) fn rust_identifier(ident: &Ident) -> Ident {
    let name = ident.to_string();
    match syn::parse_str::<Ident>(&name) {
        Ok(_) => ident.clone(),
        Err(_) => Ident::new_raw(&name, ident.span()),
    }
}

/// Whether it can also be the name of an enum's variant.
pub(super) fn is_rust_identifier(name: &str) -> bool {
    is_c_identifier(name) && !RUST_WORDS.contains(&name)
}
