//! The end of a kernel after its loop over vectors: one work-group folds the parts of all, and
//! computes the numbers.
//!
//! Either it is that of a second launch, or the work-group of the loop that ends last. The latter
//! reads parts that other work-groups have written in the same launch. OpenCL 1.2 says nothing of
//! ordinary reads there; parts are therefore written and read by atomic functions, which act on
//! memory itself. A fence puts a work-group's parts before its count, and the count before the
//! reading.

use super::arguments::{Kernel, KernelArgument, Work, finished_name};
use super::folded::Folded;
use super::folds::Handing;
use super::plan::Pass;
use super::program::Action;
use super::strides::place_of_number;
use super::value::{Lanes, Style, type_text};
use super::writer::{Writer, statements};
use std::collections::BTreeSet;

impl Writer<'_> {
    /// How the parts of a pass's reductions pass from one work-group to another.
    pub(super) fn handing(&self, pass: &Pass) -> Handing {
        if self.style == Style::Tuned && pass.may_finish_in_loop(self.program) {
            Handing::ByMacro
        } else {
            Handing::Plain
        }
    }

    /// The lines at the end of a loop's kernel with which the work-group that ends last finishes.
    pub(super) fn finish_in_loop(&mut self, pass: &Pass, is_stored: &dyn Fn(usize) -> bool) {
        let counter = finished_name(self.program);
        let mut last = Writer::new(self.program, self.style);
        last.finished(pass, is_stored, "get_local_id(0) == 0 && groups > 0");
        self.text.push_str("#if FINISH_loop\n");
        for line in counted(&counter, "get_num_groups(0)") {
            self.line(1, &line);
        }
        self.text.push_str("    {\n");
        self.text.push_str(&last.text);
        self.text.push_str("    }\n#endif\n");
        self.used.extend(last.used);
        self.written.extend(last.written);
    }

    /// The kernel of one work-group that folds the parts and computes with the results.
    pub(super) fn finish(
        mut self,
        name: String,
        pass: &Pass,
        is_stored: &dyn Fn(usize) -> bool,
    ) -> Kernel {
        let program = self.program;
        let folds: Vec<Folded<'_>> = pass.folds(program).collect();
        self.finished(pass, is_stored, "get_local_id(0) == 0");
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
        let is_in_loop = self.handing(pass) == Handing::ByMacro;
        let kernel = self.kernel(name, &about, arguments, work);
        if is_in_loop { kernel.in_loop() } else { kernel }
    }

    /// What one work-group, which knows the number of `groups`, does after a loop. One work-item of
    /// it, which `is_first` names, computes the numbers.
    fn finished(&mut self, pass: &Pass, is_stored: &dyn Fn(usize) -> bool, is_first: &str) {
        let program = self.program;
        let folds: Vec<Folded<'_>> = pass.folds(program).collect();
        let handing = self.handing(pass);
        let one = self.one();
        for (number, fold) in folds.iter().enumerate() {
            for line in fold.declared(one) {
                self.line(1, &line);
            }
            self.line(
                1,
                "for (uint at = get_local_id(0); at < groups; at += get_local_size(0)) {",
            );
            for line in fold.part_folded(program, one, handing) {
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
        self.line(1, &format!("if ({is_first}) {{"));
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
    }
}

impl Kernel {
    /// The kernel of the launch after a loop, whose work-group that ends last may do the same.
    pub(super) fn in_loop(mut self) -> Self {
        self.is_in_loop = true;
        self.text = format!("#if !FINISH_loop\n{}#endif\n", self.text);
        self
    }
}

/// The lines after which `groups` is how many work-groups have left parts for this one, and 0 for all
/// but the last of `count`.
pub(super) fn counted(counter: &str, count: &str) -> Vec<String> {
    [
        "// The work-group that ends last folds the parts of all, the others none: all have the same",
        "// barriers. It leaves a counter of 0.",
        "__local uint ended;",
        "if (get_local_id(0) == 0) {",
        "    DEVICE_FENCE();",
        &format!("    ended = atomic_inc({counter}) + 1;"),
        &format!("    if (ended == {count}) atomic_xchg({counter}, 0u);"),
        "    DEVICE_FENCE();",
        "}",
        "barrier(CLK_LOCAL_MEM_FENCE);",
        &format!("const uint groups = ended == {count} ? ended : 0;"),
    ]
    .map(str::to_owned)
    .into()
}

/// What these kernels share.
pub(super) const MACROS: &str = "\
// Parts of work-groups: another work-group of the same launch reads them, or one of the next.
#if FINISH_loop
#define WORDS(p) ((volatile __global uint*)(p))
#define PUT4(p, v) atomic_xchg(WORDS(p), as_uint(v))
#define PUT8(p, v) do { \\
        const uint2 words = as_uint2(v); \\
        atomic_xchg(WORDS(p), words.x); \\
        atomic_xchg(WORDS(p) + 1, words.y); \\
    } while (0)
#define TAKE4(type, p) JOIN(as_, type)(atomic_or(WORDS(p), 0u))
#define TAKE8(type, p) JOIN(as_, type)((uint2)(atomic_or(WORDS(p), 0u), atomic_or(WORDS(p) + 1, 0u)))
// NVIDIA's mem_fence is for the work-group alone.
#ifdef __NV_CL_C_VERSION
#define DEVICE_FENCE() asm volatile(\"membar.gl;\" ::: \"memory\")
#else
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#else
#define PUT4(p, v) (*(p) = (v))
#define PUT8(p, v) (*(p) = (v))
#define TAKE4(type, p) (*(p))
#define TAKE8(type, p) (*(p))
#endif
";
