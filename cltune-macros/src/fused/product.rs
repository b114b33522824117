//! The kernel of a product of two matrices, and its parameters: the template of ViennaCL's
//! generator (Rupp et al., *ViennaCL*, SIAM J. Sci. Comput. 38, 2016, section 4.2).
//!
//! A work-group computes `ML` x `NL` elements of the result from slices of `KL` of the depth, and a
//! work-item `MS` x `NS` of them in registers, `KS` steps at a time. `AL` is how many elements are
//! loaded at once. `LOCAL_A` and `LOCAL_B` bring a slice into local memory first. `AHEAD`, which
//! the paper does not have, loads the next slice while one is multiplied: into registers, or with
//! `TENSOR` into the other half of local memory. Statements that store what is computed from
//! elements of the product are computed where its sums are.
//!
//! Values of `NS` above 8, which the paper does not have, are for CPUs: a work-group is one
//! work-item, which goes through its tiles of `MS` x `NS` one after the other. Their sums are in local
//! memory, and those of one tile are in vectors of 16 while products are added to them. A compiler
//! for CPUs makes scalar sums of the others, and vectors of work-items, which reach a tenth to half
//! of the rate.

use super::arguments::{Kernel, KernelArgument, Work, leading_name};
use super::elements::Elements;
use super::plan::Pass;
use super::product_side::Factor;
use super::product_source::{self, ProductSource};
use super::program::{Action, Grid, Program, Statement};
use super::strides::{self, is_strided};
use super::value::{At, Kind, Lanes, Style};
use super::writer::statements;
use cltune_core::model::ScalarType;
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use std::collections::BTreeSet;

/// The parameters, with the values of the paper: 27,648 combinations without `AHEAD` and values of
/// `NS` above 8.
pub(super) fn parameters() -> TokenStream {
    quote! {
        ML = [32, 64, 128, 256], KL = [32, 64, 128, 256], NL = [32, 64, 128, 256],
        MS = [2, 4, 8], KS = [2, 4, 8], NS = [2, 4, 8, 16, 32], AL = [1, 2, 4, 8],
        LOCAL_A = [false, true], LOCAL_B = [false, true], AHEAD = [false, true],
    }
}

/// Values that every device takes: 64 work-items, without local memory.
pub(super) fn defaults() -> TokenStream {
    quote! {
        ML = 32, KL = 32, NL = 32, MS = 4, KS = 4, NS = 4, AL = 1,
        LOCAL_A = false, LOCAL_B = false, AHEAD = false,
    }
}

/// The factors of a product, each with the place of its elements, and its sizes.
#[derive(Clone, Copy)]
pub(super) struct Factors {
    left: (usize, At),
    right: (usize, At),
    /// The length of sums.
    depth: usize,
    grid: Grid,
}

/// The lengths that the lines of a factor have where they follow one another.
#[derive(Clone, Copy)]
enum Side {
    Depth,
    Lines,
    Line,
}

impl Factors {
    /// Those of a statement, if it multiplies matrices.
    pub(super) fn of(statement: &Statement) -> Option<Self> {
        let (Action::Product { depth }, Some(grid)) = (statement.action, statement.grid) else {
            return None;
        };
        let Kind::Binary(_, left, right) = &statement.value.kind else {
            return None;
        };
        let (Kind::Element(left, at_left), Kind::Element(right, at_right)) =
            (&left.kind, &right.kind)
        else {
            return None;
        };
        Some(Self {
            left: (*left, *at_left),
            right: (*right, *at_right),
            depth,
            grid,
        })
    }

    /// Those of the transposed product.
    fn transposed(self) -> Self {
        let turned = |(operand, at): (usize, At)| (operand, at.transposed());
        Self {
            left: turned(self.right),
            right: turned(self.left),
            depth: self.depth,
            grid: Grid {
                lines: self.grid.line,
                line: self.grid.lines,
            },
        }
    }

    /// Each factor with the side that its lines go along.
    fn sides(self) -> [(usize, Side); 2] {
        let side = |at: At, along: At, other: Side| if at == along { Side::Depth } else { other };
        [
            (self.left.0, side(self.left.1, At::Cell, Side::Lines)),
            (self.right.0, side(self.right.1, At::Crossed, Side::Line)),
        ]
    }
}

