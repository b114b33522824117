//! Products in double precision by the tensor cores of NVIDIA's GPUs: the source of a slice, and what
//! the parameter `TENSOR` asks for.
//!
//! `TENSOR` is how many products along the depth one instruction adds up, and 0 for ordinary
//! arithmetic. 32 work-items give an instruction together, and have `8 MS` x `4 NS` elements of the
//! result: each the same `MS` x `NS` registers as without, for other elements. What is left of the
//! depth, and tiles at the edge, are computed by ordinary arithmetic in the same registers.

use proc_macro2::TokenStream;
use quote::quote;
use std::fmt::Write as _;

/// The parameter and its values.
pub(super) fn parameter() -> TokenStream {
    quote!(TENSOR = [0, 4, 8, 16],)
}

pub(super) fn default() -> TokenStream {
    quote!(TENSOR = 0,)
}

/// The constraints. `KS` has no influence, and its largest value leaves `AL` all of its own.
pub(super) fn constraints() -> Vec<TokenStream> {
    vec![
        quote!(TENSOR == 0 || device.nv_compute_capability >= 80),
        quote!(TENSOR <= 4 || device.nv_compute_capability >= 90),
        quote!(TENSOR == 0 || KS == 8 && ML >= 8 * MS),
        // These GPUs have more local memory than they tell of: 99 KiB and more, and Hopper's 226.
        quote! {
            TENSOR == 0
                || (if AHEAD { 16 } else { 8 }) * KL
                    * ((if LOCAL_A { ML } else { 0 }) + (if LOCAL_B { NL } else { 0 }))
                    <= if device.nv_compute_capability == 90 { 231424 } else { 98304 }
        },
    ]
}

/// The statements that add the products of a slice which lies inside of both matrices; each factor
/// with the flag, the element in local memory and the one in global memory.
pub(super) fn slice([left, right]: [(&str, String, String); 2]) -> String {
    let mut text = String::from(
        "            for (uint first = 0; first < KL; first += TENSOR) {\n                \
         double left[MS][TENSOR / 4], right[NS / 2][TENSOR / 4];\n",
    );
    for (register, count, place, (flag, local, global)) in [
        ("left", "MS", "ITEM_LINE(g)", left),
        ("right", "NS / 2", "ORDER_COLUMN(g)", right),
    ] {
        let _ = write!(
            text,
            "                #pragma unroll\n                \
             for (uint e = 0; e < TENSOR / 4; e++)\n                    \
             #pragma unroll\n                    \
             for (uint g = 0; g < {count}; g++) {{\n                        \
             const uint i = {place}, p = first + id % 4 + e * 4;\n\
             #if {flag}\n                        \
             {register}[g][e] = {local};\n\
             #else\n                        \
             {register}[g][e] = {global};\n\
             #endif\n                    \
             }}\n"
        );
    }
    text.push_str(
        "                #pragma unroll\n                \
         for (uint i = 0; i < MS; i += 2)\n                    \
         #pragma unroll\n                    \
         for (uint j = 0; j < NS / 2; j++)\n                        \
         ORDER(sums[i][2 * j], sums[i][2 * j + 1], sums[i + 1][2 * j], sums[i + 1][2 * j + 1],\n                              \
         left[i], left[i + 1], right[j])\n            \
         }\n",
    );
    text
}

/// The elements of a work-item, and the instructions.
///
/// In local memory, the elements of a line are exchanged such that what 16 work-items read or write
/// at once lies in different banks.
pub(super) const MACROS: &str = r#"#if TENSOR
// 32 work-items have 8 MS x 4 NS elements together, as the instruction defines it.
#define WARPS_BESIDE (NL / (4 * NS))
#define ITEM_LINE(i) (id / 32 / WARPS_BESIDE * (8 * MS) + (i) * 8 + id % 32 / 4)
#define ITEM_COLUMN(j) (id / 32 % WARPS_BESIDE * (4 * NS) + (j) / 2 * 8 + id % 4 * 2 + (j) % 2)
#define ORDER_COLUMN(j) (id / 32 % WARPS_BESIDE * (4 * NS) + (j) * 8 + id % 32 / 4)
#define SWAPPED_ALWAYS(depth) SWAPPED(depth)
#define ALONG_DEPTH(side, depth, group) ((side) * KL + ((depth) ^ ((side) % 4 * 4 & ~(AL - 1))))
#else
#define SWAPPED_ALWAYS(depth) 0
#define ALONG_DEPTH(side, depth, group) ((depth) * group + ((side) ^ SWAPPED(depth)))
#endif
#if TENSOR && AHEAD
// The hardware copies the next slice to the other half of local memory while one is multiplied.
#define COPY(size, how, to, from) \
    asm volatile("cp.async." how ".shared.global [%0], [%1], " size ";" \
        :: "r"((uint)(size_t)(to)), "l"((ulong)(from)) : "memory");
#define COPIED() asm volatile("cp.async.wait_all;" ::: "memory")
#define COPY_LOOSE(to, from) for (uint v = 0; v < AL; v++) COPY("8", "ca", (to) + v, (from) + v)
#if AL == 1
#define COPY_VECTOR(to, from) COPY("8", "ca", to, from)
#else
#define COPY_VECTOR(to, from) for (uint v = 0; v < AL; v += 2) COPY("16", "cg", (to) + v, (from) + v)
#endif
#endif
// Adds 16 x TENSOR times TENSOR x 8 elements, of which each work-item has its share: lines that are 8 apart,
// and every fourth of the depth.
#if TENSOR == 16
#define ORDER(c0, c1, c2, c3, a, b, r) \
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 " \
        "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};" \
        : "+d"(c0), "+d"(c1), "+d"(c2), "+d"(c3) \
        : "d"(a[0]), "d"(b[0]), "d"(a[1]), "d"(b[1]), "d"(a[2]), "d"(b[2]), "d"(a[3]), "d"(b[3]), \
          "d"(r[0]), "d"(r[1]), "d"(r[2]), "d"(r[3]));
#elif TENSOR == 8
#define ORDER(c0, c1, c2, c3, a, b, r) \
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 " \
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
        : "+d"(c0), "+d"(c1), "+d"(c2), "+d"(c3) \
        : "d"(a[0]), "d"(b[0]), "d"(a[1]), "d"(b[1]), "d"(r[0]), "d"(r[1]));
#elif TENSOR == 4
#define ORDER(c0, c1, c2, c3, a, b, r) \
    { \
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" \
            : "+d"(c0), "+d"(c1) : "d"(a[0]), "d"(r[0])); \
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" \
            : "+d"(c2), "+d"(c3) : "d"(b[0]), "d"(r[0])); \
    }
#endif
"#;

/// `SWAPPED` of `product_source`, for reads and writes of 16 work-items at once.
pub(super) const SWAPPED: &str = "\
#if TENSOR
#define SWAPPED(depth) ((((depth) % 4 * 4) | ((depth) / 4 % 4)) & ~(AL - 1))
#elif NS > 8
#define SWAPPED(depth) 0
#else
#define SWAPPED(depth) ((((depth) / AL * AL) % 32) & ~(AL - 1))
#endif
";
