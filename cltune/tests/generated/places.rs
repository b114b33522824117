//! Places where a tunable may stand, and ways in which its tokens may get there.

use cltune::{Buffer, DeviceSet, Event, Queue, Result, tunable};

/// As a crate that depends on it by another name, or re-exports it.
mod renamed {
    pub(super) mod gpu {
        pub(in super::super) use cltune::*;
    }
}

mod nested {
    use cltune as rt;

    #[rt::tunable(crate = crate::places::renamed::gpu, global(n), tune(n = 64))]
    pub(super) fn inner(
        q: &rt::Queue,
        n: i32,
        #[arg(len = n)] x: &mut rt::Buffer<i32>,
    ) -> rt::Result<rt::Event> {
        "__kernel void inner(int n, __global int* x) { x[get_global_id(0)] = 1; }"
    }

    /// Another one in the same module, without the first one's visibility.
    #[rt::tunable(crate = cltune, params(P = 1..=2), global(n), tune(n = 64))]
    fn private(
        queue: &rt::Queue,
        n: u16,
        #[arg(len = n)] x: &mut rt::Buffer<i32>,
    ) -> rt::Result<rt::Event> {
        "__kernel void private(ushort n, __global int* x) { x[get_global_id(0)] = P; }"
    }

    #[test]
    fn is_visible_here() {
        assert_eq!(private::Params { P: 2 }.to_codes(), [2]);
        assert_eq!(private::Problem { n: 64 }.to_dims(), [64]);
    }
}

#[test]
fn in_nested_modules_and_by_another_name() -> Result<()> {
    let queue = Queue::default_device()?;
    let mut x = Buffer::from_slice(&queue, &[0; 64])?;
    nested::inner(&queue, 64, &mut x)?.wait()?;
    assert_eq!(x.read(&queue)?, [1; 64]);
    Ok(())
}

#[test]
fn in_a_function_and_with_a_raw_name() -> Result<()> {
    #[tunable(
        params(P = [3, 4]), global(r#in), tune(r#in = 64), kernel = "from_body", split(r#in = P),
    )]
    fn r#match(
        queue: &Queue,
        r#in: u32,
        #[arg(len = r#in, split(r#in))] x: &mut Buffer<i32>,
    ) -> Result<Event> {
        "__kernel void from_body(uint n, __global int* x) { x[get_global_id(0)] = P; }"
    }
    let queue = Queue::default_device()?;
    let mut x = Buffer::from_slice(&queue, &[0; 64])?;
    r#match(&queue, 64, &mut x)?.wait()?;
    assert_eq!(x.read(&queue)?, [3; 64]);
    let mut devices = DeviceSet::new(&[queue.device().clone()])?;
    let mut y = [0; 64];
    r#match::split_in(&mut devices, 64, &mut y)?;
    assert_eq!(y, [3; 64]);
    assert_eq!(r#match::TUNABLE.model().name, "cltune::match");
    Ok(())
}

macro_rules! adder {
    ($name:ident, $kernel:literal, $param:ident = $values:expr, $ty:ty, $size:expr) => {
        // On one line: rustfmt indents a longer attribute inside a macro anew at each run.
        #[tunable(params($param = $values), constraints($size % $param == 0), global(n / $param), tune(n = $size), kernel = $kernel, reference(kernel = $kernel, global(n)), tolerance(rel = 0.5))]
        fn $name(
            queue: &Queue,
            n: u32,
            #[arg(value = 2)] by: $ty,
            #[arg(len = n, fill = uniform(0, 9))] x: &mut Buffer<$ty>,
        ) -> Result<Event> {
            "__kernel void add(uint n, int by, __global int* x) {
                for (int i = 0; i < P; i++) x[get_global_id(0) * P + i] += by;
            }"
        }
    };
}

adder!(add_some, "add", P = [1, 2, 4], i32, 1 << 8);

#[test]
fn through_macro_rules() -> Result<()> {
    let queue = Queue::default_device()?;
    let mut x = Buffer::from_slice(&queue, &[1; 64])?;
    add_some(&queue, 64, 5, &mut x)?.wait()?;
    assert_eq!(x.read(&queue)?, [6; 64]);
    Ok(())
}

#[cfg_attr(all(), tunable(global(n), tune(n = 64)), allow(unused))]
#[cfg(not(any()))]
fn behind_cfg(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<i32>) -> Result<Event> {
    "__kernel void behind_cfg(uint n, __global int* x) { x[get_global_id(0)] = 9; }"
}

#[tunable(this would be an error)]
#[cfg(any())]
fn not_compiled() {}

#[test]
fn behind_cfg_attr() -> Result<()> {
    let queue = Queue::default_device()?;
    let mut x = Buffer::from_slice(&queue, &[1; 64])?;
    behind_cfg(&queue, 64, &mut x)?.wait()?;
    assert_eq!(x.read(&queue)?, [9; 64]);
    Ok(())
}
