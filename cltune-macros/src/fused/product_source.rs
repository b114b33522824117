//! The source of products of matrices: tiles in local memory and in registers, and the sums.

use super::tensor;
use super::value::{Lanes, type_text};
use cltune_core::model::ScalarType;
use std::fmt::Write as _;

/// A factor in the source.
pub(super) struct Factor {
    /// The kernel's argument.
    pub(super) name: String,
    /// Whether lines begin at multiples of as many elements as are loaded at once.
    pub(super) is_aligned: bool,
    /// The text of the distance between lines.
    pub(super) leading: String,
    /// Whether the elements that one sum multiplies follow one another in memory.
    pub(super) is_along_depth: bool,
}

/// A product in the source.
pub(super) struct ProductSource {
    pub(super) scalar: ScalarType,
    pub(super) left: Factor,
    pub(super) right: Factor,
}

impl ProductSource {
    /// The type that sums have.
    fn sum_type(&self) -> &'static str {
        match self.scalar {
            ScalarType::F16 => "float",
            scalar => scalar.opencl_name(),
        }
    }

    /// Whether the parameter `TENSOR` is there.
    pub(super) fn has_tensor(&self) -> bool {
        self.scalar == ScalarType::F64
    }

    /// The statements of the tuned kernel up to the sums, which are then in `sums[MS][NS]`, of each
    /// tile within a loop that `END` ends.
    ///
    /// The kernel's arguments `lines`, `length` and `depth` are the sizes. A slice that lies inside
    /// of both matrices is loaded by vectors, any other element by element with zeros outside.
    pub(super) fn sums(&self) -> String {
        let (ty, sum) = (self.scalar.opencl_name(), self.sum_type());
        let mut text = String::new();
        let sides = [Side::left(&self.left, ty), Side::right(&self.right, ty)];
        for side in &sides {
            text.push_str(&side.declared());
        }
        text.push_str(&of_narrow(
            "    const uint x = get_local_id(0), y = get_local_id(1), id = y * (NL / NS) + x;\n",
        ));
        text.push_str(&of_wide(&format!(
            "    const uint id = 0;\n    \
             __local {sum} group_sums[ML * NL] __attribute__((aligned(64)));\n    \
             for (uint e = 0; e < ML * NL; e++) group_sums[e] = 0;\n"
        )));
        let _ = write!(
            text,
            "    const ulong row = (ulong)get_group_id(1) * ML, \
             column = (ulong)get_group_id(0) * NL;\n\
             {}    \
             ulong at = 0;\n    \
             if (row + ML <= lines && column + NL <= length) {{\n",
            of_narrow(&format!(
                "    {sum} sums[MS][NS];\n    \
                 for (uint i = 0; i < MS; i++)\n        \
                 for (uint j = 0; j < NS; j++) sums[i][j] = 0;\n"
            )),
        );
        text.push_str("#if AHEAD\n");
        if self.has_tensor() {
            text.push_str("#if !TENSOR\n");
        }
        text.push_str(
            "        // The next slice, on its way to registers while one is multiplied.\n",
        );
        for Side {
            flag, ahead, group, ..
        } in &sides
        {
            let _ = write!(
                text,
                "#if {flag}\n        ALIGNED({ty}) {ahead}[VECTORS({group})];\n#endif\n"
            );
        }
        if self.has_tensor() {
            text.push_str("#endif\n");
        }
        text.push_str("        if (KL <= depth) {\n");
        for side in &sides {
            text.push_str(&side.ahead("at"));
        }
        text.push_str("        }\n#endif\n        for (; at + KL <= depth; at += KL) {\n");
        text.push_str(&self.slice(true));
        text.push_str("        }\n    }\n    for (; at < depth; at += KL) {\n");
        text.push_str(&self.slice(false));
        text.push_str("    }\n");
        text.push_str(&of_wide(&format!(
            "{EACH_TILE}    __local const {sum} (*sums)[NL] = \
             (__local const {sum} (*)[NL])(group_sums + y * MS * NL + x * NS);\n"
        )));
        text
    }

    /// The statements of the reference's kernel up to the sum, in wider arithmetic.
    pub(super) fn reference_sum(&self) -> String {
        let wide = type_text(self.scalar, Lanes::Wide);
        let left = Side::left(&self.left, "").element("line", "p");
        let right = Side::right(&self.right, "").element("at", "p");
        format!(
            "    {wide} sum = 0;\n    \
             for (ulong p = 0; p < depth; p++) sum += ({wide}){left} * ({wide}){right};\n"
        )
    }

    /// The statements that bring a slice into local memory, and send for the next one.
    fn brought(&self, sides: &[Side<'_>; 2], inside: bool) -> String {
        const BARRIER: &str = "#if (LOCAL_A || LOCAL_B) && NS <= 8\n            \
             barrier(CLK_LOCAL_MEM_FENCE);\n#endif\n";
        let all = |statements: &dyn Fn(&Side<'_>) -> String| -> String {
            sides.iter().map(statements).collect()
        };
        let copied = all(&|side| side.copied(inside));
        if !inside {
            return format!("{BARRIER}{copied}{BARRIER}");
        }
        let next = format!(
            "            if (at + 2 * KL <= depth) {{\n{}            }}\n",
            all(&|side| side.ahead("at + KL"))
        );
        let arrived = all(&|side| side.arrived());
        let text = format!(
            "{BARRIER}#if AHEAD\n{arrived}#else\n{copied}#endif\n{BARRIER}#if AHEAD\n{next}#endif\n"
        );
        if self.has_tensor() {
            // One barrier is enough: who has passed it has multiplied what was in the other half.
            let turned = all(&|side| side.turned());
            format!(
                "#if TENSOR && AHEAD\n            COPIED();\n{turned}{BARRIER}{next}#else\n{text}\
                 #endif\n"
            )
        } else {
            text
        }
    }

    /// The statements for one slice of the depth.
    fn slice(&self, inside: bool) -> String {
        let (ty, sum) = (self.scalar.opencl_name(), self.sum_type());
        let sides = [Side::left(&self.left, ty), Side::right(&self.right, ty)];
        let mut text = self.brought(&sides, inside);
        let is_tensor = inside && self.has_tensor();
        if is_tensor {
            text.push_str("#if TENSOR\n");
            text.push_str(&tensor::slice(sides.each_ref().map(Side::one)));
            text.push_str("#else\n");
        }
        let steps = if inside {
            "            for (uint first = 0; first < KL; first += KS) {\n"
        } else {
            // No slice is shorter than a step of one.
            "            for (uint first = 0; first < min((ulong)KL, depth - at); first++) {\n"
        };
        let wide = format!("JOIN({sum}, 16)");
        let each_vector = |statement: &str| {
            format!(
                "            #pragma unroll\n            \
                 for (uint i = 0; i < MS; i++)\n                \
                 #pragma unroll\n                \
                 for (uint j = 0; j < NS / 16; j++) {statement}\n"
            )
        };
        text.push_str(&of_wide(&format!(
            "{EACH_TILE}            \
             __local {sum}* tile_sums = group_sums + y * MS * NL + x * NS;\n            \
             {wide} wide_sums[MS][NS / 16];\n{}",
            each_vector("wide_sums[i][j] = vload16(j, tile_sums + i * NL);")
        )));
        text.push_str(steps);
        let many = if inside { "KS" } else { "1" };
        let each = |columns: &str, statement: &str| {
            format!(
                "                #pragma unroll\n                \
                 for (uint p = 0; p < {many}; p++)\n                    \
                 #pragma unroll\n                    \
                 for (uint i = 0; i < MS; i++)\n                        \
                 #pragma unroll\n                        \
                 for (uint j = 0; j < {columns}; j++) {statement}\n"
            )
        };
        let [left, right] = sides.each_ref().map(|side| side.loaded(inside, many));
        text.push_str(&of_narrow(&format!(
            "                {ty} left[{many}][MS], right[{many}][NS];\n{left}{right}{}",
            each(
                "NS",
                &format!("sums[i][j] = fma(({sum})left[p][i], ({sum})right[p][j], sums[i][j]);")
            ),
        )));
        let converted = if sum == ty {
            String::new()
        } else {
            format!("convert_{sum}16")
        };
        // Elements of the left factor one by one: processors load a number into all parts of a vector.
        let [of_local, of_global] = sides[0].elements(inside).map(|left| {
            each(
                "NS / 16",
                &format!(
                    "wide_sums[i][j] = fma(({wide})({left}), \
                     {converted}(vload16(j, right_slice + (x * KL + first + p) * NS)), \
                     wide_sums[i][j]);"
                ),
            )
        });
        text.push_str(&of_wide(&format!(
            "#if LOCAL_A\n{of_local}#else\n{of_global}#endif\n"
        )));
        text.push_str("            }\n");
        text.push_str(&of_wide(&format!(
            "{}            }}\n",
            each_vector("vstore16(wide_sums[i][j], j, tile_sums + i * NL);")
        )));
        if is_tensor {
            text.push_str("#endif\n");
        }
        text
    }
}

