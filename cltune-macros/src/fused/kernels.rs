//! The OpenCL source of passes.
//!
//! Each kernel loads the operands of its statements into registers, computes, and stores, with a
//! comment from the statement that a line comes from. Loops run over vectors of `VW` elements, and
//! then over the elements that are left.

use super::elements::{cells_name, leading_name, parts_name, strips_name};
use super::folds::{Folded, LocalLanes, Parts};
use super::plan::Pass;
use super::program::{Action, Grid, Operand, Place, Program};
use super::strides::{self, is_strided, place_of_number};
use super::value::{Lanes, Shape, Value, type_text};
use super::{across, lines, product};
use cltune_core::model::ScalarType;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A kernel with what a stage has to say about it.
pub(super) struct Kernel {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) arguments: Vec<KernelArgument>,
    pub(super) work: Work,
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KernelArgument {
    /// The number of positions, by the length's position.
    Count(usize),
    /// The number of parts. It is no constant in the source: PoCL 3.1 builds kernels that crash
    /// where it is 1 and the loop over the parts becomes a condition before a barrier.
    Groups,
    Operand(usize),
    /// The parts of a reduction.
    Parts(Parts),
    /// A number of local memory for each work-item.
    Lanes(LocalLanes),
    /// The number of lines.
    Lines(usize),
    /// The number of elements of a line.
    Line(usize),
    /// The distance of the lines of a matrix.
    Leading(usize),
    /// The number of terms of the sums of a product.
    Depth(usize),
    /// A number of local memory for each work-item of a group that goes through lines.
    Cells(ScalarType),
    /// The same with vectors.
    Strips(ScalarType),
    /// The parts of all lines that are folded to one, by the operand that it is.
    LineParts(usize),
}

/// The index space of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// All work-groups.
    Loop,
    /// One work-group.
    Group,
    /// One work-item.
    Item,
    /// Work-groups for all lines.
    Lines(Grid),
    /// Work-groups for all positions of lines, and for parts of the lines.
    Across(Grid),
    /// A work-item for each of so many.
    Each(usize),
    /// Work-groups for all tiles of a product of elements of this type.
    Product(Grid, ScalarType),
    /// A work-item for each element of a matrix.
    Elements(Grid),
}

/// Whether kernels have parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Tuned,
    /// Plain, in wider arithmetic, with compensated sums (Neumaier 1974).
    Reference,
}

