//! Copies to the clipboard and opens links. Names and links are copied only if they contain no hidden characters,
//! because placet cannot show them where they are pasted.

use crate::domain::{ActionKey, Untrusted};
use crate::inbox::Answer;
use crate::inbox::filter::Filter;
use crate::text;
use crate::text::{PieceKind, hidden};
use crate::tui::chrome::words;
use crate::tui::core::command::Command;
use crate::tui::core::modal::{LinkTarget, LinksSheet, Modal};
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Clip, Effect};
use crate::tui::decide::confirm_guard::is_burst;
use crate::tui::history;
use crate::tui::history::state::ViewKind;
use crate::tui::preview::page::line::PageLine;
use crate::tui::preview::page::links::links as addresses;
use crate::tui::preview::page::made::{Cached, Tab};
use crate::tui::queue::filter;
use crate::tui::queue::slots::Slot;
use crate::tui::queue::state::Cursor;

use super::state::{Focus, Tone};

/// Longest text that terminals copy: xterm accepts 74,994 characters of base64.
const LONGEST: usize = 74_994 / 4 * 3;
const LINKS: usize = 12;
/// Largest input in bytes whose preview is copied as text; it is laid out while the screen waits.
const LONGEST_TEXT: u64 = 1 << 20;
/// A key pressed this soon after a sheet opened was not meant for it. Milliseconds.
const SETTLE: i64 = 300;

pub(crate) fn id(model: &mut Model) {
    let Some(key) = here(model) else { return };
    if let Some(text) = plain(model, key.id.untrusted()) {
        model.effects.push(Effect::Copy(Clip { what: words::THE_ID, text }));
    }
}

pub(crate) fn json(model: &mut Model) {
    let input = |cached: &Cached| cached.action.input.as_str().to_owned();
    let clip = content(model, input).map(|text| Effect::Copy(Clip { what: words::THE_INPUT, text }));
    model.effects.extend(clip);
}

/// Copies the tab as shown, with hidden characters made visible.
pub(crate) fn text(model: &mut Model) {
    let Some(key) = here(model) else { return };
    let size = model.here().map_or(0, |slot| slot.entry.row.size);
    let Some(page) = model.preview.page.as_mut().filter(|page| page.of.key == key) else {
        model.warn(words::PREVIEW_NOT_HERE);
        return;
    };
    if size > LONGEST_TEXT {
        model.warn(words::PREVIEW_TOO_LONG);
        return;
    }
    let line = |line: PageLine| {
        let text: String = line.parts.iter().map(|(_, shown)| shown.plain()).collect();
        text.trim_end().to_owned()
    };
    let lines: Vec<String> = page.lines().map(line).collect();
    model.effects.push(Effect::Copy(Clip { what: words::THE_PREVIEW, text: lines.join("\n") }));
}

pub(crate) fn command(model: &mut Model) {
    let Some(key) = here(model) else { return };
    let Some(id) = plain(model, key.id.untrusted()) else { return };
    let text = show_command(key.source.as_str(), &id);
    model.effects.push(Effect::Copy(Clip { what: words::THE_COMMAND, text }));
}

/// Copies the only link, or shows the list if there are several.
pub(crate) fn link(model: &mut Model) {
    match content(model, links_of).as_deref() {
        None => {}
        Some([only]) => model.effects.push(Effect::Copy(Clip { what: words::THE_LINK, text: only.clone() })),
        Some(_) => links(model),
    }
}

pub(crate) fn links(model: &mut Model) {
    let Some(links) = content(model, links_of) else { return };
    if links.is_empty() {
        model.say(words::NO_LINK);
    } else {
        let links = links.into_iter().map(LinkTarget::Web).collect();
        model.modal = Some(Modal::Links(LinksSheet { links, at: 0, opened: model.now }));
    }
}

/// Returns true if the Context tab is shown and links to other actions.
pub(crate) fn leads(model: &Model) -> bool {
    model.preview.tab == Tab::Context && !targets(model).is_empty()
}

/// Returns the targets of the Context tab: pending actions of the same mission, a duplicate, and earlier decisions on
/// the tool.
fn targets(model: &Model) -> Vec<LinkTarget> {
    let Some(slot) = model.here() else { return Vec::new() };
    let row = &slot.entry.row;
    let mut targets = Vec::new();
    if let Some(mission) = &row.mission {
        let same = |other: &&Slot| {
            other.entry.key != slot.entry.key
                && other.entry.row.mission.as_ref() == Some(mission)
                && other.counts_as_pending()
        };
        let others = model.queue.slots.iter().filter(same).count();
        targets.extend((others > 0).then(|| LinkTarget::Mission(mission.clone(), others)));
    }
    let same = model.queue.same_as(slot, model.now);
    targets.extend(same.filter(|same| same.approved.is_none()).map(|same| LinkTarget::Same(same.key)));
    let told = model.reader.answers.get(&slot.entry.key, Tab::Context);
    if matches!(told.map(|told| told.answer.as_ref()), Some(Ok(Answer::Context(_, Some(_)))))
        && !model.flags_of(slot).any()
    {
        targets.push(LinkTarget::Decided(row.tool.clone()));
    }
    targets
}

/// Goes to the target of the Context tab, or shows the list if there are several.
pub(crate) fn follow(model: &mut Model) {
    let links = targets(model);
    match links.as_slice() {
        [] => model.say(words::NO_OTHER_OF_MISSION),
        [only] => go(model, only.clone()),
        _ => model.modal = Some(Modal::Links(LinksSheet { links, at: 0, opened: model.now })),
    }
}