/// The constraints: vectors are no longer than a work-item's share, and lines begin at multiples of
/// them.
pub(super) fn constraints(
    program: &Program,
    factors: Factors,
    scalar: ScalarType,
) -> Vec<TokenStream> {
    let size = Literal::usize_unsuffixed(scalar.size());
    let mut texts = vec![
        quote!(AL <= MS),
        quote!(AL <= KS),
        quote!(AL <= NS),
        quote!(!AHEAD || LOCAL_A || LOCAL_B),
        quote!(NS <= 8 || device.is_cpu == 1 && LOCAL_B && !AHEAD),
        // As many sums as registers of CPUs hold at most.
        quote!(#size * MS * NS <= 1024),
    ];
    // What is on its way takes no more registers than 64 of 32 bits, beside 64 sums. Slices for
    // tensor cores are on their way to local memory.
    let in_registers = if scalar == ScalarType::F64 {
        quote!(AHEAD && TENSOR == 0)
    } else {
        quote!(AHEAD)
    };
    texts.push(quote! {
        !(#in_registers)
            || #size * KL * ((if LOCAL_A { ML } else { 0 }) + (if LOCAL_B { NL } else { 0 }))
                <= 256 * (ML / MS) * (NL / NS)
    });
    for (operand, side) in factors.sides() {
        let storage = program.operands[operand].matrix.as_ref();
        let length = match side {
            Side::Depth => factors.depth,
            Side::Lines => factors.grid.lines,
            Side::Line => factors.grid.line,
        };
        let leading = storage.and_then(|storage| storage.leading.as_ref());
        let leading = leading.unwrap_or(&program.lengths[length].formula);
        texts.push(quote!((#leading) % AL == 0));
    }
    texts
}

/// The bytes of local memory that a configuration is counted with, as the paper has them: a line
/// more on each side than the slices need; and those of the sums, where they are there.
pub(super) fn local_memory(scalar: ScalarType) -> TokenStream {
    let size = Literal::usize_unsuffixed(scalar.size());
    let sums = Literal::usize_unsuffixed(scalar.size().max(4));
    // The limit of `TENSOR` is a constraint of its own.
    let is_counted = if scalar == ScalarType::F64 {
        quote!((if TENSOR == 0 { 1 } else { 0 }) *)
    } else {
        TokenStream::new()
    };
    quote! {
        #is_counted #size * ((if LOCAL_A { (ML + 1) * (KL + 1) } else { 0 })
            + (if LOCAL_B { (KL + 1) * (NL + 1) } else { 0 }))
            + (if NS > 8 { #sums * ML * NL } else { 0 })
    }
}

/// The kernel of a pass with a product, which is computed transposed where what is stored is.
/// `is_read` tells of an operand whether another pass reads it.
pub(super) fn kernel(
    program: &Program,
    style: Style,
    pass: &Pass,
    (statement, factors): (&Statement, Factors),
    name: String,
    is_read: &dyn Fn(usize) -> bool,
) -> Kernel {
    let all = || pass.looped.iter().map(|at| &program.statements[*at]);
    let stores: Vec<&Statement> = all().filter(|it| !it.is_product()).collect();
    let of_stores = stores.iter().find_map(|it| it.place_of(statement.target));
    let place = of_stores.unwrap_or(At::Cell);
    // Its elements are loaded and stored one by one, as the reference's are.
    let mut elements = Elements::new(program, Style::Reference, At::Line);
    let factors = match place {
        At::Crossed => factors.transposed(),
        _ => factors,
    };
    let scalar = statement.value.scalar();
    let [left, right] = factors.sides().map(|(operand, side)| {
        elements.writer.used.insert(operand);
        let own = &program.operands[operand];
        let has_leading = own.matrix.as_ref().is_some_and(|it| it.leading.is_some());
        Factor {
            name: strides::beginning(own, &elements.writer.name(operand)),
            is_aligned: !is_strided(own),
            leading: match side {
                _ if has_leading => leading_name(own),
                Side::Depth => "depth".to_owned(),
                Side::Lines => "lines".to_owned(),
                Side::Line => "length".to_owned(),
            },
            is_along_depth: matches!(side, Side::Depth),
        }
    });
    let product = ProductSource {
        scalar,
        left,
        right,
    };
    let lanes = match style {
        Style::Tuned => Lanes::One,
        Style::Reference => Lanes::Wide,
    };
    elements.load_numbers(stores.iter().copied());
    elements.declare_firsts(all());
    let target = (statement.target, place);
    let sum = match style {
        Style::Tuned => {
            elements.writer.text.push_str(&product.sums());
            for text in [
                "#if NS > 8",
                "for (uint i = 0; i < WITHIN(lines, row + y * MS, MS); i++)",
                "for (uint j = 0; j < WITHIN(length, column + x * NS, NS); j++) {",
                "#else",
                "#pragma unroll",
                "for (uint i = 0; i < MS; i++)",
                "#pragma unroll",
                "for (uint j = 0; j < NS; j++) {",
                "#endif",
                "    const ulong line = row + ITEM_LINE(i);",
                "    const ulong at = column + ITEM_COLUMN(j);",
                "#if NS <= 8",
                "    if (line >= lines || at >= length) continue;",
                "#endif",
            ] {
                elements.writer.line(1, text);
            }
            "sums[i][j]"
        }
        Style::Reference => {
            elements.writer.line(
                1,
                "const ulong line = get_global_id(1), at = get_global_id(0);",
            );
            elements
                .writer
                .line(1, "if (line >= lines || at >= length) return;");
            elements.writer.text.push_str(&product.reference_sum());
            elements.writer.line(1, "{");
            "sum"
        }
    };
    elements.registers.insert(target, sum.to_owned());
    let mut made: BTreeSet<(usize, At)> = BTreeSet::new();
    for store in &stores {
        for element in elements.read(store) {
            if !elements.registers.contains_key(&element) {
                let memory = elements.memory(element);
                elements.loaded(2, element, &memory);
            }
        }
        elements.computed(2, store, lanes);
        made.insert((store.target, store.at));
    }
    if is_read(statement.target) || stores.is_empty() {
        made.insert(target);
    }
    for element in made {
        let register = elements.registers[&element].clone();
        let stored = elements.stored(element, &register);
        elements.writer.line(2, &stored);
    }
    elements.writer.line(1, "}");
    if matches!(style, Style::Tuned) {
        elements.writer.text.push_str(product_source::END);
    }
    let grid = factors.grid;
    let mut arguments = vec![
        KernelArgument::Lines(grid.lines),
        KernelArgument::Line(grid.line),
        KernelArgument::Depth(factors.depth),
    ];
    arguments.extend(elements.arguments());
    let about = format!("A product: {}.", statements(program, &pass.looped));
    let work = match style {
        Style::Tuned => Work::Product(grid, scalar),
        Style::Reference => Work::Elements(grid),
    };
    elements.writer.kernel(name, &about, arguments, work)
}
