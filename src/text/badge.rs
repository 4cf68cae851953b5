//! One-word warnings about texts that could mislead. List, preview and documents use the same words.

use icu_properties::props::{BidiClass, BidiControl, BinaryProperty as _, EnumeratedProperty as _, Script};

use crate::domain::json::only;

use super::class::{is_base, is_mark, is_ours, is_twin};
use super::identifier::{has_mixed_word, words};
use super::lookalike::{has_false_punctuation, is_styled_word};
use super::units::{Face, Mode, REPEATS, units};

/// Blank lines in a row above this number push the rest out of sight.
pub const LINES: usize = 8;
/// Invisible characters in a row from which they can carry a message.
const MESSAGE: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Badge {
    /// Control characters, which a terminal obeys.
    Control,
    /// Reorders the text around it.
    Bidi,
    Invisible,
    /// A run of invisible characters, which can carry a message.
    Smuggle,
    /// Latin letters mixed with lookalikes of another script in one word.
    MixedScript,
    /// Looks exactly like other punctuation or letters.
    Confusable,
    /// Combining marks without a base, around one, or too many.
    Combining,
    /// Blanks that push the rest out of sight.
    Padding,
    DuplicateKey,
    Broken,
    /// Right-to-left text: a terminal may reorder the line. Not an alarm.
    Rtl,
    /// Box-drawing characters, which frames consist of. Not an alarm.
    BoxDrawing,
}

