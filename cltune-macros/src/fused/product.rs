//! The kernel of a product of two matrices, and its parameters: the template of ViennaCL's generator
//! (Rupp et al., *ViennaCL*, SIAM J. Sci. Comput. 38, 2016, section 4.2).
//!
//! A work-group computes `ML` x `NL` elements of the result from slices of `KL` of the depth, and a
//! work-item `MS` x `NS` of them in registers, `KS` steps at a time. `AL` is how many elements are
//! loaded at once. `LOCAL_A` and `LOCAL_B` bring a slice into local memory first. Statements that
//! store what is computed from elements of the product are computed where its sums are.

use super::arguments::{Kernel, KernelArgument, Work, leading_name};
use super::elements::Elements;
use super::plan::Pass;
use super::program::{Action, Grid, Program, Statement};
use super::value::{At, Kind, Lanes, Style, Value, type_text};
use super::writer::statements;
use cltune_core::model::ScalarType;
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The parameters, with the values of the paper: 27,648 combinations.
pub(super) fn parameters() -> TokenStream {
    quote! {
        ML = [32, 64, 128, 256], KL = [32, 64, 128, 256], NL = [32, 64, 128, 256],
        MS = [2, 4, 8], KS = [2, 4, 8], NS = [2, 4, 8], AL = [1, 2, 4, 8],
        LOCAL_A = [false, true], LOCAL_B = [false, true],
    }
}

/// Values that every device takes: 64 work-items, without local memory.
pub(super) fn defaults() -> TokenStream {
    quote! {
        ML = 32, KL = 32, NL = 32, MS = 4, KS = 4, NS = 4, AL = 1,
        LOCAL_A = false, LOCAL_B = false,
    }
}

