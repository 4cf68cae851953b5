//! Work on many rows, done in slices. The router handles keys between two slices, because a key must not wait for
//! 100,000 rows.

use super::model::Model;
use super::msg::Effect;

/// Work in progress: what is left of it, and the finished part of its result.
pub(crate) trait Job: Sized {
    /// Rows per slice: a few milliseconds.
    const SLICE: usize;

    /// Returns where the model keeps the job between slices. A new job replaces the one before.
    fn place(model: &mut Model) -> &mut Option<Self>;

    /// Processes at most `most` rows. Returns the job if rows are left, or else applies its result.
    fn step(self, model: &mut Model, most: usize) -> Option<Self>;

    fn start(self, model: &mut Model) {
        *Self::place(model) = Some(self);
        Self::resume(model);
    }

    /// Processes the next slice, if a job is in progress.
    fn resume(model: &mut Model) {
        Self::advance(model, Self::SLICE);
        if Self::place(model).is_some() && !model.effects.contains(&Effect::WakeIn(0)) {
            model.effects.push(Effect::WakeIn(0));
        }
    }

    /// Processes all rows that are left, including those of a job that this one starts.
    fn finish(model: &mut Model) {
        while Self::place(model).is_some() {
            Self::advance(model, usize::MAX);
        }
    }

    fn cancel(model: &mut Model) -> Option<Self> {
        Self::place(model).take()
    }

    fn advance(model: &mut Model, most: usize) {
        if let Some(rest) = Self::cancel(model).and_then(|job| job.step(model, most)) {
            *Self::place(model) = Some(rest);
        }
    }
}
