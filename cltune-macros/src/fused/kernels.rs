//! The OpenCL source of passes.
//!
//! Each kernel loads the operands of its statements into registers, computes, and stores, with a
//! comment from the statement that a line comes from. Loops run over vectors of `VW` elements, and
//! then over the elements that are left.

use super::folds::{Folded, lanes_name, parts_name};
use super::plan::Pass;
use super::program::{Action, Operand, Place, Program};
use super::value::{Lanes, Shape, Value, type_text};
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
    /// The parts of a reduction, by the operand that it results in.
    Parts(usize),
    /// A number of local memory for each work-item.
    Lanes(ScalarType),
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
    text.push_str(
        "#define JOIN_(a, b) a##b\n\
         #define JOIN(a, b) JOIN_(a, b)\n\
         #define VEC(type) JOIN(type, VW)\n\
         #define ADD(a, b) ((a) + (b))\n\
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

/// Whether another pass reads a number, or the loop of this one.
fn is_read_elsewhere(program: &Program, passes: &[Pass], of: usize, operand: usize) -> bool {
    let reads = |at: &usize| program.statements[*at].value.operands().contains(&operand);
    passes.iter().enumerate().any(|(number, pass)| {
        pass.looped.iter().any(reads) || number != of && pass.numbers.iter().any(reads)
    })
}

/// Writes one kernel.
struct Writer<'a> {
    program: &'a Program,
    style: Style,
    /// The newest register of each operand.
    registers: BTreeMap<usize, String>,
    /// How many registers each operand has had.
    versions: BTreeMap<usize, usize>,
    used: BTreeSet<usize>,
    written: BTreeSet<usize>,
    text: String,
}

impl<'a> Writer<'a> {
    fn new(program: &'a Program, style: Style) -> Self {
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
    fn name(&self, operand: usize) -> String {
        format!("{}_", self.program.operands[operand].name)
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{:width$}{text}", "", width = depth * 4);
    }

    /// A new register for an operand.
    fn register(&mut self, operand: usize) -> String {
        let version = self.versions.entry(operand).or_default();
        let register = format!("{}_{version}", self.program.operands[operand].name);
        *version += 1;
        self.registers.insert(operand, register.clone());
        register
    }

    /// A value as this style computes it.
    fn value(&self, value: &Value, lanes: Lanes) -> String {
        value.text(lanes, &|operand| {
            let is_value = self.program.operands[operand].place == Place::Value;
            match self.registers.get(&operand) {
                Some(register) => register.clone(),
                None if is_value => self.name(operand),
                None => format!("{}[0]", self.name(operand)),
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
                let Operand {
                    scalar,
                    shape,
                    place,
                    ..
                } = program.operands[operand];
                let is_loaded = self.registers.contains_key(&operand);
                if shape == Shape::Number && place != Place::Value && !is_loaded {
                    let (ty, name) = (type_text(scalar, Lanes::One), self.name(operand));
                    let register = self.register(operand);
                    self.line(1, &format!("const {ty} {register} = {name}[0];"));
                }
            }
        }
        // The same statements are written for many lanes and for one.
        if self.style == Style::Tuned {
            self.text.push_str("#if VW > 1\n");
            for fold in &folds {
                self.line(1, &fold.declared(Lanes::Many));
            }
            self.line(
                1,
                "for (ulong at = FIRST(count / VW), end = END(count / VW); at < end; at += STEP) {",
            );
            self.body(pass, Lanes::Many);
            self.line(1, "}");
            for fold in &folds {
                self.line(1, &fold.declared_from_many());
            }
            self.line(
                1,
                "for (ulong at = count / VW * VW + get_global_id(0); at < count; at += get_global_size(0)) {",
            );
            self.text.push_str("#else\n");
            for fold in &folds {
                self.line(1, &fold.declared(Lanes::One));
            }
            self.line(
                1,
                "for (ulong at = FIRST(count), end = END(count); at < end; at += STEP) {",
            );
            self.text.push_str("#endif\n");
        } else {
            for fold in &folds {
                self.line(1, &fold.declared(Lanes::Wide));
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
            let (lanes, parts) = (lanes_name(fold.scalar), fold.parts(program));
            self.line(
                1,
                &format!("if (get_local_id(0) == 0) {parts}[get_group_id(0)] = {lanes}[0];"),
            );
            if number + 1 < folds.len() {
                self.line(1, "barrier(CLK_LOCAL_MEM_FENCE);");
            }
        }
        let mut arguments: Vec<KernelArgument> =
            pass.length.map(KernelArgument::Count).into_iter().collect();
        arguments.extend(self.used.iter().copied().map(KernelArgument::Operand));
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
                    let register = self.register(operand);
                    let source = self.element(operand, lanes, "const ");
                    let ty = type_text(program.operands[operand].scalar, stored(lanes));
                    self.line(2, &format!("const {ty} {register} = {source};"));
                }
            }
            made.insert(statement.target);
        }
        for at in &pass.looped {
            let statement = &program.statements[*at];
            let value = self.value(&statement.value, lanes);
            let scalar = statement.value.scalar();
            self.line(2, &format!("// {}", statement.text));
            if let Some(fold) = Folded::of(program, statement) {
                for line in fold.accumulated(&value, lanes) {
                    self.line(2, &line);
                }
            } else {
                let ty = type_text(scalar, stored(lanes));
                let register = self.register(statement.target);
                self.line(2, &format!("const {ty} {register} = ({ty})({value});"));
                stores.insert(statement.target);
            }
        }
        for operand in stores {
            self.used.insert(operand);
            self.written.insert(operand);
            let place = self.element(operand, lanes, "");
            let register = self.registers[&operand].clone();
            self.line(2, &format!("{place} = {register};"));
        }
    }

