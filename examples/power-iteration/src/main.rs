//! Ranks pages by the links between them: power iteration with one fused function.

use cltune::{Buffer, Event, Queue, Result, fused};

/// How many pages there are.
const PAGES: usize = 2000;
/// The part of readers who follow a link; the others go anywhere.
const DAMPING: f32 = 0.85;
/// The ranks are found when a step changes them by no more than this, in all.
const ENOUGH: f32 = 1e-6;

/// One step: where readers are after one more link. `change` is how many have moved.
#[fused(tune(n = [512, 2048]))]
fn step(
    queue: &Queue,
    n: u32,
    damping: f32,
    #[arg(matrix = [n, n])] links: &Buffer<f32>,
    #[arg(len = n)] ranks: &mut Buffer<f32>,
    #[arg(out, len = 1)] change: &mut Buffer<f32>,
) -> Result<Event> {
    let next = damping * (links * ranks) + (1.0 - damping) / n as f32;
    change = norm1(next - ranks);
    ranks = next;
}

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    println!("{}", queue.device());
    let links = Buffer::from_slice(&queue, &links())?;
    let mut ranks = Buffer::from_slice(&queue, &vec![1.0 / PAGES as f32; PAGES])?;
    let mut change = Buffer::new(queue.context(), 1)?;
    let mut steps = 0;
    loop {
        steps += 1;
        step(
            &queue,
            PAGES as u32,
            DAMPING,
            &links,
            &mut ranks,
            &mut change,
        )?;
        // The host looks now and then; all else stays on the device.
        if steps % 8 == 0 && change.read(&queue)?[0] < ENOUGH {
            break;
        }
        assert!(steps < 1000, "the ranks do not settle");
    }
    let ranks = ranks.read(&queue)?;
    println!("{steps} steps");
    let mut best: Vec<usize> = (0..PAGES).collect();
    best.sort_by(|a, b| ranks[*b].total_cmp(&ranks[*a]));
    for page in &best[..5] {
        println!("page {page:4}  {:.5}", ranks[*page]);
    }
    let error = error(&ranks);
    println!("the host's ranks differ by {error:.1e} in all");
    assert!(error < 1e-4, "these are not the ranks");
    Ok(())
}

/// The pages that a page links to: some near it, and some of the few that everybody knows.
fn linked(page: usize) -> Vec<usize> {
    let mut pages: Vec<usize> = (1..=2 + page % 5)
        .map(|link| (page + link * link * 37 + 11) % PAGES)
        .chain((0..=page % 3).map(|link| (page * 31 + link * 7) % 16))
        .filter(|other| *other != page)
        .collect();
    pages.sort_unstable();
    pages.dedup();
    pages
}

/// The part of the readers of page `j` who go on to page `i`, in row `i` and column `j`.
fn links() -> Vec<f32> {
    let mut links = vec![0.0; PAGES * PAGES];
    for page in 0..PAGES {
        let linked = linked(page);
        for other in &linked {
            links[other * PAGES + page] = 1.0 / linked.len() as f32;
        }
    }
    links
}

/// How much these ranks differ from those of 200 steps on the host, in double precision and along
/// the links.
fn error(ranks: &[f32]) -> f64 {
    let damping = f64::from(DAMPING);
    let mut expected = vec![1.0 / PAGES as f64; PAGES];
    let links: Vec<Vec<usize>> = (0..PAGES).map(linked).collect();
    for _ in 0..200 {
        let mut next = vec![(1.0 - damping) / PAGES as f64; PAGES];
        for (linked, rank) in links.iter().zip(&expected) {
            for other in linked {
                next[*other] += damping * rank / linked.len() as f64;
            }
        }
        expected = next;
    }
    let pairs = expected.iter().zip(ranks);
    pairs.map(|(a, b)| (a - f64::from(*b)).abs()).sum()
}
