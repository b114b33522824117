//! Buffers that are lent to cltune, by the rules of references.

use crate::buffer::Buffer;
use crate::element::Element;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// A [`Buffer`] that reads the memory of another owner, who cannot change it meanwhile: see
/// [`Queue::lend`](crate::Queue::lend).
#[derive(Debug)]
pub struct LentBuffer<'a, T: Element> {
    buffer: Buffer<T>,
    owner: PhantomData<&'a ()>,
}

/// A [`Buffer`] that uses the memory of another owner, who cannot use it meanwhile: see
/// [`Queue::lend_mut`](crate::Queue::lend_mut).
#[derive(Debug)]
pub struct LentBufferMut<'a, T: Element> {
    buffer: Buffer<T>,
    owner: PhantomData<&'a mut ()>,
}

impl<'a, T: Element> LentBuffer<'a, T> {
    /// As long as the owner is borrowed.
    pub(super) fn new<O>(buffer: Buffer<T>, _owner: &'a O) -> Self {
        let owner = PhantomData;
        Self { buffer, owner }
    }
}

impl<'a, T: Element> LentBufferMut<'a, T> {
    /// As long as the owner is borrowed.
    pub(super) fn new<O>(buffer: Buffer<T>, _owner: &'a mut O) -> Self {
        let owner = PhantomData;
        Self { buffer, owner }
    }
}

impl<T: Element> Deref for LentBuffer<'_, T> {
    type Target = Buffer<T>;

    fn deref(&self) -> &Buffer<T> {
        &self.buffer
    }
}

impl<T: Element> Deref for LentBufferMut<'_, T> {
    type Target = Buffer<T>;

    fn deref(&self) -> &Buffer<T> {
        &self.buffer
    }
}

impl<T: Element> DerefMut for LentBufferMut<'_, T> {
    fn deref_mut(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }
}
