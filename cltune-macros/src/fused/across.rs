//! The kernels of a pass that folds all lines of matrices to one.
//!
//! Neighbouring work-items have neighbouring positions of lines. `WGY` work-items of a group and
//! `SLICES` groups share the lines. Several groups leave parts, which a second kernel folds, or the
//! group that ends last of those with the same positions; with a single one the first kernel
//! computes the rest as well. With `SUMS` a work-item has so many vectors of neighbouring
//! positions, and a part of the lines to itself.

use super::arguments::{
    Kernel, KernelArgument, Work, columns_finished_name, parts_name, strips_name,
};
use super::elements::Elements;
use super::finish;
use super::folded::Folded;
use super::plan::Pass;
use super::program::{Action, Grid, Place, Program, Statement};
use super::strides::{self, is_strided};
use super::value::{At, Lanes, Style, type_text};
use super::writer::{statements, stored};
use std::collections::BTreeSet;

/// The kernels of a pass. `is_read` tells of an operand whether another pass reads it.
pub(super) fn kernels(
    program: &Program,
    style: Style,
    pass: &Pass,
    grid: Grid,
    name: &str,
    is_read: &dyn Fn(usize) -> bool,
) -> Vec<Kernel> {
    let across = || Across {
        elements: Elements::new(program, style, At::Along),
        pass,
        grid,
    };
    match style {
        Style::Tuned => vec![
            across().parts(name.to_owned(), is_read),
            across().result(format!("{name}_fold"), is_read),
        ],
        Style::Reference => vec![across().plain(name.to_owned(), is_read)],
    }
}

/// Writes one of the kernels.
struct Across<'a> {
    elements: Elements<'a>,
    pass: &'a Pass,
    grid: Grid,
}

impl<'a> Across<'a> {
    fn line(&mut self, depth: usize, text: &str) {
        self.elements.writer.line(depth, text);
    }

