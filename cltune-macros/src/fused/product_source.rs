//! The source of products of matrices: tiles in local memory and in registers, and the sums.

use super::product_side::{Factor, Side, of_narrow, of_wide};
use super::tensor;
use super::value::{Lanes, type_text};
use cltune_core::model::ScalarType;
use std::fmt::Write as _;

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
        for side in &sides {
            text.push_str(&side.ahead_declared());
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
        // Elements of the left factor one by one: processors load a number into all parts of a
        // vector.
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

/// The beginning of a loop over the tiles of a group, which on CPUs one work-item has.
const EACH_TILE: &str = "    \
for (uint y = 0; y < ML / MS; y++)\n    \
for (uint x = 0; x < NL / NS; x++) {\n";

/// The end of the tuned kernel's loop over tiles.
pub(super) const END: &str = "#if NS > 8\n    }\n#endif\n";

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
