//! Where keys and pasted text go: what lies on top takes them.

use crossterm::event::KeyEvent;

use crate::tui::command::Place;
use crate::tui::keymap::Chord;
use crate::tui::model::{EditField, Focus, Modal, Model, Overlay};
use crate::tui::msg::Effect;

use super::{edit, filter, find, leave, overlay, reason, review, settle, watch};

/// Where keys go now.
pub(in crate::tui) fn places(model: &Model) -> &'static [Place] {
    match &model.overlay {
        Some(Overlay::Help(_)) => &[Place::Help, Place::Anywhere],
        Some(Overlay::Palette(_)) => &[Place::Palette, Place::Anywhere],
        None => places_beneath(model),
    }
}

/// Where they go when nothing lies over it, the innermost place first.
pub(in crate::tui) fn places_beneath(model: &Model) -> &'static [Place] {
    match (&model.modal, model.focus) {
        (Some(Modal::Edit(_) | Modal::EditSoon { .. }), _) => &[Place::Edit, Place::Anywhere],
        (Some(Modal::Reason(_)), _) => &[Place::Reason, Place::Anywhere],
        (Some(Modal::Review(_)), _) => &[Place::Review, Place::Anywhere],
        (Some(Modal::Report(_)), _) => &[Place::Report, Place::Anywhere],
        (Some(Modal::Settle(sheet)), _) if sheet.typing => &[Place::Reason, Place::Anywhere],
        (Some(Modal::Settle(_)), _) => &[Place::Settle, Place::Anywhere],
        (Some(Modal::Links(_)), _) => &[Place::Links, Place::Anywhere],
        (Some(Modal::Quit(_)), _) => &[Place::Quit, Place::Anywhere],
        (None, _) if find::is_typing(model) => &[Place::Search, Place::Anywhere],
        (Some(Modal::Filter(_) | Modal::Saved), _) => &[Place::Filter, Place::Anywhere],
        (None, _) if model.watches() => &[Place::Watch, Place::Anywhere],
        (None, _) if model.zoom => &[Place::Preview, Place::Inbox, Place::Anywhere],
        (None, Focus::Preview) => &[Place::Preview, Place::Inbox, Place::Anywhere],
        (None, Focus::List) => &[Place::List, Place::Inbox, Place::Anywhere],
    }
}

/// Text is typed here: whatever a character is bound to elsewhere, it is a character.
pub(super) fn takes_text(model: &Model, chord: Chord) -> bool {
    if model.overlay.is_some() {
        return overlay::takes(model, chord);
    }
    match &model.modal {
        Some(Modal::Edit(form)) => form.field == EditField::Text,
        Some(Modal::Settle(sheet)) => sheet.typing,
        Some(Modal::EditSoon { .. } | Modal::Reason(_) | Modal::Filter(_)) => true,
        Some(Modal::Review(_) | Modal::Report(_) | Modal::Links(_) | Modal::Quit(_) | Modal::Saved) => false,
        None => find::is_typing(model),
    }
}

/// A key that is no command: text, where text is taken.
pub(super) fn typed(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    if model.overlay.is_some() {
        return overlay::typed(model, key);
    }
    match &model.modal {
        None if find::is_typing(model) => find::typed(model, key),
        None if model.watches() => {
            watch::stray(model, key);
            Vec::new()
        }
        Some(Modal::Edit(form)) if form.field == EditField::Text => edit::typed(model, key),
        Some(Modal::Edit(_)) => edit::button_key(model, key),
        Some(Modal::Reason(_)) => reason::typed(model, key),
        Some(Modal::Settle(_)) => settle::typed(model, key),
        Some(Modal::Review(_)) => review::typed(model, key),
        Some(Modal::Quit(_)) => leave::typed(model, key),
        Some(Modal::Filter(_)) => filter::typed(model, key),
        Some(Modal::Saved) => filter::saved_key(model, key),
        Some(Modal::EditSoon { .. } | Modal::Report(_) | Modal::Links(_)) | None => Vec::new(),
    }
}

pub(super) fn pasted(model: &mut Model, text: &str) -> Vec<Effect> {
    if model.overlay.is_some() {
        return overlay::pasted(model, text);
    }
    match &model.modal {
        None if find::is_typing(model) => find::pasted(model, text),
        Some(Modal::Edit(_)) => edit::pasted(model, text),
        Some(Modal::Reason(_)) => reason::pasted(model, text),
        Some(Modal::Settle(sheet)) if sheet.typing => settle::pasted(model, text),
        Some(Modal::Filter(_)) => filter::pasted(model, text),
        Some(
            Modal::EditSoon { .. }
            | Modal::Review(_)
            | Modal::Report(_)
            | Modal::Settle(_)
            | Modal::Links(_)
            | Modal::Quit(_)
            | Modal::Saved,
        )
        | None => {
            model.warn(format!(
                "ignored a paste of {} characters: text goes into a form only",
                text.chars().count()
            ));
            Vec::new()
        }
    }
}

/// What is pasted into a field of one line.
pub(super) fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}
