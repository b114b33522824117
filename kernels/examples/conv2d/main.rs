//! The time of the 2D convolution, and the worth of its values, on this device:
//!
//! ```text
//! cargo run --release -p cltune-kernels --example conv2d -- [WIDTH HEIGHT]
//! cargo run --release -p cltune-kernels --example conv2d -- values [WIDTH HEIGHT]
//! cargo run --release -p cltune-kernels --example conv2d -- time WIDTH HEIGHT FILTER [separable]
//! ```
//!
//! The first times `convolve` with filters of 3 x 3, 7 x 7 and 11 x 11 weights, and with those that
//! are the products of a column and a row. The second times
//! the default, the best values that were published, and the best that were found for each filter
//! size on each of these sizes, in turns (tables II and III of Nugteren & Codreanu 2015). The last
//! prints microseconds for one launch, for programs that compare.
//!
//! `cargo cltune tune --artifact target/release/examples/conv2d` tunes both kernels.

mod time;
mod values;

use cltune::{Buffer, Event, Queue};
use cltune_kernels::conv2d::conv2d_direct::{Params, Problem};
use cltune_kernels::conv2d::{Border, Filter, conv2d_direct, conv2d_separable, convolve};
use std::error::Error;

/// A picture, a filter and a result on a device.
struct Convolution<'a> {
    queue: &'a Queue,
    width: u32,
    height: u32,
    filter: Filter,
    input: Buffer<f32>,
    output: Buffer<f32>,
}

impl<'a> Convolution<'a> {
    /// Weights and pixels are those of no picture: what they are makes no difference to the time.
    fn new(queue: &'a Queue, width: u32, height: u32, filter: u32) -> Result<Self, Box<dyn Error>> {
        Self::with(queue, width, height, filter, false)
    }

    /// With weights that are the products of a column and a row, or with any.
    fn with(
        queue: &'a Queue,
        width: u32,
        height: u32,
        filter: u32,
        separable: bool,
    ) -> Result<Self, Box<dyn Error>> {
        let noise = |count: usize| -> Vec<f32> {
            let value = |i: usize| (i.wrapping_mul(0x9e37_79b9) % 1024) as f32 / 1024.0 - 0.5;
            (0..count).map(value).collect()
        };
        let pixels = noise(width as usize * height as usize);
        let weights = if separable {
            let line = noise(filter as usize);
            line.iter()
                .flat_map(|y| line.iter().map(move |x| y * x))
                .collect()
        } else {
            noise((filter * filter) as usize)
        };
        Ok(Self {
            queue,
            width,
            height,
            filter: Filter::new(queue, filter, &weights)?,
            input: Buffer::from_slice(queue, &pixels)?,
            output: Buffer::new(queue.context(), pixels.len())?,
        })
    }

    fn problem(&self) -> Problem {
        Problem {
            width: self.width.into(),
            height: self.height.into(),
            filter: self.filter.size().into(),
        }
    }

    /// As any program does it: with the values that the device and the size get.
    fn launch(&mut self) -> Result<Option<Event>, Box<dyn Error>> {
        Ok(convolve(
            self.queue,
            self.width,
            self.height,
            &self.filter,
            Border::Zero,
            &self.input,
            &mut self.output,
        )?)
    }

    fn launch_with(&mut self, params: &Params) -> cltune::Result<Event> {
        conv2d_direct::launch_with(
            params,
            self.queue,
            self.width as i32,
            self.height as i32,
            self.filter.size() as i32,
            0,
            self.filter.weights(),
            &self.input,
            &mut self.output,
        )
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let queue = Queue::default_device()?;
    match arguments[..] {
        [] => rates(&queue, 2048, 2048),
        [width, height] => rates(&queue, width.parse()?, height.parse()?),
        ["values"] => values::table(&queue, 2048, 2048),
        ["values", width, height] => values::table(&queue, width.parse()?, height.parse()?),
        ["time", width, height, filter] => print_time(
            &queue,
            width.parse()?,
            height.parse()?,
            filter.parse()?,
            false,
        ),
        ["time", width, height, filter, "separable"] => print_time(
            &queue,
            width.parse()?,
            height.parse()?,
            filter.parse()?,
            true,
        ),
        _ => Err(
            "usage: conv2d [values] [WIDTH HEIGHT] | conv2d time WIDTH HEIGHT FILTER [separable]"
                .into(),
        ),
    }
}

fn print_time(
    queue: &Queue,
    width: u32,
    height: u32,
    filter: u32,
    separable: bool,
) -> Result<(), Box<dyn Error>> {
    let mut convolution = Convolution::with(queue, width, height, filter, separable)?;
    let time = time::median(queue, || convolution.launch().map(drop))?;
    println!("{:.3}", time.as_secs_f64() * 1e6);
    Ok(())
}

fn rates(queue: &Queue, width: u32, height: u32) -> Result<(), Box<dyn Error>> {
    println!("{}, {width} x {height} pixels", queue.device());
    for size in [3, 7, 11] {
        for separable in [false, true] {
            let mut convolution = Convolution::with(queue, width, height, size, separable)?;
            let Problem {
                width,
                height,
                filter,
            } = convolution.problem();
            let (selection, operations) = if separable {
                let problem = conv2d_separable::Problem {
                    width,
                    height,
                    filter,
                };
                let selection = conv2d_separable::select(queue.device(), problem)?;
                (selection.to_string(), 4 * size)
            } else {
                let selection = conv2d_direct::select(queue.device(), convolution.problem())?;
                (selection.to_string(), 2 * size * size)
            };
            let time = time::median(queue, || convolution.launch().map(drop))?.as_secs_f64();
            let pixels = f64::from(convolution.width) * f64::from(convolution.height);
            let gflops = pixels * f64::from(operations) / time / 1e9;
            let gbs = pixels * 8.0 / time / 1e9;
            let us = time * 1e6;
            let what = if separable { "separable" } else { "any" };
            println!(
                "{size:>2} x {size:<2} {what:<9}: {us:.1} us, {gflops:.1} GFLOPS, {gbs:.1} GB/s, \
                 {selection}"
            );
        }
    }
    Ok(())
}
