//! What a number means, in words beside it. The number stays as it was written.

use crate::contract::tool::Unit;
use crate::domain::json::{self, Member};
use crate::text::{self, Shown};

/// A currency is short; what is longer is no unit.
const WIDEST: usize = 16;

/// What to say after a value; nothing where it is not what the unit is for.
pub(super) fn after(unit: &Unit, value: &str, beside: &[Member<'_>]) -> Option<Shown> {
    match unit {
        Unit::Word(word) => is_number(value).then(|| Shown::ours(word.as_str())),
        Unit::Of(key) => {
            let of = beside.iter().find(|member| member.key.text == key.as_str())?.value;
            let unit = text::part(&json::decode(of).text);
            (of.starts_with('"') && is_number(value) && unit.width() <= WIDEST).then_some(unit)
        }
        Unit::Cents => Some(Shown::ours(format!("cents, {}", shifted(value, -2)?))),
        Unit::Share => Some(Shown::ours(format!("({} %)", shifted(value, 2)?))),
    }
}

fn is_number(value: &str) -> bool {
    value.starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

/// A plain decimal with its point moved to the right (or to the left), digit by digit, so that nothing is rounded. `None` for
/// anything else, such as `1e3`.
fn shifted(value: &str, places: i32) -> Option<String> {
    let (sign, digits) = value.strip_prefix('-').map_or(("", value), |rest| ("-", rest));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !plain(whole) || !plain(part) || whole.len() + part.len() > 30 {
        return None;
    }
    let count = usize::try_from(places.unsigned_abs()).ok()?;
    let (whole, part) = if places >= 0 {
        let part = format!("{part:0<count$}");
        let (moved, rest) = part.split_at(count);
        (format!("{whole}{moved}"), rest.trim_end_matches('0').to_owned())
    } else {
        let whole = format!("{whole:0>width$}", width = count + 1);
        let (rest, moved) = whole.split_at(whole.len() - count);
        (rest.to_owned(), format!("{moved}{part}"))
    };
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if part.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_point_moves_and_no_digit_is_lost() {
        let moved = |value, places| shifted(value, places).unwrap_or_default();

        assert_eq!(moved("1250", -2), "12.50");
        assert_eq!(moved("5", -2), "0.05");
        assert_eq!(moved("-12345", -2), "-123.45");
        assert_eq!(moved("0.82", 2), "82");
        assert_eq!(moved("0.825", 2), "82.5");
        assert_eq!(moved("1", 2), "100");
        assert_eq!(moved("1.0", 2), "100");
        for odd in ["1e3", "", "abc", ".5", "99999999999999999999999999999999"] {
            assert_eq!(shifted(odd, 2), None, "{odd}");
        }
    }
}