    fn statements(&self, in_loop: bool) -> Vec<&'a Statement> {
        let program = self.elements.writer.program;
        let all = self.pass.looped.iter().map(|at| &program.statements[*at]);
        all.filter(|statement| statement.grid.is_some() == in_loop)
            .collect()
    }

    fn folds(&self) -> Vec<Folded<'a>> {
        self.pass.line_folds(self.elements.writer.program).collect()
    }

    /// The statements of one line at one position.
    fn body(&mut self) {
        let program = self.elements.writer.program;
        let lanes = self.elements.lanes();
        let mut made: BTreeSet<(usize, At)> = BTreeSet::new();
        for statement in self.statements(true) {
            for element in self.elements.read(statement) {
                if !self.elements.registers.contains_key(&element) {
                    let memory = self.elements.memory(element);
                    self.elements.loaded(2, element, &memory);
                }
            }
            if let Some(fold) = Folded::of_lines(program, statement) {
                let value = self.elements.value(&statement.value, lanes);
                let value = fold.argument(&statement.value, value, lanes);
                self.line(2, &format!("// {}", statement.text));
                for line in fold.accumulated(&value, lanes) {
                    self.line(2, &line);
                }
            } else {
                self.elements.computed(2, statement, lanes);
                made.insert((statement.target, statement.at));
            }
        }
        for element in made {
            let register = self.elements.registers[&element].clone();
            let stored = self.elements.stored(element, &register);
            self.line(2, &stored);
        }
        self.elements.registers.clear();
    }

    /// The kernel that leaves a part for each group of lines.
    fn parts(mut self, name: String, is_read: &dyn Fn(usize) -> bool) -> Kernel {
        let program = self.elements.writer.program;
        let all = || self.pass.looped.iter().map(|at| &program.statements[*at]);
        self.elements.load_numbers(all());
        self.elements.declare_firsts(all());
        self.line(
            1,
            "const uint lane = get_local_id(0) % WGX, strip = get_local_id(0) / WGX;",
        );
        let folds = self.folds();
        self.sums(&folds);
        self.line(0, "#else");
        self.line(1, "const ulong at = get_group_id(0) * WGX + lane;");
        self.line(1, "const ulong begin = get_group_id(1) * WGY + strip;");
        // The turns are counted before the loop. Steps of several lines might pass the largest
        // number of 64 bits, so that NVIDIA's compiler left a branch after each line that it
        // unrolled, and the loads of the next line waited for it.
        self.line(
            1,
            "const ulong turns = at < VECTORS && begin < lines ? (lines - 1 - begin) / (SLICES * \
             WGY) + 1 : 0;",
        );
        for fold in &folds {
            for line in fold.declared(Lanes::Cells) {
                self.line(1, &line);
            }
        }
        self.line(1, "#pragma unroll UNROLL");
        self.line(1, "for (ulong turn = 0; turn < turns; turn++) {");
        self.line(2, "const ulong line = begin + turn * (SLICES * WGY);");
        self.line(0, "#endif");
        self.body();
        self.line(1, "}");
        let may_finish = self.pass.may_finish_columns_in_loop(program);
        let strips = self.strips_folded(&folds);
        self.line(1, "if (strip == 0 && at < VECTORS) {");
        self.line(0, "#if SLICES > 1");
        let position = "get_group_id(1) * VECTORS + at";
        if may_finish {
            self.line(0, "#if FINISH_loop");
            for fold in &folds {
                let (name, ty) = (fold.name, type_text(fold.scalar, Lanes::One));
                let parts = parts_name(program, fold.target);
                for line in [
                    format!("{ty} cells_{name}[VW];"),
                    format!("CELLS_OF(many_{name}, cells_{name});"),
                    "#pragma unroll".to_owned(),
                    format!(
                        "for (uint v = 0; v < VW; v++) PUT{}({parts} + ({position}) * VW + v, \
                         cells_{name}[v]);",
                        fold.scalar.size()
                    ),
                ] {
                    self.line(2, &line);
                }
            }
            self.line(0, "#else");
        }
        for fold in &folds {
            let (name, ty) = (fold.name, type_text(fold.scalar, Lanes::Cells));
            let parts = parts_name(program, fold.target);
            self.line(
                2,
                &format!("((__global {ty}*){parts})[{position}] = many_{name};"),
            );
        }
        if may_finish {
            self.line(0, "#endif");
        }
        for fold in &folds {
            let register = format!("many_{}", fold.name);
            self.elements
                .registers
                .insert((fold.target, At::Along), register);
        }
        let before = self.elements.registers.clone();
        self.line(0, "#else");
        self.end(2, Lanes::Cells, is_read);
        self.line(0, "#endif");
        self.line(1, "}");
        self.line(0, "#if SUMS > 1");
        self.line(1, "}");
        self.line(0, "#endif");
        if may_finish {
            self.elements.registers = before;
            self.finished(&folds, is_read);
        }
        let mut arguments = self.sizes();
        arguments.extend(self.elements.arguments());
        arguments.extend(
            folds
                .iter()
                .map(|fold| KernelArgument::LineParts(fold.target)),
        );
        if may_finish {
            arguments.push(KernelArgument::ColumnsFinished(self.grid.line));
        }
        arguments.extend(strips);
        let about = format!("All lines, or parts of them: {}.", self.about(true));
        let work = Work::Across(self.grid);
        self.elements.writer.kernel(name, &about, arguments, work)
    }

    /// The loops of a work-item that has `SUMS` neighbouring vectors of positions, with sums in its
    /// memory: it goes through `UNROLL` lines at a time, as far along each as these positions
    /// reach. Then, for each vector, it begins the loop over the lines that are left.
    fn sums(&mut self, folds: &[Folded<'_>]) {
        self.line(0, "#if SUMS > 1");
        for line in [
            "const ulong begin = (get_group_id(0) * WGX + lane) * SUMS;",
            "const ulong some = begin < VECTORS ? min(VECTORS - begin, (ulong)SUMS) : 0;",
            "const ulong share = (lines + SLICES - 1) / SLICES;",
            "const ulong end = min(lines, (get_group_id(1) + 1) * share);",
            "ulong block = get_group_id(1) * share;",
        ] {
            self.line(1, line);
        }
        for line in folds
            .iter()
            .flat_map(|fold| fold.sums_declared("SUMS", "some"))
        {
            self.line(1, &line);
        }
        self.line(1, "for (; block + UNROLL <= end; block += UNROLL) {");
        self.line(2, "for (uint c = 0; c < some; c++) {");
        self.sum_begun(3, folds);
        self.line(3, "#pragma unroll");
        self.line(3, "for (uint next = 0; next < UNROLL; next++) {");
        self.line(4, "const ulong line = block + next;");
        let from = self.elements.writer.text.len();
        self.body();
        self.elements.writer.indent(from, 2);
        self.line(3, "}");
        for fold in folds {
            self.line(3, &format!("sums_{0}[c] = many_{0};", fold.name));
        }
        self.line(2, "}");
        self.line(1, "}");
        self.line(1, "for (uint c = 0; c < some; c++) {");
        self.sum_begun(1, folds);
        self.line(1, "for (ulong line = block; line < end; line++) {");
    }

    fn sum_begun(&mut self, depth: usize, folds: &[Folded<'_>]) {
        self.line(depth, "const ulong at = begin + c;");
        for fold in folds {
            let (ty, name) = (type_text(fold.scalar, Lanes::Cells), fold.name);
            self.line(depth, &format!("{ty} many_{name} = sums_{name}[c];"));
        }
    }

    /// The lines that fold what the strips of a work-group have, for the first one of them.
    fn strips_folded(&mut self, folds: &[Folded<'_>]) -> Vec<KernelArgument> {
        let mut strips: Vec<KernelArgument> = Vec::new();
        for fold in folds {
            let (name, op, local) = (fold.name, fold.op(), strips_name(fold.scalar));
            self.line(0, "#if WGY > 1");
            let argument = KernelArgument::Strips(fold.scalar);
            if strips.contains(&argument) {
                self.line(1, "barrier(CLK_LOCAL_MEM_FENCE);");
            } else {
                strips.push(argument);
            }
            for line in [
                format!("{local}[get_local_id(0)] = many_{name};"),
                "#pragma unroll".to_owned(),
                "for (uint rest = WGY / 2; rest > 0; rest /= 2) {".to_owned(),
                "    barrier(CLK_LOCAL_MEM_FENCE);".to_owned(),
                format!(
                    "    if (strip < rest) {local}[get_local_id(0)] = many_{name} = \
                     {op}(many_{name}, {local}[get_local_id(0) + rest * WGX]);"
                ),
                "}".to_owned(),
            ] {
                self.line(1, &line);
            }
            self.line(0, "#endif");
        }
        strips
    }

    /// The lines with which the work-group that ends last, of those with the same positions, folds
    /// the parts of all and computes with the results.
    fn finished(&mut self, folds: &[Folded<'_>], is_read: &dyn Fn(usize) -> bool) {
        let program = self.elements.writer.program;
        let counter = format!(
            "{} + get_group_id(0)",
            columns_finished_name(program, self.grid.line)
        );
        self.line(0, "#if SLICES > 1 && FINISH_loop");
        self.line(1, "mem_fence(CLK_GLOBAL_MEM_FENCE);");
        self.line(1, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
        for line in finish::counted(&counter, "get_num_groups(1)") {
            self.line(1, &line);
        }
        self.line(1, "const uint slices = at < VECTORS ? groups : 0;");
        for fold in folds {
            let (name, ty, op) = (fold.name, type_text(fold.scalar, Lanes::One), fold.op());
            let cells = type_text(fold.scalar, Lanes::Cells);
            let parts = parts_name(program, fold.target);
            for line in [
                format!("many_{name} = ({cells})({});", fold.neutral()),
                "for (uint slice = strip; slice < slices; slice += WGY) {".to_owned(),
                format!("    {ty} cells_{name}[VW];"),
                "    #pragma unroll".to_owned(),
                format!(
                    "    for (uint v = 0; v < VW; v++) cells_{name}[v] = TAKE{}({ty}, {parts} + \
                     (slice * VECTORS + at) * VW + v);",
                    fold.scalar.size()
                ),
                format!("    many_{name} = {op}(many_{name}, OF_CELLS(cells_{name}));"),
                "}".to_owned(),
            ] {
                self.line(1, &line);
            }
        }
        self.line(1, "barrier(CLK_LOCAL_MEM_FENCE);");
        self.strips_folded(folds);
        self.line(1, "if (strip == 0 && slices > 0) {");
        self.end(2, Lanes::Cells, is_read);
        self.line(1, "}");
        self.line(0, "#endif");
    }

    /// The kernel that folds the parts and computes with the results.
    fn result(mut self, name: String, is_read: &dyn Fn(usize) -> bool) -> Kernel {
        let program = self.elements.writer.program;
        let after = self.statements(false);
        self.elements.load_numbers(after.iter().copied());
        self.elements.declare_firsts(after.into_iter());
        self.line(1, "const ulong at = get_global_id(0);");
        self.line(1, "if (at >= length) return;");
        let folds = self.folds();
        for fold in &folds {
            for line in fold.declared(Lanes::One) {
                self.line(1, &line);
            }
            let (name, op) = (fold.name, fold.op());
            let parts = parts_name(program, fold.target);
            self.line(
                1,
                &format!(
                    "for (uint slice = 0; slice < SLICES; slice++) one_{name} = {op}(one_{name}, \
                     {parts}[slice * VECTORS * VW + at]);"
                ),
            );
            let register = format!("one_{name}");
            self.elements
                .registers
                .insert((fold.target, At::Along), register);
        }
        self.end(1, Lanes::One, is_read);
        let mut arguments = vec![KernelArgument::Line(self.grid.line)];
        arguments.extend(self.elements.arguments());
        arguments.extend(
            folds
                .iter()
                .map(|fold| KernelArgument::LineParts(fold.target)),
        );
        let about = format!("The line that they make: {}.", self.about(false));
        let work = Work::Each(self.grid.line);
        let is_in_loop = self.pass.may_finish_columns_in_loop(program);
        let kernel = self.elements.writer.kernel(name, &about, arguments, work);
        if is_in_loop { kernel.in_loop() } else { kernel }
    }

    /// The kernel of the reference: a work-item for each position.
    fn plain(mut self, name: String, is_read: &dyn Fn(usize) -> bool) -> Kernel {
        let program = self.elements.writer.program;
        let all = || self.pass.looped.iter().map(|at| &program.statements[*at]);
        self.elements.load_numbers(all());
        self.elements.declare_firsts(all());
        self.line(1, "const ulong at = get_global_id(0);");
        self.line(1, "if (at >= length) return;");
        let folds = self.folds();
        for fold in &folds {
            for line in fold.declared(Lanes::Wide) {
                self.line(1, &line);
            }
        }
        self.line(1, "for (ulong line = 0; line < lines; line++) {");
        self.body();
        self.line(1, "}");
        for fold in &folds {
            let name = fold.name;
            let (ty, register) = (
                type_text(fold.scalar, Lanes::One),
                self.elements.writer.register(fold.target),
            );
            self.line(
                1,
                &format!("const {ty} {register} = ({ty})(one_{name} + rest_{name});"),
            );
            self.elements
                .registers
                .insert((fold.target, At::Along), register);
        }
        self.end(1, Lanes::Wide, is_read);
        let mut arguments = self.sizes();
        arguments.extend(self.elements.arguments());
        let about = format!("All lines: {}.", statements(program, &self.pass.looped));
        let work = Work::Each(self.grid.line);
        self.elements.writer.kernel(name, &about, arguments, work)
    }

    /// Statements about the line that was made, and what is stored of it.
    fn end(&mut self, depth: usize, lanes: Lanes, is_read: &dyn Fn(usize) -> bool) {
        let program = self.elements.writer.program;
        let mut made: BTreeSet<usize> = self.folds().iter().map(|fold| fold.target).collect();
        for statement in self.statements(false) {
            for element in self.elements.read(statement) {
                if !self.elements.registers.contains_key(&element) {
                    let memory = match lanes {
                        Lanes::Cells => self.elements.memory(element),
                        _ => self.one_of(element.0),
                    };
                    let scalar = program.operands[element.0].scalar;
                    let ty = type_text(scalar, stored(lanes));
                    let register = self.elements.writer.register(element.0);
                    self.line(depth, &format!("const {ty} {register} = {memory};"));
                    self.elements.registers.insert(element, register);
                }
            }
            self.elements.computed(depth, statement, lanes);
            made.insert(statement.target);
        }
        let is_kept = |operand: &usize| {
            program.operands[*operand].place != Place::Scratch || is_read(*operand)
        };
        for operand in made.into_iter().filter(is_kept) {
            let register = self.elements.registers[&(operand, At::Along)].clone();
            let stored = if lanes == Lanes::Cells {
                self.elements.stored((operand, At::Along), &register)
            } else {
                self.elements.writer.written.insert(operand);
                format!("{} = {register};", self.one_of(operand))
            };
            self.line(depth, &stored);
        }
    }

    /// The element of a vector at the position.
    fn one_of(&mut self, operand: usize) -> String {
        self.elements.writer.used.insert(operand);
        let name = self.elements.writer.name(operand);
        let read = &self.elements.writer.program.operands[operand];
        if is_strided(read) {
            strides::element(read, &name, "at")
        } else {
            format!("{name}[at]")
        }
    }

    fn sizes(&self) -> Vec<KernelArgument> {
        vec![
            KernelArgument::Lines(self.grid.lines),
            KernelArgument::Line(self.grid.line),
        ]
    }

    /// The statements of the first kernel, or of the second.
    fn about(&self, is_first: bool) -> String {
        let program = self.elements.writer.program;
        let looped = self.pass.looped.iter().copied();
        let which = |at: &usize| {
            let statement = &program.statements[*at];
            let is_fold = statement.action != Action::Store;
            if is_first {
                statement.grid.is_some()
            } else {
                statement.grid.is_none() || is_fold
            }
        };
        let which: Vec<usize> = looped.filter(which).collect();
        statements(program, &which)
    }
}

/// The macros that load and store with a tail, where no other kernels go through lines: the last
/// vector may be a part of one.
pub(super) const LOADS: &str = "\
// The vector `at` of a line, which begins anywhere where the last one is a part of one.
#if TAIL
#define LOADED(type, from) JOIN(loaded_part_, type)(from, 0, 1, at, length)
#define STORED(type, to, value) JOIN(stored_part_, type)(to, 0, 1, at, length, value)
";

/// The macros of these kernels.
pub(super) const MACROS: &str = "\
// The vectors of a line, and those that begin at an offset of a buffer and have a stride.
#if TAIL
#define VECTORS ((length + VW - 1) / VW)
#define LOADED_FROM(type, from, first, stride) \
    JOIN(loaded_part_, type)(from, first, stride, at, length)
#define STORED_TO(type, to, first, stride, value) \
    JOIN(stored_part_, type)(to, first, stride, at, length, value)
#else
#define VECTORS (length / VW)
#define LOADED_FROM(type, from, first, stride) JOIN(loaded_, type)(from, first, stride, at)
#define STORED_TO(type, to, first, stride, value) JOIN(stored_, type)(to, first, stride, at, value)
#endif
";

/// The macros where the group that ends last may fold the parts.
pub(super) const FINISHING: &str = "\
// The components of a vector of a line in an array, and back.
#if VW > 1
#define CELLS_OF(v, p) JOIN(vstore, VW)(v, 0, p)
#define OF_CELLS(p) JOIN(vload, VW)(0, p)
#else
#define CELLS_OF(v, p) (*(p) = (v))
#define OF_CELLS(p) (*(p))
#endif
";
