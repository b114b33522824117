//! From a record's text to a declaration.

use super::fields::Fields;
use super::write::RELEASE;
use super::{RecordError, RecordProblem};
use super::{read_model, read_steps, read_structs};
use crate::declaration::{
    Compared, Computation, Declaration, ElementTolerance, Fill, MOST_DRAWS, NormTolerance,
    Reference, SourceFile, Tolerance,
};
use crate::formula::{Scope, Type};
use cltune_core::measure::{Caches, Measure, Objective};
use cltune_core::model::Model;
use toml::de::DeTable;

/// The declaration of a record's text.
pub(super) fn declaration(text: &str) -> Result<Declaration, RecordError> {
    let document = DeTable::parse(text).map_err(|error| {
        let message = error.message().to_owned();
        RecordError::unnamed(RecordProblem::Damaged {
            at: String::new(),
            message,
        })
    })?;
    let fields = Fields::of_document(document.get_ref(), &[]);
    let named = |problem| RecordError {
        tunable: fields.text("name").ok().map(str::to_owned),
        problem: newer(problem, fields.text(RELEASE).ok()),
    };
    let structs = read_structs::structs(&fields).map_err(named)?;
    read(&Fields::of_document(document.get_ref(), &structs)).map_err(named)
}

/// What is damaged in the text of a newer release is most likely new.
fn newer(problem: RecordProblem, release: Option<&str>) -> RecordProblem {
    match (problem, release) {
        (RecordProblem::Damaged { at, message }, Some(release))
            if numbers(release) > numbers(env!("CARGO_PKG_VERSION")) =>
        {
            let release = release.to_owned();
            RecordProblem::NewerRelease {
                release,
                at,
                message,
            }
        }
        (problem, _) => problem,
    }
}

/// The numbers of a release: 0.10.2 comes after 0.9.
fn numbers(release: &str) -> Vec<u64> {
    let parts = release.split(['.', '-', '+']);
    parts.map_while(|part| part.parse().ok()).collect()
}

fn read(fields: &Fields<'_>) -> Result<Declaration, RecordProblem> {
    let model = read_model::model(fields)?;
    let scope = Scope {
        parameters: &model.parameters,
        dimensions: &model.dimensions,
    };
    let (mut fills, mut compared) = (Vec::new(), Vec::new());
    for argument in fields.tables("argument")? {
        // Local memory is neither filled nor compared.
        if argument.optional_text("local")?.is_none() {
            fills.push(fill(&argument)?);
            compared.push(self::compared(&argument, &model)?);
        }
    }
    let prepare = fields.optional_table("prepare")?;
    let prepare = prepare.map(|table| computation(&table, &model));
    Ok(Declaration {
        package: fields.owned("package")?,
        version: fields.owned("version")?,
        source_file: fields.owned("source_file")?,
        lockfile_seen: fields.owned("lockfile_seen")?,
        files: files(fields)?,
        problems: problems(fields, &model)?,
        tune_if: fields.optional_condition("tune_if", &scope)?,
        prepare: prepare.transpose()?,
        reference: reference(fields, &model)?,
        tolerance: tolerance(fields, &model)?,
        draws: draws(fields)?,
        fills,
        compared,
        bytes: fields.optional_formula("bytes", &scope)?,
        flops: fields.optional_formula("flops", &scope)?,
        even_work: fields.optional_ints("even_work")?.is_some(),
        measure: measure(fields)?,
        model,
    })
}

fn files(fields: &Fields<'_>) -> Result<Vec<SourceFile>, RecordProblem> {
    let paths = fields.optional_texts("files")?.unwrap_or_default();
    let contents = fields.optional_texts("files_seen")?.unwrap_or_default();
    if paths.len() != contents.len() {
        return Err(fields.damaged("files_seen", "one for each of `files` is expected"));
    }
    let file = |(path, content): (&str, &str)| SourceFile {
        path: path.to_owned(),
        content: content.to_owned(),
    };
    Ok(paths.into_iter().zip(contents).map(file).collect())
}

fn problems(fields: &Fields<'_>, model: &Model) -> Result<Vec<Vec<i64>>, RecordProblem> {
    let problems = fields.lists_of_ints("problems")?;
    if problems
        .iter()
        .any(|problem| problem.len() != model.dimensions.len())
    {
        return Err(fields.damaged("problems", "a problem needs one size per dimension"));
    }
    Ok(problems)
}

/// The names of what is the same whatever is tuned.
fn without_parameters(model: &Model) -> Scope<'_> {
    Scope {
        parameters: &[],
        dimensions: &model.dimensions,
    }
}

