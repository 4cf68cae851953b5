//! The targets of a key, and where the cursor goes after a decision.

use crate::domain::ActionKey;
use crate::text;
use crate::tui::chrome::state::Tone;
use crate::tui::core::command::Command;
use crate::tui::core::model::Model;
use crate::tui::decide::words;
use crate::tui::queue;
use crate::tui::queue::slots::Slot;

/// Returns the marked, visible, pending actions, or else the one under the cursor. Filtered actions are left alone.
pub(crate) fn targets(model: &Model) -> Vec<ActionKey> {
    if !model.queue.marks.is_empty() {
        let marked = model.queue.marked();
        return marked
            .into_iter()
            .filter_map(|index| model.queue.slot(index))
            .map(|slot| slot.entry.key.clone())
            .collect();
    }
    let here = model.here().filter(|slot| slot.is_pending());
    here.map(|slot| slot.entry.key.clone()).into_iter().collect()
}

/// Moves to the next undecided action after a decision, or unmarks the marked ones.
pub(crate) fn move_on(model: &mut Model) {
    model.decide.decided_in = model.queue.group_here().map(|group| group.key.clone());
    if !model.queue.marks.is_empty() {
        let marked = model.queue.marked();
        let hidden = model.queue.marks_hidden();
        model.queue.turn_marks(&marked);
        if hidden > 0 {
            model.warn(words::hidden_still_marked(hidden));
        }
        return;
    }
    let staged_here = |slot: &Slot| model.decide.draft.get(&slot.entry.key).is_some();
    if model.here().is_some_and(staged_here)
        && let Err(new) = queue::update::advance(model)
    {
        let batch = model.settings.keymap.key(Command::ReviewBatch);
        let what = if model.queue.is_filtered { words::ALL_SHOWN } else { words::ALL };
        let next = model.settings.keymap.key(Command::NextUndecided);
        let said = match new {
            0 => words::all_decided(what, &batch),
            new => words::new_arrived(new, &next, &batch),
        };
        // The message about the whole turn stays.
        let (now, last) = (model.now, model.screen.message.as_mut());
        match last.filter(|message| message.at == now && message.tone == Tone::Plain) {
            Some(message) => message.parts.push(text::Shown::ours(format!("; {said}"))),
            None => model.say(said),
        }
    }
}
