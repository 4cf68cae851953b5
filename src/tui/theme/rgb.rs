//! A colour as numbers, and how well two of them can be told apart.

use ratatui::style::Color;

/// Red, green and blue, as sRGB has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// The six steps of the 256-colour cube.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

impl Rgb {
    /// `#rrggbb`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').filter(|it| it.len() == 6 && it.is_ascii())?;
        let part = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        Some(Self(part(0)?, part(2)?, part(4)?))
    }

    /// A terminal's answer to "which background": `rgb:RRRR/GGGG/BBBB`, one to four digits each.
    pub fn from_reply(text: &str) -> Option<Self> {
        let body = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?;
        let mut parts = body.split('/').map(|digits| {
            let most = 16_u32.checked_pow(digits.len() as u32)?.checked_sub(1).filter(|most| *most > 0)?;
            let value = u32::from_str_radix(digits, 16).ok()?;
            u8::try_from(value * 255 / most).ok().filter(|_| digits.len() <= 4)
        });
        Some(Self(parts.next()??, parts.next()??, parts.next()??))
    }

    /// Nearer to white than to black, as an eye sees it.
    pub fn is_light(self) -> bool {
        self.contrast(Self(0, 0, 0)) > self.contrast(Self(255, 255, 255))
    }

    /// The contrast of WCAG 2, from 1 to 21. Text needs 4.5.
    pub fn contrast(self, other: Self) -> f64 {
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

    /// As a cell takes it.
    pub(super) const fn exact(self) -> Color {
        Color::Rgb(self.0, self.1, self.2)
    }

    /// The nearest of the colours 16 to 255, which are the same on every terminal; the first 16 are the reviewer's own.
    pub(super) fn indexed(self) -> u8 {
        let all = 16..=255;
        all.min_by_key(|index| self.distance(Self::of_index(*index))).unwrap_or(16)
    }

    /// What the colours 16 to 255 look like: a cube, then greys.
    pub(super) fn of_index(index: u8) -> Self {
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
    use super::*;

    #[test]
    fn answers_of_terminals_are_read() {
        assert_eq!(Rgb::from_reply("rgb:1e1e/ffff/0000"), Some(Rgb(0x1e, 0xff, 0)));
        assert_eq!(Rgb::from_reply("rgb:f/0/8"), Some(Rgb(255, 0, 136)));
        assert_eq!(Rgb::from_reply("rgba:ff/ff/ff/80"), Some(Rgb(255, 255, 255)));
        for wrong in ["", "rgb:", "rgb:12", "rgb:12/34", "rgb:x/y/z", "rgb:12345/0/0", "rgb://", "red"] {
            assert_eq!(Rgb::from_reply(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn contrast_is_that_of_wcag() {
        let (black, white) = (Rgb(0, 0, 0), Rgb(255, 255, 255));
        assert!((black.contrast(white) - 21.0).abs() < 0.01);
        assert!((Rgb(0x76, 0x76, 0x76).contrast(white) - 4.54).abs() < 0.01, "the grey everybody cites");
        assert!(white.is_light() && !black.is_light() && Rgb(0xfd, 0xf6, 0xe3).is_light());
    }

    #[test]
    fn the_nearest_of_256_is_itself_where_it_is_one_of_them() {
        for index in 16..=255_u8 {
            let colour = Rgb::of_index(index);
            assert_eq!(Rgb::of_index(colour.indexed()), colour, "{index}");
        }
        assert_eq!(Rgb(0xff, 0xff, 0xff).indexed(), 231);
    }
}
