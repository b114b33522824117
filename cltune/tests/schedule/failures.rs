//! Kernels that refuse, panic or are slow on one device.

use crate::kernels::{Adding, counted, is_twice, scheduler};
use std::thread::sleep;
use std::time::Duration;

#[test]
fn what_one_device_refuses_others_compute() {
    let scheduler = scheduler(2, 100_000);
    let a = counted(&scheduler, 200, 200);
    let picky = Adding::new("picky add", |device| {
        if device == 0 {
            Err("not on this one".into())
        } else {
            Ok(())
        }
    });
    let mut c = scheduler.matrix(200, 200).unwrap();
    picky.enqueue(&scheduler, &a, &a, &mut c).unwrap();
    let report = scheduler.finish().unwrap();
    is_twice(&c);
    let idle = report
        .devices
        .iter()
        .filter(|device| device.tasks == 0)
        .count();
    assert_eq!(idle, 1, "{report}");
    assert!(
        report.devices.iter().all(|device| device.lost.is_none()),
        "{report}"
    );
}

#[test]
fn what_all_refuse_is_an_error_with_their_reasons_and_the_rest_is_computed() {
    let scheduler = scheduler(2, 100_000);
    let a = counted(&scheduler, 20, 20);
    let refusing = Adding::new("refused add", |_| Err("never".into()));
    let sound = Adding::new("sound add", |_| Ok(()));
    let [mut c, mut d, mut e] = [0; 3].map(|_| scheduler.matrix(20, 20).unwrap());
    refusing.enqueue(&scheduler, &a, &a, &mut c).unwrap();
    // It needs what is not computed.
    sound.enqueue(&scheduler, &c, &a, &mut d).unwrap();
    sound.enqueue(&scheduler, &a, &a, &mut e).unwrap();
    let error = scheduler.finish().unwrap_err().to_string();
    assert!(
        error.contains("refused add") && error.contains("never"),
        "{error}"
    );
    assert_eq!(error.matches("never").count(), 2, "{error}");
    is_twice(&e);
    for matrix in [&c, &d] {
        let error = matrix.values().map(drop).unwrap_err().to_string();
        assert!(error.contains("no values"), "{error}");
    }
    // The next ones are computed.
    sound.enqueue(&scheduler, &a, &a, &mut c).unwrap();
    scheduler.finish().unwrap();
    is_twice(&c);
}

#[test]
fn a_device_that_refuses_later_has_its_tasks_done_by_others() {
    let scheduler = scheduler(3, 60_000);
    let a = counted(&scheduler, 300, 300);
    let count = std::sync::atomic::AtomicUsize::new(0);
    let fickle = Adding::new("fickle add", move |device| {
        let launches = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if device == 0 && launches > 8 {
            Err("no more".into())
        } else {
            Ok(())
        }
    });
    let mut c = scheduler.matrix(300, 300).unwrap();
    fickle.enqueue(&scheduler, &a, &a, &mut c).unwrap();
    scheduler.finish().unwrap();
    is_twice(&c);
}

#[test]
fn a_kernel_that_panics_loses_its_device_only() {
    let scheduler = scheduler(2, 100_000);
    let a = counted(&scheduler, 200, 200);
    let panicking = Adding::new("panicking add", |device| {
        assert_ne!(device, 0, "on purpose");
        Ok(())
    });
    let mut c = scheduler.matrix(200, 200).unwrap();
    panicking.enqueue(&scheduler, &a, &a, &mut c).unwrap();
    let report = scheduler.finish().unwrap();
    is_twice(&c);
    let lost: Vec<_> = report
        .devices
        .iter()
        .filter_map(|device| device.lost.clone())
        .collect();
    assert_eq!(lost.len(), 1, "{report}");
    assert!(lost[0].contains("panicked"), "{report}");
}

#[test]
fn when_all_devices_are_lost_the_error_says_how() {
    let scheduler = scheduler(2, 100_000);
    let a = counted(&scheduler, 200, 200);
    let panicking = Adding::new("panicking add", |_| panic!("on purpose"));
    let mut c = scheduler.matrix(200, 200).unwrap();
    panicking.enqueue(&scheduler, &a, &a, &mut c).unwrap();
    let error = scheduler.finish().unwrap_err().to_string();
    assert!(
        error.contains("no device is left") && error.contains("panicked"),
        "{error}"
    );
    // Later ones fail at once.
    panicking.enqueue(&scheduler, &a, &a, &mut c).unwrap();
    assert!(scheduler.finish().is_err());
}

#[test]
fn a_device_that_is_a_hundred_times_slower_gets_little() {
    let scheduler = scheduler(2, 30_000);
    let a = counted(&scheduler, 300, 300);
    let lame = Adding::new("lame add", |device| {
        if device == 0 {
            sleep(Duration::from_millis(300));
        } else {
            sleep(Duration::from_millis(3));
        }
        Ok(())
    });
    let mut c = scheduler.matrix(300, 300).unwrap();
    lame.enqueue(&scheduler, &a, &a, &mut c).unwrap();
    let report = scheduler.finish().unwrap();
    is_twice(&c);
    let tasks: Vec<usize> = report.devices.iter().map(|device| device.tasks).collect();
    let (least, most) = (tasks.iter().min().unwrap(), tasks.iter().max().unwrap());
    assert!(*most > 4 && 4 * least <= *most, "{report}");
}
