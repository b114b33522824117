//! Statements with a product of the library's allocate no more than the product: counted by a
//! global allocator, in a test binary of its own. Drivers are C and do not use it.

use cltune::{Buffer, Event, Queue, fused};
use cltune_kernels::gemm::{Gemm, GemmError, Matrix, MatrixMut, Shape};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator; counting does not allocate, since
// the counter is a constant-initialised thread-local without a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// y <- max(0.5 x w, 0), after x was scaled.
#[fused(tune(n = 48))]
fn layer(
    queue: &Queue,
    gemm: &mut Gemm<f32>,
    n: u32,
    #[arg(matrix = [n, n])] x: &mut Buffer<f32>,
    #[arg(matrix = [n, n])] w: &Buffer<f32>,
    #[arg(out, matrix = [n, n])] y: &mut Buffer<f32>,
) -> Result<Event, GemmError> {
    x *= 1.0;
    y = max(0.5 * x * w, 0.0);
}

fn allocations_of(mut action: impl FnMut()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    action();
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
#[expect(clippy::many_single_char_names, reason = "the names of BLAS")]
fn warm_calls_allocate_no_more_than_their_product() {
    const CALLS: u64 = 20;
    let queue = Queue::default_device()
        .expect("these tests need an OpenCL device; scripts/setup installs one");
    // As it lies, and copied to panels first.
    for n in [48_u32, 256] {
        let size = usize::try_from(n).unwrap();
        let mut x = Buffer::from_slice(&queue, &vec![1.0_f32; size * size]).unwrap();
        let w = Buffer::from_slice(&queue, &vec![2.0_f32; size * size]).unwrap();
        let mut y = Buffer::from_slice(&queue, &vec![0.0_f32; size * size]).unwrap();
        let mut gemm = Gemm::new(&queue).unwrap();
        let shape = Shape::row_major(size, size);

        let cold = allocations_of(|| {
            let _ = layer(&queue, &mut gemm, n, &mut x, &w, &mut y).unwrap();
        });
        assert!(cold > 0, "the counter counts");
        let of_products = allocations_of(|| {
            for _ in 0..CALLS {
                let (a, b) = (Matrix::new(&x, shape), Matrix::new(&w, shape));
                let c = MatrixMut::new(&mut y, shape);
                let event = gemm.multiply(&queue, 0.5, a, b, 0.0, c).unwrap();
                event.unwrap().wait().unwrap();
            }
        });
        let of_calls = allocations_of(|| {
            for _ in 0..CALLS {
                let event = layer(&queue, &mut gemm, n, &mut x, &w, &mut y).unwrap();
                event.wait().unwrap();
            }
        });
        assert_eq!(of_calls, of_products, "{n}");
        let expected = vec![f32::from(u16::try_from(n).unwrap()); size * size];
        assert_eq!(y.read(&queue).unwrap(), expected);
    }
}
