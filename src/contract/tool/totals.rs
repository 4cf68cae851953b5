//! Totals over several actions: amounts by currency, recipients, files. Defined by `sum` and `count` of a tool's
//! definition; without one, the amount in the title counts.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::telling;
use crate::domain::json::{self, Member};

/// Maximum digits of an amount; longer ones are not summed.
const DIGITS: usize = 24;
const CURRENCY: usize = 8;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sum {
    /// A number as written, or hundredths with `cents`.
    amount: String,
    currency: String,
    #[serde(default)]
    cents: bool,
}

/// Fields whose values are counted: distinct texts, and each object.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Count {
    /// The singular: `recipient`.
    of: String,
    fields: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    sums: BTreeMap<String, Decimal>,
    counted: BTreeMap<String, Counted>,
    /// Amounts that could not be read as number and currency.
    not_summed: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Counted {
    texts: BTreeSet<String>,
    others: usize,
}

/// An exact decimal: digits, and the number of digits after the point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Decimal {
    digits: u128,
    scale: usize,
}

impl Totals {
    pub(super) fn add_defined(&mut self, members: &[Member<'_>], sums: &[Sum], counts: &[Count]) {
        for sum in sums {
            if let Some(amount) = value(members, &sum.amount) {
                let currency = value(members, &sum.currency);
                let amount = Decimal::read(amount, if sum.cents { 2 } else { 0 });
                self.add_amount(amount, currency.as_deref());
            }
        }
        for count in counts {
            let counted = self.counted.entry(count.of.clone()).or_default();
            for field in &count.fields {
                counted.add(members, field);
            }
        }
        self.counted.retain(|_, counted| counted.len() > 0);
    }

    /// Adds the amount of a tool without a definition.
    pub(super) fn add_untold(&mut self, members: &[Member<'_>]) {
        if let Some((amount, currency)) = telling::money(members) {
            self.add_amount(Decimal::read(amount, 0), Some(&currency));
        }
    }

    fn add_amount(&mut self, amount: Option<Decimal>, currency: Option<&str>) {
        let is_currency = |word: &&str| {
            (1..=CURRENCY).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        let Some((amount, currency)) = amount.zip(currency.filter(is_currency)) else {
            self.not_summed += 1;
            return;
        };
        let sum = self.sums.entry(currency.to_ascii_uppercase()).or_default();
        match sum.plus(amount) {
            Some(more) => *sum = more,
            None => self.not_summed += 1,
        }
    }

    pub fn join(&mut self, other: &Self) {
        for (currency, sum) in &other.sums {
            self.add_amount(Some(*sum), Some(currency));
        }
        for (of, more) in &other.counted {
            let counted = self.counted.entry(of.clone()).or_default();
            counted.texts.extend(more.texts.iter().cloned());
            counted.others += more.others;
        }
        self.not_summed += other.not_summed;
    }

    /// `388.40 EUR + 49.00 USD`, `3 recipients`, `1 amount not summed`; may be empty.
    pub fn parts(&self) -> Vec<String> {
        let sums: Vec<String> =
            self.sums.iter().map(|(currency, sum)| format!("{} {currency}", sum.written())).collect();
        let sums = (!sums.is_empty()).then(|| sums.join(" + "));
        let counted = self.counted.iter().map(|(of, counted)| plural(counted.len(), of));
        let not_summed =
            (self.not_summed > 0).then(|| format!("{} not summed", plural(self.not_summed, "amount")));
        sums.into_iter().chain(counted).chain(not_summed).collect()
    }
}

fn plural(n: usize, of: &str) -> String {
    format!("{n} {of}{}", if n == 1 { "" } else { "s" })
}

fn value(members: &[Member<'_>], field: &str) -> Option<String> {
    members
        .iter()
        .rev()
        .find(|member| member.key.text == field)
        .and_then(|member| telling::said(member.value))
}

impl Counted {
    fn add(&mut self, members: &[Member<'_>], field: &str) {
        let Some(member) = members.iter().rev().find(|member| member.key.text == field) else { return };
        let elements = json::elements(member.value).unwrap_or_else(|| vec![member.value]);
        for element in elements {
            match telling::said(element) {
                Some(text) => drop(self.texts.insert(text)),
                None => self.others += usize::from(element.starts_with('{')),
            }
        }
    }

    fn len(&self) -> usize {
        self.texts.len() + self.others
    }
}

impl Decimal {
    /// Reads digits with at most one point. Refuses `1e3`, `1,000` and negative amounts, because they cannot be summed
    /// reliably. `behind` is the number of implied decimal places.
    fn read(text: impl AsRef<str>, behind: usize) -> Option<Self> {
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

    fn plus(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let at = |it: Self| it.digits.checked_mul(10_u128.checked_pow((scale - it.scale) as u32)?);
        Some(Self { digits: at(self)?.checked_add(at(other)?)?, scale })
    }

    fn written(self) -> String {
        let digits = format!("{:0>width$}", self.digits, width = self.scale + 1);
        let (whole, part) = digits.split_at(digits.len() - self.scale);
        if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RawJson;

    fn totals(of: &[(&'static str, &str)]) -> String {
        let mut totals = Totals::default();
        for &(tool, input) in of {
            totals.add(&tool.into(), &RawJson::parse(input).unwrap());
        }
        totals.parts().join(" · ")
    }

    #[test]
    fn amounts_are_added_up_by_currency_without_rounding() {
        let refund = |input| ("refund_payment", input);
        let told = totals(&[
            refund(r#"{"amount":129.90,"currency":"EUR"}"#),
            refund(r#"{"amount":"0.1","currency":"eur"}"#),
            refund(r#"{"amount":258.4,"currency":"EUR"}"#),
            refund(r#"{"amount_cents":4900,"currency":"USD"}"#),
            refund(r#"{"amount":7,"currency":"JPY"}"#),
        ]);
        assert_eq!(told, "388.40 EUR + 7 JPY + 49.00 USD");
    }

    #[test]
    fn an_unusual_amount_is_counted_but_not_summed() {
        for input in [
            r#"{"amount":1e3,"currency":"EUR"}"#,
            r#"{"amount":"1,000.00","currency":"EUR"}"#,
            r#"{"amount":-5,"currency":"EUR"}"#,
            r#"{"amount":"5.","currency":"EUR"}"#,
            r#"{"amount":5}"#,
            r#"{"amount":5,"currency":"EUR\u202e"}"#,
            r#"{"amount":5,"currency":"a currency of its own"}"#,
            r#"{"amount":9999999999999999999999999,"currency":"EUR"}"#,
        ] {
            assert_eq!(totals(&[("refund_payment", input)]), "1 amount not summed", "{input}");
        }
        assert_eq!(totals(&[("refund_payment", r#"{"note":"no amount"}"#)]), "");
    }

    #[test]
    fn an_overflowing_amount_is_not_summed() {
        let most = r#"{"amount":999999999999999999999999,"currency":"EUR"}"#;
        let tiny = r#"{"amount":0.00000000000000000000001,"currency":"EUR"}"#;
        let told = totals(&[("refund_payment", most), ("refund_payment", tiny)]);
        assert_eq!(told, "999999999999999999999999 EUR · 1 amount not summed");
    }

    #[test]
    fn recipients_and_files_are_counted_once_each() {
        let told = totals(&[
            ("send_email", r#"{"to":["a@a.example","b@a.example"],"cc":"c@a.example"}"#),
            ("send_email", r#"{"to":"a@a.example","attachments":[{"name":"x"},{"name":"x"}]}"#),
        ]);
        assert_eq!(told, "2 files · 3 recipients");
    }

    #[test]
    fn an_amount_of_an_undefined_tool_counts() {
        let told = totals(&[
            ("pay_invoice", r#"{"total":5000,"currency":"EUR"}"#),
            ("refund_payment", r#"{"amount":1,"currency":"EUR"}"#),
            ("pay_invoice", r#"{"total":"much","currency":"EUR"}"#),
            ("send_parcel", r#"{"total":4}"#),
        ]);
        assert_eq!(told, "5001 EUR · 1 amount not summed");
    }

    #[test]
    fn joined_totals_equal_the_totals_of_all() {
        let one = |input: &str| {
            let mut totals = Totals::default();
            totals.add(&"send_email".into(), &RawJson::parse(input).unwrap());
            totals
        };
        let mut all = one(r#"{"to":"a@a.example"}"#);
        all.join(&one(r#"{"to":["a@a.example","b@a.example"]}"#));
        assert_eq!(all.parts(), ["2 recipients"]);
    }
}
