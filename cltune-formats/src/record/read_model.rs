//! From a record's text to a model.

use super::RecordProblem;
use super::fields::Fields;
use super::read_steps::{self, Names, position, stage};
use super::write::{ZEROS, access_word};
use crate::formula::{Scope, Type};
use cltune_core::model::{
    Access, Argument, ArgumentKind, CompileOption, Define, ElementType, FINGERPRINT_LENGTH,
    ImageDeclaration, ImageKind, Memory, MemoryChoice, MemorySpace, Model, Scratch, StageArgument,
    Step, Template, fingerprint_with_structs, is_pixel,
};
use cltune_core::parameter::{Domain, Fraction, Parameter, RealRange, Scale, is_c_identifier};
use cltune_core::{List, Text};
use std::collections::HashSet;

pub(super) fn model(fields: &Fields<'_>) -> Result<Model, RecordProblem> {
    let parameters: Vec<Parameter> = fields
        .tables("parameter")?
        .iter()
        .map(parameter)
        .collect::<Result<_, _>>()?;
    let dimensions = fields.texts("dimensions")?.into_iter();
    let dimensions: List<Text> = dimensions
        .map(|name| fields.printable("dimensions", name))
        .collect::<Result<_, _>>()?;
    let scope = Scope {
        parameters: &parameters,
        dimensions: &dimensions,
    };
    let defines: Vec<Define> = fields
        .tables("define")?
        .iter()
        .map(|table| {
            Ok(Define {
                name: identifier(table)?,
                value: table.formula("value", &scope)?,
            })
        })
        .collect::<Result<_, RecordProblem>>()?;
    let (arguments, single) = arguments(fields, &scope)?;
    let (scratch, steps) = if fields.optional_text("kernel")?.is_some() {
        let stage = stage(fields, &scope, &scope, single)?;
        (Vec::new(), vec![Step::Launch(stage)])
    } else {
        group(fields, &scope, &arguments)?
    };
    let mut model = Model {
        name: fields.printable("name", fields.text("name")?)?,
        fingerprint: fields.owned("fingerprint")?.into(),
        source: fields.owned("source")?.into(),
        options: options(fields, &scope)?,
        constraints: fields.formulas("constraints", &scope, Type::Bool)?.into(),
        defines: defines.into(),
        arguments: arguments.into(),
        scratch: scratch.into(),
        steps: steps.into(),
        default: default(fields, &parameters)?,
        template: template(fields, &scope)?,
        parameters: parameters.into(),
        dimensions,
    };
    complete_fingerprint(&mut model).map_err(|message| fields.damaged("fingerprint", message))?;
    Ok(model)
}

/// Adds the layouts of structs, which the macro does not know.
fn complete_fingerprint(model: &mut Model) -> Result<(), &'static str> {
    let structs = model.structs();
    if structs.is_empty() {
        return Ok(());
    }
    let named: Vec<_> = structs.into_iter().map(|ty| (ty.name, ty)).collect();
    if model.fingerprint.len() != FINGERPRINT_LENGTH {
        return Err("it has another length");
    }
    let complete = fingerprint_with_structs(&model.fingerprint, &named);
    model.fingerprint = String::from_utf8_lossy(&complete).into_owned().into();
    Ok(())
}

/// The template of generated kernels; older releases wrote none.
fn template(fields: &Fields<'_>, scope: &Scope<'_>) -> Result<Option<Template>, RecordProblem> {
    let Some(table) = fields.optional_table("template")? else {
        return Ok(None);
    };
    let only_dimensions = Scope {
        parameters: &[],
        ..*scope
    };
    Ok(Some(Template {
        name: identifier(&table)?,
        scalar_size: table.integer("scalar_size")?,
        vectors: table.integer("vectors")?,
        elements: table.formula("elements", &only_dimensions)?,
    }))
}

