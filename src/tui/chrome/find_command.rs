//! Finds commands by words and keys, for the palette and the help overlay.

use std::borrow::Cow;

use ratatui::layout::Rect;

use crate::config::Glyphs;
use crate::domain::DecisionKind;
use crate::tui::chrome::theme::Mark;
use crate::tui::chrome::words;
use crate::tui::core::command::{ARGUMENT_COMMANDS, AskSpec, COMMANDS, Group, KeyContext, Spec};
use crate::tui::core::keymap::{Keymap, short};
use crate::tui::core::layout::{above_message, sheet, sheet_text};
use crate::tui::core::model::Model;
use crate::tui::preview::state::told_in;

#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Command {
        spec: &'static Spec,
        /// The command works where the palette was opened.
        here: bool,
    },
    /// A command with the argument typed after its name.
    ArgumentCommand(&'static AskSpec, String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HelpLine {
    Heading(String),
    Legend(Cow<'static, str>),
    Key { keys: String, help: String, name: &'static str },
    More(String),
    Blank,
}

fn marks(glyphs: Glyphs) -> [String; 2] {
    let all = [
        (Mark::Unread, "unread"),
        (Mark::Read, "read"),
        (Mark::Decided(DecisionKind::Approve), "approve"),
        (Mark::Decided(DecisionKind::ApproveWithEdits), "edit"),
        (Mark::Decided(DecisionKind::Reject), "exclude"),
        (Mark::Decided(DecisionKind::Retry), "retry"),
    ];
    let said = all.map(|(mark, word)| format!("{} {word}", mark.glyph(glyphs)));
    let (sending, lost) = (Mark::Sending.glyph(glyphs), Mark::Unknown.glyph(glyphs));
    [said.join("   "), words::other_marks(sending, lost)]
}

/// Width of the key column. Columns.
pub(crate) const KEYS: usize = 18;
/// Width from which the command's name is shown next to its help text. Columns.
const NAMED: usize = 60;

/// Returns the palette's rows for the typed text: best matches first, commands that do not work here last.
pub(crate) fn entries(model: &Model, typed: &str) -> Vec<Entry> {
    let typed = typed.trim_start_matches([':', ' ']);
    if let Some(asked) = typed.split_once(' ').and_then(|(name, rest)| asked(name, rest.trim())) {
        return asked;
    }
    let places = model.places_beneath();
    let words = Words::of(typed);
    let commands = COMMANDS.iter().filter_map(|spec| {
        let here = spec.places.iter().any(|place| places.contains(place));
        let rank = words.rank(spec, &model.settings.keymap)?;
        // A command typed by its full name stays on top; running it says that it does not work here.
        let named = rank == 0 && !typed.is_empty();
        Some((rank + if here || named { 0 } else { 100 }, Entry::Command { spec, here }))
    });
    let asks = ARGUMENT_COMMANDS.iter().filter_map(|spec| {
        let rank = words.rank_text(spec.name, spec.help, "")?;
        Some((rank, Entry::ArgumentCommand(spec, String::new())))
    });
    let mut found: Vec<_> = commands.chain(asks).collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, entry)| entry).collect()
}

/// Returns the values that match the argument typed after a command's name.
fn asked(name: &str, argument: &str) -> Option<Vec<Entry>> {
    let spec = ARGUMENT_COMMANDS.iter().find(|spec| spec.name == name)?;
    if spec.values.is_empty() {
        return Some(vec![Entry::ArgumentCommand(spec, argument.to_owned())]);
    }
    let fitting = spec.values.iter().filter(|value| value.starts_with(argument));
    let mut entries: Vec<_> =
        fitting.map(|value| Entry::ArgumentCommand(spec, (*value).to_owned())).collect();
    if entries.is_empty() {
        entries.push(Entry::ArgumentCommand(spec, argument.to_owned()));
    }
    Some(entries)
}

impl Entry {
    pub(crate) fn completed(&self) -> String {
        match self {
            Self::Command { spec, .. } => spec.name.to_owned(),
            Self::ArgumentCommand(spec, argument) => format!("{} {argument}", spec.name),
        }
    }
}

pub(crate) fn help_parts(model: &Model, screen: Rect) -> (Rect, Rect, Rect) {
    let area = above_message(&model.layout_in(screen), screen);
    let outer = sheet(area, 100, area.height);
    let body = sheet_text(outer);
    let query = Rect { height: 1.min(body.height), ..body };
    let list = Rect { y: body.y + query.height, height: body.height - query.height, ..body };
    (outer, query, list)
}

