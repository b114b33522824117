//! The kernel of a pass that goes through the lines of matrices.
//!
//! `WGX` work-items share a line, and a work-group has `WGY` lines. Statements about elements are
//! computed in phases: a reduction ends one, and what needs its result is in a later one. With
//! `KEEP` each work-item loads so many vectors of its line once and keeps them in registers;
//! without, each phase reads the line again. With `SUMS` a work-item folds into so many vectors in
//! turn.

use super::arguments::{Kernel, KernelArgument, Work, cells_name};
use super::elements::Elements;
use super::folded::Folded;
use super::plan::Pass;
use super::program::{Action, Grid, Operand, Place, Program, Statement};
use super::strides;
use super::value::{At, Lanes, Style, type_text};
use super::writer::statements;
use std::collections::BTreeSet;

/// The kernel of a pass. `is_read` tells of an operand whether another pass reads it.
pub(super) fn kernel(
    program: &Program,
    style: Style,
    pass: &Pass,
    grid: Grid,
    name: String,
    is_read: &dyn Fn(usize) -> bool,
) -> Kernel {
    let phases = Phases::of(program, pass);
    let lines = Lined {
        elements: Elements::new(program, style, At::Line),
        pass,
        phases,
        kept: BTreeSet::new(),
        cells: Vec::new(),
    };
    lines.kernel(grid, name, is_read)
}

/// When statements are computed.
struct Phases {
    /// The phase of each statement. A vector is computed after the loop of its phase.
    of: Vec<Option<usize>>,
    /// Which statements about vectors have results that elements of matrices need.
    needed: Vec<bool>,
    count: usize,
}

impl Phases {
    fn of(program: &Program, pass: &Pass) -> Self {
        let all: Vec<&Statement> = pass
            .looped
            .iter()
            .map(|at| &program.statements[*at])
            .collect();
        let reads = |reader: usize, target: usize| {
            all[reader].value.operands().contains(&all[target].target)
        };
        let mut of: Vec<Option<usize>> = Vec::new();
        for at in 0..all.len() {
            let is_vector = all[at].grid.is_none();
            let mut phase = if is_vector { None } else { Some(0) };
            for other in 0..at {
                let is_line = all[other].grid.is_none() || all[other].action != Action::Store;
                if reads(at, other) && is_line && !is_vector {
                    phase = phase.max(Some(of[other].map_or(0, |phase| phase + 1)));
                } else if reads(at, other)
                    || reads(other, at)
                    || all[other].target == all[at].target
                {
                    phase = phase.max(of[other]);
                }
            }
            of.push(phase);
        }
        let mut needed: Vec<bool> = all
            .iter()
            .map(|statement| statement.grid.is_some())
            .collect();
        for at in (0..all.len()).rev() {
            needed[at] |= (at + 1..all.len()).any(|later| {
                needed[later]
                    && (reads(later, at) || reads(at, later) || all[later].target == all[at].target)
            });
        }
        let count = of.iter().flatten().max().map_or(0, |last| last + 1);
        Self { of, needed, count }
    }
}

/// What the loops of a phase compute.
struct Body<'b, 'a> {
    in_loop: &'b [&'b Statement],
    phase: usize,
    /// The statements of all phases.
    all: &'b [&'a Statement],
    read: BTreeSet<(usize, At)>,
    made: BTreeSet<(usize, At)>,
    /// What later phases read of it.
    passed_on: BTreeSet<(usize, At)>,
}

/// Writes the kernel.
struct Lined<'a> {
    elements: Elements<'a>,
    pass: &'a Pass,
    phases: Phases,
    /// The elements that are in registers from an earlier phase.
    kept: BTreeSet<(usize, At)>,
    /// Local memory.
    cells: Vec<KernelArgument>,
}

