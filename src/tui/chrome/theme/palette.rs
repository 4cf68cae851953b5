//! Themes: the colours of each role.

use std::path::{Path, PathBuf};

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use serde::Deserialize;

use crate::config::ThemeChoice;

use super::Depth;

const DARK: &str = include_str!("../../../../assets/themes/dark.toml");
const LIGHT: &str = include_str!("../../../../assets/themes/light.toml");
const HIGH_CONTRAST: &str = include_str!("../../../../assets/themes/high-contrast.toml");
const COLOUR_BLIND: &str = include_str!("../../../../assets/themes/colour-blind.toml");
const COLOUR_BLIND_LIGHT: &str = include_str!("../../../../assets/themes/colour-blind-light.toml");

/// Minimum contrast of text (WCAG 2, AA).
const READABLE: f64 = 4.5;
/// Share of the text's colour in raised and selected lines on the terminal's own background.
const RAISED_PART: f64 = 0.05;
const QUIET_PART: f64 = 0.85;
const SELECTED_PART: f64 = 0.12;

#[derive(Debug, thiserror::Error)]
pub enum ThemeError {
    #[error("cannot read the theme {path}: {error}")]
    Read { path: PathBuf, error: std::io::Error },
    #[error("the theme {path} has a mistake:\n{message}")]
    Parse { path: PathBuf, message: String },
}

#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not a colour; write \"#rrggbb\"")]
struct NoColour(String);

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Theme {
    Names,
    Plain,
    Colours(Box<Palette>, Depth),
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Palette {
    background: Rgb,
    selected: Rgb,
    /// Header, bands and trusted lines; `None` is a tint of text on the background.
    raised: Option<Rgb>,
    text: Rgb,
    /// Read rows, and foreign text that does not lead; `None` is a tint of text on the background.
    quiet: Option<Rgb>,
    dim: Rgb,
    /// The line before foreign text; `None` is the colour of keys.
    gutter: Option<Rgb>,
    good: Rgb,
    bad: Rgb,
    warn: Rgb,
    key: Rgb,
    token: Rgb,
    /// Hues of source texts; `None` shows them in the colour of text.
    name: Option<Rgb>,
    value: Option<Rgb>,
    /// Keep the terminal's background instead of painting one.
    #[serde(skip)]
    keeps_background: bool,
}

impl<'de> Deserialize<'de> for Rgb {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let wrong = || serde::de::Error::custom(NoColour(text.clone()));
        Self::parse(&text).ok_or_else(wrong)
    }
}

impl Theme {
    /// Loads the theme of the first frame. Reads a file if the choice is one.
    pub(crate) fn load(choice: &ThemeChoice, depth: Depth) -> Result<Self, ThemeError> {
        let palette = match choice {
            ThemeChoice::Auto | ThemeChoice::Terminal => return Ok(Self::names(depth)),
            ThemeChoice::Dark => Palette::parse(DARK, Path::new("dark")),
            ThemeChoice::Light => Palette::parse(LIGHT, Path::new("light")),
            ThemeChoice::HighContrast => Palette::parse(HIGH_CONTRAST, Path::new("high-contrast")),
            ThemeChoice::ColourBlind => Palette::parse(COLOUR_BLIND, Path::new("colour-blind")),
            ThemeChoice::ColourBlindLight => {
                Palette::parse(COLOUR_BLIND_LIGHT, Path::new("colour-blind-light"))
            }
            ThemeChoice::File(path) => {
                let read = std::fs::read_to_string(path)
                    .map_err(|error| ThemeError::Read { path: path.clone(), error })?;
                Palette::parse(&read, path)
            }
        }?;
        Ok(Self::of(palette, depth))
    }

