//! Problems on which a tuned configuration can be run: larger and smaller than its own.

use cltune_core::device::DeviceLimits;
use cltune_core::expr::Env;
use cltune_core::model::{ArgumentKind, Model, ScalarType};

/// The most host memory that the inputs and results of one run may take, bytes.
const MOST_BYTES: i64 = 1 << 30;

/// Dimensions up to this are likely to be properties of the computation, such as the width of a
/// filter, and stay as they are.
const SMALL: i64 = 32;

/// The problem with every dimension multiplied, but for small ones, if there are larger ones. Where the
/// configuration cannot be run on that: the problems with one of them multiplied that it can be run on.
///
/// # Errors
/// Why it cannot be run on any: a constraint, a limit, the memory.
pub(super) fn larger(
    model: &Model,
    codes: &[i64],
    dims: &[i64],
    factor: i64,
    limits: &DeviceLimits,
) -> Result<Vec<Vec<i64>>, String> {
    let all_are_small = dims.iter().all(|size| *size <= SMALL);
    let growing = (0..dims.len()).filter(|at| dims[*at] > SMALL || all_are_small);
    let growing: Vec<usize> = growing.collect();
    let multiplied = |which: &[usize]| multiplied(model, codes, dims, which, factor, limits);
    let reason = match multiplied(&growing) {
        Ok(all) => return Ok(vec![all]),
        Err(reason) => reason,
    };
    let single = growing.iter().filter(|_| growing.len() > 1);
    let single: Vec<Vec<i64>> = single.filter_map(|at| multiplied(&[*at]).ok()).collect();
    if single.is_empty() {
        Err(reason)
    } else {
        Ok(single)
    }
}

/// The problem with these dimensions multiplied, if the configuration can be run on it.
fn multiplied(
    model: &Model,
    codes: &[i64],
    dims: &[i64],
    which: &[usize],
    factor: i64,
    limits: &DeviceLimits,
) -> Result<Vec<i64>, String> {
    let mut larger = dims.to_vec();
    for position in which {
        let size = &mut larger[*position];
        *size = size
            .checked_mul(factor)
            .filter(|size| fits_type(model, *position, *size))
            .ok_or_else(|| {
                let name = &model.dimensions[*position];
                format!("`{name}` = {size} times {factor} does not fit into its type")
            })?;
    }
    let checked = model.check(codes, &larger, limits);
    checked.map_err(|rejection| rejection.to_string())?;
    let bytes = bytes(model, &larger, limits).ok_or("its buffers have no size")?;
    // A draw is kept on the device beside the buffers.
    let total = bytes.total.saturating_mul(2);
    if bytes.largest > limits.max_mem_alloc_size || total > limits.global_mem_size / 2 {
        return Err(format!("it needs {} MB of memory", total >> 20));
    }
    Ok(larger)
}

/// A small problem on which the configuration still has several work-groups.
pub(super) fn smaller(
    model: &Model,
    codes: &[i64],
    dims: &[i64],
    limits: &DeviceLimits,
) -> Vec<i64> {
    let tuned_groups = groups(model, codes, dims, limits);
    let enough = |dims: &[i64]| match (groups(model, codes, dims, limits), tuned_groups) {
        (Some(groups), Some(tuned)) => groups
            .iter()
            .zip(tuned)
            .all(|(groups, tuned)| *groups >= tuned.min(2)),
        (groups, _) => groups.is_some(),
    };
    let mut small = dims.to_vec();
    for dimension in 0..dims.len() {
        for size in candidates(dims[dimension]).filter(|size| *size >= SMALL) {
            let mut candidate = small.clone();
            candidate[dimension] = size;
            if model.check(codes, &candidate, limits).is_ok() && enough(&candidate) {
                small = candidate;
                break;
            }
        }
    }
    small
}

/// Sizes below another that are likely to satisfy the same constraints, from the smallest: powers
/// of two, multiples of them by three, and what divides it.
fn candidates(size: i64) -> impl Iterator<Item = i64> {
    const DIVISORS: i64 = 4096;
    let powers = (0..63).map(|exponent| 1_i64 << exponent);
    let threefold = (0..60).map(|exponent| 3_i64 << exponent);
    let divided = (1..=DIVISORS.min(size)).filter(move |divisor| size % divisor == 0);
    let mut sizes: Vec<i64> = powers
        .chain(threefold)
        .chain(divided.map(move |divisor| size / divisor))
        .filter(|candidate| *candidate < size)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes.into_iter()
}

/// The number of work-groups in each dimension; of work-items where the driver chooses the
/// work-group.
fn groups(model: &Model, codes: &[i64], dims: &[i64], limits: &DeviceLimits) -> Option<[usize; 3]> {
    let geometry = model.geometry(codes, dims, limits).ok()?;
    let local = geometry.local.unwrap_or([1; 3]);
    Some(std::array::from_fn(|dimension| {
        geometry.global[dimension] / local[dimension].max(1)
    }))
}

/// How many draws of inputs to keep in memory at once, at most `draws`.
pub(super) fn draws_at_once(
    model: &Model,
    dims: &[i64],
    limits: &DeviceLimits,
    draws: usize,
) -> usize {
    let Some(bytes) = bytes(model, dims, limits) else {
        return 1;
    };
    let most = MOST_BYTES.min(limits.global_mem_size / 2);
    // On the host the contents and the expected results of every draw, on the device the contents.
    let fitting = most / bytes.total.saturating_mul(3).max(1);
    usize::try_from(fitting).map_or(draws, |fitting| fitting.clamp(1, draws))
}

struct Bytes {
    total: i64,
    largest: i64,
}

