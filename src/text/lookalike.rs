//! Characters that pass for ASCII where that misleads. Fullwidth forms, superscripts and subscripts are ordinary.

use icu_properties::props::{EnumeratedProperty as _, GeneralCategory, Script};
use unicode_normalization::UnicodeNormalization as _;

use super::class::is_mark;

pub(super) fn is_disguised(word: &str) -> bool {
    !word.is_ascii() && word.chars().all(|c| c.is_ascii_alphanumeric() || looks_ascii(c))
}

pub(super) fn is_other_script(c: char) -> bool {
    let script = Script::for_char(c);
    !c.is_ascii() && ![Script::Latin, Script::Common, Script::Inherited].contains(&script)
}

pub(super) fn looks_ascii(c: char) -> bool {
    let plain = || !c.is_ascii() && looks_like(c).is_some_and(|c| c.is_ascii_alphanumeric());
    is_full_width(c) || is_styled(c) || plain()
}

const fn is_full_width(c: char) -> bool {
    matches!(c, '\u{ff01}'..='\u{ff5e}')
}

/// Formatted ASCII letters and digits: bold, script, circled, squared.
pub(super) fn is_styled(c: char) -> bool {
    if matches!(c, '\u{1d400}'..='\u{1d7ff}' | '\u{1f150}'..='\u{1f169}' | '\u{1f170}'..='\u{1f189}' | '\u{1ccd6}'..='\u{1ccf9}')
    {
        return true;
    }
    if c.is_ascii() || is_full_width(c) || is_raised(c) {
        return false;
    }
    // `⒜` decomposes to `(a)`, and `⒈` to `1.`.
    let mut plain = std::iter::once(c).nfkc().filter(|c| !matches!(c, '(' | ')' | '.' | ','));
    plain.next().is_some_and(|c| c.is_ascii_alphanumeric()) && plain.next().is_none()
}

fn is_raised(c: char) -> bool {
    matches!(c, 'ª' | 'º' | '²' | '³' | '¹' | '\u{2070}'..='\u{209f}')
        || GeneralCategory::for_char(c) == GeneralCategory::ModifierLetter
}

/// Whether styled letters or digits are part of a word. A single one is a symbol, such as `ℝ`; circled digits count
/// lists.
pub(super) fn is_styled_word(word: &str) -> bool {
    let digits = word.chars().any(|c| c.is_ascii_digit());
    let letters = word.chars().filter(char::is_ascii_alphabetic).count();
    let (numbers, styled): (Vec<char>, Vec<char>) =
        word.chars().filter(|c| is_styled(*c) || is_styled_number(*c)).partition(|c| is_styled_number(*c));
    let chars = || word.chars().zip(word.chars().skip(1));
    let in_a_row =
        chars().any(|(one, next)| is_styled_number(one) && is_styled_number(next) && !counts(one, next));
    let among_digits = || {
        let chars: Vec<char> = word.chars().collect();
        let inside = |three: &[char]| match three {
            [one, c, other] => one.is_ascii_digit() && is_styled(*c) && other.is_ascii_digit(),
            _ => false,
        };
        // `5ℓ` is a volume.
        is_disguised(word.trim_end_matches('ℓ')) || chars.windows(3).any(inside)
    };
    (!styled.is_empty() && (styled.len() + letters > 1 || digits && among_digits()))
        || (numbers.iter().any(|c| is_styled(*c)) && digits)
        || in_a_row
}

/// A formatted ASCII number: bold, circled, segmented, `⑩`.
fn is_styled_number(c: char) -> bool {
    // Circles without a decomposition: negative, double, sans-serif.
    if matches!(c, '\u{24eb}'..='\u{24ff}' | '\u{2776}'..='\u{2793}' | '\u{1f10b}' | '\u{1f10c}') {
        return true;
    }
    let mut plain = std::iter::once(c).nfkc().filter(|c| !matches!(c, '(' | ')' | '.' | ',')).peekable();
    !c.is_ascii()
        && !is_full_width(c)
        && !is_raised(c)
        && plain.peek().is_some()
        && plain.all(|c| c.is_ascii_digit())
}

