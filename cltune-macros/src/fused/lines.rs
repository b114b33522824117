//! The kernel of a pass that goes through the lines of matrices.
//!
//! `WGX` work-items share a line, and a work-group has `WGY` times `LINES` lines. Statements about
//! elements are computed in phases: a reduction ends one, and what needs its result is in a later
//! one. With `KEEP` each work-item loads so many vectors of its line once and keeps them in
//! registers; without, each phase reads the line again. With `LINES` a work-item goes through the
//! first phase of so many lines at once, and through what follows line by line.

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
            self.lines_begun(&all);
        } else {
            self.line(1, "const ulong line = get_global_id(0);");
            self.line(1, "if (line >= lines) return;");
        }
        let loaded = self.load_line(&all, true);
        self.computed_after(&all, None);
        for phase in 0..self.phases.count {
            let in_loop = self.in_loop(&all, phase);
            if !in_loop.is_empty() {
                self.phase(&in_loop, phase, &all);
            }
            self.computed_after(&all, Some(phase));
        }
        self.end(&all, &loaded, is_read);
        if is_tuned {
            self.lines_ended();
        }
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

    /// The statements about elements of a phase.
    fn in_loop(&self, all: &[&'a Statement], phase: usize) -> Vec<&'a Statement> {
        let of_phase = all.iter().zip(&self.phases.of);
        let of_phase = of_phase.filter(|(it, of)| **of == Some(phase) && it.grid.is_some());
        of_phase.map(|(statement, _)| *statement).collect()
    }

    /// Computes the vectors that follow from a phase, or before the first one, and that elements of
    /// matrices need.
    fn computed_after(&mut self, all: &[&Statement], phase: Option<usize>) {
        for (at, statement) in all.iter().enumerate() {
            let is_next = self.phases.of[at] == phase && self.phases.needed[at];
            if statement.grid.is_none() && is_next {
                let one = self.elements.one();
                self.elements.computed(1, statement, one);
            }
        }
    }

    /// The loop over the lines of a work-item, after their first phase as far as it is the same
    /// loop for all of them: sums do not wait for one another, memory is read in several places,
    /// and an element along the lines is loaded once. Where the last lines are fewer, and where
    /// vectors have strides, all is left to the loop that follows.
    fn lines_begun(&mut self, all: &[&'a Statement]) {
        self.line(1, "const uint lane = get_local_id(0) % WGX;");
        self.line(
            1,
            "const ulong first = (get_group_id(0) * WGY + get_local_id(0) / WGX) * LINES;",
        );
        self.line(1, "ulong begin = lane;");
        self.directive("#if LINES > 1");
        let in_loop = self.in_loop(all, 0);
        let body = self.body_of(&in_loop, 0, all);
        for fold in &self.folds(&in_loop) {
            for line in fold.sums_declared("LINES", "LINES") {
                self.line(1, &line);
            }
        }
        let program = self.elements.writer.program;
        let elements = body.read.union(&body.made);
        let along = elements.filter(|(_, at)| *at != At::Line);
        let operands: Vec<&Operand> = along
            .map(|(operand, _)| &program.operands[*operand])
            .collect();
        let strides = strides::are_one(&operands);
        let strides = strides.map_or(String::new(), |strides| format!(" && {strides}"));
        self.line(1, &format!("if (first + LINES <= lines{strides}) {{"));
        self.line(2, "for (; begin < length / VW; begin += WGX) {");
        self.line(3, "const ulong at = begin;");
        self.line(3, "#pragma unroll");
        self.line(3, "for (uint c = 0; c < LINES; c++) {");
        self.line(4, "const ulong line = first + c;");
        let before = self.elements.registers.clone();
        let from = self.elements.writer.text.len();
        self.load_line(all, true);
        self.computed_after(all, None);
        self.elements.writer.indent(from, 3);
        let from = self.elements.writer.text.len();
        self.body(&body, |fold, value, _| vec![fold.sum_accumulated(value)]);
        self.elements.writer.indent(from, 2);
        self.elements.registers = before;
        self.line(3, "}");
        self.line(2, "}");
        self.line(1, "}");
        self.line(1, "for (uint c = 0; c < LINES; c++) {");
        self.line(1, "const ulong line = first + c;");
        self.directive("#else");
        self.line(1, "const ulong line = first;");
        self.directive("#endif");
        self.line(1, "const ulong count = line < lines ? length / VW : 0;");
    }

    /// The end of that loop. The next line is folded in the same local memory.
    fn lines_ended(&mut self) {
        self.directive("#if LINES > 1");
        if !self.cells.is_empty() {
            self.directive("#if WGX > 1");
            self.line(1, "barrier(CLK_LOCAL_MEM_FENCE);");
            self.directive("#endif");
        }
        self.line(1, "}");
        self.directive("#endif");
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

    /// What the loop of a phase computes.
    fn body_of<'b>(
        &self,
        in_loop: &'b [&'b Statement],
        phase: usize,
        all: &'b [&'a Statement],
    ) -> Body<'b, 'a> {
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
        Body {
            in_loop,
            phase,
            all,
            read,
            made,
            passed_on,
        }
    }

    fn folds(&self, in_loop: &[&Statement]) -> Vec<Folded<'a>> {
        let program = self.elements.writer.program;
        let folds = in_loop.iter();
        folds
            .filter_map(|it| Folded::of_lines(program, it))
            .collect()
    }

    /// The loop of a phase, and the reductions that it ends with.
    fn phase(&mut self, in_loop: &[&Statement], phase: usize, all: &[&'a Statement]) {
        let is_tuned = self.elements.writer.style == Style::Tuned;
        let lanes = self.elements.lanes();
        self.elements.registers.retain(|(_, at), _| *at == At::Line);
        let body = self.body_of(in_loop, phase, all);
        if is_tuned {
            self.load_kept(&body.read, &body.passed_on);
        }
        let folds = self.folds(in_loop);
        for line in folds.iter().flat_map(|fold| fold.declared(lanes)) {
            self.line(1, &line);
        }
        let is_first = phase == 0;
        if is_tuned && is_first && !folds.is_empty() {
            self.directive("#if LINES > 1");
            for fold in &folds {
                self.line(1, &fold.sum_taken());
            }
            self.directive("#endif");
        }
        if is_tuned {
            self.directive("#if KEEP");
            self.line(1, "#pragma unroll");
            self.line(
                1,
                "for (uint k = 0; k < KEEP; k++) if (k * WGX + lane < count) {",
            );
            self.line(2, "const ulong at = k * WGX + lane;");
            self.directive("#else");
            self.line(1, "#pragma unroll UNROLL");
            let begin = if is_first { "begin" } else { "lane" };
            self.line(
                1,
                &format!("for (ulong at = {begin}; at < count; at += WGX) {{"),
            );
            self.directive("#endif");
        } else {
            self.line(1, "for (ulong at = 0; at < length; at++) {");
        }
        self.body(&body, Folded::accumulated);
        self.line(1, "}");
        if is_tuned {
            for line in folds.iter().flat_map(Folded::declared_from_many) {
                self.line(1, &line);
            }
            self.tail(&body);
        }
        for fold in &folds {
            self.folded(fold);
        }
    }

    /// The loop over the elements of the line that are no whole vector.
    fn tail(&mut self, body: &Body<'_, 'a>) {
        self.directive("#if TAIL");
        self.line(
            1,
            "for (ulong at = count * VW + lane; at < (line < lines ? length : 0); at += WGX) {",
        );
        let before = self.elements.registers.clone();
        self.elements.is_tail = true;
        self.body(body, Folded::accumulated);
        self.elements.is_tail = false;
        self.elements.registers = before;
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

/// The macros that load and store with a tail, where kernels go through lines: what is left behind
/// the last vector is computed apart.
pub(super) const LOADS: &str = "\
// The vector `at` of a line, which begins anywhere where a tail is left behind the last one.
#if TAIL
#define LOADED(type, from) JOIN(vload, VW)(at, from)
#define STORED(type, to, value) JOIN(vstore, VW)(value, at, to)
";

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
