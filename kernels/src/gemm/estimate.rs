//! The times that kernels take for sizes, by those that tuning has measured for others.

use super::real::{MeasuredBatch, MeasuredTime};

/// What times go by besides the sizes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    /// How many work-groups run at a time.
    pub(super) compute_units: i64,
    /// What is taken to be the same of all launches, in microseconds.
    pub(super) launch: f64,
    /// What a work-group takes for a tile besides its products, as many products of each sum as
    /// take that long: reading the first operands and writing the tile.
    pub(super) tile: f64,
}

/// The time, in microseconds, by that of the most similar problem.
pub(super) fn estimate<'a>(
    times: impl IntoIterator<Item = &'a MeasuredTime>,
    problem: [i64; 3],
    machine: Machine,
) -> Option<f64> {
    let (_, nearest) = nearest(times, problem)?;
    Some(time_by(nearest, problem, machine))
}

/// The problems whose values take the least time, and those times: the shortest first, at most so
/// many. Values that are best for the most similar problem may leave much of the last round of
/// work-groups unused here.
pub(super) fn fastest<'a>(
    times: impl IntoIterator<Item = &'a MeasuredTime>,
    problem: [i64; 3],
    machine: Machine,
    most: usize,
) -> Vec<(&'a MeasuredTime, f64)> {
    let mut all = Vec::new();
    for of in times {
        let micros = time_by(of, problem, machine);
        if of.size == problem {
            return vec![(of, micros)];
        }
        all.push((of, micros));
    }
    all.sort_by(|one, other| one.1.total_cmp(&other.1));
    all.truncate(most);
    all
}

/// The time with the values of another problem. A problem takes somewhat more than its work lets
/// expect from that of another.
fn time_by(of: &MeasuredTime, problem: [i64; 3], machine: Machine) -> f64 {
    let work = |problem, parts| work(problem, of, parts, machine);
    let parts = parts_like(of, problem, machine);
    let ratio = work(problem, parts) / work(of.size, of.parts);
    let launches = if of.parts == 1 {
        1.0
    } else {
        1.0 + SECOND_LAUNCH
    };
    let launch = (launches * machine.launch).min(of.micros);
    let away = distance(of.size, problem);
    // Rounds of work-groups explain most of the difference.
    let away = of.tile.map_or(away, |_| away / (away + 2.0));
    let doubt = DOUBT.mul_add(away, 1.0);
    let beside_others = if tile_elements(of) < LARGE_TILE {
        let rounds = |problem, parts| rounds(problem, of, parts, machine.compute_units);
        let (here, there) = (rounds(problem, parts), rounds(of.size, of.parts));
        let fuller = here.fullness() / there.fullness();
        let fewer = there.count() / here.count();
        fuller.max(1.0).powf(CROWDING) * fewer.clamp(1.0, OVERLAPPING).powf(OVERLAP)
    } else {
        1.0
    };
    ((of.micros - launch) * ratio * beside_others).mul_add(doubt, launch)
}

/// Work-groups of small tiles read much for each product and share the memory's rate, so that they
/// take longer where more of a round's compute units have one. On the H200 in double precision,
/// tiles of 64 x 64 take 22 ns for each of k where 64 are computed at a time and 30 where 128 are.
const CROWDING: f64 = 0.3;

/// Of small tiles a compute unit has several work-groups at a time where there are several rounds:
/// some compute while others wait for memory, so that a round by itself takes longer. On the H200
/// 2258 x 443 x 7209, one round, took 613 us by `Tensor` in single precision, of which the time of
/// 16 rounds at 4096 let expect half. It was fitted to the random sizes in BENCHMARKS.md of that
/// day.
const OVERLAP: f64 = 0.12;

/// The most rounds of which a compute unit has work-groups at a time.
const OVERLAPPING: f64 = 4.0;

/// The elements of tiles that are no small ones.
const LARGE_TILE: i64 = 128 * 128;

fn tile_elements(of: &MeasuredTime) -> i64 {
    of.tile.map_or(LARGE_TILE, |[m, n]| m * n)
}