/// The scratch buffers and the steps of a group of launches.
pub(super) fn group(
    fields: &Fields<'_>,
    scope: &Scope<'_>,
    arguments: &[Argument],
) -> Result<(Vec<Scratch>, Vec<Step>), RecordProblem> {
    let scratch = fields.tables("scratch")?;
    let scratch = scratch.iter().map(|table| self::scratch(table, scope));
    let scratch: Vec<Scratch> = scratch.collect::<Result<_, _>>()?;
    let names = Names {
        arguments,
        scratch: &scratch,
    };
    let steps = read_steps::steps(&fields.tables("step")?, scope, &names)?;
    Ok((scratch, steps))
}

fn options(fields: &Fields<'_>, scope: &Scope<'_>) -> Result<List<CompileOption>, RecordProblem> {
    let options = fields.texts_or_tables("options")?.into_iter();
    options
        .map(|option| match option {
            Ok(text) => Ok(CompileOption::always(text.to_owned())),
            Err(table) => Ok(CompileOption {
                text: table.owned("option")?.into(),
                condition: Some(table.condition("if", scope)?),
            }),
        })
        .collect()
}

fn texts(texts: Vec<&str>) -> List<Text> {
    texts
        .into_iter()
        .map(|text| Text::Owned(text.to_owned()))
        .collect()
}

/// The name of something that becomes a macro, and so must be a C identifier.
fn identifier(table: &Fields<'_>) -> Result<Text, RecordProblem> {
    let name = table.text("name")?;
    if is_c_identifier(name) {
        Ok(Text::Owned(name.to_owned()))
    } else {
        Err(table.damaged("name", format!("{name:?} is not an identifier")))
    }
}

fn default(
    fields: &Fields<'_>,
    parameters: &[Parameter],
) -> Result<Option<List<i64>>, RecordProblem> {
    let Some(codes) = fields.optional_ints("default")? else {
        return Ok(None);
    };
    let are_members = parameters
        .iter()
        .zip(&codes)
        .all(|(parameter, code)| parameter.domain.contains(*code));
    if codes.len() == parameters.len() && are_members {
        Ok(Some(codes.into()))
    } else {
        Err(fields.damaged("default", "it is not one value of each parameter"))
    }
}

fn parameter(table: &Fields<'_>) -> Result<Parameter, RecordProblem> {
    Ok(Parameter {
        name: identifier(table)?,
        domain: domain(table)?,
    })
}

fn domain(table: &Fields<'_>) -> Result<Domain, RecordProblem> {
    if let Some(values) = table.optional_ints("integers")? {
        check_members(table, "integers", &values)?;
        return Ok(Domain::Integers(values.into()));
    }
    if let Some(range) = table.optional_ints("range")? {
        return match *range {
            [first, last, step]
                if first <= last && step >= 1 && last.abs_diff(first) % step as u64 == 0 =>
            {
                let domain = Domain::Range { first, last, step };
                if domain.len() > Domain::MAX_LEN {
                    return Err(table.damaged("range", "it has too many values"));
                }
                Ok(domain)
            }
            _ => Err(table.damaged("range", "it is not first, last and step of a range")),
        };
    }
    if let Some(range) = table.optional_ints("powers_of_two")? {
        let is_power = |value: i64| value > 0 && value.count_ones() == 1;
        return match *range {
            [first, last] if first <= last && is_power(first) && is_power(last) => {
                Ok(Domain::PowersOfTwo { first, last })
            }
            _ => Err(table.damaged("powers_of_two", "it is not two powers of two, in order")),
        };
    }
    if let Some(values) = table.optional_booleans("booleans")? {
        check_members(table, "booleans", &values)?;
        return Ok(Domain::Booleans(values.into()));
    }
    if let Some(values) = table.optional_floats("fractions")? {
        if !values.iter().all(|value| value.is_finite()) {
            return Err(table.damaged("fractions", "one of them is not finite"));
        }
        let values: Vec<Fraction> = values.into_iter().map(Fraction::of).collect();
        check_members(table, "fractions", &values)?;
        return Ok(Domain::Fractions(values.into()));
    }
    let scales = [
        ("reals", Scale::Linear),
        ("logarithmic_reals", Scale::Logarithmic),
    ];
    for (key, scale) in scales {
        if let Some(bounds) = table.optional_floats(key)? {
            return reals(&bounds, scale).map_err(|reason| table.damaged(key, reason));
        }
    }
    if let Some(texts) = table.optional_texts("per_device")? {
        check_members(table, "per_device", &texts)?;
        let formulas = table.formulas("per_device", &Scope::default(), Type::Int)?;
        return Ok(Domain::PerDevice(formulas.into()));
    }
    if let Some(names) = table.optional_texts("names")? {
        check_members(table, "names", &names)?;
        if !names.iter().copied().all(is_c_identifier) {
            return Err(table.damaged("names", "one of them is not an identifier"));
        }
        return Ok(Domain::Names(texts(names)));
    }
    Err(table.damaged(
        "integers",
        "it is missing, and so is every other kind of values",
    ))
}

