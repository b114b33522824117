//! The fingerprint of a tunable: whether tuned values still belong to it.
//!
//! It covers what decides which configurations exist and what they run: the kernel's name and
//! source, compile options, parameters and their values, constraints, sizes, local memory, extra
//! macros, arguments and problem dimensions. It does not cover what only decides how tuning is done
//! or judged (the default, the template, problem sizes, prepared inputs, reference, tolerance,
//! fills, compared ranges, bytes and flops), nor the tunable's own name, which is the key it is
//! stored under. How results are judged has a fingerprint of its own ([`of_verification`]).
//!
//! Formulas count by their canonical text, domains by their values, and source by its lines, so
//! neither the formatting of an attribute nor the platform's line ends matter. The encoding is
//! versioned: whenever it changes, so must its version, since every tuned value becomes stale.

use crate::declaration::{Compared, Computation, Declaration, Fill, Reference, Tolerance};
use crate::record::scratch_content;
use cltune_core::Text;
use cltune_core::expr::Formula;
use cltune_core::measure::Measure;
use cltune_core::model::{
    Access, Argument, ArgumentKind, BufferRef, ElementType, ImageDeclaration, Memory, MemoryChoice,
    Model, Scratch, Stage, StageArgument, Step,
};
use cltune_core::parameter::Domain;

/// The version of the encoding.
const VERSION: &str = "cltune fingerprint 1";
/// The version of the encoding of how results are verified.
const VERIFICATION_VERSION: &str = "cltune verification 1";

/// Integer domains up to this size count by their values, so that `[1, 2, 4]` is
/// `powers_of_two(1..=4)`; listing longer ranges would cost more than it is worth.
const LISTED_VALUES: usize = 1 << 16;

/// The fingerprint of a model, `b3:` and 64 hexadecimal digits, whatever its own
/// [`Model::fingerprint`] says.
pub fn of(model: &Model) -> String {
    let Model {
        name: _,
        fingerprint: _,
        default: _,
        template: _,
        source,
        options,
        parameters,
        dimensions,
        constraints,
        defines,
        arguments,
        scratch,
        steps,
    } = model;
    let single = model.single_stage();
    let mut encoder = Encoder(blake3::Hasher::new());
    encoder.text(VERSION);
    // No kernel has this name.
    encoder.text(single.map_or("{stages}", |stage| &stage.kernel));
    encoder.source(source);
    encoder.count(options.len());
    for option in options.iter() {
        encoder.text(&option.text);
        if let Some(condition) = &option.condition {
            // No text has this length, so that it cannot be taken for the next option.
            encoder.number(-1);
            encoder.text(&condition.text);
        }
    }
    encoder.count(parameters.len());
    for parameter in parameters.iter() {
        encoder.text(&parameter.name);
        encoder.domain(&parameter.domain);
    }
    encoder.texts(dimensions);
    encoder.formulas(constraints);
    if let Some(stage) = single {
        encoder.sizes(stage);
    }
    encoder.count(defines.len());
    for define in defines.iter() {
        encoder.text(&define.name);
        encoder.text(&define.value.text);
    }
    let listed = model.listed_arguments();
    encoder.count(listed.len());
    for argument in &listed {
        match argument {
            StageArgument::Passed(at) => encoder.argument(&arguments[usize::from(*at)]),
            other => encoder.stage_argument(other),
        }
    }
    if single.is_none() {
        encoder.scratch(scratch);
        encoder.steps(steps);
    }
    of_hash(encoder.0.finalize())
}