impl<'a> Lined<'a> {
    fn kernel(mut self, grid: Grid, name: String, is_read: &dyn Fn(usize) -> bool) -> Kernel {
        let program = self.elements.writer.program;
        let is_tuned = self.elements.writer.style == Style::Tuned;
        let all: Vec<&'a Statement> = self
            .pass
            .looped
            .iter()
            .map(|at| &program.statements[*at])
            .collect();
        self.elements.load_numbers(all.iter().copied());
        self.elements.declare_firsts(all.iter().copied());
        if is_tuned {
            self.line(1, "const uint lane = get_local_id(0) % WGX;");
            self.line(
                1,
                "const ulong line = get_group_id(0) * WGY + get_local_id(0) / WGX;",
            );
            self.line(1, "const ulong count = line < lines ? length / VW : 0;");
        } else {
            self.line(1, "const ulong line = get_global_id(0);");
            self.line(1, "if (line >= lines) return;");
        }
        let loaded = self.load_line(&all, true);
        for phase in std::iter::once(None).chain((0..self.phases.count).map(Some)) {
            let of_phase = |at: &usize| self.phases.of[*at] == phase;
            let positions: Vec<usize> = (0..all.len()).filter(of_phase).collect();
            let in_loop = positions
                .iter()
                .map(|at| all[*at])
                .filter(|it| it.grid.is_some());
            let in_loop: Vec<&Statement> = in_loop.collect();
            if let Some(phase) = phase
                && !in_loop.is_empty()
            {
                self.phase(&in_loop, phase, &all);
            }
            for at in positions {
                if all[at].grid.is_none() && self.phases.needed[at] {
                    let one = self.elements.one();
                    self.elements.computed(1, all[at], one);
                }
            }
        }
        self.end(&all, &loaded, is_read);
        let mut arguments = vec![
            KernelArgument::Lines(grid.lines),
            KernelArgument::Line(grid.line),
        ];
        arguments.extend(self.elements.arguments());
        arguments.append(&mut self.cells);
        let about = format!("Lines: {}.", statements(program, &self.pass.looped));
        let work = match self.elements.writer.style {
            Style::Tuned => Work::Lines(grid),
            Style::Reference => Work::Each(grid.lines),
        };
        self.elements.writer.kernel(name, &about, arguments, work)
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.elements.writer.line(depth, text);
    }

    fn directive(&mut self, text: &str) {
        self.line(0, text);
    }

    /// Loads the elements of vectors that belong to the line, for statements that all work-items of
    /// the line compute, or for the others; gives the operands.
    fn load_line(&mut self, all: &[&Statement], needed: bool) -> BTreeSet<usize> {
        let is_tuned = self.elements.writer.style == Style::Tuned;
        let mut made: BTreeSet<usize> = BTreeSet::new();
        let mut loaded = BTreeSet::new();
        for (at, statement) in all.iter().enumerate() {
            if self.phases.needed[at] == needed {
                for element in self.elements.read(statement) {
                    let (operand, place) = element;
                    let is_there = self.elements.registers.contains_key(&element);
                    if place == At::Line && !made.contains(&operand) && !is_there {
                        let memory = self.elements.memory(element);
                        let source = if is_tuned && needed {
                            format!("line < lines ? {memory} : 0")
                        } else {
                            memory
                        };
                        self.elements
                            .loaded(if needed { 1 } else { 2 }, element, &source);
                        loaded.insert(operand);
                    }
                }
            }
            made.insert(statement.target);
        }
        loaded
    }

