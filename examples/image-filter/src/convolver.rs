//! A picture's plane and a filter on a device.

use crate::filter::Filter;
use crate::kernel::convolve;
use crate::picture::Plane;
use cltune::{Buffer, Event, Queue, Result};

/// Everything a launch needs, uploaded once.
pub(crate) struct Convolver<'a> {
    queue: &'a Queue,
    width: u32,
    height: u32,
    filter: u32,
    weights: Buffer<f32>,
    input: Buffer<f32>,
    output: Buffer<f32>,
}

impl<'a> Convolver<'a> {
    pub(crate) fn new(queue: &'a Queue, plane: &Plane, filter: &Filter) -> Result<Self> {
        Ok(Self {
            queue,
            width: plane.width,
            height: plane.height,
            filter: filter.size,
            weights: Buffer::from_slice(queue, &filter.weights)?,
            input: Buffer::from_slice(queue, &plane.values)?,
            output: Buffer::new(queue.context(), plane.values.len())?,
        })
    }

    /// The problem, for asking which values it gets.
    pub(crate) fn problem(&self) -> convolve::Problem {
        convolve::Problem {
            width: self.width.into(),
            height: self.height.into(),
            filter: self.filter.into(),
        }
    }

    /// Launches as any program would: with the values that this device and problem get.
    pub(crate) fn launch(&mut self) -> Result<Event> {
        convolve(
            self.queue,
            self.width,
            self.height,
            self.filter,
            &self.weights,
            &self.input,
            &mut self.output,
        )
    }

    /// Launches with given values.
    pub(crate) fn launch_with(&mut self, params: &convolve::Params) -> Result<Event> {
        convolve::launch_with(
            params,
            self.queue,
            self.width,
            self.height,
            self.filter,
            &self.weights,
            &self.input,
            &mut self.output,
        )
    }

    /// The filtered plane.
    pub(crate) fn output(&self) -> Result<Plane> {
        Ok(Plane {
            width: self.width,
            height: self.height,
            values: self.output.read(self.queue)?,
        })
    }
}
