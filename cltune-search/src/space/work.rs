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

    /// Takes off that many steps, or all that are left, as a limit of its own.
    pub(super) fn share(&mut self, most: u64) -> Self {
        let share = Self::new(self.left.min(most));
        self.left -= share.left;
        share
    }

    /// Puts back what was not used of a share.
    pub(super) const fn give_back(&mut self, share: &Self) {
        self.left += share.left;
    }

    pub(super) const fn is_used_up(&self) -> bool {
        self.left == 0
    }

    /// Takes steps, or all that are left.
    pub(super) fn spend(&mut self, steps: u64) {
        self.left = self.left.saturating_sub(steps);
    }
}
