//! A limit on what building may take.

/// The steps a build may still take.
pub(super) struct Work {
    left: u64,
}

impl Work {
    pub(super) const fn new(steps: u64) -> Self {
        Self { left: steps }
    }

    /// `None` when there are not that many left.
    pub(super) fn take(&mut self, steps: usize) -> Option<()> {
        self.left = self.left.checked_sub(steps as u64)?;
        Some(())
    }

    /// Takes steps, or all that are left.
    pub(super) fn spend(&mut self, steps: u64) {
        self.left = self.left.saturating_sub(steps);
    }
}