impl Badge {
    pub const ALL: [Self; 12] = [
        Self::Control,
        Self::Bidi,
        Self::Invisible,
        Self::Smuggle,
        Self::MixedScript,
        Self::Confusable,
        Self::Combining,
        Self::Padding,
        Self::DuplicateKey,
        Self::Broken,
        Self::Rtl,
        Self::BoxDrawing,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Bidi => "bidi",
            Self::Invisible => "invisible",
            Self::Smuggle => "smuggle",
            Self::MixedScript => "mixed-script",
            Self::Confusable => "confusable",
            Self::Combining => "combining",
            Self::Padding => "padding",
            Self::DuplicateKey => "duplicate-key",
            Self::Broken => "broken-string",
            Self::Rtl => "rtl",
            Self::BoxDrawing => "boxes",
        }
    }

    /// Whether ordinary text has this badge, too. It is shown, but does not block approval.
    pub const fn is_note(self) -> bool {
        matches!(self, Self::Rtl | Self::BoxDrawing)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Badges(u16);

impl Badges {
    pub const fn add(&mut self, badge: Badge) {
        self.0 |= 1 << badge as u16;
    }

    pub const fn has(self, badge: Badge) -> bool {
        self.0 & (1 << badge as u16) != 0
    }

    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub fn alarms(self) -> impl Iterator<Item = Badge> {
        self.all().filter(|badge| !badge.is_note())
    }

    pub fn notes(self) -> impl Iterator<Item = Badge> {
        self.all().filter(|badge| badge.is_note())
    }

    fn all(self) -> impl Iterator<Item = Badge> {
        Badge::ALL.into_iter().filter(move |badge| self.has(*badge))
    }
}

pub fn badges(text: &str) -> Badges {
    let mut badges = Badges::default();
    let (mut blank, mut any) = (0, false);
    for line in text.split('\n') {
        let line = line_of_split(line);
        blank = if line.trim().is_empty() { blank + 1 } else { 0 };
        any |= blank > LINES;
        if is_odd(line) {
            of_line(line, &mut badges);
        }
    }
    if any || (text.len() > 1 && text.bytes().all(|byte| byte == b' ')) {
        badges.add(Badge::Padding);
    }
    badges
}

/// Returns the badges of a one-line text, in which a line break counts as a control character.
pub fn badges_of_line(text: &str) -> Badges {
    let mut badges = Badges::default();
    if is_odd(text) {
        of_line(text, &mut badges);
    }
    badges
}

/// Returns the badges of a host, tool or id, in which no other script is ordinary.
pub fn badges_of_identifier(text: &str) -> Badges {
    let mut badges = badges_of_line(text);
    let punycode =
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').any(|it| it.starts_with("xn--"));
    if punycode || (text.chars().any(|c| !c.is_ascii() && is_base(c)) && !badges.has(Badge::MixedScript)) {
        badges.add(Badge::Confusable);
    }
    badges
}

/// The run of spaces that is shown as a number.
const WIDE_GAP: &str = "                                ";

fn line_of_split(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

/// Whether a line is more than printable ASCII without wide gaps. Most text is not and needs no further checks.
fn is_odd(line: &str) -> bool {
    !only(line.as_bytes(), |byte| matches!(byte, b'\t' | 0x20..0x7f))
        || line.contains(WIDE_GAP)
        || line.matches('\t').count() >= REPEATS
}

fn of_line(line: &str, badges: &mut Badges) {
    let mut run = 0;
    for unit in units(line, 0..line.len(), Mode::Text) {
        let (badge, n) = match unit.face {
            Face::Plain => (of_plain(line.get(unit.at..unit.at + unit.bytes).unwrap_or_default()), 1),
            Face::Glyph(_) | Face::Foreign(_) => (None, 1),
            Face::Spaces(_) | Face::Repeat('\t', _) => (Some(Badge::Padding), 1),
            Face::Token(c) => (of_token(c), 1),
            Face::Repeat(c, n) => (of_token(c), n),
        };
        run = if badge == Some(Badge::Invisible) { run + n } else { 0 };
        if let Some(badge) = badge {
            badges.add(badge);
            if run >= MESSAGE {
                badges.add(Badge::Smuggle);
            }
        }
    }
    if has_mixed_word(line) {
        badges.add(Badge::MixedScript);
    }
    if !line.is_ascii() && (words(line).any(is_styled_word) || has_false_punctuation(line)) {
        badges.add(Badge::Confusable);
    }
}

fn of_plain(cluster: &str) -> Option<Badge> {
    let c = cluster.chars().next().filter(|c| !c.is_ascii())?;
    // One mathematical letter is enough.
    if matches!(c, '\u{1d400}'..='\u{1d7ff}') && c.is_alphanumeric() {
        return Some(Badge::Confusable);
    }
    match c {
        '\u{2500}'..='\u{259f}' => Some(Badge::BoxDrawing),
        c if matches!(BidiClass::for_char(c), BidiClass::RightToLeft | BidiClass::ArabicLetter) => {
            Some(Badge::Rtl)
        }
        // Arabic ligatures are neutral in the bidi tables.
        c if Script::for_char(c) == Script::Arabic => Some(Badge::Rtl),
        _ => None,
    }
}

fn of_token(c: char) -> Option<Badge> {
    Some(match c {
        c if is_ours(c) => return None,
        c if c.is_control() => Badge::Control,
        c if BidiControl::for_char(c) => Badge::Bidi,
        c if is_twin(c) => Badge::Confusable,
        '\u{34f}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}' => {
            Badge::Invisible
        }
        '\u{e0000}'.. => Badge::Invisible,
        c if is_mark(c) || is_base(c) => Badge::Combining,
        _ => Badge::Invisible,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        let badges = badges(text);
        badges.alarms().chain(badges.notes()).map(Badge::word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn misleading_text_has_a_badge() {
        assert_eq!(of("a\u{1b}[2J"), "control");
        assert_eq!(of("one\rtwo"), "control");
        assert_eq!(of("pay\u{202e}100\u{200b}"), "bidi invisible");
        assert_eq!(of("ok\u{e0041}\u{e0042}\u{e0043}\u{e0044}"), "invisible smuggle");
        assert_eq!(of("p\u{430}ypal"), "mixed-script");
        assert_eq!(of("rm x\u{37e} ls"), "confusable");
        assert_eq!(of("\u{1d41a}dmin"), "confusable");
        assert_eq!(of("\u{301}abc"), "combining");
        assert_eq!(of(&format!("Z{}algo", "\u{301}".repeat(500))), "combining");
        assert_eq!(of(&format!("ls{};x", " ".repeat(900))), "padding");
        assert_eq!(of(&format!("ls{};x", "\n".repeat(20))), "padding");
        assert_eq!(of(&format!("ls{};x", "\t".repeat(90))), "padding");
    }

    #[test]
    fn ordinary_text_has_no_alarm() {
        let texts = [
            "plain\ttext\r\nmore",
            "Grüße, 世界 👩‍💻 ✓ 3 €",
            "Привет, PDF-файл",
            "10 000 € : « oui »",
            "می‌خواهم",
            "kΩ, λx, Δt, πr²",
            "「名前　説明」",
            "\n\n\nthree",
            "⟦ESC⟧",
        ];
        for text in texts {
            assert_eq!(badges(text).alarms().count(), 0, "{text}: {}", of(text));
        }
        assert_eq!(of("שלום abc"), "rtl");
        assert_eq!(of("├── src"), "boxes");
    }
}
