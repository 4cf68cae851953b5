//! Reads out an action's page, in parts in an interactive session. Parts read out count as seen.

use crate::domain::Seen;
use crate::text::Shown;
use crate::tui::core::command::Command;
use crate::tui::core::msg::{Intent, SheetLines, What};
use crate::tui::plain::words;
use crate::tui::preview::page::line::{Kind, PageLine, Window};
use crate::tui::preview::page::made::Tab;
use crate::tui::preview::page::search::Found;

use super::session::{Reading, Session, Spoken, Turn};
use super::{browse, sentences};

pub(crate) fn start(session: &mut Session, tab: Tab) {
    if session.model.here().is_none() {
        return browse::announce(session);
    }
    session.give(Intent::Show(tab));
    session.turn = Turn::Reading(tab);
}

/// Reads out the action once its content is loaded or failed to load. Returns false until then.
pub(crate) fn arrived(session: &mut Session, tab: Tab) -> bool {
    let Some(slot) = session.model.here() else {
        session.turn = Turn::Word;
        browse::announce(session);
        return true;
    };
    let (key, spoken) = (slot.entry.key.clone(), Spoken::of(slot, session.model.now));
    let title = sentences::foreign(&session.model.title_of(slot));
    let head = format!("{}, {title}.", sentences::place(&session.model, slot));
    if let Some(problem) = session.model.preview.problems.get(&key) {
        let said = words::cannot_be_read(&problem.what);
        session.turn = Turn::Word;
        session.say(&said);
        return true;
    }
    let page = session.model.preview.page.as_ref();
    if page.is_none_or(|page| page.of.key != key || page.of.tab != tab) {
        return false;
    }
    // Tabs with a question wait for its answer or problem.
    if tab.question().is_some() && session.model.reader.answers.get(&key, tab).is_none() {
        return false;
    }
    session.turn = Turn::Word;
    session.spoken = Some(spoken);
    session.reading = Some(Reading { key, tab, read: 0 });
    session.say(&head);
    read_on(session);
    true
}

pub(crate) fn more(session: &mut Session) {
    let here = browse::here(&session.model);
    match session.reading.clone().filter(|reading| here.as_ref() == Some(&reading.key)) {
        None => session.say(words::NOTHING_BEING_READ),
        Some(reading) if !is_on_page(session, &reading) => start(session, reading.tab),
        Some(_) => read_on(session),
    }
}

fn is_on_page(session: &Session, reading: &Reading) -> bool {
    let page = session.model.preview.page.as_ref();
    page.is_some_and(|page| {
        page.of.key == reading.key
            && page.of.tab == reading.tab
            && (reading.read < page.len() || !page.is_counted())
    })
}

/// Reads out the next part; all parts in a script.
fn read_on(session: &mut Session) {
    while let Some(left) = read_part(session) {
        match left {
            Left::Nothing => return ended(session),
            Left::Lines(left) if session.how.interactive => {
                return session.say(&words::more_lines(left));
            }
            Left::Lines(_) => {}
            Left::Uncounted => session.tell(What::Wake),
        }
    }
}

enum Left {
    Nothing,
    Lines(usize),
    Uncounted,
}

/// Reads out one screen of lines and notes that they were seen.
fn read_part(session: &mut Session) -> Option<Left> {
    let reading = session.reading.clone()?;
    if reading.read > 0 {
        session.give(Intent::Command(Command::PageDown));
    }
    let model = &session.model;
    let page = model.preview.page.as_ref()?;
    let end = (model.preview.top + usize::from(model.layout().text.height)).min(page.len());
    let left = match page.len().saturating_sub(end) {
        0 if page.is_counted() => Left::Nothing,
        0 => Left::Uncounted,
        left => Left::Lines(left),
    };
    let window = Window { left: 0, width: usize::from(page.of.width) };
    // Like the gutter on the screen: foreign text never starts where placet's words do.
    let gutter = |nth| if page.is_foreign(nth) { "| " } else { "" };
    let row = |nth| format!("{}{}", gutter(nth), said(&page.row(nth, window, Found::default())));
    let lines: Vec<String> = (reading.read..end).map(row).collect();
    session.say_all(&lines);
    session.reading = Some(Reading { read: end.max(reading.read), ..reading });
    session.tell(What::Drawn(SheetLines::default()));
    Some(left)
}

/// Returns a line of a page, with words in place of colours and signs.
fn said(line: &PageLine) -> String {
    let text: String = line.parts.iter().map(|(kind, part)| spoken(*kind, part)).collect();
    let has = |kind| line.parts.iter().any(|(other, _)| *other == kind);
    let bare = || text.trim_start_matches(['-', '+', ' ']).trim_end();
    match () {
        () if has(Kind::Old) => format!("was: {}", bare()),
        () if has(Kind::New) && text.starts_with('+') => format!("becomes: {}", bare()),
        () => text.trim_end().to_owned(),
    }
}

fn spoken(kind: Kind, part: &Shown) -> String {
    let text = part.plain();
    match (kind, text.trim()) {
        (Kind::Warn, "+") => words::LEFT_OUT_OF_PREVIEW.to_owned(),
        (Kind::Warn, warning) if warning.starts_with('!') => text.replacen('!', "Warning:", 1),
        _ => text,
    }
}

fn ended(session: &mut Session) {
    let seen = session.model.here().and_then(|slot| session.model.seen_of(slot));
    let tab = session.reading.as_ref().map(|reading| reading.tab);
    let full = seen == Some(Seen::InFull) && matches!(tab, Some(Tab::Rendered | Tab::Raw));
    session.say(if full { words::END_READ_IN_FULL } else { "End." });
}
