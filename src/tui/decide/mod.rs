//! Deciding: the decision keys and their guards, staging and undo, and the reason or comment of a decision.
//!
//! How it works: a key finds its targets in `update`, the marked rows or else the one at the cursor; `turns` adds the
//! other calls of a turn that its source decides as a whole. The guards refuse unintended keys: pasted, held
//! down, or pressed on a row that just changed (`state::Guard`, `confirm_guard`). `update::approval` returns what an
//! approval of one action stages, or why it is refused; `lock` knows what must be read first.
//! - A key becomes one `DraftJob`, which `job` runs in slices: is each target eligible, then stage them. Undo and redo
//!   are jobs, too. Between slices only keys run that leave the draft alone; the router finishes the job before others.
//! - A job becomes one step of the draft, for undo and for the journal, and is saved when it is complete (`stage::save`).
//! - A decision is bound to the content that was on screen when its key was pressed (`Moment`).
//! - `stage` also drops decisions when their actions were settled or changed, and restores those of the last run.
//! - `reason` is the field for a reason or comment. `take_back` takes back an approval that was already sent.
//!
//! Also tried: all targets at once, which held up the next key for 80 ms at 100,000; a thread, for which the
//! draft would have to be copied, and that takes as long as the work.
//!
//! Weaknesses: the targets of a key are collected in one piece. `Targets` has three forms, so that a key for
//! many actions need not make a decision for each of them before the first slice. An eligibility check that takes long
//! for one action holds up its whole slice.

pub(crate) mod advance;
pub(crate) mod confirm_guard;
mod job;
pub(crate) mod lock;
pub(crate) mod reason;
pub(crate) mod stage;
pub(crate) mod state;
pub(crate) mod take_back;
pub(crate) mod turns;
pub(crate) mod update;
pub(crate) mod words;
