//! Parameters, constraints, sizes and lengths of passes over matrices, as `#[tunable]` takes them.

use super::arguments::{Kernel, KernelArgument, Work};
use super::plan::Pass;
use super::product::{self, Factors};
use super::program::{Action, Grid, Program, Statement};
use super::tensor;
use super::value::{At, Shape};
use super::{across, lines, streaming};
use cltune_core::model::ScalarType;
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote};
use std::collections::BTreeSet;
use syn::Expr;

/// Which kinds of kernels there are.
#[expect(
    clippy::struct_excessive_bools,
    reason = "a function may have kernels of all kinds"
)]
pub(super) struct Kinds {
    /// Kernels that loop over vectors, or fold numbers.
    pub(super) vectors: bool,
    /// Kernels that loop over vectors and reduce.
    pub(super) vector_folds: bool,
    pub(super) lines: bool,
    pub(super) across: bool,
    /// Kernels that reduce lines.
    line_folds: bool,
    pub(super) products: bool,
    /// Products in double precision.
    pub(super) double_products: bool,
    /// Kernels that store whole vectors of `out` arguments.
    pub(super) streams: bool,
}

impl Kinds {
    pub(super) fn of(program: &Program, passes: &[&Pass], kernels: &[&Kernel]) -> Self {
        let any = |fits: fn(Work) -> bool| kernels.iter().any(|kernel| fits(kernel.work));
        let mut arguments = kernels.iter().flat_map(|kernel| &kernel.arguments);
        Self {
            vector_folds: kernels.iter().any(|kernel| {
                let mut arguments = kernel.arguments.iter();
                kernel.work == Work::Loop
                    && arguments.any(|argument| matches!(argument, KernelArgument::Parts(_)))
            }),
            line_folds: arguments.any(|argument| matches!(argument, KernelArgument::Cells(_))),
            vectors: any(|work| matches!(work, Work::Loop | Work::Group)),
            lines: any(|work| matches!(work, Work::Lines(_))),
            across: any(|work| matches!(work, Work::Across(_))),
            products: any(|work| matches!(work, Work::Product(..))),
            double_products: any(|work| matches!(work, Work::Product(_, ScalarType::F64))),
            streams: streaming::has_parameter(program, passes),
        }
    }

    /// Whether there are kernels that load vectors of `VW` elements.
    pub(super) const fn has_width(&self) -> bool {
        self.vectors || self.lines || self.across
    }

    /// Whether there are kernels that go through lines.
    pub(super) const fn has_grids(&self) -> bool {
        self.lines || self.across
    }

