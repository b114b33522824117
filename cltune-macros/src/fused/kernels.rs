//! The OpenCL source of passes.

use super::arguments::Kernel;
use super::plan::Pass;
use super::program::{Place, Program};
use super::value::Style;
use super::writer::Writer;
use super::{across, lines, product};
use cltune_core::model::ScalarType;

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
            kernels.extend(
                if let Some(product) = pass
                    .product(program)
                    .and_then(|statement| Some((statement, product::Factors::of(statement)?)))
                {
                    vec![product::kernel(
                        program, style, pass, product, name, &is_read,
                    )]
                } else if pass.is_across(program) {
                    across::kernels(program, style, pass, grid, &name, &is_read)
                } else {
                    vec![lines::kernel(program, style, pass, grid, name, &is_read)]
                },
            );
        }
        if pass.length.is_some() {
            let name = format!("{prefix}_{number}");
            kernels.push(Writer::new(program, style).looped(name, pass, number, &stored));
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

/// The work-groups of a reference's loop, and the work-items of each group.
pub(super) const REFERENCE_GROUPS: usize = 64;