/// What all kernels share.
pub(super) fn prelude(program: &Program) -> String {
    let mut scalars: Vec<ScalarType> = program.operands.iter().map(|it| it.scalar).collect();
    scalars.extend(program.statements.iter().map(|it| it.value.scalar()));
    let mut text = String::new();
    if scalars.contains(&ScalarType::F16) {
        text.push_str("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
    }
    // The reference sums in it.
    text.push_str(
        "#ifdef cl_khr_fp64\n\
         #pragma OPENCL EXTENSION cl_khr_fp64 : enable\n\
         typedef double wide;\n\
         #else\n\
         typedef float wide;\n\
         #endif\n",
    );
    let has_lines = program.statements.iter().any(|it| it.grid.is_some());
    text.push_str(
        "#define JOIN_(a, b) a##b\n\
         #define JOIN(a, b) JOIN_(a, b)\n",
    );
    text.push_str(if has_lines {
        // Lines are loaded with any width, and other vectors with more than one element.
        "#if VW > 1\n\
         #define VEC(type) JOIN(type, VW)\n\
         #else\n\
         #define VEC(type) type\n\
         #endif\n\
         #define FOLD1(op, v) (v)\n"
    } else {
        "#define VEC(type) JOIN(type, VW)\n"
    });
    text.push_str(
        "#define ADD(a, b) ((a) + (b))\n\
         #define FOLD2(op, v) op((v).s0, (v).s1)\n\
         #define FOLD4(op, v) op(FOLD2(op, (v).lo), FOLD2(op, (v).hi))\n\
         #define FOLD8(op, v) op(FOLD4(op, (v).lo), FOLD4(op, (v).hi))\n\
         #define FOLD(op, v) JOIN(FOLD, VW)(op, v)\n\
         // The positions of a work-item among so many.\n\
         #if FETCH_contiguous\n\
         #define SHARE(count) (((count) + get_global_size(0) - 1) / get_global_size(0))\n\
         #define FIRST(count) (SHARE(count) * get_global_id(0))\n\
         #define END(count) min((ulong)(count), (ulong)(FIRST(count) + SHARE(count)))\n\
         #define STEP 1\n\
         #else\n\
         #define FIRST(count) get_global_id(0)\n\
         #define END(count) (count)\n\
         #define STEP get_global_size(0)\n\
         #endif\n",
    );
    text
}

/// The kernels of passes.
pub(super) fn kernels(
    program: &Program,
    passes: &[Pass],
    prefix: &str,
    style: Style,
) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for (number, pass) in passes.iter().enumerate() {
        let stored = |operand: usize| {
            let is_scratch = program.operands[operand].place == Place::Scratch;
            !is_scratch || is_read_elsewhere(program, passes, number, operand)
        };
        if let Some(grid) = pass.grid {
            let name = format!("{prefix}_{number}");
            let is_read = |operand| is_read_by_others(program, passes, number, operand);
            kernels.extend(if let Some(statement) = pass.product(program) {
                vec![product::kernel(
                    program, style, pass, statement, name, &is_read,
                )]
            } else if pass.is_across(program) {
                across::kernels(program, style, pass, grid, &name, &is_read)
            } else {
                vec![lines::kernel(program, style, pass, grid, name, &is_read)]
            });
        }
        if pass.length.is_some() {
            let name = format!("{prefix}_{number}");
            kernels.push(Writer::new(program, style).looped(name, pass, number));
        }
        if pass.finishes(program) {
            let name = format!("{prefix}_{number}_end");
            kernels.push(Writer::new(program, style).finish(name, pass, &stored));
        }
    }
    kernels
}

/// Whether another pass reads an operand.
fn is_read_by_others(program: &Program, passes: &[Pass], of: usize, operand: usize) -> bool {
    let reads = |at: &usize| program.statements[*at].value.operands().contains(&operand);
    let others = passes
        .iter()
        .enumerate()
        .filter(|(number, _)| *number != of);
    let mut statements = others.flat_map(|(_, pass)| pass.looped.iter().chain(&pass.numbers));
    statements.any(reads)
}

/// Whether another pass reads a number, or the loop of this one.
fn is_read_elsewhere(program: &Program, passes: &[Pass], of: usize, operand: usize) -> bool {
    let reads = |at: &usize| program.statements[*at].value.operands().contains(&operand);
    passes.iter().enumerate().any(|(number, pass)| {
        pass.looped.iter().any(reads) || number != of && pass.numbers.iter().any(reads)
    })
}

