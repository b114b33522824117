//! From a declaration to a record's text.

use crate::declaration::{
    Compared, Computation, Declaration, Fill, NormTolerance, Reference, Tolerance,
};
use crate::toml_text::{push_array, push_float, push_key, push_string};
use cltune_core::Text;
use cltune_core::expr::Formula;
use cltune_core::measure::{Caches, Measure, Objective};
use cltune_core::model::{
    Access, Argument, ArgumentKind, BufferRef, ImageDeclaration, Memory, Model, Scratch, Stage,
    StageArgument, Step, Template, tables,
};
use cltune_core::parameter::{Domain, Parameter, Scale};

/// The newest version of records that this release reads. It writes the oldest that a declaration
/// can do with.
pub const VERSION: u32 = 3;

/// The version of a declaration's record: a release that does not know what is to be measured must
/// not take one for a declaration of the usual kind.
pub(super) fn version(declaration: &Declaration) -> u32 {
    match declaration.measure {
        Measure::WARM => 1,
        Measure::COLD => 2,
        _ => 3,
    }
}

/// The key of the release that wrote a record, which tells a record that is newer than its reader
/// from one that is damaged.
pub(super) const RELEASE: &str = "cltune";

/// The text of a declaration. Keys of the document come first, then its tables, as TOML wants.
pub(super) fn text(declaration: &Declaration) -> String {
    let mut out = Writer::default();
    let Declaration {
        model,
        package,
        version,
        source_file,
        lockfile_seen,
        files,
        problems,
        tune_if,
        prepare,
        reference,
        tolerance,
        draws,
        fills: _,
        compared: _,
        bytes,
        flops,
        even_work,
        measure,
    } = declaration;
    out.text("name", &model.name);
    out.text(RELEASE, env!("CARGO_PKG_VERSION"));
    out.text("package", package);
    out.text("version", version);
    out.text("source_file", source_file);
    out.text("lockfile_seen", lockfile_seen);
    if !files.is_empty() {
        out.strings("files", files.iter().map(|file| &file.path));
        out.strings("files_seen", files.iter().map(|file| &file.content));
    }
    out.key("problems");
    push_array(&mut out.0, problems, |out, problem| push_ints(out, problem));
    out.end();
    out.optional_formula("tune_if", tune_if.as_ref());
    out.optional_formula("bytes", bytes.as_ref());
    out.optional_formula("flops", flops.as_ref());
    tolerance_keys(&mut out, tolerance);
    if let Some(draws) = draws {
        out.ints("draws", &[i64::from(*draws)]);
    }
    if *even_work {
        out.ints("even_work", &[1]);
    }
    if measure.caches != Caches::Warm {
        out.text("measure", measure.caches.word());
    }
    if measure.objective != Objective::Time {
        out.text("objective", measure.objective.word());
    }
    model_keys(&mut out, model);
    if let Some(template) = &model.template {
        template_table(&mut out, template);
    }
    if let Some(prepare) = prepare {
        computation_tables(&mut out, "prepare", prepare, model);
    }
    reference_tables(&mut out, reference, model);
    for parameter in model.parameters.iter() {
        parameter_table(&mut out, parameter);
    }
    for define in model.defines.iter() {
        out.table("[[define]]");
        out.text("name", &define.name);
        out.text("value", &define.value.text);
    }
    arguments(&mut out, declaration);
    if model.single_stage().is_none() {
        scratch_tables(&mut out, "", &model.scratch);
        step_tables(&mut out, "", model, &model.steps, 0);
    }
    let structs = declaration.structs().into_iter();
    // The macro knows their names alone: the compiler appends their tables.
    let known = structs.filter(|ty| !ty.fields.is_empty());
    out.0
        .push_str(&tables(&known.map(|ty| (ty.name, ty)).collect::<Vec<_>>()));
    out.0
}