fn reals(bounds: &[f64], scale: Scale) -> Result<Domain, String> {
    match *bounds {
        [first, last] => RealRange::new(first, last, scale)
            .map(Domain::Reals)
            .map_err(|error| error.to_string()),
        _ => Err("it is not the first and the last number of a range".to_owned()),
    }
}

fn check_members<T: Eq + std::hash::Hash>(
    table: &Fields<'_>,
    key: &str,
    values: &[T],
) -> Result<(), RecordProblem> {
    let distinct: HashSet<&T> = values.iter().collect();
    if values.is_empty() || distinct.len() < values.len() {
        return Err(table.damaged(key, "a parameter needs values, each once"));
    }
    Ok(())
}

/// The arguments of the call, and those of the only stage of a single launch.
fn arguments(
    fields: &Fields<'_>,
    scope: &Scope<'_>,
) -> Result<(Vec<Argument>, Vec<StageArgument>), RecordProblem> {
    let (mut passed, mut of_stage) = (Vec::new(), Vec::new());
    for table in fields.tables("argument")? {
        if table.optional_text("local")?.is_some() {
            of_stage.push(StageArgument::Local {
                name: table.owned("name")?.into(),
                element: element_type(&table, "local")?,
                len: table.formula("len", scope)?,
            });
        } else {
            of_stage.push(StageArgument::Passed(position(passed.len())));
            passed.push(argument(&table, scope)?);
        }
    }
    Ok((passed, of_stage))
}

fn scratch(table: &Fields<'_>, scope: &Scope<'_>) -> Result<Scratch, RecordProblem> {
    let content = table.text("element")?;
    let of_zeros = content.strip_suffix(ZEROS);
    Ok(Scratch {
        name: table.printable("name", table.text("name")?)?,
        element: table.element_type("element", of_zeros.unwrap_or(content))?,
        len: table.formula("len", scope)?,
        zeros: of_zeros.is_some(),
    })
}

fn argument(table: &Fields<'_>, scope: &Scope<'_>) -> Result<Argument, RecordProblem> {
    let kind = if table.optional_text("scalar")?.is_some() {
        let dimension = match table.optional_ints("dimension")?.as_deref() {
            None => None,
            Some(&[dimension]) => u16::try_from(dimension)
                .ok()
                .filter(|dimension| usize::from(*dimension) < scope.dimensions.len())
                .map(Some)
                .ok_or_else(|| table.damaged("dimension", "there is no such dimension"))?,
            Some(_) => return Err(table.damaged("dimension", "one is expected")),
        };
        let scalar = element_type(table, "scalar")?;
        if dimension.is_some() && scalar.as_scalar().is_none() {
            return Err(table.damaged("dimension", "a problem dimension is a scalar"));
        }
        ArgumentKind::Scalar { scalar, dimension }
    } else if let Some((element, memory)) = memory(table, scope)? {
        ArgumentKind::Buffer {
            element,
            access: access(table)?,
            len: table.optional_formula("len", scope)?,
            memory,
        }
    } else {
        return Err(table.damaged("scalar", "it is missing, and so are `buffer` and `local`"));
    };
    Ok(Argument {
        name: table.owned("name")?.into(),
        kind,
    })
}

