//! Totals over several actions: amounts by currency, recipients, files. Defined by `sum` and `count` of a tool's
//! definition; without one, the amount in the title counts.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::money::{self, Decimal, Money};
use super::said::said;
use crate::domain::json::{self, Member};

/// A currency may have so many characters.
const CURRENCY: usize = 8;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sum {
    /// A number as written, or the currency's smallest units with `cents`.
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
    /// By whether only the agent's preview says it, and by currency, which may be empty.
    sums: BTreeMap<(bool, String), Added>,
    counted: BTreeMap<String, Counted>,
    not_plain: usize,
    /// Amounts whose currency is missing or no plain code.
    no_currency: usize,
    /// Inputs with more than one amount.
    several: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Added {
    sum: Decimal,
    /// Number of amounts.
    count: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Counted {
    texts: BTreeSet<String>,
    others: usize,
}

impl Totals {
    pub const UNKNOWN: &str = "Total unknown: ";

    pub(super) fn add_defined(&mut self, members: &[Member<'_>], sums: &[Sum], counts: &[Count]) {
        let amount = |sum: &Sum| {
            let currency = value(members, &sum.currency);
            let currency = currency.map(|code| (sum.currency.clone(), code));
            Some(Money::new(&sum.amount, &value(members, &sum.amount)?, sum.cents, currency))
        };
        let amounts: Vec<Money> = sums.iter().filter_map(amount).collect();
        match amounts.as_slice() {
            [Money { currency: None, decimal: Some(_), .. }] => self.no_currency += 1,
            [Money { currency: None, .. }] => self.not_plain += 1,
            amounts => self.add_only(amounts, false),
        }
        for count in counts {
            let counted = self.counted.entry(count.of.clone()).or_default();
            for field in &count.fields {
                counted.add(members, field);
            }
        }
        self.counted.retain(|_, counted| counted.len() > 0);
    }

    /// Adds the amount of a tool without a definition. If the input has no currency, the preview's amount is added to
    /// the agent's sums.
    pub(super) fn add_undefined(&mut self, members: &[Member<'_>], preview: Option<&str>) {
        let amounts = money::amounts(members);
        self.add_only(&amounts, false);
        if amounts.len() < 2 {
            self.add_only(&money::of_agent(members, preview), true);
        }
    }

    /// Adds the only amount. Several of one input may be the same money.
    fn add_only(&mut self, amounts: &[Money], of_agent: bool) {
        match amounts {
            [] => {}
            [one] => {
                let currency = one.currency.as_ref().map_or("", |(_, code)| code);
                self.add_amount(one.decimal, currency, of_agent);
            }
            _ => self.several += 1,
        }
    }

    fn add_amount(&mut self, amount: Option<Decimal>, currency: &str, of_agent: bool) {
        let is_currency =
            currency.len() <= CURRENCY && currency.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let Some(amount) = amount else {
            self.not_plain += 1;
            return;
        };
        if !is_currency {
            self.no_currency += 1;
            return;
        }
        let added = self.sums.entry((of_agent, currency.to_ascii_uppercase())).or_default();
        match added.sum.plus(amount) {
            Some(sum) => *added = Added { sum, count: added.count + 1 },
            None => self.not_plain += 1,
        }
    }

    pub fn join(&mut self, other: &Self) {
        for ((of_agent, currency), added) in &other.sums {
            self.add_amount(Some(added.sum), currency, *of_agent);
        }
        for (of, more) in &other.counted {
            let counted = self.counted.entry(of.clone()).or_default();
            counted.texts.extend(more.texts.iter().cloned());
            counted.others += more.others;
        }
        self.not_plain += other.not_plain;
        self.no_currency += other.no_currency;
        self.several += other.several;
    }

    /// `388.40 EUR + 49.00 USD`, `agent says 5.00 EUR`, `3 recipients`, `1 amount not summed`; may be empty.
    pub fn parts(&self) -> Vec<String> {
        let sums = |wanted: bool| {
            let of = self.sums.iter().filter(|((of_agent, _), _)| *of_agent == wanted);
            let written = of.map(|((_, code), added)| added.told(code));
            Some(written.collect::<Vec<_>>().join(" + ")).filter(|sums| !sums.is_empty())
        };
        let of_agent = sums(true).map(|sums| format!("agent says {sums}"));
        let counted = self.counted.iter().map(|(of, counted)| plural(counted.len(), of));
        let n = self.not_plain + self.no_currency + self.several;
        let not_summed = (n > 0).then(|| format!("{} not summed", plural(n, "amount")));
        sums(false).into_iter().chain(of_agent).chain(counted).chain(not_summed).collect()
    }

    /// Returns the sums of the input, the one in most actions first, from the longest form to `5.10 EUR + 2 more`.
    pub fn sums(&self) -> Vec<String> {
        let mut own: Vec<_> = self.sums.iter().filter(|((of_agent, _), _)| !of_agent).collect();
        own.sort_by_key(|(_, added)| std::cmp::Reverse(added.count));
        let sums: Vec<String> = own.into_iter().map(|((_, code), added)| added.told(code)).collect();
        let n = self.not_plain + self.no_currency + self.several;
        let rest = if n > 0 { format!(", {n} not summed") } else { String::new() };
        let form = |shown: usize| match sums.split_at_checked(shown) {
            Some((shown, [])) => format!("{}{rest}", shown.join(" + ")),
            Some((shown, more)) => format!("{} + {} more{rest}", shown.join(" + "), more.len()),
            None => String::new(),
        };
        let forms = [sums.len(), 2, 1].into_iter().filter(|shown| *shown <= sums.len()).map(form);
        let mut forms: Vec<String> = forms.filter(|_| !sums.is_empty()).collect();
        forms.dedup();
        if sums.is_empty() && n > 0 { vec![format!("{n} not summed")] } else { forms }
    }

    /// Counts inputs whose amounts are not known, next to some that are.
    pub fn add_unread(&mut self, inputs: usize) {
        if !self.sums.is_empty() {
            self.several += inputs;
        }
    }

    /// Returns why there is no total; `None` if anything is summed or counted, or there are no amounts.
    pub fn unknown(&self) -> Option<String> {
        let why = [
            (self.not_plain, "amount is not a plain number", "amounts are not plain numbers"),
            (self.no_currency, "amount has no plain currency", "amounts have no plain currency"),
            (self.several, "action has several amounts", "actions have several amounts"),
        ];
        let why = why.into_iter().filter(|(n, ..)| *n > 0);
        let why: Vec<String> =
            why.map(|(n, one, more)| format!("{n} {}", if n == 1 { one } else { more })).collect();
        let is_known = !self.sums.is_empty() || !self.counted.is_empty() || why.is_empty();
        (!is_known).then(|| format!("{}{}", Self::UNKNOWN, why.join(", ")))
    }
}

fn plural(n: usize, of: &str) -> String {
    format!("{n} {of}{}", if n == 1 { "" } else { "s" })
}

fn value(members: &[Member<'_>], field: &str) -> Option<String> {
    members.iter().rev().find(|member| member.key.text == field).and_then(|member| said(member.value))
}

impl Added {
    fn told(self, code: &str) -> String {
        match code {
            "" => format!("{} without currency", self.sum.written(0)),
            code => format!("{} {code}", self.sum.written(money::decimals(code).unwrap_or_default())),
        }
    }
}

impl Counted {
    fn add(&mut self, members: &[Member<'_>], field: &str) {
        let Some(member) = members.iter().rev().find(|member| member.key.text == field) else { return };
        let elements = json::elements(member.value).unwrap_or_else(|| vec![member.value]);
        for element in elements {
            match said(element) {
                Some(text) => drop(self.texts.insert(text)),
                None => self.others += usize::from(element.starts_with('{')),
            }
        }
    }

    fn len(&self) -> usize {
        self.texts.len() + self.others
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RawJson;

    fn totals(of: &[(&'static str, &str)]) -> String {
        let mut totals = Totals::default();
        for &(tool, input) in of {
            totals.add(&tool.into(), &RawJson::parse(input).unwrap(), None);
        }
        totals.parts().join(" · ")
    }

    #[test]
    fn unknown_total_says_why() {
        let of = |inputs: &[(&str, &str)]| {
            let mut totals = Totals::default();
            for (tool, input) in inputs {
                totals.add(&(*tool).into(), &RawJson::parse(*input).unwrap(), None);
            }
            totals.unknown()
        };
        let says = |text: &str| Some(format!("Total unknown: {text}"));
        assert_eq!(of(&[("t", r#"{"amount":"1e3"}"#)]), says("1 amount is not a plain number"));
        assert_eq!(of(&[("refund_payment", r#"{"amount":5}"#)]), says("1 amount has no plain currency"));
        let both = r#"{"amount":5,"fee_cents":1,"currency":"EUR"}"#;
        assert_eq!(of(&[("t", both), ("t", both)]), says("2 actions have several amounts"));
        let cases = r#"{"amount":50000,"Amount":5,"currency":"EUR"}"#;
        assert_eq!(of(&[("t", cases)]), says("1 action has several amounts"));
        assert_eq!(of(&[("t", both), ("t", r#"{"amount":5,"currency":"EUR"}"#)]), None);
        assert_eq!(of(&[("t", r#"{"amount":5,"amount":null,"currency":"EUR"}"#)]), None, "the last counts");
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
    fn sums_are_shortened_before_they_are_cut() {
        let mut totals = Totals::default();
        let mut add = |input: &str| totals.add(&"pay".into(), &RawJson::parse(input).unwrap(), None);
        add(r#"{"amount":1,"currency":"EUR"}"#);
        assert_eq!(totals.sums(), ["1.00 EUR"]);
        let mut add = |input: &str| totals.add(&"pay".into(), &RawJson::parse(input).unwrap(), None);
        for input in [
            r#"{"amount":2,"currency":"USD"}"#,
            r#"{"amount":3,"currency":"USD"}"#,
            r#"{"amount":4,"currency":"GBP"}"#,
            r#"{"amount":"-4","currency":"GBP"}"#,
        ] {
            add(input);
        }
        assert_eq!(
            totals.sums(),
            [
                "5.00 USD + 1.00 EUR + 4.00 GBP, 1 not summed",
                "5.00 USD + 1.00 EUR + 1 more, 1 not summed",
                "5.00 USD + 2 more, 1 not summed",
            ]
        );
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
        assert_eq!(told, "999999999999999999999999.00 EUR · 1 amount not summed");
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
        assert_eq!(told, "5001.00 EUR · 1 amount not summed");
    }

    #[test]
    fn sums_have_the_decimals_of_their_currency() {
        let told = totals(&[
            ("pay", r#"{"cents":150000,"currency":"JPY"}"#),
            ("pay", r#"{"amount":5,"currency":"KWD"}"#),
            ("pay", r#"{"fee_cents":1500,"currency":"KWD"}"#),
            ("pay", r#"{"cents":250,"currency":"EUR"}"#),
            ("pay", r#"{"amount":1.5,"currency":"EUR"}"#),
            ("pay", r#"{"amount":3,"currency":"POINTS"}"#),
            ("refund_payment", r#"{"amount_cents":700,"currency":"CLP"}"#),
        ]);
        assert_eq!(told, "700 CLP + 4.00 EUR + 150000 JPY + 6.500 KWD + 3 POINTS");
    }

    #[test]
    fn several_amounts_of_one_input_are_not_summed() {
        for (tool, input) in [
            ("pay", r#"{"amount":5,"fee_cents":100,"currency":"EUR"}"#),
            ("pay", r#"{"amount":5,"total":6,"currency":"EUR"}"#),
            ("refund_payment", r#"{"amount":5,"amount_cents":500,"currency":"EUR"}"#),
            ("pay", r#"{"amount":"-5","currency":"EUR"}"#),
            ("pay", r#"{"amount":1e3}"#),
        ] {
            assert_eq!(totals(&[(tool, input)]), "1 amount not summed", "{input}");
        }
    }

    #[test]
    fn amounts_of_a_preview_are_the_agents() {
        let mut totals = Totals::default();
        let add = |totals: &mut Totals, input: &str, preview: &str| {
            let [input, preview] = [input, preview].map(|text| RawJson::parse(text).unwrap());
            totals.add(&"refund".into(), &input, Some(&preview));
        };
        add(&mut totals, r#"{"to":"ilka","cents":12990}"#, r#"{"to":"ilka","EUR":129.9}"#);
        add(&mut totals, r#"{"amount":1,"currency":"EUR"}"#, r#"{"EUR":7}"#);
        add(&mut totals, r#"{"order":1}"#, r#"{"EUR":1}"#);
        assert_eq!(totals.parts(), ["129.90 without currency + 1.00 EUR", "agent says 130.90 EUR"]);
    }

    #[test]
    fn joined_totals_equal_the_totals_of_all() {
        let one = |input: &str| {
            let mut totals = Totals::default();
            totals.add(&"send_email".into(), &RawJson::parse(input).unwrap(), None);
            totals
        };
        let mut all = one(r#"{"to":"a@a.example"}"#);
        all.join(&one(r#"{"to":["a@a.example","b@a.example"]}"#));
        assert_eq!(all.parts(), ["2 recipients"]);
    }
}