fn arguments(out: &mut Writer, declaration: &Declaration) {
    let model = &declaration.model;
    for argument in model.listed_arguments() {
        match argument {
            StageArgument::Passed(at) => {
                let at = usize::from(at);
                argument_table(out, model, &model.arguments[at], declaration.compared(at));
                fill_keys(out, declaration.fills.get(at).unwrap_or(&Fill::None));
            }
            StageArgument::Local { name, element, len } => {
                out.table("[[argument]]");
                out.text("name", &name);
                out.text("local", &element.rust_name());
                out.text("len", &len.text);
            }
            // Of a single launch, which has none of these.
            StageArgument::Scratch(_) | StageArgument::Value { .. } => {}
        }
    }
}

/// `within`: nothing, or the table that they belong to with a dot, `prepare.`.
fn scratch_tables(out: &mut Writer, within: &str, scratch: &[Scratch]) {
    for scratch in scratch {
        out.table(&format!("[[{within}scratch]]"));
        out.text("name", &scratch.name);
        out.text("element", &scratch_content(scratch));
        out.text("len", &scratch.len.text);
    }
}

/// Steps in order; those of a round follow their `repeat`, one deeper.
fn step_tables(out: &mut Writer, within: &str, model: &Model, steps: &[Step], depth: i64) {
    let name = |buffer| buffer_name(model, buffer);
    for step in steps {
        out.table(&format!("[[{within}step]]"));
        out.ints("depth", &[depth]);
        match step {
            Step::Launch(stage) => {
                out.text("kernel", &stage.kernel);
                size_keys(out, stage);
                let arguments = stage.arguments.iter();
                out.strings(
                    "arguments",
                    arguments.map(|argument| match argument {
                        StageArgument::Passed(position) => name(BufferRef::Passed(*position)),
                        StageArgument::Scratch(position) => name(BufferRef::Scratch(*position)),
                        StageArgument::Value { scalar, value } => {
                            format!("{} = {}", scalar.rust_name(), value.text)
                        }
                        StageArgument::Local { name, element, len } => {
                            format!("{name}: {} = {}", element.rust_name(), len.text)
                        }
                    }),
                );
            }
            Step::Clear { buffer, .. } => out.text("clear", &name(*buffer)),
            Step::Copy { from, to, .. } => out.strings("copy", [name(*from), name(*to)]),
            Step::Swap { buffers } => out.strings("swap", buffers.map(name)),
            Step::Repeat {
                round,
                count,
                steps,
            } => {
                out.text("round", round);
                out.text("count", &count.text);
                step_tables(out, within, model, steps, depth + 1);
            }
        }
        out.optional_formula("when", step.when());
    }
}

fn buffer_name(model: &Model, buffer: BufferRef) -> String {
    match buffer {
        BufferRef::Passed(position) => model.arguments[usize::from(position)].name.to_string(),
        BufferRef::Scratch(position) => model.scratch[usize::from(position)].name.to_string(),
    }
}

fn size_keys(out: &mut Writer, stage: &Stage) {
    out.formulas("global", &stage.global);
    out.formulas("local", &stage.local);
    out.formulas("offset", &stage.offset);
    out.optional_formula("local_memory", stage.local_memory.as_ref());
}

fn tolerance_keys(out: &mut Writer, tolerance: &Tolerance) {
    if let Some(elements) = &tolerance.elements {
        out.float("tolerance_rel", elements.rel);
        out.float("tolerance_abs", elements.abs);
    }
    match tolerance.norm {
        None => {}
        Some(NormTolerance::Default) => out.text("tolerance_norm", "default"),
        Some(NormTolerance::Declared(bound)) => {
            out.text("tolerance_norm", "declared");
            out.float("tolerance_l2", bound);
        }
    }
    out.optional_formula("tolerance_accumulates", tolerance.accumulates.as_ref());
}

fn model_keys(out: &mut Writer, model: &Model) {
    out.text("fingerprint", &model.fingerprint);
    if let Some(stage) = model.single_stage() {
        out.text("kernel", &stage.kernel);
    }
    out.text("source", &model.source);
    out.key("options");
    push_array(&mut out.0, model.options.iter(), |out, option| {
        let Some(condition) = &option.condition else {
            return push_string(out, &option.text);
        };
        // A table among the texts, which older readers refuse: without the condition they would
        // compile something else.
        out.push_str("{ option = ");
        push_string(out, &option.text);
        out.push_str(", if = ");
        push_string(out, &condition.text);
        out.push_str(" }");
    });
    out.end();
    out.texts("dimensions", &model.dimensions);
    out.formulas("constraints", &model.constraints);
    if let Some(stage) = model.single_stage() {
        size_keys(out, stage);
    }
    if let Some(default) = &model.default {
        out.ints("default", default);
    }
}

