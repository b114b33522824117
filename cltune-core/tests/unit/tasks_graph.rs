//! Tasks in the order of what they read and write.

use super::*;
use proptest::prelude::*;

const DEVICES: usize = 3;

fn access(matrix: u64, line: usize, lines: usize) -> Access {
    let rect = Rect {
        line,
        lines,
        at: 0,
        length: 10,
    };
    Access { matrix, rect }
}

type Tasks = Vec<(Vec<Access>, Vec<Access>)>;

/// `written` in two halves, each from the same half of `read`.
fn halves(read: u64, written: u64) -> Tasks {
    halves_of(read, &[written])
}

/// The same of several results.
fn halves_of(read: u64, written: &[u64]) -> Tasks {
    let half = |line| {
        let writes = written.iter().map(|matrix| access(*matrix, line, 5));
        (vec![access(read, line, 5)], writes.collect())
    };
    vec![half(0), half(5)]
}

fn task(operation: u64, tile: usize) -> TaskId {
    TaskId { operation, tile }
}

fn compute(graph: &mut Graph, id: TaskId) -> Option<OperationEnd> {
    assert!(graph.begin(id, 0) && graph.commit(id, 0), "{id:?}");
    graph.end(id)
}

#[test]
fn a_tile_waits_for_those_that_it_needs_alone() {
    let mut graph = Graph::default();
    let first = graph.add(halves(1, 2));
    let second = graph.add(halves(2, 3));
    let apart = graph.add(halves(4, 5));
    let ready = |graph: &Graph, of| graph.ready(of).collect::<Vec<_>>();
    assert_eq!(ready(&graph, second), []);
    assert_eq!(ready(&graph, apart), [0, 1]);
    assert_eq!(compute(&mut graph, task(first, 1)), None);
    assert_eq!(ready(&graph, second), [1]);
    assert_eq!(
        compute(&mut graph, task(first, 0)),
        Some(OperationEnd::Done)
    );
    assert_eq!(ready(&graph, second), [0, 1]);
    assert!(!graph.has(first));
}

#[test]
fn what_is_still_read_is_not_overwritten() {
    let mut graph = Graph::default();
    let reads = graph.add(halves(1, 2));
    let overwrites = graph.add(halves(3, 1));
    let again = graph.add(halves(3, 1));
    assert_eq!(graph.ready(overwrites).count(), 0);
    compute(&mut graph, task(reads, 0));
    assert_eq!(graph.ready(overwrites).collect::<Vec<_>>(), [0]);
    compute(&mut graph, task(overwrites, 0));
    assert_eq!(graph.ready(again).collect::<Vec<_>>(), [0]);
}

#[test]
fn tasks_of_a_device_that_fails_are_given_to_others() {
    let mut graph = Graph::default();
    let number = graph.add(halves(1, 2));
    assert!(graph.begin(task(number, 0), 0) && graph.begin(task(number, 1), 1));
    assert!(graph.commit(task(number, 1), 1));
    graph.give_back(1);
    assert_eq!(graph.ready(number).collect::<Vec<_>>(), [1]);
    assert!(!graph.commit(task(number, 1), 1), "it has failed");
    // Two devices compute the same; only one writes.
    assert!(graph.begin(task(number, 0), 2));
    assert!(graph.commit(task(number, 0), 2) && !graph.commit(task(number, 0), 0));
    graph.give_back(0);
    assert_eq!(graph.ready(number).collect::<Vec<_>>(), [1]);
}

#[test]
fn what_nobody_needs_is_found_with_what_it_needs() {
    let mut graph = Graph::default();
    let first = graph.add(halves(1, 2));
    let second = graph.add(halves(2, 3));
    let third = graph.add(halves(2, 4));
    assert_eq!(graph.unneeded(|_| true), []);
    assert_eq!(graph.unneeded(|matrix| matrix == 4), [second]);
    assert_eq!(graph.unneeded(|_| false), [first, second, third]);
    assert_eq!(graph.dependents(first), [second, third]);
    assert_eq!(graph.abandon(first), Some(OperationEnd::Abandoned));
    assert_eq!(graph.ready(second).count(), 2);
    assert_eq!(graph.abandon(first), None);
}