    /// Returns the theme for a terminal with this background: the light or dark one, drawn on that background if
    /// everything stays readable on it, and on its own otherwise.
    pub(crate) fn on(background: Rgb, depth: Depth) -> Self {
        let (text, name) = if background.is_light() { (LIGHT, "light") } else { (DARK, "dark") };
        let Ok(mut palette) = Palette::parse(text, Path::new(name)) else { return Self::names(depth) };
        let there = palette.on(background).without_faint_hues(depth);
        if there.is_readable(depth) {
            palette = there;
        }
        Self::of(palette, depth)
    }

    /// Returns true if the theme depends on the terminal's background.
    pub(crate) fn asks(choice: &ThemeChoice, depth: Depth) -> bool {
        *choice == ThemeChoice::Auto && matches!(depth, Depth::Indexed | Depth::Full)
    }

    fn of(palette: Palette, depth: Depth) -> Self {
        match depth {
            Depth::None | Depth::Names => Self::names(depth),
            Depth::Indexed | Depth::Full => Self::Colours(Box::new(palette), depth),
        }
    }

    fn names(depth: Depth) -> Self {
        if depth == Depth::None { Self::Plain } else { Self::Names }
    }

    pub(crate) fn paint(&self, buf: &mut Buffer) {
        match self {
            Self::Names => buf.content.iter_mut().for_each(|cell| few_colours(cell, true)),
            Self::Plain => buf.content.iter_mut().for_each(|cell| few_colours(cell, false)),
            Self::Colours(palette, depth) => {
                let roles = Roles::of(palette, *depth);
                buf.content.iter_mut().for_each(|cell| roles.paint(cell));
            }
        }
    }
}

impl Palette {
    fn parse(text: &str, path: &Path) -> Result<Self, ThemeError> {
        toml::from_str(text)
            .map_err(|error| ThemeError::Parse { path: path.to_owned(), message: error.to_string() })
    }

    fn on(&self, background: Rgb) -> Self {
        let selected = background.mixed(self.text, SELECTED_PART);
        Self { background, selected, raised: None, keeps_background: true, ..self.clone() }
    }

    fn raised(&self) -> Rgb {
        self.raised.unwrap_or_else(|| self.background.mixed(self.text, RAISED_PART))
    }

    fn quiet(&self) -> Rgb {
        self.quiet.unwrap_or_else(|| self.background.mixed(self.text, QUIET_PART))
    }

    /// Returns true if every text is readable on every background at this depth.
    fn is_readable(&self, depth: Depth) -> bool {
        let texts = [self.text, self.quiet(), self.dim, self.good, self.bad, self.warn, self.key, self.token];
        let hues = [self.name, self.value].into_iter().flatten();
        texts.into_iter().chain(hues).all(|text| self.can_show(text, depth))
    }

    fn can_show(&self, text: Rgb, depth: Depth) -> bool {
        let shown = |colour: Rgb| match depth {
            Depth::Indexed => Rgb::of_index(colour.indexed()),
            _ => colour,
        };
        let background = if self.keeps_background { self.background } else { shown(self.background) };
        let grounds = [background, shown(self.raised()), shown(self.selected)];
        grounds.iter().all(|ground| shown(text).contrast(*ground) >= READABLE)
    }

    /// Drops hues that are unreadable, so that the terminal's background can be kept.
    fn without_faint_hues(self, depth: Depth) -> Self {
        let [name, value] = [self.name, self.value].map(|hue| hue.filter(|hue| self.can_show(*hue, depth)));
        Self { name, value, ..self }
    }
}

/// Draws with the terminal's colours, or none: selected rows are reversed, and dim text is shown as normal text.
fn few_colours(cell: &mut Cell, colours: bool) {
    cell.modifier -= Modifier::DIM;
    if cell.bg == Color::DarkGray {
        cell.fg = Color::Reset;
        cell.modifier |= Modifier::REVERSED;
    }
    if cell.fg == Color::LightCyan {
        cell.fg = Color::Cyan;
    }
    // The second hue of source texts: blue is unreadable on many terminals, and no other name is free.
    if !colours || matches!(cell.fg, Color::Blue | Color::White) {
        cell.fg = Color::Reset;
    }
    if !colours || matches!(cell.bg, Color::DarkGray | Color::Gray) {
        cell.bg = Color::Reset;
    }
}

