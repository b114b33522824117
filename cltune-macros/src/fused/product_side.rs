//! One operand of a product in the source: how its elements come into local memory and registers.

use cltune_core::model::ScalarType;

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

/// One operand of a product in the source.
pub(super) struct Side<'a> {
    factor: &'a Factor,
    ty: &'a str,
    pub(super) flag: &'static str,
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
    pub(super) const fn left(factor: &'a Factor, ty: &'a str) -> Self {
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

    pub(super) const fn right(factor: &'a Factor, ty: &'a str) -> Self {
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
    pub(super) fn element(&self, side: &str, depth: &str) -> String {
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
    pub(super) fn declared(&self) -> String {
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

    /// The declaration of the registers that the next slice is on its way to.
    pub(super) fn ahead_declared(&self) -> String {
        let Self {
            flag,
            ahead,
            group,
            ty,
            ..
        } = self;
        format!("#if {flag}\n        ALIGNED({ty}) {ahead}[VECTORS({group})];\n#endif\n")
    }

    /// The statements that make the next slice the one which is multiplied.
    pub(super) fn turned(&self) -> String {
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
    pub(super) fn one(&self) -> (&str, String, String) {
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
    pub(super) fn copied(&self, inside: bool) -> String {
        let Self { flag, first, .. } = self;
        let (whole, deep) = (format!("{first} + i"), "at + p");
        let text = if inside {
            let shared = self.each(" * AL", &self.put(&self.vector(&whole, deep)));
            if self.is_right() {
                format!("{}{}", of_narrow(&shared), of_wide(&self.in_order()))
            } else {
                shared
            }
        } else {
            let (place, element) = (self.place("i", "p"), self.guarded(&whole, deep));
            self.each("", &format!("                {place} = {element};\n"))
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

    /// The statements by which one work-item copies a slice in the order in which it lies in
    /// memory.
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
    pub(super) fn ahead(&self, depth: &str) -> String {
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
    pub(super) fn arrived(&self) -> String {
        self.vectors(&self.put(&format!("{}[share]", self.ahead)))
    }

    /// Element `i` of a tile at `p`, in local and in global memory.
    pub(super) fn elements(&self, inside: bool) -> [String; 2] {
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
    pub(super) fn loaded(&self, inside: bool, many: &str) -> String {
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

/// What is compiled where a work-item has its sums one by one.
pub(super) fn of_narrow(text: &str) -> String {
    format!("#if NS <= 8\n{text}#endif\n")
}

/// What is compiled where a work-item has vectors of sums, of neighbours in a line.
pub(super) fn of_wide(text: &str) -> String {
    format!("#if NS > 8\n{text}#endif\n")
}
