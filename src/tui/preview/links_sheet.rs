//! The sheet that lists links, and going to their targets.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::domain::{ActionKey, Timestamp, Untrusted};
use crate::inbox::Answer;
use crate::inbox::filter::Filter;
use crate::text;
use crate::text::Shown;
use crate::tui::chrome;
use crate::tui::chrome::pen::{Pen, sheet_frame};
use crate::tui::chrome::state::Focus;
use crate::tui::chrome::theme;
use crate::tui::core::command::{Command, Direction, KeyContext, shift};
use crate::tui::core::layout::Layout;
use crate::tui::core::model::{Keys, Model, Sheet};
use crate::tui::core::msg::{Clip, Effect};
use crate::tui::decide::confirm_guard::is_burst;
use crate::tui::history;
use crate::tui::history::state::ViewKind;
use crate::tui::preview::page::made::Tab;
use crate::tui::preview::words;
use crate::tui::queue::filter;
use crate::tui::queue::slots::Slot;
use crate::tui::queue::state::Cursor;

/// A key pressed this soon after a sheet opened was not meant for it. Milliseconds.
const SETTLE: i64 = 300;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinksSheet {
    /// At least one.
    pub links: Vec<LinkTarget>,
    pub at: usize,
    pub opened: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    /// A URL, ASCII only.
    Web(String),
    /// A mission, and its number of other pending actions.
    Mission(Untrusted, usize),
    Same(ActionKey),
    Decided(Untrusted),
}

impl Sheet for LinksSheet {
    fn keys(&self) -> Keys {
        Keys { accept, scroll, ..Keys::of(&[KeyContext::Links, KeyContext::Anywhere]) }
    }

    fn draw(&self, model: &Model, _: &Layout, area: Rect, buf: &mut Buffer) -> Option<Position> {
        let width = 90.min(area.width.saturating_sub(2));
        let room = usize::from(width.saturating_sub(10));
        let label = |target: &LinkTarget| match target {
            LinkTarget::Web(link) => text::line(&Untrusted::from(link.as_str())),
            LinkTarget::Mission(mission, others) => {
                let actions = if *others == 1 { "action" } else { "actions" };
                Shown::ours(words::others_of_mission(*others, actions)).followed_by(text::identifier(mission))
            }
            LinkTarget::Same(key) => {
                Shown::ours(words::SAME_ACTION).followed_by(text::identifier(key.id.untrusted()))
            }
            LinkTarget::Decided(tool) => Shown::ours(words::DECISIONS_ON).followed_by(text::identifier(tool)),
        };
        let web = matches!(self.links.first(), Some(LinkTarget::Web(_)));
        let links: Vec<Vec<Shown>> = self.links.iter().map(|target| label(target).wrap(room)).collect();
        let rows: usize = links.iter().map(Vec::len).sum();
        let key = |command| model.settings.keymap.key(command);
        let (open, copy, back) = (key(Command::Accept), key(Command::CopyThisLink), key(Command::Back));
        let (title, note) = if web {
            (words::OPEN_WHICH_LINK, words::link_keys(&open, &copy, &back))
        } else {
            ("Go where?", words::place_keys(&open, &back))
        };
        let body = sheet_frame(model, area, (width, rows as u16 + 4), title, &note, buf);
        // The selected link is shown in full, even if not all links fit.
        let before: usize = links.iter().take(self.at + 1).map(Vec::len).sum();
        let mut skip = (before + 1).saturating_sub(usize::from(body.height));
        let mut y = 1;
        let mut cursor = None;
        for (nth, rows) in links.iter().enumerate() {
            let here = nth == self.at;
            for (part, row) in rows.iter().enumerate() {
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                let mut pen = Pen::new(buf, body, y).base(if here { theme::SELECTED } else { theme::PLAIN });
                if here && part == 0 {
                    cursor = (y < body.height).then(|| pen.position());
                }
                pen.ours(if here && part == 0 { "> " } else { "  " }, theme::BOLD).shown(row, theme::PLAIN);
                y += 1;
            }
        }
        cursor
    }
}

fn accept(model: &mut Model) {
    let Some(sheet) = model.sheet.get::<LinksSheet>() else { return };
    let (soon, link) = (model.now.since(sheet.opened) < SETTLE, sheet.links.get(sheet.at).cloned());
    if soon || is_burst(model) {
        return;
    }
    model.sheet.close();
    if let Some(target) = link {
        go(model, target);
    }
}

fn scroll(model: &mut Model, way: Direction, by: usize) {
    if let Some(sheet) = model.sheet.get_mut::<LinksSheet>() {
        sheet.at = shift(sheet.at, way, by).min(sheet.links.len().saturating_sub(1));
    }
}

pub(crate) fn open(model: &mut Model, links: Vec<LinkTarget>) {
    model.sheet.open(LinksSheet { links, at: 0, opened: model.now });
}

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
        [] => model.say(chrome::words::NO_OTHER_OF_MISSION),
        [only] => go(model, only.clone()),
        _ => open(model, links),
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

pub(crate) fn this_link(model: &mut Model) {
    let Some(sheet) = model.sheet.get::<LinksSheet>() else { return };
    let Some(LinkTarget::Web(text)) = sheet.links.get(sheet.at).cloned() else { return };
    model.sheet.close();
    model.effects.push(Effect::Copy(Clip { what: chrome::words::THE_LINK, text }));
}