/// Consecutive list numbers, such as `①②`.
fn counts(one: char, next: char) -> bool {
    matches!(one, '\u{2460}'..='\u{249b}' | '\u{24eb}'..='\u{24fe}' | '\u{2776}'..='\u{2793}')
        && u32::from(next) == u32::from(one) + 1
}

/// Whether a word mixes ASCII digits with digits of another script or letters that look ASCII. Small letters at its
/// ends are ordinary (`2ο` is Greek, `3х` is Russian) unless they look like digits; capitals are if the word has other
/// letters (`ФАЙЛА2`).
pub(super) fn is_disguised_number(word: &str) -> bool {
    if word.is_ascii() || !word.contains(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let is_latin =
        |c: char| c.is_alphabetic() && Script::for_char(c) == Script::Latin && !is_raised(c) && !is_styled(c);
    let is_foreign = |c: char| {
        is_other_script(c) && !is_mark(c)
            || !c.is_ascii() && !is_full_width(c) && is_latin(c) && looks_ascii(c)
    };
    let is_digit = |c: char| is_foreign(c) && GeneralCategory::for_char(c) == GeneralCategory::DecimalNumber;
    let inner = word.trim_matches(|c: char| !c.is_ascii_digit());
    let inside = inner.chars().any(|c| is_foreign(c) && looks_ascii(c));
    let is_zero = |c: char| is_foreign(c) && matches!(looks_like(c), Some('o' | 'O' | 'l'));
    let ends = word.chars().filter(|c| !c.is_ascii_digit());
    let zeros = ends.clone().all(is_zero) && !ends.eq(['ο']);
    // Scripts without case included.
    let capitals = is_disguised(word) && word.chars().any(|c| !c.is_lowercase() && is_foreign(c));
    inside || zeros || capitals || word.chars().any(is_digit)
}

/// The script of a word with a letter that shows it; `None` for digits and lookalikes alone.
pub(super) fn script_of(word: &str) -> Option<Script> {
    let telling =
        |c: &char| c.is_ascii_alphabetic() || is_other_script(*c) && !is_mark(*c) && !looks_ascii(*c);
    word.chars().find(telling).map(Script::for_char)
}

/// Whether a disguised number is ordinary among words of this script: `формат А4`, but not `37О4`.
pub(super) fn is_ordinary_number(word: &str, script: Script) -> bool {
    let looks_digit =
        |c: char| looks_like(c).is_some_and(|c| c.is_ascii_digit() || matches!(c, 'o' | 'O' | 'l'));
    let is_ordinary = |c: char| c.is_ascii_digit() || Script::for_char(c) == script && !looks_digit(c);
    word.chars().all(is_ordinary)
}

/// Whether a line has a lookalike comma, slash, minus or colon between ASCII digits or in a path, or a lookalike
/// currency sign.
pub(super) fn has_false_punctuation(line: &str) -> bool {
    let around = |at: usize, c: char| {
        let before = line.get(..at).is_some_and(|text| text.ends_with(|c: char| c.is_ascii_digit()));
        let after = line.get(at + c.len_utf8()..);
        before && after.is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit()))
    };
    // An en dash between numbers is a range.
    let is_mark = |c: char| is_false_mark(c) && c != '–' || is_foreign_point(c);
    let false_mark = |(at, c): (usize, char)| is_mark(c) && around(at, c);
    line.char_indices().any(|it| false_mark(it) || is_currency_twin(it.1))
        || line.split_whitespace().any(|token| {
            token.contains(|c: char| is_false_mark(c) && !c.is_alphanumeric()) && is_false_path(token)
        })
}

/// Whether a token becomes a path with ASCII marks. It must contain a word, because such marks also draw lines.
fn is_false_path(token: &str) -> bool {
    let plain = |c: char| looks_like(c).filter(|_| is_false_mark(c)).unwrap_or(c);
    let false_separator = |c: char| is_false_mark(c) && matches!(looks_like(c), Some('/' | '\\' | ':'));
    let path: String = token.chars().map(plain).collect();
    let windows = path.contains(":\\") || path.matches('\\').count() > 1;
    is_path(token)
        || token.contains(false_separator)
            && (is_path(&path) || windows)
            && token.contains(|c: char| c.is_ascii_alphanumeric())
}