/// The rounds of work-groups of a kernel.
struct Rounds {
    /// Those of undivided tiles, where only the tiles after them are in parts; full ones.
    whole: f64,
    /// Those after them. The last has fewer work-groups than there are compute units, unless this is
    /// a whole number.
    rest: f64,
}

impl Rounds {
    fn count(&self) -> f64 {
        self.whole + self.rest.ceil()
    }

    /// The part of them that is filled.
    fn fullness(&self) -> f64 {
        (self.whole + self.rest) / self.count()
    }
}

fn rounds(problem: [i64; 3], kernel: &MeasuredTime, parts: i64, compute_units: i64) -> Rounds {
    let (tiles, compute_units) = (tiles(problem, kernel.tile), compute_units as f64);
    let whole = if kernel.whole_rounds {
        (tiles / compute_units).floor()
    } else {
        0.0
    };
    let rest = whole.mul_add(-compute_units, tiles) * parts as f64 / compute_units;
    Rounds { whole, rest }
}

/// The number of parts of sums for a problem, from that of the most similar one that was tuned.
/// There are as many rounds of work-groups, the last one as full as possible; where only the tiles
/// after whole rounds are in parts, as many parts as let them take the least time.
pub(super) fn parts_like(nearest: &MeasuredTime, problem: [i64; 3], machine: Machine) -> i64 {
    if nearest.parts == 1 || nearest.size == problem {
        return nearest.parts;
    }
    let tiles = |size| tiles(size, nearest.tile);
    let most = (problem[2] / LEAST_PART).clamp(2, MOST_PARTS);
    let compute_units = machine.compute_units as f64;
    if nearest.whole_rounds && tiles(problem) >= compute_units {
        let time = |parts: &i64| work(problem, nearest, *parts, machine);
        let least = (2..=most).min_by(|one, other| time(one).total_cmp(&time(other)));
        return least.unwrap_or(2);
    }
    let rounds = (tiles(nearest.size) * nearest.parts as f64 / compute_units).ceil();
    let parts = (rounds * compute_units / tiles(problem)) as i64;
    parts.clamp(2, most)
}

/// The time of a product in a batch, in microseconds, by that of the most similar size. It may be
/// bound by memory there and by arithmetic here, or the reverse, so that it is the longer of what
/// both let expect. Arithmetic is that of whole tiles: a product that is a little larger than one
/// has four. One that is smaller than all that were measured takes no less than those: a
/// tile takes as long whether the product fills it or not.
pub(super) fn estimate_batch(batches: &[MeasuredBatch], problem: [i64; 3]) -> Option<f64> {
    let each = batches.iter().map(|batch| &batch.each);
    let shortest = each.clone().map(|of| of.micros).reduce(f64::min)?;
    let (away, nearest) = nearest(each, problem)?;
    let products = |size: [i64; 3]| tiles(size, nearest.tile) * size[2].max(1) as f64;
    let arithmetic = products(problem) / products(nearest.size);
    let memory = surface(problem) / surface(nearest.size);
    let doubt = DOUBT.mul_add(away, 1.0);
    Some((nearest.micros * arithmetic.max(memory) * doubt).max(shortest))
}

/// What was measured with lines that begin at multiples of 16 bytes or not, or of a kernel to which
/// that is the same; where nothing was, what was measured with others.
pub(super) fn in_alignment(times: &[MeasuredTime], is_aligned: bool) -> Vec<MeasuredTime> {
    let is_like = |time: &MeasuredTime| time.is_aligned.is_none_or(|it| it == is_aligned);
    let alike: Vec<_> = times.iter().copied().filter(is_like).collect();
    if alike.is_empty() {
        times.to_vec()
    } else {
        alike
    }
}

/// What was measured with lines of A, and of B, of k or not; where nothing was, what was measured
/// with others.
pub(super) fn in_layout(
    times: &[MeasuredTime],
    of_k: [bool; 2],
) -> impl Iterator<Item = &MeasuredTime> {
    let is_known = times.iter().any(|time| time.of_k == Some(of_k));
    times
        .iter()
        .filter(move |time| !is_known || time.of_k == Some(of_k))
}

