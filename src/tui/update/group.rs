//! A group of near-identical actions: what varies is read before it is asked for.

use crate::domain::ActionKey;
use crate::tui::model::{Cursor, GroupKey, Model};
use crate::tui::msg::{Effect, Loaded};

/// So many actions of a group are read for its table.
const READ: usize = 20;

/// The first actions of the group under the cursor, where they are not known yet.
pub(super) fn read_ahead(model: &mut Model) -> Vec<Effect> {
    let Some(Cursor::Header(key @ GroupKey::Shape(_))) = model.queue.cursor() else { return Vec::new() };
    let Some(group) = model.queue.find_group(key) else { return Vec::new() };
    let preview = &model.preview;
    let known = |key: &&ActionKey| {
        preview.cached(key).is_some() || preview.loading.contains(*key) || preview.problems.contains_key(*key)
    };
    let first = group.slots.iter().take(READ).filter_map(|index| model.queue.slot(*index));
    let wanted: Vec<ActionKey> =
        first.map(|slot| &slot.entry.key).filter(|key| !known(key)).cloned().collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    model.preview.loading.extend(wanted.iter().cloned());
    vec![Effect::Load(wanted)]
}

/// Actions were read; on the header of such a group the screen shows them.
pub(super) fn loaded(model: &mut Model, actions: Vec<Loaded>) -> Vec<Effect> {
    model.dirty |= matches!(model.queue.cursor(), Some(Cursor::Header(GroupKey::Shape(_))));
    super::preview::loaded(model, actions)
}
