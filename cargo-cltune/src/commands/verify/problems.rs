//! Problems on which a tuned configuration can be run: larger than its own, and uneven ones.

use crate::session::bytes;
use cltune_core::device::DeviceLimits;
use cltune_core::model::{ArgumentKind, Commands, Model};

/// Dimensions up to this are likely to be properties of the computation, such as the width of a
/// filter, and stay as they are.
const SMALL: i64 = 32;

/// The problem with every dimension multiplied, but for small ones, if there are larger ones. Where
/// the configuration cannot be run on that: the problems with one of them multiplied that it can be
/// run on.
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
    let growing = changing(dims);
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

/// The dimensions that other problems have in other sizes: all but small ones, unless all are
/// small.
fn changing(dims: &[i64]) -> Vec<usize> {
    let all_are_small = dims.iter().all(|size| *size <= SMALL);
    let changing = (0..dims.len()).filter(|at| dims[*at] > SMALL || all_are_small);
    changing.collect()
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

/// Problems below another whose sizes nothing likely divides, and on which the configuration can be
/// run: with all dimensions changed, but for small ones, or where the constraints do not allow
/// that, with those changed that allow it, alone if need be. None where they allow none.
pub(super) fn uneven(
    model: &Model,
    codes: &[i64],
    dims: &[i64],
    limits: &DeviceLimits,
) -> Vec<Vec<i64>> {
    let changing = changing(dims);
    let changed = |which: &[usize], size: i64| {
        let mut other = dims.to_vec();
        for at in which {
            other[*at] = size;
        }
        other
    };
    let is_valid = |dims: &[i64]| model.check(codes, dims, limits).is_ok();
    let mut primes = dims.to_vec();
    for at in &changing {
        primes[*at] = prime_below(dims[*at]).unwrap_or(dims[*at]);
    }
    if primes != dims && is_valid(&primes) {
        return vec![primes];
    }
    // Dimensions that are equal may have to be.
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for at in changing {
        match groups.iter_mut().find(|group| dims[group[0]] == dims[at]) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    let tiles = tiles(model, codes, dims, limits);
    let of_group = |which: &[usize]| {
        let size = dims[which[0]];
        let less = tiles.iter().map(|tile| size - tile);
        let mut sizes = prime_below(size).into_iter().chain(less);
        let size = sizes.find(|size| *size > 0 && is_valid(&changed(which, *size)));
        size.map(|size| (which.to_vec(), size))
    };
    let mut found: Vec<(Vec<usize>, i64)> = Vec::new();
    for group in groups {
        let alone = || group.iter().filter(|_| group.len() > 1);
        match of_group(&group) {
            Some(together) => found.push(together),
            None => found.extend(alone().filter_map(|at| of_group(&[*at]))),
        }
    }
    let mut all = dims.to_vec();
    for (which, size) in &found {
        for at in which {
            all[*at] = *size;
        }
    }
    if found.len() > 1 && is_valid(&all) {
        return vec![all];
    }
    found
        .iter()
        .map(|(which, size)| changed(which, *size))
        .collect()
}

/// By how much less a size may have to be, so that constraints hold: any little, or the tiles of a
/// configuration, which are its values, products of two, and the part of a work-group.
fn tiles(model: &Model, codes: &[i64], dims: &[i64], limits: &DeviceLimits) -> Vec<i64> {
    const FEW: i64 = 64;
    let products = codes.iter().flat_map(|one| {
        let others = codes.iter().filter_map(|other| one.checked_mul(*other));
        others.chain([*one])
    });
    let commands = model.commands(codes, dims, limits);
    let geometries = commands.iter().flat_map(Commands::geometries);
    let groups = geometries.flat_map(|geometry| {
        let local = geometry.local.unwrap_or([1; 3]);
        let sizes = geometry.global.into_iter().zip(local);
        sizes.filter_map(|(global, local)| i64::try_from(global / local.max(1)).ok())
    });
    let mut groups: Vec<i64> = groups.filter(|groups| *groups > 1).collect();
    groups.sort_unstable();
    groups.dedup();
    let parts = dims.iter().flat_map(|size| {
        let dividing = groups.iter().filter(move |groups| size % **groups == 0);
        dividing.map(move |groups| size / groups)
    });
    let mut tiles: Vec<i64> = (1..=FEW).chain(products).chain(parts).collect();
    tiles.retain(|tile| *tile > 0);
    tiles.sort_unstable();
    tiles.dedup();
    tiles
}

/// The largest prime below a size that is not too large to look for one.
fn prime_below(size: i64) -> Option<i64> {
    const MOST: i64 = 1 << 40;
    let is_prime = |number: &i64| {
        let mut divisors = (2..).take_while(|divisor| divisor * divisor <= *number);
        divisors.all(|divisor| number % divisor != 0)
    };
    (size <= MOST)
        .then(|| (2..size).rev().find(is_prime))
        .flatten()
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
        (usize::from(*of) == dimension).then_some(scalar.as_scalar()?)
    });
    argument.is_none_or(|scalar| size <= scalar.integers().1)
}

#[cfg(test)]
#[path = "../../../tests/unit/verify_problems.rs"]
mod tests;
