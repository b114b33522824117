//! Domains with very many values.

use cltune::{Event, Queue, Result, tunable};

#[tunable(
    params(A = 1..=100_000, B = (0..=160_000_000).step_by(10), C = [
        1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181, 6765, 10946
    ]),
    constraints(A < 4, B == 50),
    global(64),
)]
fn huge(queue: &Queue) -> Result<Event> {
    "__kernel void huge(void) {}"
}

#[test]
fn ranges_stay_ranges() -> Result<()> {
    let model = huge::TUNABLE.model();
    assert_eq!(model.parameters[0].domain.len(), 100_000);
    assert_eq!(model.parameters[1].domain.len(), 16_000_001);
    let queue = Queue::default_device()?;
    huge::launch_with(
        &huge::Params {
            A: 3,
            B: 50,
            C: 610,
        },
        &queue,
    )?
    .wait()?;
    assert!(
        huge::launch_with(
            &huge::Params {
                A: 4,
                B: 50,
                C: 610
            },
            &queue
        )
        .is_err()
    );
    Ok(())
}