/// The size of all buffers; `None` where one has none.
fn bytes(model: &Model, dims: &[i64], limits: &DeviceLimits) -> Option<Bytes> {
    // Lengths use no parameters.
    let env = Env {
        params: &[],
        dims,
        device: limits,
    };
    let mut bytes = Bytes {
        total: 0,
        largest: 0,
    };
    for argument in model.arguments.iter() {
        let ArgumentKind::Buffer {
            element,
            len: Some(len),
            ..
        } = &argument.kind
        else {
            continue;
        };
        let size = len.eval(&env).ok()?.checked_mul(element.size() as i64)?;
        bytes.total = bytes.total.checked_add(size)?;
        bytes.largest = bytes.largest.max(size);
    }
    Some(bytes)
}

/// Whether the kernel's argument for a dimension can hold a size.
fn fits_type(model: &Model, dimension: usize, size: i64) -> bool {
    let argument = model.arguments.iter().find_map(|argument| {
        let ArgumentKind::Scalar {
            scalar,
            dimension: Some(of),
        } = &argument.kind
        else {
            return None;
        };
        (usize::from(*of) == dimension).then_some(*scalar)
    });
    let most = match argument {
        Some(ScalarType::I8) => i8::MAX.into(),
        Some(ScalarType::U8) => u8::MAX.into(),
        Some(ScalarType::I16) => i16::MAX.into(),
        Some(ScalarType::U16) => u16::MAX.into(),
        Some(ScalarType::I32) => i32::MAX.into(),
        Some(ScalarType::U32) => u32::MAX.into(),
        _ => i64::MAX,
    };
    size <= most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use cltune_core::expr::{Formula, Scope, Type};
    use cltune_core::model::{Access, Argument, Memory};

    /// `global(n, 3)`, `local(WG, 1)`, `n` a `u16`, and a buffer of `n` floats.
    fn model() -> Model {
        let mut model = samples::declaration("app::k", "b3:1", &[8]).model;
        let parse = |text: &str| {
            let scope = Scope {
                parameters: &model.parameters,
                dimensions: &model.dimensions,
            };
            Formula::parse(text, &scope, Type::Int).unwrap()
        };
        let (global, local) = (vec![parse("n"), parse("3")], vec![parse("WG"), parse("1")]);
        let buffer = ArgumentKind::Buffer {
            element: ScalarType::F32,
            access: Access::Read,
            len: Some(parse("n")),
            memory: Memory::Buffer,
        };
        let n = ArgumentKind::Scalar {
            scalar: ScalarType::U16,
            dimension: Some(0),
        };
        model.global = global.into();
        model.local = local.into();
        let argument = |name: &'static str, kind| Argument {
            name: name.into(),
            kind,
        };
        model.arguments = vec![argument("n", n), argument("x", buffer)].into();
        model
    }

    fn limits() -> DeviceLimits {
        DeviceLimits {
            max_work_group_size: 256,
            max_work_item_size_x: 256,
            max_work_item_size_y: 256,
            max_work_item_size_z: 256,
            global_mem_size: 1 << 20,
            max_mem_alloc_size: 1 << 20,
            ..DeviceLimits::default()
        }
    }

    #[test]
    fn larger_problems_keep_to_constraints_types_and_memory() {
        let larger = |dims: &[i64], factor| larger(&model(), &[64], dims, factor, &limits());
        assert_eq!(larger(&[128], 3), Ok(vec![vec![384]]));
        let reason = |dims: &[i64], factor| larger(dims, factor).unwrap_err();
        assert!(reason(&[100], 3).contains("not divisible"));
        assert!(reason(&[64], 1 << 10).contains("does not fit into its type"));
        assert!(reason(&[64], i64::MAX).contains("does not fit into its type"));
        let mut with_filter = model();
        with_filter.dimensions = vec!["n".into(), "filter".into()].into();
        let larger_of = |dims: &[i64]| super::larger(&with_filter, &[64], dims, 2, &limits());
        assert_eq!(larger_of(&[128, 7]), Ok(vec![vec![256, 7]]));
        assert_eq!(larger_of(&[128, 33]), Ok(vec![vec![256, 66]]));
        // A tile whose size the configuration decides: the rest grows alone.
        let mut tiled = with_filter.clone();
        let scope = Scope {
            parameters: &with_filter.parameters,
            dimensions: &with_filter.dimensions,
        };
        let tile = Formula::parse("filter == WG", &scope, Type::Bool).unwrap();
        tiled.constraints = vec![tile].into();
        let larger_of = |dims: &[i64]| super::larger(&tiled, &[64], dims, 2, &limits());
        assert_eq!(larger_of(&[128, 64]), Ok(vec![vec![256, 64]]));
        assert!(larger_of(&[100, 64]).is_err());
        let small = DeviceLimits {
            global_mem_size: 1 << 12,
            ..limits()
        };
        let reason = super::larger(&model(), &[64], &[1024], 2, &small).unwrap_err();
        assert!(reason.contains("memory"), "{reason}");
    }

    #[test]
    fn smaller_problems_have_two_work_groups_where_the_problem_had() {
        let smaller = |code, dims: &[i64]| smaller(&model(), &[code], dims, &limits());
        assert_eq!(smaller(64, &[1 << 15]), [128]);
        assert_eq!(smaller(256, &[3 * 256 * 7]), [512]);
        assert_eq!(smaller(256, &[256]), [256], "one work-group as it was");
        assert_eq!(smaller(32, &[32]), [32]);
    }

    #[test]
    fn as_many_draws_are_kept_as_fit() {
        let draws = |n| draws_at_once(&model(), &[n], &limits(), 8);
        assert_eq!(draws(64), 8);
        assert_eq!(draws(16 << 10), 2);
        assert_eq!(draws(1 << 30), 1);
    }
}