    /// The loop of a phase, and the reductions that it ends with.
    fn phase(&mut self, in_loop: &[&Statement], phase: usize, all: &[&'a Statement]) {
        let program = self.elements.writer.program;
        let is_tuned = self.elements.writer.style == Style::Tuned;
        let lanes = self.elements.lanes();
        self.elements.registers.retain(|(_, at), _| *at == At::Line);
        let mut made: BTreeSet<(usize, At)> = BTreeSet::new();
        let mut read: BTreeSet<(usize, At)> = BTreeSet::new();
        for statement in in_loop {
            let elements = self.elements.read(statement).into_iter();
            read.extend(
                elements.filter(|element| element.1 != At::Line && !made.contains(element)),
            );
            if statement.action == Action::Store {
                made.insert((statement.target, statement.at));
            }
        }
        let later = |element: &(usize, At)| {
            let mut others = all.iter().zip(&self.phases.of);
            others.any(|(statement, of)| {
                *of > Some(phase) && self.elements.read(statement).contains(element)
            })
        };
        let passed_on: BTreeSet<(usize, At)> = made.iter().copied().filter(later).collect();
        if is_tuned {
            self.load_kept(&read, &passed_on);
        }
        let folds: Vec<Folded<'_>> = in_loop
            .iter()
            .filter_map(|it| Folded::of_lines(program, it))
            .collect();
        for fold in &folds {
            for line in fold.declared(lanes) {
                self.line(1, &line);
            }
        }
        let body = Body {
            in_loop,
            phase,
            all,
            read,
            made,
            passed_on,
        };
        let has_sums = is_tuned && !folds.is_empty();
        if has_sums {
            self.sums(&body, &folds);
        }
        if is_tuned {
            self.directive("#if KEEP");
            self.line(1, "#pragma unroll");
            self.line(
                1,
                "for (uint k = 0; k < KEEP; k++) if (k * WGX + lane < count) {",
            );
            self.line(2, "const ulong at = k * WGX + lane;");
            if has_sums {
                self.directive("#elif SUMS > 1");
                self.line(1, "for (ulong at = begin; at < count; at += WGX) {");
            }
            self.directive("#else");
            self.line(1, "#pragma unroll UNROLL");
            self.line(1, "for (ulong at = lane; at < count; at += WGX) {");
            self.directive("#endif");
        } else {
            self.line(1, "for (ulong at = 0; at < length; at++) {");
        }
        self.body(&body, Folded::accumulated);
        self.line(1, "}");
        if has_sums {
            self.directive("#if SUMS > 1");
            self.line(1, "}");
            self.directive("#endif");
        }
        for fold in &folds {
            self.folded(fold);
        }
    }

    /// The loop that folds into `SUMS` vectors, which do not wait for one another, as long as there
    /// are so many; the loop after it begins where this one ends.
    fn sums(&mut self, body: &Body<'_, 'a>, folds: &[Folded<'_>]) {
        let program = self.elements.writer.program;
        let elements = body.read.union(&body.made);
        let along = elements.filter(|(_, at)| *at != At::Line);
        let operands: Vec<&Operand> = along
            .map(|(operand, _)| &program.operands[*operand])
            .collect();
        self.directive("#if SUMS > 1");
        self.line(1, "{");
        self.line(1, "ulong begin = lane;");
        let strides = strides::are_one(&operands);
        let condition = strides.map_or(String::new(), |strides| format!("if ({strides}) "));
        self.line(1, &format!("{condition}{{"));
        for line in folds.iter().flat_map(|fold| fold.sums_declared("SUMS")) {
            self.line(2, &line);
        }
        self.line(
            2,
            "for (; begin + (SUMS - 1) * WGX < count; begin += SUMS * WGX) {",
        );
        self.line(3, "#pragma unroll");
        self.line(3, "for (uint c = 0; c < SUMS; c++) {");
        self.line(4, "const ulong at = begin + c * WGX;");
        let before = self.elements.registers.clone();
        let from = self.elements.writer.text.len();
        self.body(body, |fold, value, _| vec![fold.sum_accumulated(value)]);
        self.elements.writer.indent(from, 2);
        self.elements.registers = before;
        self.line(3, "}");
        self.line(2, "}");
        for fold in folds {
            self.line(2, &fold.sums_folded());
        }
        self.line(1, "}");
        self.directive("#endif");
    }

    /// What is computed at a position of a line.
    fn body(
        &mut self,
        body: &Body<'_, 'a>,
        accumulated: impl Fn(&Folded<'a>, &str, Lanes) -> Vec<String>,
    ) {
        let program = self.elements.writer.program;
        let is_tuned = self.elements.writer.style == Style::Tuned;
        let lanes = self.elements.lanes();
        for element in body.read.iter().copied() {
            let memory = self.elements.memory(element);
            let source = if is_tuned {
                format!("KEPT({}, {memory})", self.kept_name(element))
            } else {
                memory
            };
            self.elements.loaded(2, element, &source);
        }
        for statement in body.in_loop {
            if let Some(fold) = Folded::of_lines(program, statement) {
                let value = self.elements.value(&statement.value, lanes);
                let value = fold.argument(&statement.value, value, lanes);
                self.line(2, &format!("// {}", statement.text));
                for line in accumulated(&fold, &value, lanes) {
                    self.line(2, &line);
                }
            } else {
                self.elements.computed(2, statement, lanes);
            }
        }
        for element in body.made.iter().copied() {
            let register = self.elements.registers[&element].clone();
            let stored = self.elements.stored(element, &register);
            let mut others = body.all.iter().zip(&self.phases.of);
            let is_again = others.any(|(statement, of)| {
                let is_later = *of > Some(body.phase);
                statement.grid.is_some() && statement.target == element.0 && is_later
            });
            if is_tuned && body.passed_on.contains(&element) {
                self.directive("#if KEEP");
                let kept = self.kept_name(element);
                self.line(2, &format!("{kept}[k] = {register};"));
                self.directive(if is_again { "#else" } else { "#endif" });
            } else if is_tuned && is_again {
                self.directive("#if !KEEP");
            }
            self.line(2, &stored);
            if is_tuned && is_again {
                self.directive("#endif");
            }
        }
    }

    fn kept_name(&self, (operand, at): (usize, At)) -> String {
        let place = match at {
            At::Crossed => "_crossed",
            At::Along => "_along",
            At::Cell | At::Line => "",
        };
        format!(
            "kept_{}{place}",
            self.elements.writer.program.operands[operand].name
        )
    }

    /// Loads what the registers of `KEEP` do not have yet.
    fn load_kept(&mut self, read: &BTreeSet<(usize, At)>, passed_on: &BTreeSet<(usize, At)>) {
        let is_new = |element: &&(usize, At)| !self.kept.contains(element);
        let loads: Vec<(usize, At)> = read.iter().filter(is_new).copied().collect();
        let declared: BTreeSet<(usize, At)> =
            read.union(passed_on).filter(is_new).copied().collect();
        if declared.is_empty() {
            return;
        }
        self.directive("#if KEEP");
        for element in &declared {
            let scalar = self.elements.writer.program.operands[element.0].scalar;
            let (ty, kept) = (type_text(scalar, Lanes::Cells), self.kept_name(*element));
            self.line(1, &format!("{ty} {kept}[KEEP];"));
        }
        if !loads.is_empty() {
            self.line(1, "#pragma unroll");
            self.line(
                1,
                "for (uint k = 0; k < KEEP; k++) if (k * WGX + lane < count) {",
            );
            self.line(2, "const ulong at = k * WGX + lane;");
            for element in &loads {
                let memory = self.elements.memory(*element);
                let kept = self.kept_name(*element);
                self.line(2, &format!("{kept}[k] = {memory};"));
            }
            self.line(1, "}");
        }
        self.directive("#endif");
        self.kept.extend(declared);
    }

    /// Folds the numbers of a line's work-items, for all of them.
    fn folded(&mut self, fold: &Folded<'_>) {
        let (name, op) = (fold.name, fold.op());
        let element = (fold.target, At::Line);
        if self.elements.writer.style == Style::Reference {
            let register = self.elements.writer.register(fold.target);
            let ty = type_text(fold.scalar, Lanes::One);
            self.line(
                1,
                &format!("const {ty} {register} = ({ty})(one_{name} + rest_{name});"),
            );
            self.elements.registers.insert(element, register);
            return;
        }
        for line in fold.declared_from_many() {
            self.line(1, &line);
        }
        let cells = cells_name(fold.scalar);
        let argument = KernelArgument::Cells(fold.scalar);
        self.directive("#if WGX > 1");
        if self.cells.contains(&argument) {
            self.line(1, "barrier(CLK_LOCAL_MEM_FENCE);");
        } else {
            self.cells.push(argument);
        }
        self.line(1, &format!("FOLD_LINE({op}, one_{name}, {cells});"));
        self.directive("#endif");
        self.elements
            .registers
            .insert(element, format!("one_{name}"));
    }

    /// What one work-item of a line computes and stores.
    fn end(
        &mut self,
        all: &[&Statement],
        loaded: &BTreeSet<usize>,
        is_read: &dyn Fn(usize) -> bool,
    ) {
        let program = self.elements.writer.program;
        let is_kept = |statement: &&&Statement| {
            let is_vector = statement.grid.is_none() || statement.action != Action::Store;
            let is_scratch = program.operands[statement.target].place == Place::Scratch;
            is_vector && (!is_scratch || is_read(statement.target))
        };
        let stored_at_end: BTreeSet<usize> = all
            .iter()
            .filter(is_kept)
            .map(|statement| statement.target)
            .collect();
        if stored_at_end.is_empty() {
            return;
        }
        if self.elements.writer.style == Style::Tuned {
            if stored_at_end.intersection(loaded).next().is_some() {
                self.line(1, "barrier(CLK_GLOBAL_MEM_FENCE);");
            }
            self.line(1, "if (lane == 0 && line < lines) {");
        } else {
            self.line(1, "{");
        }
        self.load_line(all, false);
        for (at, statement) in all.iter().enumerate() {
            if !self.phases.needed[at] {
                let one = self.elements.one();
                self.elements.computed(2, statement, one);
            }
        }
        for operand in stored_at_end {
            let register = self.elements.registers[&(operand, At::Line)].clone();
            let stored = self.elements.stored((operand, At::Line), &register);
            self.line(2, &stored);
        }
        self.line(1, "}");
    }
}

/// The macros of these kernels.
pub(super) const MACROS: &str = "\
// Elements of a line: in registers, or in memory.
#if KEEP
#define KEPT(register, memory) register[k]
#else
#define KEPT(register, memory) memory
#endif
// Folds the numbers of the WGX work-items of a line, sixteen at a time, for all of them.
#define FOLD_LEFT(op, value, cells, step, left) \\
    value = cells[get_local_id(0) - lane + lane % (step)]; \\
    for (uint other = 1; other < (left); other++) \\
        value = op(value, cells[get_local_id(0) - lane + lane % (step) + other * (step)])
#define FOLD_PUT(value, cells) \\
    cells[get_local_id(0)] = value; \\
    barrier(CLK_LOCAL_MEM_FENCE)
#if WGX > 256
#define FOLD_LINE(op, value, cells) \\
    FOLD_PUT(value, cells); \\
    FOLD_LEFT(op, value, cells, WGX / 16, 16); \\
    barrier(CLK_LOCAL_MEM_FENCE); \\
    FOLD_PUT(value, cells); \\
    FOLD_LEFT(op, value, cells, WGX / 256, 16); \\
    barrier(CLK_LOCAL_MEM_FENCE); \\
    FOLD_PUT(value, cells); \\
    FOLD_LEFT(op, value, cells, 1, WGX / 256)
#elif WGX > 16
#define FOLD_LINE(op, value, cells) \\
    FOLD_PUT(value, cells); \\
    FOLD_LEFT(op, value, cells, WGX / 16, 16); \\
    barrier(CLK_LOCAL_MEM_FENCE); \\
    FOLD_PUT(value, cells); \\
    FOLD_LEFT(op, value, cells, 1, WGX / 16)
#else
#define FOLD_LINE(op, value, cells) \\
    FOLD_PUT(value, cells); \\
    FOLD_LEFT(op, value, cells, 1, WGX)
#endif
";