/// The other layouts of A and B than that in which they lie, and which part of its time a kernel
/// takes in each: by the most similar size that was measured in both, with doubt where that is
/// another.
pub(super) fn turned(
    times: &[MeasuredTime],
    as_they_lie: [bool; 2],
    problem: [i64; 3],
) -> impl Iterator<Item = ([bool; 2], f64)> {
    let all = [false, true].map(|a| [[a, false], [a, true]]).into_iter();
    let others = all.flatten().filter(move |other| *other != as_they_lie);
    others.filter_map(move |other| {
        let of = |layout| times.iter().filter(move |time| time.of_k == Some(layout));
        let same_size = |one: &MeasuredTime| of(as_they_lie).find(|it| it.size == one.size);
        let both = of(other).filter_map(|one| Some((one, same_size(one)?)));
        let away = |(one, _): &(&MeasuredTime, _)| distance(one.size, problem);
        let nearest = both.min_by(|a, b| away(a).total_cmp(&away(b)))?;
        let doubt = DOUBT.mul_add(away(&nearest), 1.0);
        let (turned, lies) = nearest;
        Some((other, turned.micros / lies.micros * doubt))
    })
}

/// How much longer a problem is taken to need for each unit of its [`distance`] from the one whose
/// time is known. A kernel is seldom as fast for another shape: on the H200 128 x 4096 x 4096 took
/// 189 us by `Tensor`, where its time at 1024, which is 8 away, and that of copying let expect 118
/// (BENCHMARKS.md).
const DOUBT: f64 = 0.1;

/// How long the launch that adds up parts takes by itself, as a part of the first, which waits for
/// the queue.
const SECOND_LAUNCH: f64 = 0.2;

/// The most parts of sums, and the least products of one: those of fewer take longer to be added up
/// than to be computed.
const MOST_PARTS: i64 = 32;
const LEAST_PART: i64 = 128;

/// How long a problem takes in so many parts, in a unit of a kernel's own. With tiles, work-groups
/// run in rounds, one on each compute unit, and those of a round take a time that is proportional
/// to k. Parts of sums are written and read again besides.
fn work(problem: [i64; 3], kernel: &MeasuredTime, parts: i64, machine: Machine) -> f64 {
    if kernel.tile.is_none() {
        return volume(problem);
    }
    let k = problem[2].max(1) as f64;
    let rounds = rounds(problem, kernel, parts, machine.compute_units);
    let tile = k + machine.tile;
    if parts == 1 {
        return rounds.count() * tile;
    }
    let at_a_time = at_a_time(kernel);
    if (1.0..at_a_time).contains(&rounds.whole) && rounds.whole + rounds.rest >= at_a_time {
        return at_a_time * tile;
    }
    let part = k / parts as f64 + machine.tile + ADDING_UP;
    rounds.whole.mul_add(tile, rounds.rest.ceil() * part)
}

/// How many work-groups of a kernel a compute unit is taken to have at a time, by the elements of
/// their sums, which are in its registers. Where a launch has enough for all of them, NVIDIA's
/// hardware does not give each compute unit one of the undivided tiles, which begin first, and then
/// a part: some have as many tiles as they can, which take as long as that many rounds, while the
/// others have parts. On the H200 896 x 1280 x 4096 in double precision, 140 tiles of 64 x 128 of
/// which 8 are in parts, takes 217 us with 12 parts, 228 work-groups, and 346 us with 22, which are
/// 308.
fn at_a_time(kernel: &MeasuredTime) -> f64 {
    let most = LARGE_TILE / tile_elements(kernel).max(1);
    most.clamp(1, 4) as f64
}

/// How many products of each sum take as long as reading the sums of a part again and adding them
/// up; that they are written is part of what each tile takes.
const ADDING_UP: f64 = 64.0;

/// How many tiles C has.
fn tiles([m, n, _]: [i64; 3], tile: Option<[i64; 2]>) -> f64 {
    let sides = [m, n].into_iter().zip(tile.unwrap_or([1; 2]));
    let along = sides.map(|(side, tile)| (side.max(1) as f64 / tile as f64).ceil());
    along.product()
}