fn is_path(token: &str) -> bool {
    let token = token.trim_start_matches(['"', '\'', '(', '[', '<', '`', '«', '“', '„']);
    ["/", "./", "../", "~/"].iter().any(|start| token.starts_with(start) && token.len() > start.len())
        || token.contains("://")
        || token.matches('/').count() > 1
}

/// A comma or point of another script, which is ordinary except between ASCII digits. Not of CJK, whose commas separate.
fn is_foreign_point(c: char) -> bool {
    const COMMAS: [char; 9] = [
        '\u{7f8}', '\u{1363}', '\u{1802}', '\u{1808}', '\u{2e34}', '\u{2e41}', '\u{a60d}', '\u{a6f5}',
        '\u{fe10}',
    ];
    let is_point = || matches!(looks_like(c), Some('.' | '\u{60c}'));
    !c.is_ascii() && COMMAS.contains(&c) || is_sign(c) && is_point()
}

/// Whether a character is a sign. Some modifier letters are drawn as one.
fn is_sign(c: char) -> bool {
    !c.is_ascii()
        && !is_full_width(c)
        && (!c.is_alphanumeric() || GeneralCategory::for_char(c) == GeneralCategory::ModifierLetter)
}

fn is_false_mark(c: char) -> bool {
    is_sign(c) && matches!(looks_like(c), Some(',' | '/' | '-' | ':' | '\\'))
}

fn is_currency_twin(c: char) -> bool {
    let is_currency = |c: char| GeneralCategory::for_char(c) == GeneralCategory::CurrencySymbol;
    let twin =
        || looks_like(c).into_iter().chain(std::iter::once(c).nfkc()).any(|it| it != c && is_currency(it));
    !c.is_ascii() && is_currency(c) && !matches!(c, '\u{ff00}'..='\u{ffef}') && twin()
}

/// The character that this one looks like (UTS 39).
fn looks_like(c: char) -> Option<char> {
    let mut buffer = [0; 4];
    let mut skeleton = unicode_security::skeleton(c.encode_utf8(&mut buffer));
    skeleton.next().filter(|_| skeleton.next().is_none())
}

#[cfg(test)]
mod tests {
    use crate::text::{badges, badges_of_identifier};

    const DISGUISED: &[&str] = &[
        "1\u{c66}\u{c66}",
        "1\u{43e}\u{43e}",
        "1\u{41e}\u{41e}",
        "\u{410}8",
        "5\u{3bf}\u{3bf} EUR",
        "37\u{41e}4",
        "DE89 37\u{41e}4 0044",
        "pay 1\u{966}0 EUR",
        "\u{24d0}dmin",
        "\u{1f170}dmin",
        "\u{2119}ay",
        "paypa\u{217c}",
        "\u{1f150}\u{1f153}",
        "1\u{24ea}0",
        "1\u{201a}000",
        "10\u{2044}20",
        "10\u{2215}20",
        "5\u{2212}3",
        "10\u{2236}30",
        "/etc\u{2215}passwd",
        "/opt/a\u{2010}b",
        "https://a.example\u{2044}x",
        "\u{20a4}100",
        "\u{fe69}100",
        "kim@37\u{41e}4.example",
        "\u{24ab}\u{249c}\u{24b4}pal",
        "\u{1cce5}\u{1ccd6}\u{1ccee}",
        "\u{1fbf1}\u{1fbf0}\u{1fbf0}",
        "\u{1ccf1}\u{1ccf0}\u{1ccf0}",
        "\u{1f102}\u{1f101}",
        "\u{24f5}\u{24ea}",
        "\u{2776}\u{24ff}",
        "\u{2469}\u{24ea} EUR",
        "\u{1d7d7}\u{1d7d8}",
        "1\u{1d0f}0",
        "1\u{1c0}0",
        "5\u{1d0f}\u{1d0f} EUR",
        "\u{2215}etc\u{2215}passwd",
        "src\u{2215}bin\u{2215}x",
        "https\u{2236}\u{2215}\u{2215}a.example",
        "C\u{a789}\\Windows\u{29f5}x",
        "C:\u{2216}Windows",
        "bin\u{29f5}a\u{29f5}x",
        "pay 1\u{2134}0",
        "\u{20ac}1\u{2134}0",
        "100\u{2134}",
        "2\u{2134}26",
        "$\u{217c}00",
        "10\u{217c}",
        "1\u{2160}0",
        "1\u{2170}0",
        "\u{216f}100",
        "\u{4ef7}1\u{2134}0\u{5186}",
        "GB82 WEST \u{217c}234",
        "DE89 3704 0044 0532 013\u{2134} 00",
        "1\u{a4f3}\u{a4f3}",
        "\u{a4e2}100",
        "1\u{2d54}\u{2d54}",
        "1\u{12d0}\u{12d0}",
        "1\u{60c}000",
        "1\u{66c}000",
        "12\u{2d0}30",
        "1\u{2e34}5",
        "1\u{a4f8}000",
        "1\u{a4f9}000",
        "1\u{1363}000",
        "\u{444}\u{43e}\u{440}\u{43c}\u{430}\u{442} 37\u{41e}4",
        "\u{444}\u{43e}\u{440}\u{43c}\u{430}\u{442} 10\u{417}",
        "size \u{410}8 \u{43b}\u{438}\u{441}\u{442}",
        "\u{441}\u{447}\u{451}\u{442} DE89 37\u{410}4",
        "%p\u{430}ypal",
    ];

