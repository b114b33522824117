//! Text in constants.

/// Text that the compiler puts together. What is beyond the buffer counts in its length and is left
/// out.
pub(super) struct ConstText<'a> {
    bytes: &'a mut [u8],
    /// The length of the whole text.
    pub(super) len: usize,
}

impl<'a> ConstText<'a> {
    pub(super) const fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, len: 0 }
    }

    pub(super) const fn push_bytes(&mut self, bytes: &[u8]) {
        let capacity = self.bytes.len();
        let begin = if self.len < capacity {
            self.len
        } else {
            capacity
        };
        let room = capacity - begin;
        let fitting = if bytes.len() < room {
            bytes.len()
        } else {
            room
        };
        // At once: a loop over a long source is more than the compiler likes to evaluate.
        let (_, rest) = self.bytes.split_at_mut(begin);
        let (target, _) = rest.split_at_mut(fitting);
        target.copy_from_slice(bytes.split_at(fitting).0);
        self.len += bytes.len();
    }

    pub(super) const fn push(&mut self, text: &str) {
        self.push_bytes(text.as_bytes());
    }

    pub(super) const fn push_number(&mut self, number: usize) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        self.push_bytes(&[b'0' + (number % 10) as u8]);
    }

    pub(super) const fn as_str(&self) -> &str {
        let capacity = self.bytes.len();
        let len = if self.len < capacity {
            self.len
        } else {
            capacity
        };
        match std::str::from_utf8(self.bytes.split_at(len).0) {
            Ok(text) => text,
            // Cut within a character.
            Err(_) => "a text that is too long",
        }
    }
}
