//! Pages of memory of this process's own, with what may be done with them.

use std::ops::Range;
use std::ptr;

/// Addresses that nothing else in this process has.
#[derive(Debug)]
pub(super) struct Pages {
    base: *mut u8,
    len: usize,
}

// SAFETY: it owns its addresses, and every method is a call of the system, which any thread may
// make.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

/// The allowed accesses to a page; any other is a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    ReadWrite,
}

impl Pages {
    /// Reserves so many bytes, whole pages, of which none may be touched. They take no memory.
    /// `None` where the system has no such range of addresses.
    pub(super) fn reserve(len: usize) -> Option<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
        // SAFETY: a new mapping at an address of the system's choice touches nothing that is there.
        let base = unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
        (base != libc::MAP_FAILED).then_some(Self {
            base: base.cast(),
            len,
        })
    }

    /// The first byte.
    pub(super) fn base(&self) -> *mut u8 {
        self.base
    }

    /// All addresses.
    pub(super) fn addresses(&self) -> Range<usize> {
        self.base.addr()..self.base.addr() + self.len
    }

    /// Allows something with whole pages, which are counted in bytes from the first. Whether the
    /// system does so.
    #[must_use]
    pub(super) fn allow(&self, range: Range<usize>, access: Access) -> bool {
        if range.end > self.len {
            return false;
        }
        let access = match access {
            Access::Read => libc::PROT_READ,
            Access::ReadWrite => libc::PROT_READ | libc::PROT_WRITE,
        };
        // SAFETY: the range is a part of this mapping, and nobody has a reference into it: who
        // reads or writes it does so through pointers, and says at each place why that may be done.
        unsafe { libc::mprotect(self.base.add(range.start).cast(), range.len(), access) == 0 }
    }

    /// Frees the memory of whole pages, and forbids to touch them. Whether the system does so.
    #[must_use]
    pub(super) fn forbid(&self, range: Range<usize>) -> bool {
        if range.end > self.len {
            return false;
        }
        if range.is_empty() {
            return true;
        }
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED;
        // SAFETY: what is replaced is a part of this mapping, of which nobody has a reference.
        unsafe {
            let at = self.base.add(range.start).cast();
            libc::mmap(at, range.len(), libc::PROT_NONE, flags, -1, 0) != libc::MAP_FAILED
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's and is given back once; who uses its addresses keeps
        // the value.
        let _ = unsafe { libc::munmap(self.base.cast(), self.len) };
    }
}

/// The size of a page in bytes.
pub(super) fn page_size() -> usize {
    // SAFETY: the call takes a number and returns one.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size)
        .ok()
        .filter(|size| size.is_power_of_two())
        .unwrap_or(1 << 16)
}