    /// An operand's elements at the position.
    fn element(&self, operand: usize, lanes: Lanes, constant: &str) -> String {
        let name = self.name(operand);
        match lanes {
            Lanes::One | Lanes::Wide => format!("{name}[at]"),
            Lanes::Many => {
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
            self.line(1, &fold.declared(one));
            self.line(
                1,
                "for (uint at = get_local_id(0); at < groups; at += get_local_size(0)) {",
            );
            self.line(2, &fold.part_folded(program, one));
            self.line(1, "}");
            self.tree(fold);
            self.line(1, "barrier(CLK_LOCAL_MEM_FENCE);");
            let register = self.register(fold.target);
            let (ty, lanes) = (type_text(fold.scalar, Lanes::One), lanes_name(fold.scalar));
            self.line(1, &format!("const {ty} {register} = {lanes}[0];"));
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
            self.line(2, &format!("{name}[0] = {register};"));
        }
        self.line(1, "}");
        let mut arguments = Vec::new();
        if !folds.is_empty() {
            arguments.push(KernelArgument::Groups);
        }
        arguments.extend(self.used.iter().copied().map(KernelArgument::Operand));
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
        arguments.extend(folds.iter().map(|fold| KernelArgument::Parts(fold.target)));
        for fold in folds {
            let lanes = KernelArgument::Lanes(fold.scalar);
            if !arguments.contains(&lanes) {
                arguments.push(lanes);
            }
        }
    }

    fn kernel(
        self,
        name: String,
        about: &str,
        arguments: Vec<KernelArgument>,
        work: Work,
    ) -> Kernel {
        let program = self.program;
        let declared = arguments.iter().map(|argument| match argument {
            KernelArgument::Count(_) => "const ulong count".to_owned(),
            KernelArgument::Groups => "const uint groups".to_owned(),
            KernelArgument::Operand(position) => {
                let Operand { scalar, place, .. } = &program.operands[*position];
                let (ty, name) = (type_text(*scalar, Lanes::One), self.name(*position));
                match place {
                    Place::Value => format!("const {ty} {name}"),
                    _ if self.written.contains(position) => format!("__global {ty}* {name}"),
                    _ => format!("__global const {ty}* {name}"),
                }
            }
            KernelArgument::Parts(target) => {
                let constant = if work == Work::Loop { "" } else { "const " };
                let ty = type_text(program.operands[*target].scalar, Lanes::One);
                format!("__global {constant}{ty}* {}", parts_name(program, *target))
            }
            KernelArgument::Lanes(scalar) => {
                let ty = type_text(*scalar, Lanes::One);
                format!("__local {ty}* {}", lanes_name(*scalar))
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
fn stored(lanes: Lanes) -> Lanes {
    match lanes {
        Lanes::Many => Lanes::Many,
        Lanes::One | Lanes::Wide => Lanes::One,
    }
}

/// The statements that a kernel computes, for its comment.
fn statements(program: &Program, which: &[usize]) -> String {
    let mut texts: Vec<&str> = Vec::new();
    for at in which {
        let text = program.statements[*at].text.trim_end_matches(';');
        if texts.last() != Some(&text) {
            texts.push(text);
        }
    }
    texts.join("; ")
}
