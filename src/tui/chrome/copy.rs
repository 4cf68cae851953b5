//! Copies to the clipboard and opens links. Names and links are copied only if they contain no hidden characters,
//! because placet cannot show them where they are pasted.

use crate::domain::{ActionKey, Untrusted};
use crate::text;
use crate::text::{PieceKind, hidden};
use crate::tui::chrome::words;
use crate::tui::core::command::Command;
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Clip, Effect};
use crate::tui::edit;
use crate::tui::preview::links_sheet;
use crate::tui::preview::links_sheet::LinkTarget;
use crate::tui::preview::page::line::PageLine;
use crate::tui::preview::page::links::links as addresses;
use crate::tui::preview::page::made::Cached;

use super::state::Tone;

/// Longest text that terminals copy: xterm accepts 74,994 characters of base64.
const LONGEST: usize = 74_994 / 4 * 3;
const LINKS: usize = 12;
/// Largest input in bytes whose preview is copied as text; it is laid out while the screen waits.
const LONGEST_TEXT: u64 = 1 << 20;

pub(crate) fn id(model: &mut Model) {
    let Some(key) = here(model) else { return };
    if let Some(text) = plain(model, key.id.untrusted()) {
        model.effects.push(Effect::Copy(Clip { what: words::THE_ID, text }));
    }
}

pub(crate) fn json(model: &mut Model) {
    let input = |cached: &Cached| cached.action.input.as_str().to_owned();
    let clip = content(model, input).map(|text| Effect::Copy(Clip { what: edit::words::THE_INPUT, text }));
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
        links_sheet::open(model, links.into_iter().map(LinkTarget::Web).collect());
    }
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