fn reference(fields: &Fields<'_>, model: &Model) -> Result<Reference, RecordProblem> {
    let Some(table) = fields.optional_table("reference")? else {
        return Ok(Reference::Default);
    };
    let Some(kernel) = table.optional_text("kernel")? else {
        return computation(&table, model).map(Reference::Own);
    };
    let scope = without_parameters(model);
    let global = table.formulas("global", &scope, Type::Int)?;
    let local = table.formulas("local", &scope, Type::Int)?;
    read_steps::check_rank(&table, &global, &[("local", &local)])?;
    Ok(Reference::Own(Computation {
        source: table.optional_text("source")?.map(str::to_owned),
        ..Computation::of_kernel(kernel.to_owned(), model.arguments.len(), global, local)
    }))
}

fn computation(table: &Fields<'_>, model: &Model) -> Result<Computation, RecordProblem> {
    let scope = without_parameters(model);
    let (scratch, steps) = read_model::group(table, &scope, &model.arguments)?;
    Ok(Computation {
        source: table.optional_text("source")?.map(str::to_owned),
        scratch,
        steps,
    })
}

fn compared(argument: &Fields<'_>, model: &Model) -> Result<Compared, RecordProblem> {
    if argument.optional_text("buffer")?.is_none() {
        return Ok(Compared::All);
    }
    let Err(words) = argument.text_or_texts("access")? else {
        return Ok(Compared::All);
    };
    let scope = without_parameters(model);
    let bound = |text| argument.parsed("access", text, &scope, Type::Int);
    match words[..] {
        [_] => Ok(Compared::None),
        [_, begin, end] => Ok(Compared::Range {
            begin: bound(begin)?,
            end: bound(end)?,
        }),
        _ => Err(argument.damaged("access", "the begin and the end of a range are expected")),
    }
}

fn tolerance(fields: &Fields<'_>, model: &Model) -> Result<Tolerance, RecordProblem> {
    let elements = match (
        fields.optional_float("tolerance_rel")?,
        fields.optional_float("tolerance_abs")?,
    ) {
        (Some(rel), Some(abs)) => Some(ElementTolerance { rel, abs }),
        _ => None,
    };
    let norm = match fields.optional_text("tolerance_norm")? {
        None => None,
        Some("default") => Some(NormTolerance::Default),
        Some("declared") => Some(NormTolerance::Declared(fields.float("tolerance_l2")?)),
        Some(other) => {
            return Err(fields.damaged("tolerance_norm", format!("`{other}` is no bound")));
        }
    };
    let scope = without_parameters(model);
    Ok(Tolerance {
        elements,
        norm,
        accumulates: fields.optional_formula("tolerance_accumulates", &scope)?,
    })
}

fn draws(fields: &Fields<'_>) -> Result<Option<u32>, RecordProblem> {
    let Some(draws) = fields.optional_ints("draws")? else {
        return Ok(None);
    };
    match draws[..] {
        [draws] => u32::try_from(draws)
            .ok()
            .filter(|draws| (1..=MOST_DRAWS).contains(draws)),
        _ => None,
    }
    .map(Some)
    .ok_or_else(|| fields.damaged("draws", "one number from 1 to 100 is expected"))
}

fn measure(fields: &Fields<'_>) -> Result<Measure, RecordProblem> {
    let mut measure = Measure::default();
    if let Some(word) = fields.optional_text("measure")? {
        measure.caches = Caches::from_word(word).ok_or_else(|| {
            fields.damaged("measure", format!("`{word}` is neither warm nor cold"))
        })?;
    }
    if let Some(word) = fields.optional_text("objective")? {
        measure.objective = Objective::from_word(word)
            .ok_or_else(|| fields.damaged("objective", format!("`{word}` is no objective")))?;
    }
    Ok(measure)
}

fn fill(argument: &Fields<'_>) -> Result<Fill, RecordProblem> {
    Ok(match argument.optional_text("fill")? {
        None => Fill::None,
        Some("uniform") => Fill::Uniform {
            low: argument.float("fill_low")?,
            high: argument.float("fill_high")?,
        },
        Some("zeros") => Fill::Zeros,
        Some("iota") => Fill::Iota,
        Some("by type") => Fill::ByType,
        Some("constant") => Fill::Constant(argument.float("fill_value")?),
        Some("prepared") => Fill::Prepared,
        Some("file") => Fill::File(argument.owned("fill_path")?),
        Some(other) => return Err(argument.damaged("fill", format!("`{other}` is no fill"))),
    })
}