fn template_table(out: &mut Writer, template: &Template) {
    let Template {
        name,
        scalar_size,
        vectors,
        elements,
    } = template;
    out.table("[template]");
    out.text("name", name);
    out.integer("scalar_size", *scalar_size);
    out.integer("vectors", *vectors);
    out.text("elements", &elements.text);
}

fn reference_tables(out: &mut Writer, reference: &Reference, model: &Model) {
    let Reference::Own(reference) = reference else {
        return;
    };
    let Some(stage) = reference.kernel(model) else {
        return computation_tables(out, "reference", reference, model);
    };
    out.table("[reference]");
    out.text("kernel", &stage.kernel);
    if let Some(source) = &reference.source {
        out.text("source", source);
    }
    out.formulas("global", &stage.global);
    out.formulas("local", &stage.local);
}

fn computation_tables(out: &mut Writer, name: &str, computation: &Computation, model: &Model) {
    out.table(&format!("[{name}]"));
    if let Some(source) = &computation.source {
        out.text("source", source);
    }
    let within = format!("{name}.");
    let model = computation.model(model);
    scratch_tables(out, &within, &model.scratch);
    step_tables(out, &within, &model, &model.steps, 0);
}

fn parameter_table(out: &mut Writer, parameter: &Parameter) {
    out.table("[[parameter]]");
    out.text("name", &parameter.name);
    match &parameter.domain {
        Domain::Integers(values) => out.ints("integers", values),
        Domain::Range { first, last, step } => out.ints("range", &[*first, *last, *step]),
        Domain::PowersOfTwo { first, last } => out.ints("powers_of_two", &[*first, *last]),
        Domain::Booleans(values) => {
            out.key("booleans");
            push_array(&mut out.0, values.iter(), |out, value| {
                out.push_str(if *value { "true" } else { "false" });
            });
            out.end();
        }
        Domain::Fractions(values) => {
            out.key("fractions");
            push_array(&mut out.0, values.iter(), |out, value| {
                push_float(out, value.get());
            });
            out.end();
        }
        Domain::Reals(range) => {
            out.key(match range.scale {
                Scale::Linear => "reals",
                Scale::Logarithmic => "logarithmic_reals",
            });
            push_array(
                &mut out.0,
                [range.first, range.last].iter(),
                |out, value| {
                    push_float(out, value.get());
                },
            );
            out.end();
        }
        Domain::PerDevice(formulas) => out.formulas("per_device", formulas),
        Domain::Names(names) => out.texts("names", names),
    }
}

fn argument_table(out: &mut Writer, model: &Model, argument: &Argument, compared: &Compared) {
    out.table("[[argument]]");
    out.text("name", &argument.name);
    match &argument.kind {
        ArgumentKind::Scalar { scalar, dimension } => {
            out.text("scalar", &scalar.rust_name());
            if let Some(dimension) = dimension {
                out.ints("dimension", &[i64::from(*dimension)]);
            }
        }
        ArgumentKind::Buffer {
            element,
            access,
            len,
            memory,
        } => {
            memory_keys(out, model, memory, &element.rust_name());
            access_key(out, access_word(*access), compared);
            out.optional_formula("len", len.as_ref());
        }
    }
}

/// The element, with a key that says where it is. Older readers know that of a buffer only: they
/// would pass a buffer where the kernel takes an image.
fn memory_keys(out: &mut Writer, model: &Model, memory: &Memory, element: &str) {
    let image = match memory {
        Memory::Buffer => {
            out.text("buffer", element);
            None
        }
        Memory::Chosen(choice) => {
            out.text("chosen", element);
            let parameter = &model.parameters[usize::from(choice.parameter)];
            out.text("memory", &parameter.name);
            choice.image.as_ref()
        }
        Memory::Image(image) => {
            out.text("image", element);
            Some(image)
        }
    };
    if let Some(ImageDeclaration {
        kind,
        normalized,
        size,
    }) = image
    {
        out.text("image_kind", kind.rust_name());
        if *normalized {
            out.ints("normalized", &[1]);
        }
        out.formulas("size", size);
    }
}

