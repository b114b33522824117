//! The source of one kernel: loops over vectors.
//!
//! Each kernel loads the operands of its statements into registers, computes, and stores, with a
//! comment from the statement that a line comes from. Loops run over vectors of `VW` elements, and
//! then over the elements that are left.

use super::arguments::{Kernel, KernelArgument, Work};
use super::folded::Folded;
use super::folds::Handing;
use super::plan::Pass;
use super::program::{Action, Operand, Place, Program};
use super::streaming;
use super::strides::{self, is_strided, place_of_number};
use super::value::{Lanes, Shape, Style, Value, type_text};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Numbers of OpenCL C whose names are those of registers, which would be replaced by them.
const DEFINED: [&str; 10] = [
    "M_PI_2",
    "M_PI_4",
    "M_SQRT1_2",
    "CL_VERSION_1_0",
    "CL_VERSION_1_1",
    "CL_VERSION_1_2",
    "CL_VERSION_2_0",
    "CL_VERSION_2_1",
    "CL_VERSION_2_2",
    "CL_VERSION_3_0",
];

/// Writes one kernel.
pub(super) struct Writer<'a> {
    pub(super) program: &'a Program,
    pub(super) style: Style,
    /// The newest register of each operand.
    pub(super) registers: BTreeMap<usize, String>,
    /// How many registers each operand has had.
    versions: BTreeMap<usize, usize>,
    pub(super) used: BTreeSet<usize>,
    pub(super) written: BTreeSet<usize>,
    pub(super) text: String,
}

impl<'a> Writer<'a> {
    pub(super) fn new(program: &'a Program, style: Style) -> Self {
        Self {
            program,
            style,
            registers: BTreeMap::new(),
            versions: BTreeMap::new(),
            used: BTreeSet::new(),
            written: BTreeSet::new(),
            text: String::new(),
        }
    }

    /// The name of an operand in the source.
    pub(super) fn name(&self, operand: usize) -> String {
        self.program.name_in_source(operand)
    }