/// The fingerprint of how a tunable's results are verified: what they are compared with, how near
/// they must be, on which inputs. `b3:` and 16 hexadecimal digits.
///
/// It decides nothing about whether tuned values apply ([`of`] does), but results that were judged
/// in one way say little about whether a configuration is right in another.
pub fn of_verification(declaration: &Declaration) -> String {
    let Declaration {
        model,
        prepare,
        reference,
        tolerance,
        draws,
        fills,
        compared,
        ..
    } = declaration;
    let mut encoder = Encoder(blake3::Hasher::new());
    encoder.text(VERIFICATION_VERSION);
    match reference {
        Reference::Default => {
            encoder.text("default");
            let default = model.default.as_deref().unwrap_or_default();
            encoder.count(default.len());
            for code in default {
                encoder.number(*code);
            }
        }
        Reference::Own(reference) => {
            if let Some(stage) = reference.kernel(model) {
                encoder.text("kernel");
                encoder.text(&stage.kernel);
                encoder.source(reference.source.as_deref().unwrap_or_default());
                encoder.formulas(&stage.global);
                encoder.formulas(&stage.local);
            } else {
                encoder.text("steps");
                encoder.computation(reference);
            }
        }
    }
    // The text of an option that is there differs from that of none, as do different numbers.
    let Tolerance {
        elements,
        norm,
        accumulates,
    } = tolerance;
    encoder.text(&format!("{elements:?} {norm:?}"));
    encoder.optional(accumulates.as_ref());
    encoder.number(draws.map_or(-1, i64::from));
    let listed = model.listed_arguments();
    encoder.count(listed.len());
    for argument in &listed {
        match argument {
            StageArgument::Passed(at) => {
                let fill = fills.get(usize::from(*at)).unwrap_or(&Fill::None);
                encoder.text(&format!("{fill:?}"));
            }
            // Local memory had a fill of its own once, which was none.
            _ => encoder.text("None"),
        }
    }
    // What most declarations do not have adds nothing to theirs.
    if let Some(prepare) = prepare {
        encoder.text("prepare");
        encoder.computation(prepare);
    }
    if compared.iter().any(|compared| *compared != Compared::All) {
        encoder.text("compared");
        encoder.count(compared.len());
        for compared in compared {
            encoder.text(&compared.to_string());
        }
    }
    of_hash(encoder.0.finalize())
        .chars()
        .take("b3:".len() + 16)
        .collect()
}

/// The fingerprint of how a tunable's results come about: how they are verified, and what is
/// measured of them. Results with different ones are not mixed. Of times with warm caches it is
/// that of the verification alone, as before there was anything else.
pub fn of_results(declaration: &Declaration) -> String {
    let verification = of_verification(declaration);
    if declaration.measure == Measure::WARM {
        return verification;
    }
    let length = verification.len();
    let mut encoder = Encoder(blake3::Hasher::new());
    encoder.text(&verification);
    for word in declaration.measure.words() {
        encoder.text(word);
    }
    let mut both = of_hash(encoder.0.finalize());
    both.truncate(length);
    both
}

/// The fingerprint of a text, for files that are compared as a whole.
pub fn of_text(text: &str) -> String {
    of_hash(blake3::hash(text.as_bytes()))
}

fn of_hash(hash: blake3::Hash) -> String {
    format!("b3:{}", hash.to_hex())
}

/// Feeds values into the hash so that no two sequences of values give the same bytes: lengths come
/// first, numbers have a fixed width and byte order.
struct Encoder(blake3::Hasher);

impl Encoder {
    fn number(&mut self, number: i64) {
        self.0.update(&number.to_le_bytes());
    }

    fn count(&mut self, count: usize) {
        self.number(count as i64);
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.update(text.as_bytes());
    }

    fn texts(&mut self, texts: &[Text]) {
        self.count(texts.len());
        for text in texts {
            self.text(text);
        }
    }

    fn optional(&mut self, formula: Option<&Formula>) {
        self.count(usize::from(formula.is_some()));
        if let Some(formula) = formula {
            self.text(&formula.text);
        }
    }

    /// Source by its lines. `#line` directives say where lines come from, not what they are.
    fn source(&mut self, source: &str) {
        for line in source.lines().filter(|line| !line.starts_with("#line ")) {
            self.text(line);
        }
        // No line has this length, so the end cannot be taken for one.
        self.number(-1);
    }

    fn domain(&mut self, domain: &Domain) {
        match domain {
            Domain::Range { first, last, step } if domain.len() > LISTED_VALUES => {
                self.text("range");
                for number in [first, last, step] {
                    self.number(*number);
                }
            }
            Domain::Integers(_) | Domain::Range { .. } | Domain::PowersOfTwo { .. } => {
                self.text("integers");
                self.count(domain.len());
                for code in domain.codes() {
                    self.number(code);
                }
            }
            Domain::Booleans(values) => {
                self.text("booleans");
                self.count(values.len());
                for code in domain.codes() {
                    self.number(code);
                }
            }
            Domain::Fractions(values) => {
                self.text("fractions");
                self.count(values.len());
                for code in domain.codes() {
                    self.number(code);
                }
            }
            // The scale decides how a search sees the range, and not what its values are.
            Domain::Reals(range) => {
                self.text("reals");
                self.number(range.first.code());
                self.number(range.last.code());
            }
            Domain::PerDevice(formulas) => {
                self.text("per device");
                self.count(formulas.len());
                for formula in formulas.iter() {
                    self.text(&formula.text);
                }
            }
            Domain::Names(names) => {
                self.text("names");
                self.texts(names);
            }
        }
    }