/// A list where not all is compared, which older readers refuse: they would compare everything.
fn access_key(out: &mut Writer, word: &str, compared: &Compared) {
    match compared {
        Compared::All => out.text("access", word),
        Compared::None => out.strings("access", [word]),
        Compared::Range { begin, end } => {
            out.strings("access", [word, &*begin.text, &*end.text]);
        }
    }
}

/// The word for who reads and writes a buffer.
pub(super) const fn access_word(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::ReadWrite => "read-write",
        Access::Write => "write",
    }
}

fn fill_keys(out: &mut Writer, fill: &Fill) {
    let word = match fill {
        Fill::None => return,
        Fill::Uniform { .. } => "uniform",
        Fill::Zeros => "zeros",
        Fill::Iota => "iota",
        Fill::Constant(_) => "constant",
        Fill::File(_) => "file",
        Fill::ByType => "by type",
        Fill::Prepared => "prepared",
    };
    out.text("fill", word);
    match fill {
        Fill::Uniform { low, high } => {
            out.float("fill_low", *low);
            out.float("fill_high", *high);
        }
        Fill::Constant(value) => out.float("fill_value", *value),
        Fill::File(path) => out.text("fill_path", path),
        Fill::None | Fill::Zeros | Fill::Iota | Fill::ByType | Fill::Prepared => {}
    }
}

/// One `key = value` per line.
#[derive(Default)]
struct Writer(String);

impl Writer {
    fn table(&mut self, header: &str) {
        self.0.push('\n');
        self.0.push_str(header);
        self.end();
    }

    fn key(&mut self, key: &str) {
        push_key(&mut self.0, key);
        self.0.push_str(" = ");
    }

    fn end(&mut self) {
        self.0.push('\n');
    }

    fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        push_string(&mut self.0, text);
        self.end();
    }

    fn float(&mut self, key: &str, number: f64) {
        self.key(key);
        if number.is_finite() {
            push_float(&mut self.0, number);
        } else {
            // Rust's words for infinities and NaN are TOML's.
            self.0.push_str(&number.to_string().to_lowercase());
        }
        self.end();
    }

    fn integer(&mut self, key: &str, number: i64) {
        self.key(key);
        self.0.push_str(&number.to_string());
        self.end();
    }

    fn ints(&mut self, key: &str, numbers: &[i64]) {
        self.key(key);
        push_ints(&mut self.0, numbers);
        self.end();
    }

    fn texts(&mut self, key: &str, texts: &[Text]) {
        self.strings(key, texts);
    }

    fn strings<T: AsRef<str>>(&mut self, key: &str, texts: impl IntoIterator<Item = T>) {
        self.key(key);
        push_array(&mut self.0, texts, |out, text| {
            push_string(out, text.as_ref());
        });
        self.end();
    }

    fn formulas(&mut self, key: &str, formulas: &[Formula]) {
        self.key(key);
        push_array(&mut self.0, formulas, |out, formula| {
            push_string(out, &formula.text);
        });
        self.end();
    }

    fn optional_formula(&mut self, key: &str, formula: Option<&Formula>) {
        if let Some(formula) = formula {
            self.text(key, &formula.text);
        }
    }
}

fn push_ints(out: &mut String, numbers: &[i64]) {
    push_array(out, numbers, |out, number| {
        out.push_str(&number.to_string());
    });
}

/// What a scratch buffer holds: the element, and that it is zero. Older releases take the latter
/// for an element that they do not know, and refuse it.
pub(crate) fn scratch_content(scratch: &Scratch) -> String {
    let element = scratch.element.rust_name();
    if scratch.zeros {
        format!("{element}{ZEROS}")
    } else {
        element.into_owned()
    }
}

/// What follows the element of a scratch buffer that holds zeros.
pub(super) const ZEROS: &str = " = 0";