    /// The parameters besides those of vectors, and their defaults.
    pub(super) fn parameters(&self) -> (TokenStream, TokenStream) {
        let (mut params, mut defaults) = (TokenStream::new(), TokenStream::new());
        if self.has_grids() {
            params.extend(quote! {
                WGX = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
                WGY = [1, 2, 4, 8, 16, 32, 64, 128],
                UNROLL = [1, 2, 4, 8],
            });
            defaults.extend(quote!(WGX = 16, WGY = 4, UNROLL = 1,));
        }
        if self.lines {
            // Without a reduction no addition waits for another.
            let lines = if self.line_folds {
                quote!([1, 2, 4, 8])
            } else {
                quote!([1])
            };
            params.extend(quote!(KEEP = [0, 1, 2, 4, 8, 16], LINES = #lines,));
            defaults.extend(quote!(KEEP = 0, LINES = 1,));
        }
        if self.has_grids() {
            // What goes through lines in both ways would need both kinds of loads.
            let tail = if self.lines && self.across {
                quote!([0])
            } else {
                quote!([0, 1])
            };
            params.extend(quote!(TAIL = #tail,));
            defaults.extend(quote!(TAIL = 0,));
        }
        if self.products {
            params.extend(product::parameters());
            defaults.extend(product::defaults());
        }
        if self.double_products {
            params.extend(tensor::parameter());
            defaults.extend(tensor::default());
        }
        if self.across {
            params.extend(quote! {
                SUMS = [1, 16, 64, 256, 1024],
                SLICES = [1, 2, 4, 8, 16, 32, 64, 128],
            });
            defaults.extend(quote!(SUMS = 1, SLICES = 16,));
        }
        (params, defaults)
    }
}

/// The values of `VW`: elements that are apart in memory are loaded one by one.
pub(super) fn widths(program: &Program, kinds: &Kinds) -> TokenStream {
    // Products have vectors of their own.
    let mut statements = program.statements.iter().filter(|it| !it.is_product());
    let is_crossed = |statement: &Statement| {
        let mut elements = statement.value.elements().into_iter();
        statement.at == At::Crossed || elements.any(|(_, at)| at == At::Crossed)
    };
    if statements.any(is_crossed) {
        quote!([1])
    } else if kinds.has_grids() || kinds.vector_folds || kinds.streams {
        quote!([1, 2, 4, 8, 16])
    } else {
        quote!([1, 2, 4, 8])
    }
}

/// What constraints say: whole vectors in a line, as many registers as a line has elements, and
/// what products need.
pub(super) fn constraints(program: &Program, passes: &[&Pass], kinds: &Kinds) -> Vec<TokenStream> {
    let mut grids: BTreeSet<(Grid, bool)> = BTreeSet::new();
    let mut texts: Vec<TokenStream> = Vec::new();
    let mut products: Vec<TokenStream> = Vec::new();
    for pass in passes {
        let product = pass.product(program);
        if let Some((of, factors)) = product.and_then(|of| Some((of, Factors::of(of)?))) {
            let scalar = of.value.scalar();
            products.extend(product::constraints(program, factors, scalar));
        } else if let Some(grid) = pass.grid {
            grids.insert((grid, pass.is_across(program)));
        }
    }
    // What vectors divide.
    let mut whole: Vec<TokenStream> = Vec::new();
    for operand in &program.operands {
        let (
            Some(storage),
            Shape::Matrix {
                rows: Some(rows),
                columns: Some(columns),
            },
        ) = (&operand.matrix, operand.shape)
        else {
            continue;
        };
        if let Some(leading) = &storage.leading {
            let line = formula(
                program,
                if storage.at == At::Cell {
                    columns
                } else {
                    rows
                },
            );
            texts.push(quote!((#leading) >= (#line)));
            whole.push(leading.to_token_stream());
        }
    }
    let lines: BTreeSet<usize> = grids.iter().map(|(grid, _)| grid.line).collect();
    whole.extend(
        lines
            .into_iter()
            .map(|line| formula(program, line).to_token_stream()),
    );
    if kinds.has_grids() {
        texts.extend(
            whole
                .iter()
                .map(|whole| quote!(TAIL == 1 || (#whole) % VW == 0)),
        );
        texts.push(quote!(TAIL == 0 #(|| (#whole) % VW > 0)*));
        if kinds.lines {
            texts.push(quote!(KEEP == 0 || LINES == 1 && TAIL == 0));
        }
    } else if kinds.has_width() {
        texts.extend(whole.iter().map(|whole| quote!((#whole) % VW == 0)));
    }
    let kept: BTreeSet<usize> = grids
        .iter()
        .filter(|(_, is_across)| !is_across)
        .map(|(grid, _)| grid.line)
        .collect();
    for line in kept {
        let line = formula(program, line);
        // Half as many would not do.
        texts.push(quote! {
            KEEP == 0 || KEEP * WGX * VW >= (#line) && (KEEP / 2) * WGX * VW < max((#line), 1)
        });
    }
    if !grids.is_empty() && grids.iter().all(|(_, is_across)| !is_across) {
        // Loops of a known length are unrolled.
        texts.push(quote!(KEEP == 0 && LINES == 1 || UNROLL == 1));
    }
    if kinds.vector_folds {
        texts.push(quote!(VW > 1 || ACCUMULATORS == 1));
    }
    if kinds.across {
        // The sums of a work-item fit the first cache of a core.
        texts.push(quote!(
            SUMS == 1 || WGY == 1 && WGX <= 16 && SUMS * VW <= 4096
        ));
    }
    texts.append(&mut products);
    if kinds.double_products {
        texts.extend(tensor::constraints());
    }
    let mut seen: Vec<String> = Vec::new();
    texts.retain(|text| {
        let text = text.to_string();
        let is_new = !seen.contains(&text);
        seen.push(text);
        is_new
    });
    texts
}

fn formula(program: &Program, length: usize) -> &Expr {
    &program.lengths[length].formula
}

/// The sizes of a kernel over matrices.
pub(super) fn sizes(program: &Program, work: Work) -> Option<TokenStream> {
    match work {
        Work::Loop | Work::Group | Work::Item => None,
        Work::Lines(grid) => {
            let lines = formula(program, grid.lines);
            Some(quote! {
                global(max(div_ceil((#lines), WGY * LINES), 1) * (WGX * WGY)), local(WGX * WGY)
            })
        }
        Work::Across(grid) => {
            let line = formula(program, grid.line);
            Some(quote! {
                global(max(div_ceil((#line), VW * WGX * SUMS), 1) * (WGX * WGY), SLICES),
                local(WGX * WGY, 1)
            })
        }
        Work::Product(grid, scalar) => {
            let (lines, line) = (formula(program, grid.lines), formula(program, grid.line));
            let local = product::local_memory(scalar);
            Some(quote! {
                global(
                    max(div_ceil((#line), NL), 1) * (if NS > 8 { 1 } else { NL / NS }),
                    max(div_ceil((#lines), ML), 1) * (if NS > 8 { 1 } else { ML / MS })
                ),
                local(if NS > 8 { 1 } else { NL / NS }, if NS > 8 { 1 } else { ML / MS }),
                local_memory(#local)
            })
        }
        Work::Elements(grid) => {
            let (lines, line) = (formula(program, grid.lines), formula(program, grid.line));
            Some(quote!(global(max((#line), 1), max((#lines), 1)), local(1, 1)))
        }
        Work::Each(length) => {
            let count = formula(program, length);
            Some(quote!(global(max(div_ceil((#count), 64), 1) * 64), local(64)))
        }
    }
}

/// Whether a kernel folds the parts of slices.
pub(super) fn is_for_slices(kernel: &Kernel) -> bool {
    let mut arguments = kernel.arguments.iter();
    let has_parts = arguments.any(|argument| matches!(argument, KernelArgument::LineParts(_)));
    has_parts && matches!(kernel.work, Work::Each(_))
}

/// The elements of a scratch buffer for a vector, or for parts of all lines.
pub(super) fn scratch_length(program: &Program, operand: usize, is_parts: bool) -> TokenStream {
    match program.operands[operand].shape {
        Shape::Vector(length) => {
            let length = formula(program, length);
            if is_parts {
                quote!(SLICES * max(div_ceil((#length), VW), 1) * VW)
            } else {
                quote!(max((#length), 1))
            }
        }
        Shape::Matrix { rows, columns } => {
            let both = [rows, columns].into_iter().flatten();
            let both = both.map(|length| formula(program, length));
            quote!(max(1 #(* (#both))*, 1))
        }
        Shape::Number => quote!(1),
    }
}

/// An argument for the size of a matrix.
pub(super) fn size_argument(program: &Program, argument: &KernelArgument) -> Option<TokenStream> {
    let formula = match argument {
        KernelArgument::Lines(length)
        | KernelArgument::Line(length)
        | KernelArgument::Depth(length) => formula(program, *length),
        KernelArgument::Leading(operand) => {
            let storage = program.operands[*operand].matrix.as_ref()?;
            storage.leading.as_ref()?
        }
        _ => return None,
    };
    Some(quote!((#formula) as u64))
}

/// How many elements are folded to each number of a reduction of lines.
pub(super) fn folded(program: &Program, statement: &Statement) -> Option<TokenStream> {
    let grid = statement.grid?;
    let length = match statement.action {
        Action::Lines(_) => grid.line,
        Action::Across(_) => grid.lines,
        Action::Product { depth } => depth,
        _ => return None,
    };
    let formula = formula(program, length);
    Some(quote!((#formula)))
}

/// What a pass over matrices moves: each operand once if it is read, and once if it is written.
pub(super) fn bytes(program: &Program, pass: &Pass) -> TokenStream {
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    for at in &pass.looped {
        let statement = &program.statements[*at];
        for operand in statement.value.operands() {
            if !written.contains(&operand) {
                read.insert(operand);
            }
        }
        written.insert(statement.target);
    }
    let folded: BTreeSet<usize> = pass.line_folds(program).map(|fold| fold.target).collect();
    let mut terms: Vec<TokenStream> = Vec::new();
    for operand in read.iter().chain(written.difference(&folded)) {
        let size = Literal::usize_unsuffixed(program.operands[*operand].scalar.size());
        match program.operands[*operand].shape {
            Shape::Number => {}
            Shape::Vector(length) => {
                let length = formula(program, length);
                terms.push(quote!(#size * (#length)));
            }
            Shape::Matrix { rows, columns } => {
                let both = [rows, columns].into_iter().flatten();
                let both = both.map(|length| formula(program, length));
                terms.push(quote!(#size #(* (#both))*));
            }
        }
    }
    quote!(#(#terms)+*)
}

/// The macro for the widest vectors, which neither products nor mere maps have.
pub(super) const WIDEST: &str = "#define FOLD16(op, v) op(FOLD8(op, (v).lo), FOLD8(op, (v).hi))\n";

/// The macros of these kernels: of loads and stores. With a tail those of kernels that go through
/// lines leave the rest to another loop, and those of kernels that fold all lines to one know the
/// end.
pub(super) fn macros(kinds: &Kinds) -> String {
    let with_tail = if kinds.lines {
        lines::LOADS
    } else {
        across::LOADS
    };
    format!(
        "{with_tail}\
         #else\n\
         #define LOADED(type, from) ((__global const VEC(type)*)(from))[at]\n\
         #define STORED(type, to, value) ((__global VEC(type)*)(to))[at] = (value)\n\
         #endif\n"
    )
}