/// The constraints: vectors are no longer than a work-item's share, and lines begin at multiples of
/// them.
pub(super) fn constraints(program: &Program, statement: &Statement) -> Vec<TokenStream> {
    let mut texts = vec![quote!(AL <= MS), quote!(AL <= KS), quote!(AL <= NS)];
    for (operand, at) in statement.value.elements() {
        let leading = leading(program, statement, operand, at);
        texts.push(quote!((#leading) % AL == 0));
    }
    texts
}

/// The distance of the lines of a factor.
fn leading(program: &Program, statement: &Statement, operand: usize, at: At) -> TokenStream {
    let storage = program.operands[operand].matrix.as_ref();
    if let Some(leading) = storage.and_then(|storage| storage.leading.as_ref()) {
        return quote!(#leading);
    }
    let (Action::Product { depth }, Some(grid)) = (statement.action, statement.grid) else {
        return quote!(1);
    };
    let is_left = statement.value.elements().first() == Some(&(operand, at));
    let length = match (is_left, at) {
        (true, At::Cell) | (false, At::Crossed) => depth,
        (true, _) => grid.lines,
        (false, _) => grid.line,
    };
    let formula = &program.lengths[length].formula;
    quote!(#formula)
}

/// The bytes of local memory that a configuration is counted with, as the paper has them: a line more
/// on each side than the slices need.
pub(super) fn local_memory(scalar: ScalarType) -> TokenStream {
    let size = Literal::usize_unsuffixed(scalar.size());
    quote! {
        #size * ((if LOCAL_A { (ML + 1) * (KL + 1) } else { 0 })
            + (if LOCAL_B { (KL + 1) * (NL + 1) } else { 0 }))
    }
}

/// The kernel of a pass with a product. `is_read` tells of an operand whether another pass reads it.
pub(super) fn kernel(
    program: &Program,
    style: Style,
    pass: &Pass,
    statement: &Statement,
    name: String,
    is_read: &dyn Fn(usize) -> bool,
) -> Kernel {
    let all = || pass.looped.iter().map(|at| &program.statements[*at]);
    let stores: Vec<&Statement> = all().filter(|it| !it.is_product()).collect();
    let of_stores = stores.iter().find_map(|it| it.place_of(statement.target));
    let place = of_stores.unwrap_or(At::Cell);
    // Its elements are loaded and stored one by one, as the reference's are.
    let mut elements = Elements::new(program, Style::Reference, At::Line);
    let product = Product::of(program, statement, place, &mut elements);
    let lanes = match style {
        Style::Tuned => Lanes::One,
        Style::Reference => Lanes::Wide,
    };
    elements.load_numbers(stores.iter().copied());
    let sum = match style {
        Style::Tuned => {
            elements.writer.text.push_str(&product.sums());
            for text in [
                "#pragma unroll",
                "for (uint i = 0; i < MS; i++)",
                "#pragma unroll",
                "for (uint j = 0; j < NS; j++) {",
                "    const ulong line = row + y * AL + i / AL * AL * (ML / MS) + i % AL;",
                "    const ulong at = column + x * AL + j / AL * AL * (NL / NS) + j % AL;",
                "    if (line >= lines || at >= length) continue;",
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
    let target = (statement.target, place);
    elements.registers.insert(target, sum.to_owned());
    let mut made: BTreeSet<(usize, At)> = BTreeSet::new();
    for store in &stores {
        for element in elements.read(store) {
            if !elements.registers.contains_key(&element) {
                let memory = elements.memory(element, "const ");
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
        elements.writer.written.insert(element.0);
        let (memory, register) = (
            elements.memory(element, ""),
            elements.registers[&element].clone(),
        );
        elements.writer.line(2, &format!("{memory} = {register};"));
    }
    elements.writer.line(1, "}");
    let grid = product.grid;
    let mut arguments = vec![
        KernelArgument::Lines(grid.lines),
        KernelArgument::Line(grid.line),
        KernelArgument::Depth(product.depth),
    ];
    arguments.extend(elements.arguments());
    let about = format!("A product: {}.", statements(program, &pass.looped));
    let work = match style {
        Style::Tuned => Work::Product(grid, product.scalar),
        Style::Reference => Work::Elements(grid),
    };
    elements.writer.kernel(name, &about, arguments, work)
}

/// A factor in the source.
struct Factor {
    /// The kernel's argument.
    name: String,
    /// The text of the distance between lines.
    leading: String,
    /// Whether the elements that one sum multiplies follow one another in memory.
    is_along_depth: bool,
}

/// A product as its kernel computes it: transposed where what is stored is.
struct Product {
    scalar: ScalarType,
    grid: Grid,
    depth: usize,
    left: Factor,
    right: Factor,
}

impl Product {
    fn of(
        program: &Program,
        statement: &Statement,
        place: At,
        elements: &mut Elements<'_>,
    ) -> Self {
        let grid = statement.grid.unwrap_or(Grid { lines: 0, line: 0 });
        let depth = match statement.action {
            Action::Product { depth } => depth,
            _ => 0,
        };
        let mut factor = |value: &Value, is_left: bool| {
            let (operand, at) = match value.kind {
                Kind::Element(operand, at) => (operand, at),
                _ => (statement.target, At::Cell),
            };
            elements.writer.used.insert(operand);
            let is_along_depth = is_left == (at == At::Cell);
            let matrix = program.operands[operand].matrix.as_ref();
            let has_leading = matrix.is_some_and(|storage| storage.leading.is_some());
            // Of the kernel's sizes, which are those of the transposed product where it is.
            let side = if is_left == (place == At::Cell) {
                "lines"
            } else {
                "length"
            };
            let leading = match (has_leading, is_along_depth) {
                (true, _) => leading_name(&program.operands[operand]),
                (false, true) => "depth".to_owned(),
                (false, false) => side.to_owned(),
            };
            Factor {
                name: elements.writer.name(operand),
                leading,
                is_along_depth,
            }
        };
        let (left, right) = match &statement.value.kind {
            Kind::Binary(_, left, right) => (factor(left, true), factor(right, false)),
            _ => (
                factor(&statement.value, true),
                factor(&statement.value, false),
            ),
        };
        let scalar = statement.value.scalar();
        if place == At::Cell {
            return Self {
                scalar,
                grid,
                depth,
                left,
                right,
            };
        }
        Self {
            scalar,
            grid: Grid {
                lines: grid.line,
                line: grid.lines,
            },
            depth,
            left: right,
            right: left,
        }
    }

    /// The type that sums have.
    fn sum_type(&self) -> &'static str {
        match self.scalar {
            ScalarType::F16 => "float",
            scalar => scalar.opencl_name(),
        }
    }

    /// The statements of the tuned kernel up to the sums, which are then in `sums[MS][NS]`.
    ///
    /// The kernel's arguments `lines`, `length` and `depth` are the sizes. A slice that lies inside
    /// of both matrices is loaded by vectors, any other element by element with zeros outside.
    fn sums(&self) -> String {
        let (ty, sum) = (self.scalar.opencl_name(), self.sum_type());
        let mut text = String::new();
        for (flag, name, side) in [
            ("LOCAL_A", "left_slice", "ML"),
            ("LOCAL_B", "right_slice", "NL"),
        ] {
            let _ = write!(
                text,
                "#if {flag}\n    __local {ty} {name}[KL * {side}] __attribute__((aligned(64)));\n#endif\n"
            );
        }
        let _ = write!(
            text,
            "    const uint x = get_local_id(0), y = get_local_id(1), id = y * (NL / NS) + x;\n    \
             const ulong row = (ulong)get_group_id(1) * ML, column = (ulong)get_group_id(0) * NL;\n    \
             {sum} sums[MS][NS];\n    \
             for (uint i = 0; i < MS; i++)\n        \
             for (uint j = 0; j < NS; j++) sums[i][j] = 0;\n    \
             ulong at = 0;\n    \
             if (row + ML <= lines && column + NL <= length) {{\n        \
             for (; at + KL <= depth; at += KL) {{\n"
        );
        text.push_str(&self.slice(true));
        text.push_str("        }\n    }\n    for (; at < depth; at += KL) {\n");
        text.push_str(&self.slice(false));
        text.push_str("    }\n");
        text
    }

    /// The statements of the reference's kernel up to the sum, in wider arithmetic.
    fn reference_sum(&self) -> String {
        let wide = type_text(self.scalar, Lanes::Wide);
        let left = Side::left(&self.left, "").element("line", "p");
        let right = Side::right(&self.right, "").element("at", "p");
        format!(
            "    {wide} sum = 0;\n    \
             for (ulong p = 0; p < depth; p++) sum += ({wide}){left} * ({wide}){right};\n"
        )
    }

    /// The statements for one slice of the depth.
    fn slice(&self, inside: bool) -> String {
        let (ty, sum) = (self.scalar.opencl_name(), self.sum_type());
        let mut text = String::from(
            "#if LOCAL_A || LOCAL_B\n            barrier(CLK_LOCAL_MEM_FENCE);\n#endif\n",
        );
        let sides = [Side::left(&self.left, ty), Side::right(&self.right, ty)];
        for side in &sides {
            text.push_str(&side.copied(inside));
        }
        text.push_str(
            "#if LOCAL_A || LOCAL_B\n            barrier(CLK_LOCAL_MEM_FENCE);\n#endif\n",
        );
        let steps = if inside {
            "            for (uint first = 0; first < KL; first += KS) {\n"
        } else {
            // No slice is shorter than a step of one.
            "            for (uint first = 0; first < min((ulong)KL, depth - at); first++) {\n"
        };
        text.push_str(steps);
        let many = if inside { "KS" } else { "1" };
        let _ = writeln!(
            text,
            "                {ty} left[{many}][MS], right[{many}][NS];"
        );
        for side in &sides {
            text.push_str(&side.loaded(inside, many));
        }
        let _ = write!(
            text,
            "                #pragma unroll\n                \
             for (uint p = 0; p < {many}; p++)\n                    \
             #pragma unroll\n                    \
             for (uint i = 0; i < MS; i++)\n                        \
             #pragma unroll\n                        \
             for (uint j = 0; j < NS; j++) sums[i][j] = fma(({sum})left[p][i], ({sum})right[p][j], sums[i][j]);\n            \
             }}\n"
        );
        text
    }
}

/// One operand of a product in the source.
struct Side<'a> {
    factor: &'a Factor,
    ty: &'a str,
    flag: &'static str,
    slice: &'static str,
    register: &'static str,
    /// The side of a group's elements, a work-item's, and the work-items beside one another.
    group: &'static str,
    item: &'static str,
    items: &'static str,
    /// The position of the work-item, the first element of the group, and the size of the matrix.
    me: &'static str,
    first: &'static str,
    count: &'static str,
}

impl<'a> Side<'a> {
    const fn left(factor: &'a Factor, ty: &'a str) -> Self {
        Self {
            factor,
            ty,
            flag: "LOCAL_A",
            slice: "left_slice",
            register: "left",
            group: "ML",
            item: "MS",
            items: "(ML / MS)",
            me: "y",
            first: "row",
            count: "lines",
        }
    }

    const fn right(factor: &'a Factor, ty: &'a str) -> Self {
        Self {
            factor,
            ty,
            flag: "LOCAL_B",
            slice: "right_slice",
            register: "right",
            group: "NL",
            item: "NS",
            items: "(NL / NS)",
            me: "x",
            first: "column",
            count: "length",
        }
    }

    /// The element of the matrix at a position of the side and of the depth.
    fn element(&self, side: &str, depth: &str) -> String {
        let Factor {
            name,
            leading,
            is_along_depth,
        } = self.factor;
        if *is_along_depth {
            format!("{name}[({side}) * {leading} + ({depth})]")
        } else {
            format!("{name}[({depth}) * {leading} + ({side})]")
        }
    }

    /// The same, or zero outside of the matrix.
    fn guarded(&self, side: &str, depth: &str) -> String {
        let element = self.element(side, depth);
        format!(
            "({side} < {} && {depth} < depth ? {element} : ({})0)",
            self.count, self.ty
        )
    }

    /// The place of an element in local memory. Where vectors go along the depth, a work-item stores
    /// its elements in as many lines: blocks change places, so that work-items that store beside one
    /// another meet different banks.
    fn place(&self, side: &str, depth: &str) -> String {
        let (slice, group) = (self.slice, self.group);
        if self.factor.is_along_depth {
            format!("{slice}[({depth}) * {group} + (({side}) ^ SWAPPED({depth}))]")
        } else {
            format!("{slice}[({depth}) * {group} + ({side})]")
        }
    }

    /// The statements that bring a slice into local memory.
    fn copied(&self, inside: bool) -> String {
        let Self {
            flag,
            group,
            first,
            ty,
            ..
        } = self;
        let (side, depth) = if self.factor.is_along_depth {
            ("e / KL", "e % KL")
        } else {
            (&*format!("e % {group}"), &*format!("e / {group}"))
        };
        let by = if inside { " * AL" } else { "" };
        let mut text = format!(
            "#if {flag}\n            \
             for (uint e = id{by}; e < {group} * KL; e += (ML / MS) * (NL / NS){by}) {{\n                \
             const uint i = {side}, p = {depth};\n"
        );
        let (whole, deep) = (format!("{first} + i"), "at + p");
        match (inside, self.factor.is_along_depth) {
            (true, true) => {
                let _ = write!(
                    text,
                    "                {ty} loaded[AL];\n                \
                     STORE_VECTOR(GLOBAL_VECTOR({ty}, &{}), loaded);\n                \
                     #pragma unroll\n                \
                     for (uint v = 0; v < AL; v++) {} = loaded[v];\n",
                    self.element(&whole, deep),
                    self.place("i", "p + v"),
                );
            }
            (true, false) => {
                let _ = writeln!(
                    text,
                    "                *(__local ALIGNED({ty})*)&{} = GLOBAL_VECTOR({ty}, &{});",
                    self.place("i", "p"),
                    self.element(&whole, deep),
                );
            }
            (false, _) => {
                let _ = writeln!(
                    text,
                    "                {} = {};",
                    self.place("i", "p"),
                    self.guarded(&whole, deep),
                );
            }
        }
        text.push_str("            }\n#endif\n");
        text
    }

    /// The statements that load a work-item's elements into registers.
    fn loaded(&self, inside: bool, many: &str) -> String {
        let Self {
            flag,
            register,
            item,
            items,
            me,
            first,
            ty,
            ..
        } = self;
        let head = |step: &str| {
            format!(
                "                #pragma unroll\n                \
                 for (uint p = 0; p < {many}; p++)\n                    \
                 #pragma unroll\n                    \
                 for (uint g = 0; g < {item}; g += {step}) {{\n                        \
                 const uint i = {me} * AL + g / AL * AL * {items} + g % AL;\n"
            )
        };
        let step = if inside { "AL" } else { "1" };
        let (whole, deep) = (format!("{first} + i"), "at + first + p");
        let vector = |from: String| {
            format!("                        STORE_VECTOR({from}, &{register}[p][g]);\n")
        };
        let (local, global) = if inside {
            let local = format!("*(__local ALIGNED({ty})*)&{}", self.place("i", "first + p"));
            let global = if self.factor.is_along_depth {
                format!(
                    "                        #pragma unroll\n                        \
                     for (uint v = 0; v < AL; v++) {register}[p][g + v] = {};\n",
                    self.element(&format!("{whole} + v"), deep)
                )
            } else {
                vector(format!(
                    "GLOBAL_VECTOR({ty}, &{})",
                    self.element(&whole, deep)
                ))
            };
            (vector(local), global)
        } else {
            let one =
                |from: String| format!("                        {register}[p][g] = {from};\n");
            (
                one(self.place("i", "first + p")),
                one(self.guarded(&whole, deep)),
            )
        };
        let head = head(step);
        format!("{head}#if {flag}\n{local}#else\n{global}#endif\n                    }}\n")
    }
}

/// What the kernels of products share.
pub(super) const MACROS: &str = "\
// Vectors of AL elements of a matrix.
#if AL > 1
#define ALIGNED(type) JOIN(type, AL)
#define STORE_VECTOR(v, p) JOIN(vstore, AL)(v, 0, p)
#else
#define ALIGNED(type) type
#define STORE_VECTOR(v, p) (*(p) = (v))
#endif
#define GLOBAL_VECTOR(type, p) (*(__global const ALIGNED(type)*)(p))
#define SWAPPED(depth) ((((depth) / AL * AL) % 32) & ~(AL - 1))
";