/// What is compiled where a work-item has its sums one by one.
fn of_narrow(text: &str) -> String {
    format!("#if NS <= 8\n{text}#endif\n")
}

/// What is compiled where a work-item has vectors of sums, of neighbours in a line.
fn of_wide(text: &str) -> String {
    format!("#if NS > 8\n{text}#endif\n")
}

/// The beginning of a loop over the tiles of a group, which on CPUs one work-item has.
const EACH_TILE: &str = "    \
for (uint y = 0; y < ML / MS; y++)\n    \
for (uint x = 0; x < NL / NS; x++) {\n";

/// The end of the tuned kernel's loop over tiles.
pub(super) const END: &str = "#if NS > 8\n    }\n#endif\n";

/// One operand of a product in the source.
struct Side<'a> {
    factor: &'a Factor,
    ty: &'a str,
    flag: &'static str,
    slice: &'static str,
    /// The next slice: a work-item's share of it in registers, or the other half of local memory.
    ahead: &'static str,
    /// The registers of a work-item's factors.
    register: &'static str,
    /// The side of a group's elements, and of a work-item's.
    group: &'static str,
    item: &'static str,
    /// The macro that says which elements a work-item has.
    place_of_item: &'static str,
    /// The first element of the group, and the size of the matrix.
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
            ahead: "left_ahead",
            register: "left",
            group: "ML",
            item: "MS",
            place_of_item: "ITEM_LINE",
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
            ahead: "right_ahead",
            register: "right",
            group: "NL",
            item: "NS",
            place_of_item: "ITEM_COLUMN",
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
            ..
        } = self.factor;
        if *is_along_depth {
            format!("{name}[({side}) * {leading} + ({depth})]")
        } else {
            format!("{name}[({depth}) * {leading} + ({side})]")
        }
    }

    /// As many elements as are loaded at once.
    fn vector(&self, side: &str, depth: &str) -> String {
        let (ty, element) = (self.ty, self.element(side, depth));
        if self.factor.is_aligned {
            format!("GLOBAL_VECTOR({ty}, &{element})")
        } else {
            format!("LOOSE_VECTOR({ty}, &{element})")
        }
    }

    /// The same as `element`, or zero outside of the matrix.
    fn guarded(&self, side: &str, depth: &str) -> String {
        let element = self.element(side, depth);
        format!(
            "({side} < {} && {depth} < depth ? {element} : ({})0)",
            self.count, self.ty
        )
    }

    /// The place of an element in local memory.
    fn place(&self, side: &str, depth: &str) -> String {
        self.place_in(self.slice, side, depth)
    }

    /// The place of an element in a slice. Where vectors go along the depth, and what multiplies
    /// takes them along the side, a work-item stores its elements in as many lines: blocks change
    /// places, so that work-items that store beside one another meet different banks.
    fn place_in(&self, slice: &str, side: &str, depth: &str) -> String {
        let group = self.group;
        let place = match (self.has_tensor(), self.factor.is_along_depth) {
            (true, true) => format!("ALONG_DEPTH({side}, {depth}, {group})"),
            (true, false) => format!("({depth}) * {group} + (({side}) ^ SWAPPED_ALWAYS({depth}))"),
            (false, true) => format!("({depth}) * {group} + (({side}) ^ SWAPPED({depth}))"),
            (false, false) => format!("({depth}) * {group} + ({side})"),
        };
        format!("{slice}[IN_TILES({side}, {depth}, {}, {place})]", self.item)
    }

    fn is_right(&self) -> bool {
        self.flag == "LOCAL_B"
    }

    /// The declaration of the slice in local memory.
    fn declared(&self) -> String {
        let Self {
            flag,
            slice,
            ahead,
            group,
            ty,
            ..
        } = self;
        let one = format!("    __local {ty} {slice}[KL * {group}] __attribute__((aligned(64)));\n");
        if self.has_tensor() {
            format!(
                "#if {flag} && TENSOR && AHEAD\n    \
                 __local {ty} {slice}_halves[2 * KL * {group}] __attribute__((aligned(64)));\n    \
                 __local {ty} *{slice} = {slice}_halves, *{ahead} = {slice} + KL * {group};\n\
                 #elif {flag}\n{one}#endif\n"
            )
        } else {
            format!("#if {flag}\n{one}#endif\n")
        }
    }

    /// The statements that make the next slice the one which is multiplied.
    fn turned(&self) -> String {
        let Self {
            flag, slice, ahead, ..
        } = self;
        format!(
            "#if {flag}\n            \
             {{ __local double* other = {slice}; {slice} = {ahead}; {ahead} = other; }}\n#endif\n"
        )
    }

    fn has_tensor(&self) -> bool {
        self.ty == ScalarType::F64.opencl_name()
    }

    /// The flag, and the element at `i` and `p` of a slice, in local and in global memory.
    fn one(&self) -> (&str, String, String) {
        let whole = format!("{} + i", self.first);
        (
            self.flag,
            self.place("i", "p"),
            self.element(&whole, "at + p"),
        )
    }

    /// The position along the side and along the depth of element `e` of a slice, by which
    /// neighbours in memory are neighbours.
    fn position(&self) -> String {
        let group = self.group;
        if self.factor.is_along_depth {
            "const uint i = e / KL, p = e % KL;".to_owned()
        } else {
            format!("const uint i = e % {group}, p = e / {group};")
        }
    }

    /// The statements that put a vector of a slice into local memory.
    fn put(&self, vector: &str) -> String {
        let (ty, place) = (self.ty, self.place("i", "p"));
        let whole = format!("                *(__local ALIGNED({ty})*)&{place} = {vector};\n");
        let parts = format!(
            "                {ty} loaded[AL];\n                \
             STORE_VECTOR({vector}, loaded);\n                \
             #pragma unroll\n                \
             for (uint v = 0; v < AL; v++) {} = loaded[v];\n",
            self.place("i", "p + v"),
        );
        match (self.has_tensor(), self.factor.is_along_depth) {
            (_, false) => whole,
            (false, true) => parts,
            (true, true) => format!("#if TENSOR\n{whole}#else\n{parts}#endif\n"),
        }
    }

    /// The statements that bring a slice into local memory.
    fn copied(&self, inside: bool) -> String {
        let Self { flag, first, .. } = self;
        let (whole, deep) = (format!("{first} + i"), "at + p");
        let text = if !inside {
            let (place, element) = (self.place("i", "p"), self.guarded(&whole, deep));
            self.each("", &format!("                {place} = {element};\n"))
        } else if self.is_right() {
            let shared = self.each(" * AL", &self.put(&self.vector(&whole, deep)));
            format!("{}{}", of_narrow(&shared), of_wide(&self.in_order()))
        } else {
            self.each(" * AL", &self.put(&self.vector(&whole, deep)))
        };
        format!("#if {flag}\n{text}#endif\n")
    }

    /// A loop over the elements of a slice, or vectors of them, that a work-item copies.
    fn each(&self, by: &str, body: &str) -> String {
        let (group, position) = (self.group, self.position());
        format!(
            "            for (uint e = id{by}; e < {group} * KL; e += ITEMS{by}) {{\n                \
             {position}\n{body}            }}\n"
        )
    }

    /// The statements by which one work-item copies a slice in the order in which it lies in memory.
    fn in_order(&self) -> String {
        let (group, place) = (self.group, self.place("i", "p"));
        let element = self.element(&format!("{} + i", self.first), "at + p");
        if self.factor.is_along_depth {
            format!(
                "            for (uint i = 0; i < {group}; i++)\n                \
                 for (uint p = 0; p < KL; p++) {place} = {element};\n"
            )
        } else {
            format!(
                "            for (uint p = 0; p < KL; p++)\n                \
                 for (uint i = 0; i < {group}; i += 16) vstore16(vload16(0, &{element}), 0, &{place});\n"
            )
        }
    }

    /// A loop over a work-item's vectors of a slice, which are in registers.
    fn vectors(&self, body: &str) -> String {
        let Self { flag, group, .. } = self;
        let position = self.position();
        format!(
            "#if {flag}\n            \
             #pragma unroll\n            \
             for (uint share = 0; share < VECTORS({group}); share++) {{\n                \
             const uint e = (share * ITEMS + id) * AL;\n                \
             if ({group} * KL % (ITEMS * AL) != 0 && e >= {group} * KL) continue;\n                \
             {position}\n\
             {body}            \
             }}\n#endif\n"
        )
    }

    /// The statements that send for a work-item's share of the slice at a depth.
    fn ahead(&self, depth: &str) -> String {
        let Self { ahead, first, .. } = self;
        let (side, deep) = (format!("{first} + i"), format!("{depth} + p"));
        let vector = self.vector(&side, &deep);
        let loaded = format!("                {ahead}[share] = {vector};\n");
        if self.has_tensor() {
            let copy = if self.factor.is_aligned {
                "COPY_VECTOR"
            } else {
                "COPY_LOOSE"
            };
            let (to, from) = (self.place_in(ahead, "i", "p"), self.element(&side, &deep));
            self.vectors(&format!(
                "#if TENSOR\n                {copy}(&{to}, &{from})\n#else\n{loaded}#endif\n"
            ))
        } else {
            self.vectors(&loaded)
        }
    }

    /// The statements that put these registers into local memory.
    fn arrived(&self) -> String {
        self.vectors(&self.put(&format!("{}[share]", self.ahead)))
    }

    /// Element `i` of a tile at `p`, in local and in global memory.
    fn elements(&self, inside: bool) -> [String; 2] {
        let side = format!("{}(i)", self.place_of_item);
        let (whole, deep) = (format!("{} + {side}", self.first), "at + first + p");
        let global = if inside {
            self.element(&whole, deep)
        } else {
            self.guarded(&whole, deep)
        };
        [self.place(&side, "first + p"), global]
    }

    /// The statements that load a work-item's elements into registers.
    fn loaded(&self, inside: bool, many: &str) -> String {
        let Self {
            flag,
            register,
            item,
            first,
            ty,
            ..
        } = self;
        let own = format!("{}(g)", self.place_of_item);
        let head = |step: &str| {
            format!(
                "                #pragma unroll\n                \
                 for (uint p = 0; p < {many}; p++)\n                    \
                 #pragma unroll\n                    \
                 for (uint g = 0; g < {item}; g += {step}) {{\n                        \
                 const uint i = {own};\n"
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
                vector(self.vector(&whole, deep))
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
// The work-items of a group, and how many vectors of a slice each of them loads.
#if NS > 8
#define ITEMS 1
#else
#define ITEMS ((ML / MS) * (NL / NS))
#endif
#define VECTORS(side) (((side) * KL + ITEMS * AL - 1) / (ITEMS * AL))
// The lines and columns of a work-item, or of one of the tiles that are computed one after the other, and the place
// of an element in a slice, in which each of these tiles has its elements together.
#if NS > 8
#define ITEM_LINE(i) (y * MS + (i))
#define ITEM_COLUMN(j) (x * NS + (j))
#define IN_TILES(side, depth, item, place) (((side) / item * KL + (depth)) * item + (side) % item)
// How many of so many elements from the first one on are within a size.
#define WITHIN(size, first, count) min(max(size, first) - (first), (ulong)(count))
#else
#if !TENSOR
#define ITEM_LINE(i) (y * AL + (i) / AL * AL * (ML / MS) + (i) % AL)
#define ITEM_COLUMN(j) (x * AL + (j) / AL * AL * (NL / NS) + (j) % AL)
#endif
#define IN_TILES(side, depth, item, place) (place)
#endif
";

/// Which blocks of local memory change places.
pub(super) const SWAPPED: &str = "\
#if NS > 8
#define SWAPPED(depth) 0
#else
#define SWAPPED(depth) ((((depth) / AL * AL) % 32) & ~(AL - 1))
#endif
";

/// For factors that begin anywhere in their buffers.
pub(super) const LOOSE_MACROS: &str = "\
#if AL > 1
#define LOOSE_VECTOR(type, p) JOIN(vload, AL)(0, p)
#else
#define LOOSE_VECTOR(type, p) (*(p))
#endif
";
