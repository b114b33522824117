//! From a record's text to the structs of a declaration.

use super::RecordProblem;
use super::fields::Fields;
use crate::declaration::Fill;
use cltune_core::model::{ElementType, StructField, StructType};
use cltune_core::parameter::is_c_identifier;

/// The most elements of an array in a struct: private memory holds no more.
const MOST: usize = 1 << 16;

/// The structs, those first that others contain. They live as long as the process: types are few,
/// and elements are copied everywhere.
pub(super) fn structs(fields: &Fields<'_>) -> Result<Vec<&'static StructType>, RecordProblem> {
    let mut structs = Vec::new();
    for table in fields.tables("struct")? {
        let ty: &'static StructType = Box::leak(Box::new(structure(&table, &structs)?));
        structs.push(ty);
    }
    Ok(structs)
}

fn structure(
    table: &Fields<'_>,
    known: &[&'static StructType],
) -> Result<StructType, RecordProblem> {
    let texts = table.texts("fields")?.into_iter();
    let read = |text| {
        field(text, known).ok_or_else(|| table.damaged("fields", format!("{text:?} is no field")))
    };
    let fields: Vec<StructField> = texts.map(read).collect::<Result<_, _>>()?;
    let size = match table.optional_ints("size")?.as_deref() {
        Some(&[size]) => usize::try_from(size).ok(),
        _ => None,
    };
    let size = size.ok_or_else(|| table.damaged("size", "one number of bytes is expected"))?;
    let name = table.printable("name", table.text("name")?)?;
    let opencl_name = table.text("opencl")?;
    // It goes into a kernel's source.
    let word = opencl_name.strip_prefix("struct ").unwrap_or(opencl_name);
    if !is_c_identifier(word) {
        return Err(table.damaged("opencl", format!("{opencl_name:?} is no type")));
    }
    let ty = StructType {
        name: leaked(&name),
        opencl_name: leaked(opencl_name),
        size,
        fields: Vec::leak(fields),
    };
    let end = ty.fields.iter().map(|field| field.offset + field.size());
    let is_whole = ty.padding().is_none() && end.max() == Some(size) && size < 1 << 30;
    if is_whole {
        Ok(ty)
    } else {
        Err(table.damaged(
            "fields",
            "they do not follow each other up to the struct's size",
        ))
    }
}

/// `NAME: TYPE [* COUNT] at OFFSET [fill WORDS]`.
fn field(text: &str, known: &[&'static StructType]) -> Option<StructField> {
    let (name, rest) = text.split_once(": ")?;
    let (ty, rest) = rest.split_once(" at ")?;
    let (offset, fill) = rest.split_once(" fill ").unwrap_or((rest, ""));
    let (ty, count) = match ty.split_once(" * ") {
        Some((ty, count)) => (
            ty,
            Some(
                count
                    .parse()
                    .ok()
                    .filter(|count| (1..=MOST).contains(count))?,
            ),
        ),
        None => (ty, None),
    };
    let is_fill = fill.is_empty() || Fill::of_field(fill).is_some();
    let mut structs = known.iter();
    let element = ElementType::from_rust_name(ty)
        .or_else(|| Some(ElementType::Struct(structs.find(|of| of.name == ty)?)))?;
    (is_c_identifier(name) && is_fill).then_some(StructField {
        name: leaked(name),
        offset: offset.parse().ok().filter(|offset| *offset < 1 << 30)?,
        element,
        count,
        fill: leaked(fill),
    })
}

fn leaked(text: &str) -> &'static str {
    String::leak(text.to_owned())
}
