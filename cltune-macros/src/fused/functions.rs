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
    /// The first position of the largest value.
    IndexOfMax,
    /// The root of the sum of squares.
    Norm2,
}

/// A reduction as it is written: what is done to each element, and how they are folded.
pub(super) struct Reduction {
    pub(super) name: &'static str,
    pub(super) arguments: usize,
    pub(super) each: Each,
    pub(super) fold: Fold,
}

/// What a reduction folds.
#[derive(Clone, Copy)]
pub(super) enum Each {
    Itself,
    Absolute,
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

pub(super) const MAX: Function = Function {
    name: "max",
    arguments: 2,
    float: "fmax",
    integer: Some("max"),
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
    MAX,
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

pub(super) const REDUCTIONS: [Reduction; 9] = [
    reduction("sum", 1, Each::Itself, Fold::Sum),
    reduction("dot", 2, Each::Product, Fold::Sum),
    reduction("min", 1, Each::Itself, Fold::Min),
    reduction("max", 1, Each::Itself, Fold::Max),
    reduction("norm1", 1, Each::Absolute, Fold::Sum),
    reduction("norm2", 1, Each::Itself, Fold::Norm2),
    reduction("norm_inf", 1, Each::Absolute, Fold::Max),
    reduction("index_of_max", 1, Each::Itself, Fold::IndexOfMax),
    reduction("index_of_max_abs", 1, Each::Absolute, Fold::IndexOfMax),
];

const fn reduction(name: &'static str, arguments: usize, each: Each, fold: Fold) -> Reduction {
    Reduction {
        name,
        arguments,
        each,
        fold,
    }
}

/// The names of what makes a matrix of vectors, or a vector of a matrix.
const OF_MATRICES: [&str; 18] = [
    "row",
    "column",
    "outer",
    "hadamard",
    "row_sum",
    "row_dot",
    "row_min",
    "row_max",
    "row_norm1",
    "row_norm2",
    "row_norm_inf",
    "column_sum",
    "column_dot",
    "column_min",
    "column_max",
    "column_norm1",
    "column_norm2",
    "column_norm_inf",
];

/// The names of all functions, each once.
pub(super) fn names() -> Vec<&'static str> {
    let functions = FUNCTIONS.iter().map(|function| function.name);
    let reductions = REDUCTIONS.iter().map(|reduction| reduction.name);
    let mut names: Vec<&str> = functions.chain(reductions).chain(OF_MATRICES).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The name here of a function that has another one in OpenCL C.
pub(super) fn of_opencl(name: &str) -> Option<&'static str> {
    let mut functions = FUNCTIONS.iter();
    functions
        .find(|function| function.float == name)
        .map(|function| function.name)
}