/// The most similar problem of those that were measured, and its distance.
pub(super) fn nearest<'a>(
    times: impl IntoIterator<Item = &'a MeasuredTime>,
    problem: [i64; 3],
) -> Option<(f64, &'a MeasuredTime)> {
    let away = times.into_iter().map(|of| (distance(of.size, problem), of));
    away.min_by(|a, b| a.0.total_cmp(&b.0))
}

pub(super) fn volume(size: [i64; 3]) -> f64 {
    size.iter().map(|&side| side.max(1) as f64).product()
}

/// The elements of A, B and C.
fn surface([m, n, k]: [i64; 3]) -> f64 {
    [[m, k], [k, n], [m, n]]
        .map(|[a, b]| volume([a, b, 1]))
        .iter()
        .sum()
}

/// The distance that the selection rule uses: squared logarithms of ratios.
pub(super) fn distance(a: [i64; 3], b: [i64; 3]) -> f64 {
    let ratios = a
        .iter()
        .zip(b)
        .map(|(&a, b)| (a.max(1) as f64 / b.max(1) as f64).ln());
    ratios.map(|log| log * log).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Launches that take no time by themselves.
    fn units(compute_units: i64) -> Machine {
        Machine {
            compute_units,
            launch: 0.0,
            tile: 0.0,
        }
    }

    fn measured(side: i64, micros: f64) -> MeasuredTime {
        MeasuredTime {
            micros,
            ..MeasuredTime::of([side; 3])
        }
    }

    #[test]
    fn what_was_measured_for_the_very_shape_is_believed_rather_than_what_another_lets_expect() {
        let skinny = [128, 4096, 4096];
        let near = MeasuredTime {
            micros: 120.0,
            ..MeasuredTime::of(skinny)
        };
        // As much work as 104 us at 1024.
        let far = measured(1024, 52.0);
        let expected = estimate(&[far], skinny, units(1)).unwrap();
        assert!((180.0..200.0).contains(&expected), "{expected}");
        let exact = estimate(&[far, near], skinny, units(1)).unwrap();
        assert!((exact - 120.0).abs() < 1e-9, "{exact}");
    }

    /// 132 compute units have 64 work-groups at 1024, 100 at 1280 x 1280, and 150, so two rounds,
    /// at 1280 x 1800.
    #[test]
    fn a_round_of_few_work_groups_takes_as_long_as_a_full_one() {
        let known = MeasuredTime {
            tile: Some([128; 2]),
            ..measured(1024, 50.0)
        };
        let time = |problem| estimate(&[known], problem, units(132)).unwrap();
        assert!((time([1024; 3]) - 50.0).abs() < 1e-9);
        let (one, two) = (time([1280, 1280, 1024]), time([1280, 1800, 1024]));
        assert!((50.0..52.0).contains(&one), "{one}");
        assert!((100.0..110.0).contains(&two), "{two}");
        let half = time([1024, 1024, 512]);
        assert!((25.0..27.0).contains(&half), "{half}");
    }

    /// 153 tiles of 128 x 256 are two rounds on 132 compute units, and 121 of 192 x 192 one.
    #[test]
    fn a_size_takes_the_values_that_fill_its_rounds() {
        let large = MeasuredTime {
            tile: Some([128, 256]),
            ..measured(2048, 32.0)
        };
        let square = MeasuredTime {
            tile: Some([192; 2]),
            ..measured(3000, 100.0)
        };
        let machine = Machine {
            launch: 5.0,
            ..units(132)
        };
        let times = [large, square];
        let fastest = |side| fastest(&times, [side; 3], machine, 1)[0];
        assert_eq!(fastest(2048).0.size, [2048; 3]);
        let (of, micros) = fastest(2064);
        assert_eq!(of.size, [3000; 3]);
        // 5 us of every launch, and half of what 3000 takes besides, for less k.
        assert!((37.0..40.0).contains(&micros), "{micros}");
        assert_eq!(fastest(4096).0.size, [2048; 3]);
    }

    /// 64 tiles of 64 x 64, and 128, which is as many as a round has; both were measured.
    #[test]
    fn small_tiles_take_longer_where_more_are_computed_at_a_time() {
        let few = MeasuredTime {
            tile: Some([64; 2]),
            micros: 51.5,
            ..MeasuredTime::of([256, 1024, 2048])
        };
        let machine = Machine {
            launch: 6.5,
            ..units(132)
        };
        let many = estimate(&[few], [128, 4096, 4096], machine).unwrap();
        assert!((120.0..130.0).contains(&many), "{many}");
        // Fewer are not faster.
        let fewer = estimate(&[few], [256, 512, 2048], machine).unwrap();
        assert!((51.0..55.0).contains(&fewer), "{fewer}");
    }

    /// 126 tiles of 128 x 64 are one round on 132 compute units; at 4096 there are 16 rounds.
    #[test]
    fn a_round_of_small_tiles_takes_longer_by_itself() {
        let of = |tile| MeasuredTime {
            tile: Some(tile),
            micros: 2045.0,
            ..MeasuredTime::of([4096; 3])
        };
        let machine = Machine {
            launch: 6.5,
            ..units(132)
        };
        let time = |tile| estimate(&[of(tile)], [2258, 443, 7209], machine).unwrap();
        // Large tiles have one round as well, and 8 at 4096.
        let (small, large) = (time([128, 64]), time([128, 128]));
        assert!((275.0..300.0).contains(&small), "{small}");
        assert!((470.0..490.0).contains(&large), "{large}");
    }

    /// 576 tiles are four rounds and 48 tiles, in five parts most of two rounds; 132 are one round.
    #[test]
    fn only_the_last_round_is_in_parts_where_the_kernel_has_it_so() {
        let known = MeasuredTime {
            tile: Some([128; 2]),
            parts: 4,
            whole_rounds: true,
            ..measured(2944, 1000.0)
        };
        let machine = Machine {
            tile: 80.0,
            ..units(132)
        };
        assert_eq!(parts_like(&known, [3000; 3], machine), 5);
        let time = |problem| estimate(&[known], problem, machine).unwrap();
        // 529 tiles: one after the whole rounds, in four parts.
        let of_one = 4.0 * 3024.0 + (736.0 + 144.0);
        let expected = 4.0 * 3080.0 + 2.0 * (600.0 + 144.0);
        let found = time([3000; 3]) / 1000.0;
        assert!((found - expected / of_one).abs() < 0.01, "{found}");
        let one_round = time([1408, 1536, 2944]) / 1000.0;
        assert!((0.23..0.27).contains(&one_round), "{one_round}");
    }

    /// 140 tiles are one round and 8, which 16 parts make 128 work-groups, and 17 parts 136: with
    /// the round more than two for each of 132 compute units.
    #[test]
    fn a_round_of_small_tiles_is_followed_by_less_than_a_round_of_parts() {
        let known = MeasuredTime {
            tile: Some([64, 128]),
            parts: 2,
            whole_rounds: true,
            ..measured(2944, 1000.0)
        };
        let machine = units(132);
        let problem = [896, 1280, 8192];
        assert_eq!(parts_like(&known, problem, machine), 16);
        let work = |parts| work(problem, &known, parts, machine);
        assert!(work(16) < 1.1 * 8192.0, "{}", work(16));
        assert!((work(17) - 2.0 * 8192.0).abs() < 1.0, "{}", work(17));
        // Of large tiles a compute unit has one at a time.
        let large = MeasuredTime {
            tile: Some([128, 128]),
            ..known
        };
        let parts = parts_like(&large, [1792, 1280, 8192], machine);
        assert_eq!(parts, 16);
    }

    #[test]
    fn a_layout_that_was_not_measured_has_the_times_of_others() {
        let of = |side, of_k| MeasuredTime {
            of_k: Some(of_k),
            ..measured(side, 1.0)
        };
        let times = [of(100, [true, false]), of(200, [true, true])];
        let sides = |of_k| {
            in_layout(&times, of_k)
                .map(|of| of.size[0])
                .collect::<Vec<_>>()
        };
        assert_eq!(sides([true, true]), [200]);
        assert_eq!(sides([false, true]), [100, 200]);
    }
}
