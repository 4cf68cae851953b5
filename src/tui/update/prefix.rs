//! The key after a prefix. One that means nothing there does nothing, whatever it means by itself.

use crate::text;
use crate::tui::command::{Command, Place};
use crate::tui::keymap::{Chord, Lookup, short};
use crate::tui::model::{Model, Tone};
use crate::tui::msg::Effect;

/// A prefix was followed by a key that nothing is bound to. Esc leaves in silence; what works everywhere still does.
pub(super) fn ended(model: &mut Model, places: &[Place], last: Chord) -> Vec<Effect> {
    let keymap = &model.settings.keymap;
    let before: Vec<Chord> = model.chords.iter().copied().take(model.chords.len() - 1).collect();
    let alone = keymap.lookup(&[last], places);
    let anywhere = keymap.lookup(&[last], &[Place::Anywhere]);
    let follows = keymap.following(&before, places);
    model.chords.clear();
    match (alone, anywhere) {
        (Lookup::Command(Command::Back), _) => Vec::new(),
        (_, Lookup::Command(command)) => super::given(model, command),
        _ => {
            super::review::absorbed(model);
            let keys: Vec<String> = follows.iter().map(|(key, _)| short(key)).collect();
            let written: String = before.iter().map(Chord::to_string).collect();
            let told = format!(
                "{written} {last} means nothing, and did nothing; after {written} comes {}",
                keys.join(" ")
            );
            // A key may be any character.
            model.tell(Tone::Bad, vec![text::line(&told.into())]);
            Vec::new()
        }
    }
}