    pub(super) fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{:width$}{text}", "", width = depth * 4);
    }

    /// Indents what was written from there on by so many levels; directives stay.
    pub(super) fn indent(&mut self, from: usize, depth: usize) {
        let written = self.text.split_off(from);
        for line in written.lines() {
            let depth = if line.starts_with('#') { 0 } else { depth };
            self.line(depth, line);
        }
    }

    /// A new register for an operand.
    pub(super) fn register(&mut self, operand: usize) -> String {
        let version = self.versions.entry(operand).or_default();
        let name = &self.program.operands[operand].name;
        let register = loop {
            let register = format!("{name}_{version}");
            *version += 1;
            if !DEFINED.contains(&register.as_str()) {
                break register;
            }
        };
        self.registers.insert(operand, register.clone());
        register
    }

    /// A value as this style computes it.
    pub(super) fn value(&self, value: &Value, lanes: Lanes) -> String {
        value.text(lanes, &|operand, _| {
            let read = &self.program.operands[operand];
            let is_value = read.place == Place::Value;
            match self.registers.get(&operand) {
                Some(register) => register.clone(),
                None if is_value => self.name(operand),
                None => format!("{}[{}]", self.name(operand), place_of_number(read)),
            }
        })
    }

    /// The lanes of a value that is computed at one position.
    pub(super) fn one(&self) -> Lanes {
        match self.style {
            Style::Tuned => Lanes::One,
            Style::Reference => Lanes::Wide,
        }
    }

    /// The kernel of a pass's loop.
    pub(super) fn looped(
        mut self,
        name: String,
        pass: &Pass,
        number: usize,
        is_stored: &dyn Fn(usize) -> bool,
    ) -> Kernel {
        let program = self.program;
        let folds: Vec<Folded<'_>> = pass.folds(program).collect();
        for at in &pass.looped {
            for operand in program.statements[*at].value.operands() {
                let read = &program.operands[operand];
                let Operand {
                    scalar,
                    shape,
                    place,
                    ..
                } = *read;
                let is_loaded = self.registers.contains_key(&operand);
                if shape == Shape::Number && place != Place::Value && !is_loaded {
                    let (ty, name) = (type_text(scalar, Lanes::One), self.name(operand));
                    let register = self.register(operand);
                    let at = place_of_number(read);
                    self.line(1, &format!("const {ty} {register} = {name}[{at}];"));
                }
            }
        }
        let strided = self.strided(pass);
        for line in strides::before_loops(&strided) {
            self.line(1, &line);
        }
        // The same statements are written for many lanes and for one.
        if self.style == Style::Tuned {
            self.text.push_str("#if VW > 1\n");
            let vectors = if strided.is_empty() {
                "count / VW"
            } else {
                for line in strides::before_vectors(&strided) {
                    self.line(1, &line);
                }
                "vectors"
            };
            let rest_after = |done| {
                format!(
                    "for (ulong rest = count - {done} * VW, at = count - rest + FIRST(rest), \
                     end = count - rest + END(rest); at < end; at += STEP) {{"
                )
            };
            let rest = if folds.is_empty() {
                let first = format!("ulong at = FIRST({vectors}), end = END({vectors})");
                self.line(1, &format!("for ({first}; at < end; at += STEP) {{"));
                self.body(pass, Lanes::Many);
                self.line(1, "}");
                if strided.is_empty() {
                    "for (ulong at = count / VW * VW + get_global_id(0); at < count; \
                     at += get_global_size(0)) {"
                        .to_owned()
                } else {
                    rest_after("vectors")
                }
            } else {
                self.folded_vectors(pass, &folds, vectors);
                rest_after("turns * ACCUMULATORS")
            };
            self.line(1, &rest);
            self.text.push_str("#else\n");
            for line in folds.iter().flat_map(|fold| fold.declared(Lanes::One)) {
                self.line(1, &line);
            }
            self.line(
                1,
                "for (ulong at = FIRST(count), end = END(count); at < end; at += STEP) {",
            );
            self.text.push_str("#endif\n");
        } else {
            for line in folds.iter().flat_map(|fold| fold.declared(Lanes::Wide)) {
                self.line(1, &line);
            }
            self.line(
                1,
                "for (ulong at = get_global_id(0); at < count; at += get_global_size(0)) {",
            );
        }
        let one = self.one();
        self.body(pass, one);
        self.line(1, "}");
        let handing = self.handing(pass);
        for (number, fold) in folds.iter().enumerate() {
            self.tree(fold);
            for line in fold.parts_stored(program, handing) {
                self.line(1, &line);
            }
            if number + 1 < folds.len() {
                self.line(1, "barrier(CLK_LOCAL_MEM_FENCE);");
            }
        }
        if handing == Handing::ByMacro {
            self.finish_in_loop(pass, is_stored);
        }
        let mut arguments: Vec<KernelArgument> =
            pass.length.map(KernelArgument::Count).into_iter().collect();
        arguments.extend(self.operand_arguments());
        Self::fold_arguments(&folds, &mut arguments);
        if handing == Handing::ByMacro {
            arguments.push(KernelArgument::Finished);
        }
        let about = format!("Pass {number}: {}.", statements(program, &pass.looped));
        self.kernel(name, &about, arguments, Work::Loop)
    }

    /// The loop over vectors of a pass that reduces. A work-item has several accumulators, each for
    /// a part of the vectors, so that additions do not wait for one another.
    fn folded_vectors(&mut self, pass: &Pass, folds: &[Folded<'_>], vectors: &str) {
        let folds = || folds.iter();
        for line in folds().flat_map(|fold| fold.sums_declared("ACCUMULATORS", "ACCUMULATORS")) {
            self.line(1, &line);
        }
        self.line(1, &format!("const ulong turns = {vectors} / ACCUMULATORS;"));
        self.line(
            1,
            "for (ulong turn = FIRST(turns), end = END(turns); turn < end; turn += STEP) {",
        );
        self.line(2, "#pragma unroll");
        self.line(2, "for (uint c = 0; c < ACCUMULATORS; c++) {");
        self.line(3, "const ulong at = c * turns + turn;");
        for line in folds().flat_map(|fold| fold.declared_from_sums("c")) {
            self.line(3, &line);
        }
        let from = self.text.len();
        self.body(pass, Lanes::Many);
        self.indent(from, 1);
        for line in folds().flat_map(Folded::sums_kept) {
            self.line(3, &line);
        }
        self.line(2, "}");
        self.line(1, "}");
        for line in folds().flat_map(|fold| fold.declared_from_sums("0")) {
            self.line(1, &line);
        }
        self.line(1, "for (uint c = 1; c < ACCUMULATORS; c++) {");
        for line in folds().flat_map(Folded::sums_folded) {
            self.line(2, &line);
        }
        self.line(1, "}");
        for line in folds().flat_map(Folded::declared_from_many) {
            self.line(1, &line);
        }
    }

    /// The statements of a loop at one position.
    fn body(&mut self, pass: &Pass, lanes: Lanes) {
        let program = self.program;
        let is_number = |operand: &usize| program.operands[*operand].shape == Shape::Number;
        self.registers.retain(|operand, _| is_number(operand));
        self.versions.retain(|operand, _| is_number(operand));
        let mut stores: BTreeSet<usize> = BTreeSet::new();
        let mut made: BTreeSet<usize> = BTreeSet::new();
        for at in &pass.looped {
            let statement = &program.statements[*at];
            for operand in statement.value.operands() {
                let is_made = made.contains(&operand);
                if !is_made {
                    self.used.insert(operand);
                }
                if !is_made && !is_number(&operand) && !self.registers.contains_key(&operand) {
                    self.load(operand, lanes);
                }
            }
            made.insert(statement.target);
        }
        for at in &pass.looped {
            let statement = &program.statements[*at];
            let fold = Folded::of(program, statement);
            let of_value = fold.map_or(lanes, |fold| fold.lanes_of_value(lanes));
            let value = self.value(&statement.value, of_value);
            let scalar = statement.value.scalar();
            self.line(2, &format!("// {}", statement.text));
            if let Some(fold) = fold {
                let value = fold.argument(&statement.value, value, of_value);
                for line in fold.accumulated(&value, lanes) {
                    self.line(2, &line);
                }
            } else {
                let ty = type_text(scalar, stored(lanes));
                let register = self.register(statement.target);
                self.line(2, &format!("const {ty} {register} = ({ty})({value});"));
                if program.operands[statement.target].place != Place::Register {
                    stores.insert(statement.target);
                }
            }
        }
        for operand in stores {
            self.used.insert(operand);
            self.written.insert(operand);
            self.store(operand, lanes);
        }
    }

    /// Loads an operand's elements at the position into a new register.
    fn load(&mut self, operand: usize, lanes: Lanes) {
        let read = &self.program.operands[operand];
        let (name, register) = (self.name(operand), self.register(operand));
        let lines = if is_strided(read) && lanes == Lanes::Many {
            strides::loaded(read, &name, &register)
        } else {
            let source = self.element(operand, lanes, "const ");
            let ty = type_text(read.scalar, stored(lanes));
            vec![format!("const {ty} {register} = {source};")]
        };
        for line in lines {
            self.line(2, &line);
        }
    }

    /// Stores an operand's elements at the position.
    fn store(&mut self, operand: usize, lanes: Lanes) {
        let (name, register) = (self.name(operand), self.registers[&operand].clone());
        let written = &self.program.operands[operand];
        let is_streamed = lanes == Lanes::Many && streaming::is_streamed(written);
        let stored = |place: &str| {
            if is_streamed {
                format!("STREAMED({place}, {register});")
            } else {
                format!("{place} = {register};")
            }
        };
        let lines = if is_strided(written) && lanes == Lanes::Many {
            strides::stored(written, &name, &register, stored)
        } else {
            vec![stored(&self.element(operand, lanes, ""))]
        };
        for line in lines {
            self.line(2, &line);
        }
    }

    /// The vectors of a pass that have an offset or a stride, in the order of the operands.
    fn strided(&self, pass: &Pass) -> Vec<&'a Operand> {
        let statements = pass.looped.iter().map(|at| &self.program.statements[*at]);
        let operands: BTreeSet<usize> = statements
            .flat_map(|statement| {
                let is_stored = statement.action == Action::Store;
                let target = is_stored.then_some(statement.target);
                statement.value.operands().into_iter().chain(target)
            })
            .collect();
        let operands = operands.into_iter().map(|at| &self.program.operands[at]);
        operands.filter(|operand| is_strided(operand)).collect()
    }

    /// The operands that the kernel takes, with what says where their elements lie.
    pub(super) fn operand_arguments(&self) -> impl Iterator<Item = KernelArgument> + use<> {
        let layouts = self.used.iter().flat_map(|operand| {
            let layout = &self.program.operands[*operand].layout;
            layout.operands(self.program)
        });
        let all: BTreeSet<usize> = self.used.iter().copied().chain(layouts).collect();
        all.into_iter().map(KernelArgument::Operand)
    }

    /// An operand's elements at the position.
    fn element(&self, operand: usize, lanes: Lanes, constant: &str) -> String {
        let name = self.name(operand);
        match lanes {
            Lanes::One | Lanes::Wide if is_strided(&self.program.operands[operand]) => {
                strides::element(&self.program.operands[operand], &name, "at")
            }
            Lanes::One | Lanes::Wide => format!("{name}[at]"),
            Lanes::Many | Lanes::Cells => {
                let ty = type_text(self.program.operands[operand].scalar, Lanes::Many);
                format!("((__global {constant}{ty}*){name})[at]")
            }
        }
    }

    /// Folds the numbers of a work-group's work-items.
    pub(super) fn tree(&mut self, fold: &Folded<'_>) {
        for line in fold.tree(self.style) {
            self.line(1, &line);
        }
    }

    pub(super) fn fold_arguments(folds: &[Folded<'_>], arguments: &mut Vec<KernelArgument>) {
        let parts = folds.iter().flat_map(Folded::parts);
        arguments.extend(parts.map(KernelArgument::Parts));
        for lanes in folds.iter().flat_map(Folded::lanes) {
            let lanes = KernelArgument::Lanes(lanes);
            if !arguments.contains(&lanes) {
                arguments.push(lanes);
            }
        }
    }

    pub(super) fn kernel(
        self,
        name: String,
        about: &str,
        arguments: Vec<KernelArgument>,
        work: Work,
    ) -> Kernel {
        let program = self.program;
        let declared = arguments.iter();
        let declared = declared.map(|argument| argument.declared(program, &self.written, work));
        let declared: Vec<String> = declared.collect();
        let text = format!(
            "// {about}\n__kernel void {name}({}) {{\n{}}}\n",
            declared.join(", "),
            self.text
        );
        Kernel {
            name,
            text,
            arguments,
            work,
            is_in_loop: false,
        }
    }
}

/// How a value is kept: never wider than its type.
pub(super) fn stored(lanes: Lanes) -> Lanes {
    match lanes {
        Lanes::Many | Lanes::Cells => lanes,
        Lanes::One | Lanes::Wide => Lanes::One,
    }
}

/// The statements that a kernel computes, for its comment.
pub(super) fn statements(program: &Program, which: &[usize]) -> String {
    let mut texts: Vec<&str> = Vec::new();
    for at in which {
        let text = program.statements[*at].text.trim_end_matches(';');
        if texts.last() != Some(&text) {
            texts.push(text);
        }
    }
    texts.join("; ")
}