/// Returns the help overlay's lines: commands that work here first. With a search text, only its matches.
pub(crate) fn help(model: &Model, typed: &str, width: usize) -> Vec<HelpLine> {
    let keymap = &model.settings.keymap;
    let mut lines = Vec::new();
    if !typed.trim().is_empty() {
        let words = Words::of(typed);
        let ranked = COMMANDS.iter().filter_map(|spec| Some((words.rank(spec, keymap)?, spec)));
        let mut found: Vec<_> = ranked.collect();
        found.sort_by_key(|(rank, _)| *rank);
        for (_, spec) in found {
            row(spec, keymap, width, &mut lines);
        }
        return lines;
    }
    let places = model.places_beneath();
    let is_here = |spec: &Spec| spec.places.iter().any(|place| places.contains(place));
    if places.contains(&KeyContext::Inbox) {
        let told = model.told_here();
        if !told.is_empty() {
            lines.push(HelpLine::Heading("THIS ACTION".to_owned()));
            let rows = told_in(&told, u16::try_from(width).unwrap_or(u16::MAX));
            lines.extend(rows.into_iter().map(|row| HelpLine::Legend(row.plain().into())));
            lines.push(HelpLine::Blank);
        }
        lines.extend(marks(model.settings.glyphs).map(|line| HelpLine::Legend(line.into())));
        lines.push(HelpLine::Blank);
    }
    lines.push(HelpLine::Heading(format!(
        "HERE: {}",
        places.first().map_or("everywhere", |place| place.title())
    )));
    section(&mut lines, keymap, width, is_here);
    lines.push(HelpLine::Heading("ELSEWHERE".to_owned()));
    section(&mut lines, keymap, width, |spec| !is_here(spec));
    lines
}

fn section(lines: &mut Vec<HelpLine>, keymap: &Keymap, width: usize, belongs: impl Fn(&Spec) -> bool) {
    for group in Group::ALL {
        let specs = || COMMANDS.iter().filter(|spec| spec.group == group && belongs(spec));
        if specs().next().is_some() {
            lines.push(HelpLine::Heading(group.title().to_owned()));
            specs().for_each(|spec| row(spec, keymap, width, lines));
            lines.push(HelpLine::Blank);
        }
    }
}

fn row(spec: &'static Spec, keymap: &Keymap, width: usize, lines: &mut Vec<HelpLine>) {
    let keys: Vec<String> = keymap.keys(spec.command).iter().map(|key| short(key)).collect();
    let keys = if keys.is_empty() { words::NO_KEY.to_owned() } else { keys.join(" ") };
    let room = width.saturating_sub(KEYS + 1).clamp(20, NAMED.max(width.saturating_sub(KEYS + 24)));
    let mut parts = wrapped(spec.help, room).into_iter();
    let help = parts.next().unwrap_or_default();
    lines.push(HelpLine::Key { keys, help, name: spec.name });
    lines.extend(parts.map(HelpLine::More));
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

struct Words {
    words: Vec<String>,
}

impl Words {
    fn of(typed: &str) -> Self {
        Self { words: typed.split_whitespace().map(str::to_owned).collect() }
    }

    /// Returns the rank of a command, 0 for the best; `None` if a word does not match.
    fn rank(&self, spec: &Spec, keymap: &Keymap) -> Option<usize> {
        let keys = keymap.keys(spec.command);
        self.words.iter().try_fold(0, |sum, word| {
            let is_key = |key: &&str| **key == **word || short(key) == **word;
            let named = |key: &&str| word.chars().count() > 1 && key.eq_ignore_ascii_case(word);
            if keys.iter().any(|key| is_key(key) || named(key)) {
                return Some(sum);
            }
            Some(sum + word_rank(word, spec.name, spec.help, spec.also)?)
        })
    }

    fn rank_text(&self, name: &str, help: &str, also: &str) -> Option<usize> {
        self.words.iter().try_fold(0, |sum, word| Some(sum + word_rank(word, name, help, also)?))
    }
}

fn word_rank(word: &str, name: &str, help: &str, also: &str) -> Option<usize> {
    let word = word.to_lowercase();
    let whole = |text: &str| text.split(' ').any(|other| other == word);
    // A single letter is a key, of placet or of another program.
    if word.chars().count() == 1 {
        return whole(also).then_some(4);
    }
    let begins = |text: &str| {
        text.split(|c: char| !c.is_alphanumeric()).any(|other| other.to_lowercase().starts_with(&word))
    };
    match () {
        () if name == word => Some(0),
        () if name.starts_with(&word) => Some(1),
        () if begins(name) => Some(2),
        () if begins(also) => Some(3),
        () if begins(help) => Some(4),
        () if name.contains(&word) || help.to_lowercase().contains(&word) => Some(5),
        () => None,
    }
}