struct Roles {
    background: Color,
    /// Background behind text, and colour of text on a coloured background.
    ground: Color,
    raised: Color,
    selected: Color,
    text: Color,
    quiet: Color,
    dim: Color,
    gutter: Color,
    good: Color,
    bad: Color,
    warn: Color,
    key: Color,
    token: Color,
    name: Color,
    value: Color,
}

impl Roles {
    fn of(palette: &Palette, depth: Depth) -> Self {
        let colour = |rgb: Rgb| match depth {
            Depth::Full => rgb.exact(),
            Depth::Indexed | Depth::Names | Depth::None => Color::Indexed(rgb.indexed()),
        };
        let ground = colour(palette.background);
        Self {
            background: if palette.keeps_background { Color::Reset } else { ground },
            ground,
            raised: colour(palette.raised()),
            selected: colour(palette.selected),
            text: colour(palette.text),
            quiet: colour(palette.quiet()),
            dim: colour(palette.dim),
            gutter: colour(palette.gutter.unwrap_or(palette.key)),
            good: colour(palette.good),
            bad: colour(palette.bad),
            warn: colour(palette.warn),
            key: colour(palette.key),
            token: colour(palette.token),
            name: colour(palette.name.unwrap_or(palette.text)),
            value: colour(palette.value.unwrap_or(palette.text)),
        }
    }

    fn paint(&self, cell: &mut Cell) {
        let reversed = cell.modifier.contains(Modifier::REVERSED);
        let dim = cell.modifier.contains(Modifier::DIM);
        cell.modifier -= Modifier::REVERSED | Modifier::DIM;
        let fg = self.role(cell.fg).unwrap_or(if dim { self.dim } else { self.text });
        (cell.fg, cell.bg) = match (cell.bg, self.role(cell.bg)) {
            _ if reversed => (self.ground, fg),
            (_, Some(ground)) => (self.ground, ground),
            (Color::DarkGray, None) => (fg, self.selected),
            (Color::Gray, None) => (fg, self.raised),
            _ => (fg, self.background),
        };
    }