/// The element of a buffer, and where it is; `None` where the argument is none.
fn memory(
    table: &Fields<'_>,
    scope: &Scope<'_>,
) -> Result<Option<(ElementType, Memory)>, RecordProblem> {
    let keys = ["buffer", "chosen", "image"];
    let Some(key) = keys
        .into_iter()
        .find(|key| matches!(table.optional_text(key), Ok(Some(_))))
    else {
        return Ok(None);
    };
    let element = element_type(table, key)?;
    let image = match key {
        "buffer" => None,
        _ => image(table, scope, element)?,
    };
    let memory = match (key, image) {
        ("image", Some(image)) => Memory::Image(image),
        ("image", None) => return Err(table.damaged("image_kind", "it is missing")),
        ("chosen", image) => Memory::Chosen(choice(table, scope, image)?),
        _ => Memory::Buffer,
    };
    Ok(Some((element, memory)))
}

fn choice(
    table: &Fields<'_>,
    scope: &Scope<'_>,
    image: Option<ImageDeclaration>,
) -> Result<MemoryChoice, RecordProblem> {
    let name = table.text("memory")?;
    let mut parameters = scope.parameters.iter();
    let parameter = parameters
        .position(|parameter| parameter.name == name)
        .ok_or_else(|| table.damaged("memory", format!("there is no parameter {name:?}")))?;
    let spaces: Option<Vec<MemorySpace>> = match &scope.parameters[parameter].domain {
        Domain::Names(names) => {
            let spaces = names.iter().map(|name| MemorySpace::from_name(name));
            spaces.collect()
        }
        _ => None,
    };
    let spaces =
        spaces.ok_or_else(|| table.damaged("memory", "its values are not memory spaces"))?;
    if spaces.contains(&MemorySpace::Image) != image.is_some() {
        return Err(table.damaged("image_kind", "it does not suit the values of `memory`"));
    }
    Ok(MemoryChoice {
        parameter: position(parameter),
        image,
    })
}

fn image(
    table: &Fields<'_>,
    scope: &Scope<'_>,
    element: ElementType,
) -> Result<Option<ImageDeclaration>, RecordProblem> {
    let Some(name) = table.optional_text("image_kind")? else {
        return Ok(None);
    };
    let kind = ImageKind::from_rust_name(name)
        .ok_or_else(|| table.damaged("image_kind", format!("{name:?} is no kind of images")))?;
    let size = table.formulas("size", scope, Type::Int)?;
    if size.len() != kind.rank() {
        return Err(table.damaged("size", "it has not as many dimensions as the image"));
    }
    let normalized = table.optional_ints("normalized")?.is_some();
    if !is_pixel(element, normalized) {
        return Err(table.damaged("image", "no image has such elements"));
    }
    Ok(Some(ImageDeclaration {
        kind,
        normalized,
        size: size.into(),
    }))
}

pub(super) fn element_type(table: &Fields<'_>, key: &str) -> Result<ElementType, RecordProblem> {
    table.element_type(key, table.text(key)?)
}

fn access(table: &Fields<'_>) -> Result<Access, RecordProblem> {
    // A list says besides what is compared.
    let word = match table.text_or_texts("access")? {
        Ok(word) => word,
        Err(words) => words.first().copied().unwrap_or_default(),
    };
    [Access::Read, Access::ReadWrite, Access::Write]
        .into_iter()
        .find(|access| access_word(*access) == word)
        .ok_or_else(|| table.damaged("access", format!("{word:?} is not an access")))
}