#[test]
fn an_operation_is_needed_as_long_as_any_of_its_results_is() {
    let mut graph = Graph::default();
    let both = graph.add(halves_of(1, &[2, 3]));
    let reads_one = graph.add(halves(3, 4));
    let reads_other = graph.add(halves(2, 5));
    // A tile of either is there when that of both is.
    assert_eq!(
        graph
            .ready(reads_one)
            .chain(graph.ready(reads_other))
            .count(),
        0
    );
    compute(&mut graph, task(both, 1));
    for reader in [reads_one, reads_other] {
        assert_eq!(graph.ready(reader).collect::<Vec<_>>(), [1]);
    }
    assert_eq!(
        graph.unneeded(|matrix| matrix == 2),
        [reads_one, reads_other]
    );
    assert_eq!(graph.unneeded(|matrix| matrix == 4), [reads_other]);
    assert_eq!(graph.unneeded(|_| false), [both, reads_one, reads_other]);
    assert_eq!(graph.dependents(both), [reads_one, reads_other]);
    assert!(graph.writes(2) && graph.writes(3) && !graph.writes(1));
    assert!(graph.is_read_after(both, 2) && graph.is_read_after(both, 3));
    assert!(!graph.is_read_after(reads_one, 3) && !graph.is_read_after(both, 1));
    // Neither is overwritten while it is read.
    let overwrites = graph.add(halves_of(6, &[7, 3]));
    assert_eq!(graph.ready(overwrites).count(), 0);
    compute(&mut graph, task(reads_one, 1));
    assert_eq!(graph.ready(overwrites).collect::<Vec<_>>(), [1]);
}

/// Operations, each with the matrices that it reads and writes and the height of its tiles.
type Random = Vec<(Vec<u64>, Vec<u64>, usize)>;

/// Operations that read and write random matrices in tiles of random height.
fn operations() -> impl Strategy<Value = Random> {
    let operation = (
        proptest::collection::vec(0_u64..4, 1..3),
        proptest::collection::vec(0_u64..4, 1..4),
        1_usize..6,
    );
    proptest::collection::vec(operation, 1..8)
}

proptest! {
    /// In whatever order devices take tasks, fail and repeat, no task begins before what it
    /// conflicts with has ended, and all end.
    #[test]
    fn no_order_breaks_dependencies(
        operations in operations(), choices in proptest::collection::vec(0_usize..1000, 400)
    ) {
        let mut graph = Graph::default();
        let mut all: Vec<Tasks> = Vec::new();
        for (reads, written, height) in &operations {
            let tile = |line: usize| {
                let lines = (*height).min(10 - line);
                let parts = |of: &[u64]| of.iter().map(|of| access(*of, line, lines)).collect();
                (parts(reads), parts(written))
            };
            let tiles: Vec<_> = (0..10).step_by(*height).map(tile).collect();
            graph.add(tiles.clone());
            all.push(tiles);
        }
        let conflicts = |a: TaskId, b: TaskId| {
            let (of_a, of_b) = (&all[a.operation as usize][a.tile], &all[b.operation as usize][b.tile]);
            let meet = |some: &[Access], others: &[Access]| {
                some.iter().any(|one| others.iter().any(|other| one.overlaps(other)))
            };
            meet(&of_a.0, &of_b.1) || meet(&of_b.0, &of_a.1) || meet(&of_a.1, &of_b.1)
        };
        let mut done: Vec<TaskId> = Vec::new();
        let mut choices = choices.into_iter().cycle();
        let mut rounds = 0;
        while graph.operations().next().is_some() {
            rounds += 1;
            prop_assert!(rounds < 10_000, "nothing goes on");
            let device = choices.next().unwrap() % DEVICES;
            let ready: Vec<TaskId> = graph
                .operations()
                .flat_map(|operation| graph.ready(operation).map(move |tile| task(operation, tile)))
                .collect();
            let running: Vec<TaskId> = graph
                .running()
                .filter(|(_, devices)| devices.contains(&device))
                .map(|(id, _)| id)
                .collect();
            match choices.next().unwrap() % 10 {
                0 => graph.give_back(device),
                1..=5 if !ready.is_empty() => {
                    let id = ready[choices.next().unwrap() % ready.len()];
                    for (operation, tiles) in all.iter().enumerate().take(id.operation as usize) {
                        for tile in 0..tiles.len() {
                            let before = task(operation as u64, tile);
                            prop_assert!(!conflicts(before, id) || done.contains(&before));
                        }
                    }
                    prop_assert!(graph.begin(id, device));
                }
                _ if !running.is_empty() => {
                    let id = running[choices.next().unwrap() % running.len()];
                    prop_assert!(graph.commit(id, device));
                    graph.end(id);
                    prop_assert!(!done.contains(&id), "twice");
                    done.push(id);
                }
                _ => {}
            }
        }
        prop_assert_eq!(done.len(), all.iter().map(Vec::len).sum::<usize>());
    }
}
