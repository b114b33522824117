//! The attribute and the source that `#[tunable]` would be given for a program.

use super::arguments::{
    Kernel, KernelArgument, Work, cells_name, columns_finished_name, finished_name, parts_name,
    strips_name,
};
use super::folded::Parts;
use super::grids::{self, Kinds};
use super::kernels::{REFERENCE_GROUPS, kernels, prelude};
use super::lines;
use super::plan::{Pass, passes};
use super::product_source;
use super::program::{Action, Operand, Place, Program, Statement};
use super::streaming;
use super::strides::{self, is_strided};
use super::tensor;
use super::value::{Shape, Style};
use super::{across, finish};
use crate::parse::Attribute;
use cltune_core::model::ScalarType;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote};
use std::collections::{BTreeMap, BTreeSet};
use syn::LitStr;

/// What `#[tunable]` is given besides what was written.
pub(super) struct Made {
    pub(super) clauses: TokenStream,
    pub(super) source: LitStr,
    /// The names of arguments that no kernel takes.
    pub(super) host_only: Vec<String>,
}

/// The tunable of a program.
pub(super) fn tunable(program: &Program, written: &Attribute) -> Made {
    let fused = passes(program, true);
    let single = passes(program, false);
    let is_choice = fused != single;
    let fused_kernels = kernels(program, &fused, "pass", Style::Tuned);
    let single_kernels = if is_choice {
        kernels(program, &single, "single", Style::Tuned)
    } else {
        Vec::new()
    };
    let when = |text| is_choice.then(|| quote!(FUSE == #text));
    let mut stages: Vec<TokenStream> = Vec::new();
    let tuned = Sizes {
        groups: quote!(GROUPS),
        group: quote!(WG),
    };
    let plain = Sizes {
        groups: Literal::usize_unsuffixed(REFERENCE_GROUPS).into_token_stream(),
        group: Literal::usize_unsuffixed(REFERENCE_GROUPS).into_token_stream(),
    };
    let staged = |kernel, when| stage(program, kernel, &tuned, when);
    stages.extend(
        fused_kernels
            .iter()
            .map(|kernel| staged(kernel, when("all"))),
    );
    stages.extend(
        single_kernels
            .iter()
            .map(|kernel| staged(kernel, when("none"))),
    );
    let all: Vec<&Kernel> = fused_kernels.iter().chain(&single_kernels).collect();
    let all_passes: Vec<&Pass> = fused
        .iter()
        .chain(if is_choice { &single } else { &[][..] })
        .collect();
    let kinds = Kinds::of(program, &all_passes, &all);
    let reference = kernels(program, &single, "reference", Style::Reference);
    let reference_stages = reference
        .iter()
        .map(|kernel| stage(program, kernel, &plain, None));
    let reference_all: Vec<&Kernel> = reference.iter().collect();
    let reference_scratch = scratch(program, &reference_all, &plain);
    let reference_local = local_args(program, &reference_all, &plain);

    let may_finish_in_loop = all.iter().any(|kernel| kernel.is_in_loop);
    let kernels = all.iter().copied().chain(&reference);
    let source = source(program, &kinds, may_finish_in_loop, kernels);
    let fuse = is_choice.then(|| quote!(FUSE = ["all", "none"],));
    let fuse_default = is_choice.then(|| quote!(FUSE = "all",));
    let scratch = scratch(program, &all, &tuned);
    let local = local_args(program, &all, &tuned);
    let tolerance = written
        .tolerance
        .is_none()
        .then(|| tolerance(program))
        .flatten();
    let bytes = written.bytes.is_none().then(|| bytes(program, &fused));
    let widths = grids::widths(program, &kinds);
    let (width, width_default) = if kinds.has_width() {
        (quote!(VW = #widths,), quote!(VW = 1,))
    } else {
        (TokenStream::new(), TokenStream::new())
    };
    let (of_grids, of_grids_default) = kinds.parameters();
    let of_vectors = kinds.vectors.then(|| {
        quote! {
            WG = [32, 64, 128, 256, 512, 1024],
            GROUPS = [1, 4, 16, 64, 256, 1024, 4096],
            FETCH = ["strided", "contiguous"],
        }
    });
    let of_folds = kinds
        .vector_folds
        .then(|| quote!(ACCUMULATORS = [1, 2, 4],));
    let of_folds_default = kinds.vector_folds.then(|| quote!(ACCUMULATORS = 1,));
    let of_streams = kinds.streams.then(streaming::parameter);
    let of_streams_default = kinds.streams.then(streaming::default);
    let of_ends = may_finish_in_loop.then(|| quote!(FINISH = ["launch", "loop"],));
    let of_ends_default = may_finish_in_loop.then(|| quote!(FINISH = "launch",));
    let of_vectors_default = kinds
        .vectors
        .then(|| quote!(WG = 64, GROUPS = 64, FETCH = "strided",));
    let mut of_grids_constraints = grids::constraints(program, &all_passes, &kinds);
    of_grids_constraints.extend(of_finishing(&all, &kinds));
    if kinds.streams {
        of_grids_constraints.push(streaming::constraint(kinds.has_grids()));
    }
    let constraints = constraints(program, &of_grids_constraints);
    let clauses = quote! {
        params(
            #fuse
            #width
            #of_grids
            #of_vectors
            #of_folds
            #of_ends
            #of_streams
        ),
        defaults(
            #fuse_default #width_default #of_grids_default #of_vectors_default #of_folds_default
            #of_ends_default #of_streams_default
        ),
        #constraints
        #scratch
        #local
        #tolerance
        #bytes
        stages(#(#stages),*),
        reference(#reference_scratch #reference_local #(#reference_stages),*),
    };
    Made {
        clauses,
        source: LitStr::new(&source, Span::call_site()),
        host_only: host_only(program, &all),
    }
}

/// The text of all kernels, after the functions and macros that they use.
fn source<'a>(
    program: &Program,
    kinds: &Kinds,
    may_finish_in_loop: bool,
    kernels: impl Iterator<Item = &'a Kernel>,
) -> String {
    let mut source = prelude(program);
    if kinds.streams {
        source.push_str(streaming::MACROS);
    }
    if kinds.has_grids() || kinds.vector_folds {
        source.push_str(grids::WIDEST);
    }
    if kinds.has_grids() {
        source.push_str(&grids::macros(kinds));
        if kinds.streams {
            source.push_str(streaming::OF_LINES);
        }
    }
    if kinds.across {
        source.push_str(across::MACROS);
    }
    if may_finish_in_loop {
        source.push_str(finish::MACROS);
        if kinds.across {
            source.push_str(across::FINISHING);
        }
    }
    if kinds.lines {
        source.push_str(lines::MACROS);
    }
    if kinds.has_grids() {
        source.push_str(&strides::functions(program));
        if !kinds.lines {
            source.push_str(&strides::part_functions(program));
        }
    }
    if kinds.products {
        source.push_str(product_source::MACROS);
        if kinds.double_products {
            source.push_str(tensor::SWAPPED);
            source.push_str(tensor::MACROS);
        } else {
            source.push_str(product_source::SWAPPED);
        }
        if program.operands.iter().any(is_strided) {
            source.push_str(product_source::LOOSE_MACROS);
        }
    }
    for kernel in kernels {
        source.push('\n');
        source.push_str(&kernel.text);
    }
    source
}

/// The constraints of `FINISH`, where it is a parameter.
fn of_finishing(kernels: &[&Kernel], kinds: &Kinds) -> Vec<TokenStream> {
    let in_loop = || kernels.iter().filter(|kernel| kernel.is_in_loop);
    if in_loop().next().is_none() {
        return Vec::new();
    }
    let mut constraints = Vec::new();
    if in_loop().all(|kernel| grids::is_for_slices(kernel)) {
        // A single slice has no parts, however they would be folded.
        constraints.push(quote!(FINISH == "launch" || SLICES > 1));
    }
    // Where the fence between work-groups is known to be one; see `finish.rs`.
    constraints.push(quote!(
        FINISH == "launch" || device.is_cpu == 1 || device.nv_compute_capability > 0
    ));
    if kinds.across {
        constraints.push(quote!(SUMS == 1 || FINISH == "launch"));
    }
    constraints
}

/// The work-groups of loops, and the work-items of a group.
struct Sizes {
    groups: TokenStream,
    group: TokenStream,
}

fn stage(
    program: &Program,
    kernel: &Kernel,
    sizes: &Sizes,
    when: Option<TokenStream>,
) -> TokenStream {
    let Sizes { groups, group } = sizes;
    let name = Ident::new(&kernel.name, Span::call_site());
    let arguments = kernel.arguments.iter().map(|argument| match argument {
        KernelArgument::Count(length) => {
            let formula = &program.lengths[*length].formula;
            quote!((#formula) as u64)
        }
        KernelArgument::Groups => quote!((#groups) as u32),
        KernelArgument::Operand(operand) => ident(&program.operands[*operand].name),
        KernelArgument::Parts(parts) => ident(&parts.name(program)),
        KernelArgument::Finished => ident(&finished_name(program)),
        KernelArgument::ColumnsFinished(length) => ident(&columns_finished_name(program, *length)),
        KernelArgument::Lanes(lanes) => local_ident(program, &lanes.name()),
        KernelArgument::Lines(_)
        | KernelArgument::Line(_)
        | KernelArgument::Depth(_)
        | KernelArgument::Leading(_) => grids::size_argument(program, argument).unwrap_or_default(),
        KernelArgument::Cells(scalar) => local_ident(program, &cells_name(*scalar)),
        KernelArgument::Strips(scalar) => local_ident(program, &strips_name(*scalar)),
        KernelArgument::LineParts(target) => ident(&parts_name(program, *target)),
    });
    let sizes = grids::sizes(program, kernel.work).unwrap_or_else(|| match kernel.work {
        Work::Loop => quote!(global(#groups * #group), local(#group)),
        Work::Group => quote!(global(#group), local(#group)),
        _ => quote!(global(1), local(1)),
    });
    let for_slices = grids::is_for_slices(kernel).then(|| quote!(SLICES > 1));
    let after_loop = kernel.is_in_loop.then(|| quote!(FINISH == "launch"));
    let conditions: Vec<TokenStream> = [when, for_slices, after_loop]
        .into_iter()
        .flatten()
        .collect();
    let when = (!conditions.is_empty()).then(|| quote!(, when(#(#conditions)&&*)));
    quote!(stage(#name(#(#arguments),*), #sizes #when))
}

fn ident(name: &str) -> TokenStream {
    match syn::parse_str::<Ident>(name) {
        Ok(ident) => ident.into_token_stream(),
        // A keyword, which the function has as `r#name`.
        Err(_) => Ident::new_raw(name, Span::call_site()).into_token_stream(),
    }
}

/// Local memory in the clauses, where arguments of the function have names, too.
fn local_ident(program: &Program, name: &str) -> TokenStream {
    ident(&program.free_name(name))
}

/// The clause `scratch`: parts of reductions, and numbers that pass from one kernel to another.
fn scratch(program: &Program, kernels: &[&Kernel], sizes: &Sizes) -> Option<TokenStream> {
    let groups = &sizes.groups;
    let mut buffers: BTreeMap<(usize, Option<usize>), TokenStream> = BTreeMap::new();
    for argument in kernels.iter().flat_map(|kernel| &kernel.arguments) {
        match argument {
            KernelArgument::Parts(
                parts @ Parts {
                    target,
                    position,
                    component,
                },
            ) => {
                let name = ident(&parts.name(program));
                let scalar = ident(component.scalar.rust_name());
                buffers.insert(
                    (*target, Some(*position)),
                    quote!(#name: [#scalar; #groups]),
                );
            }
            KernelArgument::Operand(operand)
                if program.operands[*operand].place == Place::Scratch =>
            {
                let Operand { name, scalar, .. } = &program.operands[*operand];
                let (name, scalar) = (ident(name), ident(scalar.rust_name()));
                let length = grids::scratch_length(program, *operand, false);
                buffers.insert((*operand, None), quote!(#name: [#scalar; #length]));
            }
            KernelArgument::Finished => {
                let name = ident(&finished_name(program));
                buffers.insert((usize::MAX, None), quote!(#name: [u32; 1] = 0));
            }
            KernelArgument::ColumnsFinished(length) => {
                let name = ident(&columns_finished_name(program, *length));
                let formula = &program.lengths[*length].formula;
                let groups = quote!(max(div_ceil((#formula), VW * WGX), 1));
                buffers.insert(
                    (usize::MAX, Some(*length)),
                    quote!(#name: [u32; #groups] = 0),
                );
            }
            KernelArgument::LineParts(target) => {
                let scalar = ident(program.operands[*target].scalar.rust_name());
                let name = ident(&parts_name(program, *target));
                let length = grids::scratch_length(program, *target, true);
                buffers.insert((*target, Some(0)), quote!(#name: [#scalar; #length]));
            }
            _ => {}
        }
    }
    let declared = buffers.values();
    (!buffers.is_empty()).then(|| quote!(scratch(#(#declared),*),))
}

/// What devices need for the types of elements and of what is computed, and what matrices ask for.
fn constraints(program: &Program, of_grids: &[TokenStream]) -> Option<TokenStream> {
    let is_used = |scalar| {
        let mut operands = program.operands.iter();
        let mut statements = program.statements.iter();
        operands.any(|operand| operand.scalar == scalar)
            || statements.any(|statement| statement.value.uses(scalar))
    };
    let double = is_used(ScalarType::F64).then(|| quote!(device.fp64 == 1,));
    let half = is_used(ScalarType::F16).then(|| quote!(device.fp16 == 1,));
    let is_any = double.is_some() || half.is_some() || !of_grids.is_empty();
    is_any.then(|| quote!(constraints(#double #half #(#of_grids),*),))
}

fn local_args(program: &Program, kernels: &[&Kernel], sizes: &Sizes) -> Option<TokenStream> {
    let group = &sizes.group;
    let mut all: Vec<(String, ScalarType, TokenStream)> = Vec::new();
    for argument in kernels.iter().flat_map(|kernel| &kernel.arguments) {
        let local = match argument {
            KernelArgument::Lanes(lanes) => (lanes.name(), lanes.scalar, group.clone()),
            KernelArgument::Cells(scalar) => (cells_name(*scalar), *scalar, quote!(WGX * WGY)),
            KernelArgument::Strips(scalar) => {
                (strips_name(*scalar), *scalar, quote!(WGX * WGY * VW))
            }
            _ => continue,
        };
        if !all.iter().any(|(name, ..)| *name == local.0) {
            all.push(local);
        }
    }
    let declared = all.iter().map(|(name, scalar, length)| {
        let (name, element) = (local_ident(program, name), ident(scalar.rust_name()));
        quote!(#name: [#element; #length])
    });
    (!all.is_empty()).then(|| quote!(local_args(#(#declared),*),))
}

/// Results of reductions may differ by what so many additions round.
fn tolerance(program: &Program) -> Option<TokenStream> {
    let mut longest: Option<TokenStream> = None;
    for statement in &program.statements {
        let of_lines = grids::folded(program, statement);
        let of_vector = match (statement.action, statement.length) {
            (Action::Fold(_), Some(length)) => {
                let formula = &program.lengths[length].formula;
                let of_lines = line_by_line(program, statement).map(|terms| quote!(#terms *));
                Some(quote!(#of_lines (#formula)))
            }
            _ => None,
        };
        if let Some(formula) = of_lines.or(of_vector) {
            longest = Some(match longest {
                None => formula,
                Some(other) => quote!(max(#other, #formula)),
            });
        }
    }
    longest.map(|length| quote!(tolerance(accumulates = #length),))
}

/// How many elements are folded to each number that a reduction of a vector folds.
fn line_by_line(program: &Program, statement: &Statement) -> Option<TokenStream> {
    let read = statement.value.operands();
    let mut made = program
        .statements
        .iter()
        .filter(|other| read.contains(&other.target));
    made.find_map(|other| grids::folded(program, other))
}

/// What the fused passes move: each vector once for each pass that reads it, and once for each that
/// writes it.
fn bytes(program: &Program, passes: &[Pass]) -> TokenStream {
    let mut terms: Vec<TokenStream> = Vec::new();
    for pass in passes {
        if pass.grid.is_some() {
            terms.push(grids::bytes(program, pass));
        }
        let Some(length) = pass.length else { continue };
        let mut moved = 0;
        let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
        for at in &pass.looped {
            let statement = &program.statements[*at];
            for operand in statement.value.operands() {
                let Operand { shape, .. } = program.operands[operand];
                if shape != Shape::Number && !written.contains(&operand) {
                    read.insert(operand);
                }
            }
            if statement.action == Action::Store {
                written.insert(statement.target);
            }
        }
        for operand in read.iter().chain(&written) {
            let Operand { scalar, place, .. } = &program.operands[*operand];
            if *place != Place::Register {
                moved += scalar.size();
            }
        }
        let moved = Literal::usize_unsuffixed(moved);
        let formula = &program.lengths[length].formula;
        terms.push(quote!(#moved * (#formula)));
    }
    if terms.is_empty() {
        return TokenStream::new();
    }
    quote!(bytes(#(#terms)+*),)
}

/// The arguments that only lengths use.
fn host_only(program: &Program, kernels: &[&Kernel]) -> Vec<String> {
    let is_taken = |operand: usize| {
        let mut arguments = kernels.iter().flat_map(|kernel| &kernel.arguments);
        arguments.any(|argument| *argument == KernelArgument::Operand(operand))
    };
    let operands = program.operands.iter().enumerate();
    operands
        .filter(|(at, operand)| operand.place == Place::Value && !is_taken(*at))
        .map(|(_, operand)| operand.name.clone())
        .collect()
}
