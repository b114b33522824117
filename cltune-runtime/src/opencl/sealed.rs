//! Bytes that are written once: who writes to them later dies of it.

use super::pages::{Access, Pages, page_size};

/// Bytes in pages of their own, which can only be read.
#[derive(Debug)]
pub(crate) struct Sealed {
    pages: Pages,
    len: usize,
}

impl Sealed {
    /// So many bytes, which `write` finds as zeros. `None` where the system has no memory for them,
    /// or does not protect it.
    ///
    /// # Errors
    /// The error of `write`.
    pub(crate) fn new<E>(
        len: usize,
        write: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Option<Self>, E> {
        let Some(pages) = Self::pages(len) else {
            return Ok(None);
        };
        // SAFETY: the pages are as large at least, zero, may be written, and are nobody else's.
        write(unsafe { std::slice::from_raw_parts_mut(pages.base(), len) })?;
        let is_sealed = pages.allow(0..pages.addresses().len(), Access::Read);
        Ok(is_sealed.then_some(Self { pages, len }))
    }

    /// Pages that can be written.
    fn pages(len: usize) -> Option<Pages> {
        let all = len.max(1).checked_next_multiple_of(page_size())?;
        let pages = Pages::reserve(all)?;
        pages.allow(0..all, Access::ReadWrite).then_some(pages)
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes are there, and stay as they are: nobody can write to them, and
        // nobody allows it as long as this lives.
        unsafe { std::slice::from_raw_parts(self.pages.base(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the system would let this process write to an address.
    fn is_writable(address: usize) -> bool {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let line = maps.lines().find(|line| {
            let ends = line.split(' ').next().and_then(|ends| ends.split_once('-'));
            let ends =
                ends.map(|(begin, end)| [begin, end].map(|of| usize::from_str_radix(of, 16)));
            matches!(ends, Some([Ok(begin), Ok(end)]) if (begin..end).contains(&address))
        });
        line.is_some_and(|line| line.split(' ').nth(1).is_some_and(|may| may.contains('w')))
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nobody_can_write_to_what_is_sealed() {
        let bytes: Vec<u8> = (0..10_000).map(|i| i as u8).collect();
        let sealed = Sealed::new(bytes.len(), |target| {
            assert!(target.iter().all(|byte| *byte == 0));
            target.copy_from_slice(&bytes);
            Ok::<_, ()>(())
        });
        let sealed = sealed.unwrap().unwrap();
        assert_eq!(sealed.bytes(), bytes);
        assert!(is_writable(bytes.as_ptr().addr()));
        assert!(!is_writable(sealed.bytes().as_ptr().addr()));
        let empty = Sealed::new(0, |_| Ok::<_, ()>(())).unwrap().unwrap();
        assert!(empty.bytes().is_empty());
        assert_eq!(Sealed::new(5, |_| Err(3)).unwrap_err(), 3);
    }
}
