//! Products of matrices, to measure.

use crate::bench::{Way, measured, print};
use crate::matrices::numbers;
use cltune::{Buffer, Element, Event, Queue, Result, fused};

macro_rules! product {
    ($name:ident, $real:ident, $of_a:tt, $of_b:tt, $product:expr) => {
        /// C <- op(A) op(B)
        #[fused(tune(n = [1024, 2048, 4096]), flops(2 * n * n * n))]
        pub(crate) fn $name(
            queue: &Queue,
            n: u32,
            #[arg(matrix = $of_a)] a: &Buffer<$real>,
            #[arg(matrix = $of_b)] b: &Buffer<$real>,
            #[arg(out, matrix = [n, n])] c: &mut Buffer<$real>,
        ) -> Result<Event> {
            c = $product;
        }
    };
}

product!(product_nn, f32, [n, n], [n, n], a * b);
product!(product_nt, f32, [n, n], [n, n], a * b.t());
product!(product_tn, f32, [n, n], [n, n], a.t() * b);
product!(product_tt, f32, [n, n], [n, n], a.t() * b.t());
product!(dproduct_nn, f64, [n, n], [n, n], a * b);
product!(dproduct_nt, f64, [n, n], [n, n], a * b.t());
product!(dproduct_tn, f64, [n, n], [n, n], a.t() * b);
product!(dproduct_tt, f64, [n, n], [n, n], a.t() * b.t());

/// Prints a line for each size, type and product. A CPU would take minutes for the large sizes.
pub(crate) fn run(queue: &Queue) -> Result<()> {
    let sizes: &[u32] = if queue.device().info().limits.is_cpu == 1 {
        &[1024]
    } else {
        &[2048, 4096]
    };
    for &n in sizes {
        of_type::<f32>(
            queue,
            n,
            "f32",
            [&product_nn, &product_nt, &product_tn, &product_tt],
        )?;
        of_type::<f64>(
            queue,
            n,
            "f64",
            [&dproduct_nn, &dproduct_nt, &dproduct_tn, &dproduct_tt],
        )?;
    }
    Ok(())
}

type Product<'a, T> =
    &'a dyn Fn(&Queue, u32, &Buffer<T>, &Buffer<T>, &mut Buffer<T>) -> Result<Event>;

fn of_type<T: Element + From<f32>>(
    queue: &Queue,
    n: u32,
    element: &str,
    products: [Product<'_, T>; 4],
) -> Result<()> {
    let count = n as usize * n as usize;
    let [a, b] = [numbers::<T>(queue, count)?, numbers::<T>(queue, count)?];
    for (product, which) in products
        .into_iter()
        .zip(["A B", "A B^T", "A^T B", "A^T B^T"])
    {
        let mut c = numbers::<T>(queue, count)?;
        let way: Way<'_> = Box::new(|| product(queue, n, &a, &b, &mut c).map(drop));
        let times = measured(queue, &mut [way])?;
        print(
            &format!("{n} x {n}"),
            &format!("C = {which}, {element}"),
            &times,
            &[3 * size_of::<T>() * count],
        );
    }
    Ok(())
}