    /// Returns the colour of a role; `None` for the default colour and greys.
    const fn role(&self, name: Color) -> Option<Color> {
        match name {
            Color::Green | Color::LightGreen => Some(self.good),
            Color::Red | Color::LightRed => Some(self.bad),
            Color::Yellow | Color::LightYellow => Some(self.warn),
            Color::White => Some(self.quiet),
            Color::LightCyan => Some(self.gutter),
            Color::Cyan => Some(self.key),
            Color::LightBlue => Some(self.name),
            Color::Blue => Some(self.value),
            Color::Magenta | Color::LightMagenta => Some(self.token),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rgb(pub u8, pub u8, pub u8);

/// Component values of the 256-colour cube.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

impl Rgb {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').filter(|it| it.len() == 6 && it.is_ascii())?;
        let part = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        Some(Self(part(0)?, part(2)?, part(4)?))
    }

    /// Parses a terminal's background colour: `rgb:RRRR/GGGG/BBBB` with one to four digits each.
    pub(crate) fn from_reply(text: &str) -> Option<Self> {
        let body = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?;
        let mut parts = body.split('/').map(|digits| {
            let most = 16_u32.checked_pow(digits.len() as u32)?.checked_sub(1).filter(|most| *most > 0)?;
            let value = u32::from_str_radix(digits, 16).ok()?;
            u8::try_from(value * 255 / most).ok().filter(|_| digits.len() <= 4)
        });
        Some(Self(parts.next()??, parts.next()??, parts.next()??))
    }

    /// Returns true if the colour contrasts more with black than with white.
    pub(crate) fn is_light(self) -> bool {
        self.contrast(Self(0, 0, 0)) > self.contrast(Self(255, 255, 255))
    }

    /// Returns the WCAG 2 contrast, from 1 to 21.
    pub(crate) fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn luminance(self) -> f64 {
        let part = |value: u8| {
            let value = f64::from(value) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(self.0) + 0.7152 * part(self.1) + 0.0722 * part(self.2)
    }

    fn mixed(self, other: Self, part: f64) -> Self {
        let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
        Self(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }

    pub(crate) const fn exact(self) -> Color {
        Color::Rgb(self.0, self.1, self.2)
    }

    /// Returns the nearest of the colours 16 to 255. These are equal on all terminals; the first 16 are user-defined.
    pub(crate) fn indexed(self) -> u8 {
        let all = 16..=255;
        all.min_by_key(|index| self.distance(Self::of_index(*index))).unwrap_or(16)
    }

    /// Returns one of the colours 16 to 255: a cube, then greys.
    pub(crate) fn of_index(index: u8) -> Self {
        if index >= 232 {
            let grey = 8 + 10 * (index - 232);
            return Self(grey, grey, grey);
        }
        let cube = index.saturating_sub(16);
        let step = |nth: u8| STEPS.get(usize::from(nth % 6)).copied().unwrap_or_default();
        Self(step(cube / 36), step(cube / 6), step(cube))
    }

    fn distance(self, other: Self) -> u32 {
        let part = |a: u8, b: u8, weight: u32| weight * u32::from(a.abs_diff(b)).pow(2);
        part(self.0, other.0, 3) + part(self.1, other.1, 4) + part(self.2, other.2, 2)
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use crate::tui::chrome::theme;

    use super::*;

    const SHIPPED: [(&str, &str); 5] = [
        ("dark", DARK),
        ("light", LIGHT),
        ("high-contrast", HIGH_CONTRAST),
        ("colour-blind", COLOUR_BLIND),
        ("colour-blind-light", COLOUR_BLIND_LIGHT),
    ];

    fn shipped() -> impl Iterator<Item = (&'static str, Palette)> {
        SHIPPED.into_iter().map(|(name, text)| (name, Palette::parse(text, Path::new(name)).unwrap()))
    }

    fn coarse(palette: &Palette) -> Palette {
        let near = |rgb: Rgb| Rgb::of_index(rgb.indexed());
        Palette {
            background: near(palette.background),
            selected: near(palette.selected),
            raised: palette.raised.map(near),
            quiet: palette.quiet.map(near),
            gutter: palette.gutter.map(near),
            text: near(palette.text),
            dim: near(palette.dim),
            good: near(palette.good),
            bad: near(palette.bad),
            warn: near(palette.warn),
            key: near(palette.key),
            token: near(palette.token),
            name: palette.name.map(near),
            value: palette.value.map(near),
            keeps_background: false,
        }
    }

    fn painted(theme: &Theme, style: Style) -> Style {
        let mut buf = Buffer::empty(Rect::new(0, 0, 1, 1));
        buf.set_string(0, 0, "x", style);
        theme.paint(&mut buf);
        buf[(0, 0)].style()
    }

    #[test]
    fn shipped_themes_are_readable_in_full_and_256_colours() {
        for (name, palette) in shipped() {
            for (depth, shown) in [("full", palette.clone()), ("256", coarse(&palette))] {
                assert!(shown.is_readable(Depth::Full), "{name} in {depth} colours");
                assert!(shown.selected.contrast(shown.background) > 1.15, "{name} in {depth}: no selection");
            }
        }
    }

    #[test]
    fn good_and_bad_differ_for_the_colour_blind() {
        // Viénot 1999: colours seen by a deuteranope and a protanope, in linear light.
        let seen = |rgb: Rgb, (r, g): (f64, f64), blue: (f64, f64)| {
            let linear = |v: u8| (f64::from(v) / 255.0).powf(2.2);
            let (red, green, b) = (linear(rgb.0), linear(rgb.1), linear(rgb.2));
            let yellow = r * red + g * green;
            (yellow, blue.0 * (red - green) + blue.1 * b)
        };
        for (name, palette) in shipped().filter(|(name, _)| name.starts_with("colour-blind")) {
            for eye in [((0.29275, 0.70725), (-0.02234, 1.0)), ((0.11238, 0.88762), (0.00401, 1.0))] {
                let (good, bad) = (seen(palette.good, eye.0, eye.1), seen(palette.bad, eye.0, eye.1));
                let apart = ((good.0 - bad.0).powi(2) + (good.1 - bad.1).powi(2)).sqrt();
                assert!(apart > 0.25, "{name}: {apart}");
            }
        }
    }

    #[test]
    fn names_become_the_colours_of_the_theme() {
        let full = Theme::load(&ThemeChoice::Dark, Depth::Full).unwrap();
        let indexed = Theme::load(&ThemeChoice::Dark, Depth::Indexed).unwrap();
        let ground = Color::Rgb(0x14, 0x16, 0x1b);

        assert_eq!(painted(&full, theme::GOOD).fg, Some(Color::Rgb(0x7f, 0xd3, 0x91)));
        assert_eq!(painted(&full, theme::PLAIN).bg, Some(ground));
        assert_eq!(painted(&full, theme::DIM).fg, Some(Color::Rgb(0x9a, 0xa3, 0xb2)));
        assert!(!painted(&full, theme::DIM).add_modifier.contains(Modifier::DIM));
        assert!(matches!(painted(&indexed, theme::GOOD).fg, Some(Color::Indexed(16..))));
        let selected = painted(&full, theme::SELECTED);
        assert_eq!(selected.bg, Some(Color::Rgb(0x2b, 0x34, 0x44)));
        assert!(!selected.add_modifier.contains(Modifier::REVERSED));
    }

    #[test]
    fn without_colours_the_selection_is_still_reversed() {
        for choice in [ThemeChoice::Dark, ThemeChoice::Auto] {
            let plain = Theme::load(&choice, Depth::None).unwrap();
            let selected = painted(&plain, theme::SELECTED.patch(theme::GOOD));
            assert_eq!((selected.fg, selected.bg), (Some(Color::Reset), Some(Color::Reset)));
            assert!(selected.add_modifier.contains(Modifier::REVERSED));
        }
    }

    #[test]
    fn sixteen_colours_are_the_terminals_own() {
        for choice in [ThemeChoice::Dark, ThemeChoice::Auto, ThemeChoice::Terminal] {
            assert_eq!(Theme::load(&choice, Depth::Names).unwrap(), Theme::Names);
        }
        assert_eq!(Theme::load(&ThemeChoice::Auto, Depth::Full).unwrap(), Theme::Names);
        assert_eq!(painted(&Theme::Names, theme::WARN), painted(&Theme::Names, theme::WARN));
    }

    #[test]
    fn terminal_background_is_kept_if_readable() {
        let ground = |theme: &Theme| painted(theme, theme::PLAIN).bg;

        assert_eq!(ground(&Theme::on(Rgb(0xfd, 0xf6, 0xe3), Depth::Full)), Some(Color::Reset), "solarized");
        assert_eq!(ground(&Theme::on(Rgb(0, 0, 0), Depth::Full)), Some(Color::Reset));
        let middle = Theme::on(Rgb(0x80, 0x80, 0x80), Depth::Full);
        assert_eq!(ground(&middle), Some(Color::Rgb(0xfc, 0xfc, 0xfa)), "nothing reads well on middle grey");
    }

    #[test]
    fn no_style_is_blue_or_bright_black() {
        let styles = [
            theme::PLAIN,
            theme::BOLD,
            theme::DIM,
            theme::SELECTED,
            theme::GOOD,
            theme::BAD,
            theme::WARN,
            theme::KEY,
            theme::TOKEN,
            theme::NAME,
            theme::VALUE,
        ];
        for style in styles {
            let fg = painted(&Theme::Names, style).fg;
            assert!(!matches!(fg, Some(Color::Blue | Color::DarkGray | Color::Black | Color::White)));
        }
    }

    #[test]
    fn source_hues_differ_from_all_other_styles() {
        for hue in [theme::NAME, theme::VALUE] {
            assert_eq!(hue, Style::new().fg(hue.fg.unwrap()), "no bold, no dim, no background");
        }
        for (name, palette) in shipped() {
            for (depth, shown) in [("full", palette.clone()), ("256", coarse(&palette))] {
                let all = [shown.good, shown.bad, shown.warn, shown.key, shown.token, shown.text, shown.dim];
                let [one, other] = [shown.name.unwrap(), shown.value.unwrap()];
                for trusted in all {
                    for hue in [one, other] {
                        let apart = hue.distance(trusted);
                        assert!(apart > 5_000, "{name} in {depth}: {hue:?} is like {trusted:?}, {apart}");
                    }
                }
                assert!(one.distance(other) > 10_000, "{name} in {depth}");
            }
        }
    }

    #[test]
    fn missing_or_faint_hues_fall_back_to_text() {
        let mine: Vec<_> =
            DARK.lines().filter(|line| !line.starts_with("name") && !line.starts_with("value")).collect();
        let mine = Palette::parse(&mine.join("\n"), Path::new("mine.toml")).unwrap();
        let text = mine.text.exact();
        let theme = Theme::of(mine, Depth::Full);
        for hue in [theme::NAME, theme::VALUE] {
            assert_eq!(painted(&theme, hue).fg, Some(text));
        }

        let mut faint = Palette::parse(DARK, Path::new("dark")).unwrap();
        faint.name = Some(Rgb(0x40, 0x40, 0x60));
        assert!(!faint.is_readable(Depth::Full));
        let kept = faint.without_faint_hues(Depth::Full);
        assert!(kept.is_readable(Depth::Full) && kept.name.is_none() && kept.value.is_some());
    }

    #[test]
    fn theme_error_names_the_line() {
        let broken = DARK.replace("#14161b", "blue");
        let error = Palette::parse(&broken, Path::new("mine.toml")).unwrap_err().to_string();
        assert!(
            error.contains("mine.toml") && error.contains("line 2") && error.contains("#rrggbb"),
            "{error}"
        );
        let extra = format!("{DARK}\nborder = \"#000000\"\n");
        assert!(Palette::parse(&extra, Path::new("mine.toml")).unwrap_err().to_string().contains("border"));
    }

    #[test]
    fn terminal_colour_replies_are_parsed() {
        assert_eq!(Rgb::from_reply("rgb:1e1e/ffff/0000"), Some(Rgb(0x1e, 0xff, 0)));
        assert_eq!(Rgb::from_reply("rgb:f/0/8"), Some(Rgb(255, 0, 136)));
        assert_eq!(Rgb::from_reply("rgba:ff/ff/ff/80"), Some(Rgb(255, 255, 255)));
        for wrong in ["", "rgb:", "rgb:12", "rgb:12/34", "rgb:x/y/z", "rgb:12345/0/0", "rgb://", "red"] {
            assert_eq!(Rgb::from_reply(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn contrast_matches_wcag() {
        let (black, white) = (Rgb(0, 0, 0), Rgb(255, 255, 255));
        assert!((black.contrast(white) - 21.0).abs() < 0.01);
        assert!((Rgb(0x76, 0x76, 0x76).contrast(white) - 4.54).abs() < 0.01, "the grey everybody cites");
        assert!(white.is_light() && !black.is_light() && Rgb(0xfd, 0xf6, 0xe3).is_light());
    }

    #[test]
    fn indexed_colours_map_to_themselves() {
        for index in 16..=255_u8 {
            let colour = Rgb::of_index(index);
            assert_eq!(Rgb::of_index(colour.indexed()), colour, "{index}");
        }
        assert_eq!(Rgb(0xff, 0xff, 0xff).indexed(), 231);
    }
}
