//! Stand-ins for [`Protected`] and [`Sealed`] on systems whose pages cannot be protected: there
//! are none.

use super::{RawBuffer, RawContext, RawQueue, Status};
use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

/// No memory.
#[derive(Debug)]
pub(crate) struct Protected(Infallible);

impl Protected {
    pub(crate) fn new(_: usize) -> Option<Arc<Self>> {
        None
    }

    pub(crate) fn len(&self) -> usize {
        match self.0 {}
    }

    pub(crate) fn buffer(&self, _: &RawContext, _: Range<usize>) -> Result<RawBuffer, Status> {
        match self.0 {}
    }

    pub(crate) fn fill(&self, _: &RawQueue, _: Range<usize>, _: &[u8]) -> Result<(), Status> {
        match self.0 {}
    }

    pub(crate) fn read(&self, _: &RawQueue, _: Range<usize>) -> Result<Vec<u8>, Status> {
        match self.0 {}
    }

    pub(crate) fn has(&self, _: &RawQueue, _: usize, _: &[u8]) -> Result<bool, Status> {
        match self.0 {}
    }

    pub(crate) fn take_access(&self) -> Option<i64> {
        match self.0 {}
    }
}

/// No bytes.
#[derive(Debug)]
pub(crate) struct Sealed(Infallible);

impl Sealed {
    pub(crate) fn new<E>(
        _: usize,
        _: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Option<Self>, E> {
        Ok(None)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self.0 {}
    }
}
