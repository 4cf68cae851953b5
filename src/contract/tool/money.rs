//! Finds amounts of money in an input by the names of its fields, and adds decimals exactly.

use std::collections::HashSet;

use super::said::{said, say};
use crate::domain::json::{self, Member};

/// Maximum digits of an amount; longer ones are not summed.
const DIGITS: usize = 24;
/// Names of an amount's currency.
const CURRENCIES: [&str; 3] = ["currency", "currency_code", "currencycode"];
/// Names of numbers that are money only with a currency next to them.
const WITH_CURRENCY: [&str; 4] = ["total", "sum", "price", "value"];
/// Codes of ISO 4217 with their decimals.
const CODES: &str = include_str!("../../../assets/currencies.txt");

/// Returns how many decimals a currency has; `None` for an unknown code.
pub(super) fn decimals(code: &str) -> Option<usize> {
    let mut known = CODES.lines().filter_map(|line| line.split_once(' '));
    known.find(|(name, _)| *name == code)?.1.parse().ok()
}

/// An amount in an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Money {
    /// The field that holds the number.
    pub(super) key: String,
    /// The number in units of the currency, otherwise as written.
    pub(super) number: String,
    /// `None` for anything but a plain decimal.
    pub(super) decimal: Option<Decimal>,
    /// The field that names the currency, and its name.
    pub(super) currency: Option<(String, String)>,
}

impl Money {
    /// Reads a number. `minor`: it counts the smallest unit of the currency.
    pub(super) fn new(key: &str, written: &str, minor: bool, currency: Option<(String, String)>) -> Self {
        let code = currency.as_ref().map(|(_, code)| code.to_ascii_uppercase());
        let places = if minor { code.and_then(|code| decimals(&code)).unwrap_or(2) } else { 0 };
        let decimal = Decimal::read(written, places);
        let number = match decimal {
            Some(decimal) if minor => decimal.written(0),
            _ if minor => format!("{written} cents"),
            _ => written.to_owned(),
        };
        Self { key: key.to_owned(), number, decimal, currency }
    }

    /// `129.90 EUR`, or the number alone.
    pub(super) fn text(&self) -> String {
        let code = self.currency.as_ref().map(|(_, code)| format!(" {code}"));
        format!("{}{}", self.number, code.unwrap_or_default())
    }
}

fn currency(members: &[Member<'_>]) -> Option<(String, String)> {
    let is_currency = |key: &str| CURRENCIES.contains(&&*key.to_ascii_lowercase());
    let mut currencies = members.iter().rev().filter(|member| is_currency(&member.key.text));
    currencies.find_map(|it| Some((it.key.text.to_string(), said(it.value)?)))
}

/// Returns how many decimals cents among these fields have: those of their currency, else 2.
pub fn decimals_of_cents(members: &[Member<'_>]) -> usize {
    currency(members).and_then(|(_, code)| decimals(&code.to_ascii_uppercase())).unwrap_or(2)
}

/// Returns the amounts of an input. `amount` and cents are money, other names only with a currency. Of duplicate keys
/// the last counts.
pub(super) fn amounts(members: &[Member<'_>]) -> Vec<Money> {
    let currency = currency(members);
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    for member in members.iter().rev() {
        let (key, name) = (member.key.text.as_ref(), member.key.text.to_ascii_lowercase());
        let minor = name == "cents" || name.ends_with("_cents") || key.ends_with("Cents");
        let has_currency = currency.is_some() && WITH_CURRENCY.contains(&name.as_str());
        if (minor || name == "amount" || has_currency) && known.insert(key) {
            let money = say(member.value).map(|it| Money::new(key, &it, minor, currency.clone()));
            let is_number =
                |text: &str| text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
            found.extend(money.filter(|money| money.currency.is_some() || is_number(&money.number)));
        }
    }
    found.reverse();
    found
}

/// Returns the amounts with a known currency in the agent's preview, whose key may be the currency: `{"EUR": 129.9}`.
/// Empty if the input has an amount with a currency.
pub(super) fn of_agent(input: &[Member<'_>], preview: Option<&str>) -> Vec<Money> {
    if preview.is_none() {
        return Vec::new();
    }
    let is_needed = amounts(input).iter().all(|amount| amount.currency.is_none());
    let members = preview.filter(|_| is_needed).and_then(json::members).unwrap_or_default();
    let mut found = amounts(&members);
    let is_known = |(_, code): &(String, String)| decimals(&code.to_ascii_uppercase()).is_some();
    found.retain(|money| money.currency.as_ref().is_some_and(is_known));
    if found.is_empty() {
        let coded = members.iter().filter(|member| decimals(&member.key.text).is_some());
        found.extend(coded.filter_map(|member| {
            let code = member.key.text.to_string();
            Some(Money::new(&code, &said(member.value)?, false, Some((code.clone(), code.clone()))))
        }));
    }
    found
}

/// An exact decimal: digits, and the number of digits after the point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: u128,
    scale: usize,
}

impl Decimal {
    /// Reads digits with at most one point. Refuses `1e3`, `1,000` and negative amounts, because they cannot be summed
    /// reliably. `behind` is the number of implied decimal places.
    pub(super) fn read(text: impl AsRef<str>, behind: usize) -> Option<Self> {
        let text = text.as_ref();
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let all = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_whole = part.is_empty() && !text.contains('.');
        if whole.is_empty() || !all(whole) || !all(part) || (part.is_empty() && !is_whole) {
            return None;
        }
        let digits = format!("{whole}{part}");
        if digits.len() > DIGITS {
            return None;
        }
        Some(Self { digits: digits.parse().ok()?, scale: part.len() + behind })
    }

    pub(super) fn plus(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let at = |it: Self| it.digits.checked_mul(10_u128.checked_pow((scale - it.scale) as u32)?);
        Some(Self { digits: at(self)?.checked_add(at(other)?)?, scale })
    }

    /// Writes it with at least so many decimals; nothing is rounded.
    pub(super) fn written(self, least: usize) -> String {
        let digits = format!("{:0>width$}", self.digits, width = self.scale + 1);
        let (whole, part) = digits.split_at(digits.len() - self.scale);
        let part = format!("{part:0<least$}");
        if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") }
    }
}
