//! In which order and groups the list stands, and whether it follows what happens.

use crate::journal::Write;
use crate::tui::command::Command;
use crate::tui::model::{GroupBy, Later, Model, SortBy, Spread};
use crate::tui::msg::Effect;

/// Counts anew what is staged where, when decisions or rows may be others.
pub(super) fn count(model: &mut Model, effects: &[Effect]) {
    // Every decision is saved; what was staged before is there when reconciling begins.
    let changes = |write: &Write| matches!(write, Write::Step { .. } | Write::Position(_) | Write::Settle(_));
    let decided = |effect: &Effect| match effect {
        Effect::Save(writes) => writes.iter().any(changes),
        effect => matches!(effect, Effect::Reconcile),
    };
    if effects.iter().any(decided) || !model.spread.is_of(model) {
        model.spread = Spread::of(model);
    }
}

pub(super) fn sort(model: &mut Model, by: SortBy) -> Vec<Effect> {
    model.queue.drop_range();
    model.queue.sort(by);
    model.say(match by {
        SortBy::Age => "sorted by age: the oldest first",
        SortBy::Risk => "sorted by risk: the most harmful first",
        SortBy::Expiry => "sorted by expiry: what expires next is first",
        SortBy::Tool => "sorted by tool",
        SortBy::Source => "sorted by source",
    });
    Vec::new()
}

pub(super) fn group(model: &mut Model, by: GroupBy) -> Vec<Effect> {
    model.queue.drop_range();
    model.queue.regroup(by);
    let key = model.settings.keymap.key(Command::Unfold);
    model.say(match by {
        GroupBy::Shape => format!("grouped by shape: near-identical actions are one row; {key} opens it"),
        by => format!("grouped by {}", by.word()),
    });
    Vec::new()
}

/// Frozen: counts go on, rows stay as they are. Live again: everything that happened meanwhile.
pub(super) fn freeze(model: &mut Model) -> Vec<Effect> {
    match model.frozen.take() {
        None => {
            model.frozen = Some(Later::default());
            model.say("frozen: the rows stay as they are, the counts go on");
            Vec::new()
        }
        Some(later) => {
            let news = later.len();
            let effects = super::queue::catch_up(model, later);
            if model.message.as_ref().is_none_or(|message| message.at != model.now) {
                model.say(if news == 0 {
                    "live: nothing happened meanwhile".to_owned()
                } else {
                    format!("live: {} caught up with", crate::text::count(news, "change"))
                });
            }
            effects
        }
    }
}

/// By the word for it.
pub(super) fn sort_word(model: &mut Model, word: &str) -> Vec<Effect> {
    let all = [SortBy::Age, SortBy::Risk, SortBy::Expiry, SortBy::Tool, SortBy::Source];
    all.into_iter().find(|by| by.word() == word).map_or_else(Vec::new, |by| sort(model, by))
}

/// By the word for it.
pub(super) fn group_word(model: &mut Model, word: &str) -> Vec<Effect> {
    use GroupBy as G;
    let all = [G::Batch, G::Mission, G::Checkpoint, G::Agent, G::Source, G::Shape];
    all.into_iter().find(|by| by.word() == word).map_or_else(Vec::new, |by| group(model, by))
}
