//! The functions that expressions may call.

/// A function of the elements at one position.
pub(super) struct Function {
    /// Its name in a statement.
    pub(super) name: &'static str,
    /// How many arguments it takes.
    pub(super) arguments: usize,
    /// Its name in OpenCL C for floating-point numbers.
    pub(super) float: &'static str,
    /// Its name for integers, where it takes them.
    pub(super) integer: Option<&'static str>,
}

/// A function of all elements of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fold {
    Sum,
    Min,
    Max,
}

/// A reduction as it is written: what is done to each element, how they are folded, and what is
/// done to the result.
pub(super) struct Reduction {
    pub(super) name: &'static str,
    pub(super) arguments: usize,
    pub(super) each: Each,
    pub(super) fold: Fold,
    pub(super) root: bool,
}

/// What a reduction folds.
#[derive(Clone, Copy)]
pub(super) enum Each {
    Itself,
    Absolute,
    Square,
    Product,
}

const fn unary(name: &'static str, float: &'static str) -> Function {
    Function {
        name,
        arguments: 1,
        float,
        integer: None,
    }
}

pub(super) const ABS: Function = Function {
    name: "abs",
    arguments: 1,
    float: "fabs",
    integer: Some("abs"),
};

pub(super) const SQRT: Function = unary("sqrt", "sqrt");

pub(super) const FUNCTIONS: [Function; 29] = [
    ABS,
    Function {
        name: "min",
        arguments: 2,
        float: "fmin",
        integer: Some("min"),
    },
    Function {
        name: "max",
        arguments: 2,
        float: "fmax",
        integer: Some("max"),
    },
    Function {
        name: "clamp",
        arguments: 3,
        float: "clamp",
        integer: Some("clamp"),
    },
    Function {
        name: "mul_add",
        arguments: 3,
        float: "fma",
        integer: None,
    },
    Function {
        name: "pow",
        arguments: 2,
        float: "pow",
        integer: None,
    },
    Function {
        name: "atan2",
        arguments: 2,
        float: "atan2",
        integer: None,
    },
    Function {
        name: "hypot",
        arguments: 2,
        float: "hypot",
        integer: None,
    },
    SQRT,
    unary("rsqrt", "rsqrt"),
    unary("cbrt", "cbrt"),
    unary("exp", "exp"),
    unary("exp2", "exp2"),
    unary("exp_m1", "expm1"),
    unary("ln", "log"),
    unary("ln_1p", "log1p"),
    unary("log2", "log2"),
    unary("log10", "log10"),
    unary("sin", "sin"),
    unary("cos", "cos"),
    unary("tan", "tan"),
    unary("asin", "asin"),
    unary("acos", "acos"),
    unary("atan", "atan"),
    unary("tanh", "tanh"),
    unary("floor", "floor"),
    unary("ceil", "ceil"),
    unary("round", "round"),
    unary("trunc", "trunc"),
];

pub(super) const REDUCTIONS: [Reduction; 7] = [
    reduction("sum", 1, Each::Itself, Fold::Sum),
    reduction("dot", 2, Each::Product, Fold::Sum),
    reduction("min", 1, Each::Itself, Fold::Min),
    reduction("max", 1, Each::Itself, Fold::Max),
    reduction("norm1", 1, Each::Absolute, Fold::Sum),
    Reduction {
        root: true,
        ..reduction("norm2", 1, Each::Square, Fold::Sum)
    },
    reduction("norm_inf", 1, Each::Absolute, Fold::Max),
];

const fn reduction(name: &'static str, arguments: usize, each: Each, fold: Fold) -> Reduction {
    Reduction {
        name,
        arguments,
        each,
        fold,
        root: false,
    }
}

/// The names of all functions, each once.
pub(super) fn names() -> Vec<&'static str> {
    let functions = FUNCTIONS.iter().map(|function| function.name);
    let reductions = REDUCTIONS.iter().map(|reduction| reduction.name);
    let mut names: Vec<&str> = functions.chain(reductions).collect();
    names.sort_unstable();
    names.dedup();
    names
}