    #[test]
    fn disguised_letters_digits_and_signs_are_flagged() {
        for text in DISGUISED {
            assert!(badges(text).alarms().next().is_some(), "{text}");
        }
        assert!(badges_of_identifier("37\u{41e}4").alarms().next().is_some());
    }

    #[test]
    fn ordinary_writing_is_not_flagged() {
        let ordinary = [
            "１２３ ＡＢＣ",
            "x²+y³, H₂O, 1ª vez",
            "2010–2012",
            "2ο κεφάλαιο",
            "в 3х экземплярах",
            "сравнить ФАЙЛ1 и ФАЙЛА2",
            "① Ⅱ ℝ ℹ ℓ",
            "20 °C, 5 €, £3, ¥5, ₹7, ₩8",
            "第3章、2つ",
            "HTTPサーバーのURLを設定、Ａ４サイズ",
            "サーバー・クライアント（v2.0）：10：30",
            "Файл README.md, IP-адрес 10.0.0.1, 5 МБ, 3-й",
            "Το αρχείο config.toml, 64-bit, 10 λεπτά",
            "2 × 3 ÷ 4 = 1½, a ≤ b, ∑ x_i, 3 · 10⁻⁶, λ = 550 nm, 5 µm, 10 Ω",
            "1.234,50 €, 99 €/Monat, ₿0.1, 5 ₽, 20 zł, 3 ¢",
            "السعر ١٢٫٥ ریال، الإصدار 2.0",
            "मूल्य १२३ रुपये, संस्करण 2.0",
            "Seite 10–12, pages 3 – 4, 1–2/3",
            "“quoted” — it’s fine… (and/or)",
            "①②③ © ® ™ № 5",
            "/usr/share/doc, see – e.g. – ~/.config",
            "−5 … 3−x",
            "١٢٣",
            "https://example.com/ノート",
            "¿3½?",
            "a – b",
            "①②③ ⑨⑩⑪ ❶❷ ⑴⑵ ⒈⒉",
            "⑴ one ⒜ two ⓵ three ❿",
            "2×3, 1ª2, 10ş5, 3é4, 第3Ⅰ",
            "╱╲╱╲ ╱‾‾╲ A∖B \\textit{a}–\\textit{b}",
            "½¼ 10⁻¹² １０",
            "формат А4, витамин В12, 10х10",
            "220В в сети, 1С:Предприятие",
            "βιταμίνη Β12",
            "%sа также %luсек, %1$sвот",
            "5ℓ, 5Ⅱ",
            "١،٢ و 1، 2",
            "1、2、3",
            "/usr/bin، /etc",
        ];
        for text in ordinary {
            assert!(badges(text).alarms().next().is_none(), "{text}");
        }
    }
}