fn go(model: &mut Model, target: LinkTarget) {
    match target {
        LinkTarget::Web(link) => model.effects.push(Effect::Open(link)),
        LinkTarget::Mission(mission, _) => {
            history::update::close(model);
            model.screen.zoom = false;
            model.screen.focus = Focus::List;
            filter::show(model, Some(Filter::of_mission(&mission)));
        }
        LinkTarget::Same(key) => {
            model.screen.zoom = false;
            model.screen.focus = Focus::List;
            if !model.queue.is_shown(&key) {
                filter::show(model, None);
            }
            model.queue.go_to_identity(&Cursor::Action(key));
        }
        LinkTarget::Decided(tool) => {
            history::update::open(model, ViewKind::Decided);
            filter::show_in_history(model, Some(Filter::of_tool(&tool)));
        }
    }
}

pub(crate) fn open(model: &mut Model) {
    let Some(Modal::Links(sheet)) = &model.modal else { return };
    let (soon, link) = (model.now.since(sheet.opened) < SETTLE, sheet.links.get(sheet.at).cloned());
    if soon || is_burst(model) {
        return;
    }
    model.modal = None;
    if let Some(target) = link {
        go(model, target);
    }
}

pub(crate) fn this_link(model: &mut Model) {
    let Some(Modal::Links(sheet)) = &model.modal else { return };
    let Some(LinkTarget::Web(text)) = sheet.links.get(sheet.at).cloned() else { return };
    model.modal = None;
    model.effects.push(Effect::Copy(Clip { what: words::THE_LINK, text }));
}

/// Reports how the text was copied. If no program could copy it, the terminal is asked to.
pub(crate) fn copied(model: &mut Model, clip: Clip, answer: Result<String, Option<String>>) {
    match answer {
        Ok(how) => {
            let hidden = match hidden(&clip.text) {
                0 => String::new(),
                n => words::hidden_in_it(&text::count(n, words::HIDDEN_CHARACTER)),
            };
            let said = words::copied(clip.what, &text::count(clip.text.len(), "byte"), &how, &hidden);
            model.tell(Tone::Good, vec![text::Shown::ours(said)]);
        }
        Err(_) if clip.text.len() > LONGEST => {
            model.warn(words::too_long_to_copy(clip.what, clip.text.len(), LONGEST));
        }
        Err(_) => model.effects.push(Effect::CopyByTerminal(clip)),
    }
}

pub(crate) fn opened(model: &mut Model, answer: Result<(), String>) {
    match answer {
        Ok(()) => model.say(words::BROWSER_ASKED),
        Err(why) => {
            let said = text::Shown::ours(words::NOT_OPENED);
            let key = model.settings.keymap.key(Command::CopyThisLink);
            let copy = text::Shown::ours(words::copies_a_link(&key));
            model.tell(Tone::Bad, vec![said, text::line(&Untrusted::from(why)), copy]);
        }
    }
}

fn here(model: &mut Model) -> Option<ActionKey> {
    let key = model.here().map(|slot| slot.entry.key.clone());
    if key.is_none() {
        model.say(words::NO_CURSOR);
    }
    key
}

fn content<T>(model: &mut Model, part: impl Fn(&Cached) -> T) -> Option<T> {
    let key = here(model)?;
    let part = model.preview.cached(&key).map(|cached| part(cached));
    if part.is_none() {
        model.warn(words::CONTENT_NOT_HERE);
    }
    part
}

/// Returns foreign text if it contains no hidden characters.
fn plain(model: &mut Model, foreign: &Untrusted) -> Option<String> {
    let shown = text::line(foreign);
    if shown.pieces().iter().any(|piece| piece.look != PieceKind::Plain) {
        model.warn(words::HIDDEN_NOT_COPIED);
        return None;
    }
    Some(shown.plain())
}

/// Quotes the id so that a shell reads it as one word and not as an option.
fn show_command(source: &str, id: &str) -> String {
    let end = if id.starts_with('-') { "-- " } else { "" };
    words::show_command(&shell_words::quote(source), end, &shell_words::quote(id))
}

fn links_of(cached: &Cached) -> Vec<String> {
    let all = addresses(cached);
    all.iter().map(Untrusted::as_raw).filter(|link| is_link(link)).take(LINKS).map(str::to_owned).collect()
}

/// Returns true if the visible text equals the target: ASCII only, and no user name that looks like the host.
fn is_link(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")) else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let printable = text
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'\\' | b'`'));
    printable && !host.is_empty() && !host.contains('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_contain_no_hidden_or_misleading_parts() {
        assert!(is_link("https://linear.app/acme/issue/SUP-1?x=1#top"));
        for no in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://",
            "https://good.com@evil.com/",
            "https://аpple.com/",
            "https://a.com/\u{202e}x",
            "https://a.com/ b",
            "HTTPS//a",
            "https://a.com/\\b",
        ] {
            assert!(!is_link(no), "{no}");
        }
    }

    #[test]
    fn copied_command_quotes_the_id() {
        assert_eq!(show_command("gate", "pa-3f9c"), "placet show --source gate pa-3f9c");
        assert_eq!(show_command("gate", "--help"), "placet show --source gate -- --help");
        for id in ["a b; rm -rf ~", "it's", "$(id)", "a\nb"] {
            let words = shell_words::split(&show_command("gate", id)).unwrap();
            assert_eq!(words.last().map(String::as_str), Some(id));
        }
    }
}