/// Writes one kernel.
pub(super) struct Writer<'a> {
    pub(super) program: &'a Program,
    pub(super) style: Style,
    /// The newest register of each operand.
    registers: BTreeMap<usize, String>,
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

    /// The name of an operand in the source: no keyword, and none of the kernels' own.
    pub(super) fn name(&self, operand: usize) -> String {
        format!("{}_", self.program.operands[operand].name)
    }

    pub(super) fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{:width$}{text}", "", width = depth * 4);
    }

    /// A new register for an operand.
    pub(super) fn register(&mut self, operand: usize) -> String {
        let version = self.versions.entry(operand).or_default();
        let register = format!("{}_{version}", self.program.operands[operand].name);
        *version += 1;
        self.registers.insert(operand, register.clone());
        register
    }

    /// A value as this style computes it.
    fn value(&self, value: &Value, lanes: Lanes) -> String {
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
    fn one(&self) -> Lanes {
        match self.style {
            Style::Tuned => Lanes::One,
            Style::Reference => Lanes::Wide,
        }
    }

    /// The kernel of a pass's loop.
    fn looped(mut self, name: String, pass: &Pass, number: usize) -> Kernel {
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
            for line in folds.iter().flat_map(|fold| fold.declared(Lanes::Many)) {
                self.line(1, &line);
            }
            let vectors = if strided.is_empty() {
                "count / VW"
            } else {
                for line in strides::before_vectors(&strided) {
                    self.line(1, &line);
                }
                "vectors"
            };
            self.line(
                1,
                &format!(
                    "for (ulong at = FIRST({vectors}), end = END({vectors}); at < end; at += STEP) {{"
                ),
            );
            self.body(pass, Lanes::Many);
            self.line(1, "}");
            for line in folds.iter().flat_map(Folded::declared_from_many) {
                self.line(1, &line);
            }
            self.line(
                1,
                if strided.is_empty() {
                    "for (ulong at = count / VW * VW + get_global_id(0); at < count; at += get_global_size(0)) {"
                } else {
                    "for (ulong rest = count - vectors * VW, at = count - rest + FIRST(rest), \
                     end = count - rest + END(rest); at < end; at += STEP) {"
                },
            );
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
        for (number, fold) in folds.iter().enumerate() {
            self.tree(fold);
            for line in fold.parts_stored(program) {
                self.line(1, &line);
            }
            if number + 1 < folds.len() {
                self.line(1, "barrier(CLK_LOCAL_MEM_FENCE);");
            }
        }
        let mut arguments: Vec<KernelArgument> =
            pass.length.map(KernelArgument::Count).into_iter().collect();
        arguments.extend(self.operand_arguments());
        Self::fold_arguments(&folds, &mut arguments);
        let about = format!("Pass {number}: {}.", statements(program, &pass.looped));
        self.kernel(name, &about, arguments, Work::Loop)
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
        let lines = if is_strided(written) && lanes == Lanes::Many {
            strides::stored(written, &name, &register)
        } else {
            let place = self.element(operand, lanes, "");
            vec![format!("{place} = {register};")]
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
    fn operand_arguments(&self) -> impl Iterator<Item = KernelArgument> + use<> {
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
                strides::element(&self.program.operands[operand], &name)
            }
            Lanes::One | Lanes::Wide => format!("{name}[at]"),
            Lanes::Many | Lanes::Cells => {
                let ty = type_text(self.program.operands[operand].scalar, Lanes::Many);
                format!("((__global {constant}{ty}*){name})[at]")
            }
        }
    }

    /// Folds the numbers of a work-group's work-items.
    fn tree(&mut self, fold: &Folded<'_>) {
        for line in fold.tree(self.style) {
            self.line(1, &line);
        }
    }

    /// The kernel of one work-group that folds the parts and computes with the results.
    fn finish(mut self, name: String, pass: &Pass, is_stored: &dyn Fn(usize) -> bool) -> Kernel {
        let program = self.program;
        let folds: Vec<Folded<'_>> = pass.folds(program).collect();
        let one = self.one();
        for (number, fold) in folds.iter().enumerate() {
            for line in fold.declared(one) {
                self.line(1, &line);
            }
            self.line(
                1,
                "for (uint at = get_local_id(0); at < groups; at += get_local_size(0)) {",
            );
            for line in fold.part_folded(program, one) {
                self.line(2, &line);
            }
            self.line(1, "}");
            self.tree(fold);
            self.line(1, "barrier(CLK_LOCAL_MEM_FENCE);");
            let register = self.register(fold.target);
            let scalar = program.operands[fold.target].scalar;
            let (ty, result) = (type_text(scalar, Lanes::One), fold.result());
            self.line(1, &format!("const {ty} {register} = {result};"));
            if number + 1 < folds.len() {
                self.line(1, "barrier(CLK_LOCAL_MEM_FENCE);");
            }
        }
        let mut stores: BTreeSet<usize> = folds.iter().map(|fold| fold.target).collect();
        self.line(1, "if (get_global_id(0) == 0) {");
        for at in &pass.numbers {
            let statement = &program.statements[*at];
            for operand in statement.value.operands() {
                if !self.registers.contains_key(&operand) {
                    self.used.insert(operand);
                }
            }
            let value = self.value(&statement.value, one);
            let ty = type_text(statement.value.scalar(), Lanes::One);
            self.line(2, &format!("// {}", statement.text));
            let register = self.register(statement.target);
            self.line(2, &format!("const {ty} {register} = ({ty})({value});"));
            stores.insert(statement.target);
        }
        for operand in stores.into_iter().filter(|operand| is_stored(*operand)) {
            self.used.insert(operand);
            self.written.insert(operand);
            let (name, register) = (self.name(operand), self.registers[&operand].clone());
            let at = place_of_number(&program.operands[operand]);
            self.line(2, &format!("{name}[{at}] = {register};"));
        }
        self.line(1, "}");
        let mut arguments = Vec::new();
        if !folds.is_empty() {
            arguments.push(KernelArgument::Groups);
        }
        arguments.extend(self.operand_arguments());
        Self::fold_arguments(&folds, &mut arguments);
        let is_fold = |at: &&usize| program.statements[**at].action != Action::Store;
        let reduced = pass.looped.iter().filter(is_fold);
        let all: Vec<usize> = reduced.chain(&pass.numbers).copied().collect();
        let about = format!("The numbers after it: {}.", statements(program, &all));
        let work = if folds.is_empty() {
            Work::Item
        } else {
            Work::Group
        };
        self.kernel(name, &about, arguments, work)
    }

    fn fold_arguments(folds: &[Folded<'_>], arguments: &mut Vec<KernelArgument>) {
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
        let is_over_lines = !matches!(work, Work::Loop | Work::Group | Work::Item);
        let pointer = if is_over_lines { "* restrict" } else { "*" };
        let declared = arguments.iter().map(|argument| match argument {
            KernelArgument::Count(_) => "const ulong count".to_owned(),
            KernelArgument::Groups => "const uint groups".to_owned(),
            KernelArgument::Operand(position) => {
                let Operand { scalar, place, .. } = &program.operands[*position];
                let (ty, name) = (type_text(*scalar, Lanes::One), self.name(*position));
                match place {
                    Place::Value => format!("const {ty} {name}"),
                    _ if self.written.contains(position) => {
                        format!("__global {ty}{pointer} {name}")
                    }
                    _ => format!("__global const {ty}{pointer} {name}"),
                }
            }
            KernelArgument::Parts(parts) => {
                let constant = if work == Work::Loop { "" } else { "const " };
                let ty = type_text(parts.component.scalar, Lanes::One);
                format!("__global {constant}{ty}* {}", parts.name(program))
            }
            KernelArgument::Lanes(lanes) => {
                let ty = type_text(lanes.scalar, Lanes::One);
                format!("__local {ty}* {}", lanes.name())
            }
            KernelArgument::Lines(_) => "const ulong lines".to_owned(),
            KernelArgument::Line(_) => "const ulong length".to_owned(),
            KernelArgument::Depth(_) => "const ulong depth".to_owned(),
            KernelArgument::Leading(operand) => {
                format!("const ulong {}", leading_name(&program.operands[*operand]))
            }
            KernelArgument::Cells(scalar) => {
                let ty = type_text(*scalar, Lanes::One);
                format!("__local {ty}* {}", cells_name(*scalar))
            }
            KernelArgument::Strips(scalar) => {
                let ty = type_text(*scalar, Lanes::Cells);
                format!("__local {ty}* {}", strips_name(*scalar))
            }
            KernelArgument::LineParts(target) => {
                let constant = if matches!(work, Work::Across(_)) {
                    ""
                } else {
                    "const "
                };
                let ty = type_text(program.operands[*target].scalar, Lanes::One);
                let name = parts_name(program, *target);
                format!("__global {constant}{ty}{pointer} {name}")
            }
        });
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
        }
    }
}

/// The work-groups of a reference's loop, and the work-items of each group.
pub(super) const REFERENCE_GROUPS: usize = 64;

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