    fn argument(&mut self, argument: &Argument) {
        self.text(&argument.name);
        match &argument.kind {
            ArgumentKind::Scalar { scalar, dimension } => {
                self.text("scalar");
                self.text(&scalar.rust_name());
                self.number(dimension.map_or(-1, i64::from));
            }
            ArgumentKind::Buffer {
                element,
                access,
                len,
                memory,
            } => {
                match memory {
                    Memory::Buffer => self.text("buffer"),
                    Memory::Chosen(MemoryChoice { parameter, image }) => {
                        self.text("chosen memory");
                        self.number((*parameter).into());
                        self.count(usize::from(image.is_some()));
                        if let Some(image) = image {
                            self.image(image);
                        }
                    }
                    Memory::Image(image) => {
                        self.text("image");
                        self.image(image);
                    }
                }
                self.text(&element.rust_name());
                self.text(match access {
                    Access::Read => "read",
                    Access::ReadWrite => "read-write",
                    Access::Write => "write",
                });
                self.optional(len.as_ref());
            }
        }
    }

    fn image(&mut self, image: &ImageDeclaration) {
        let ImageDeclaration {
            kind,
            normalized,
            size,
        } = image;
        self.text(kind.rust_name());
        self.count(usize::from(*normalized));
        self.formulas(size);
    }

    fn formulas(&mut self, formulas: &[Formula]) {
        self.count(formulas.len());
        for formula in formulas {
            self.text(&formula.text);
        }
    }

    fn sizes(&mut self, stage: &Stage) {
        for formulas in [&stage.global, &stage.local, &stage.offset] {
            self.formulas(formulas);
        }
        self.optional(stage.local_memory.as_ref());
    }

    fn local(&mut self, name: &str, element: ElementType, len: &Formula) {
        self.text(name);
        self.text("local");
        self.text(&element.rust_name());
        self.text(&len.text);
    }

    fn scratch(&mut self, scratch: &[Scratch]) {
        self.count(scratch.len());
        for scratch in scratch {
            self.text(&scratch.name);
            self.text(&scratch_content(scratch));
            self.text(&scratch.len.text);
        }
    }

    fn computation(&mut self, computation: &Computation) {
        self.source(computation.source.as_deref().unwrap_or_default());
        self.scratch(&computation.scratch);
        self.steps(&computation.steps);
    }

    fn steps(&mut self, steps: &[Step]) {
        self.count(steps.len());
        for step in steps {
            match step {
                Step::Launch(stage) => {
                    self.text("launch");
                    self.text(&stage.kernel);
                    self.optional(stage.when.as_ref());
                    self.sizes(stage);
                    self.count(stage.arguments.len());
                    for argument in stage.arguments.iter() {
                        self.stage_argument(argument);
                    }
                }
                Step::Clear { buffer, when } => {
                    self.text("clear");
                    self.buffer(*buffer);
                    self.optional(when.as_ref());
                }
                Step::Copy { from, to, when } => {
                    self.text("copy");
                    self.buffer(*from);
                    self.buffer(*to);
                    self.optional(when.as_ref());
                }
                Step::Swap { buffers: [a, b] } => {
                    self.text("swap");
                    self.buffer(*a);
                    self.buffer(*b);
                }
                Step::Repeat {
                    round,
                    count,
                    steps,
                } => {
                    self.text("repeat");
                    self.text(round);
                    self.text(&count.text);
                    self.steps(steps);
                }
            }
        }
    }

    fn stage_argument(&mut self, argument: &StageArgument) {
        match argument {
            StageArgument::Passed(position) => self.buffer(BufferRef::Passed(*position)),
            StageArgument::Scratch(position) => self.buffer(BufferRef::Scratch(*position)),
            StageArgument::Value { scalar, value } => {
                self.text("value");
                self.text(scalar.rust_name());
                self.text(&value.text);
            }
            StageArgument::Local { name, element, len } => self.local(name, *element, len),
        }
    }

    fn buffer(&mut self, buffer: BufferRef) {
        let (kind, position) = match buffer {
            BufferRef::Passed(position) => ("passed", position),
            BufferRef::Scratch(position) => ("scratch", position),
        };
        self.text(kind);
        self.number(position.into());
    }
}

#[cfg(test)]
#[path = "../tests/unit/fingerprint.rs"]
mod tests;
