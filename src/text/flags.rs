//! Warnings about an action, computed once for lock, list, preview, review and shell.

use crate::domain::json::{self, Scanner, TokenKind};
use crate::domain::{BatchId, Effect, PendingAction, RawJson, Risk, Row, Untrusted};

use super::badge::{Badge, Badges, badges, badges_of_identifier, badges_of_line};
use super::links::{MOST_MISLEADING, misleading, named_hosts};
use super::rows::hidden;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Number of characters in the input that a terminal would obey, hide or reorder.
    pub hidden: usize,
    pub duplicates: Vec<String>,
    /// Keys that look like another key of the same object.
    pub alike: Vec<String>,
    /// Number of strings that do not decode cleanly.
    pub broken: usize,
    /// Number of non-JSON values such as `NaN`.
    pub odd: usize,
    /// Hosts of misleading addresses; at most one more than [`named_hosts`] names.
    pub leads_to: Vec<String>,
    pub badges: Badges,
}

impl Flags {
    /// Judges all foreign text that a decision depends on: names, ids, title, input, and the agent's own description.
    pub fn of(action: &PendingAction) -> Self {
        let mut flags = Self::of_row(&action.row);
        let json::DoubtfulKeys { duplicates, alike } = json::doubtful_keys(action.input.as_str());
        (flags.duplicates, flags.alike) = (duplicates, alike);
        flags.hidden = flags.add_json(action.input.as_str());
        for said in [&action.preview, &action.before].into_iter().flatten() {
            flags.add_said(said.as_str());
        }
        if let Some(edits) = action.approved_edits() {
            flags.hidden += flags.add_json(edits.as_json().as_str());
        }
        if let Some(summary) = &action.summary {
            flags.add(badges(summary.as_raw()));
            flags.add_hosts(summary.as_raw());
        }
        for name in action.names() {
            flags.add_line(name.as_raw());
        }
        if flags.broken > 0 {
            flags.badges.add(Badge::Broken);
        }
        if !flags.duplicates.is_empty() {
            flags.badges.add(Badge::DuplicateKey);
        }
        flags
    }

    /// Judges a row of a list, whose details are not loaded.
    pub fn of_row(row: &Row) -> Self {
        let mut flags = Self::default();
        let batch = row.batch.as_ref().map(BatchId::untrusted);
        for id in [Some(&row.tool), Some(row.id.untrusted()), batch].into_iter().flatten() {
            flags.add(badges_of_identifier(id.as_raw()));
            flags.add_hosts(id.as_raw());
        }
        let names = [&row.agent, &row.mission, &row.workspace, &row.session, &row.run, &row.checkpoint];
        let words = [risk_word(&row.risk), row.effect.as_ref().and_then(effect_word), Some(&row.title)];
        for text in names.into_iter().map(Option::as_ref).chain(words).flatten() {
            flags.add_line(text.as_raw());
        }
        for member in row.brief.iter().filter_map(RawJson::members).flatten() {
            flags.add(badges(&member.key.text));
            flags.add(badges(&json::decode(member.value).text));
        }
        flags
    }

    /// `bidi, padding`: the alarms; empty if there are none.
    pub fn words(&self) -> String {
        self.badges.alarms().map(Badge::word).collect::<Vec<_>>().join(", ")
    }

    /// The most serious reason, in a short and a long form; empty if there is none.
    pub fn kind(&self) -> (&'static str, &'static str) {
        let has = |badges: &[Badge]| badges.iter().any(|badge| self.badges.has(*badge));
        if self.hidden > 0 || has(&[Badge::Control, Badge::Bidi, Badge::Invisible, Badge::Smuggle]) {
            ("hidden", "hidden characters")
        } else if !self.duplicates.is_empty() {
            ("dup key", "duplicate key")
        } else if !self.alike.is_empty() || has(&[Badge::MixedScript, Badge::Confusable]) {
            ("alike", "look-alike letters")
        } else if !self.leads_to.is_empty() {
            ("link", "misleading link")
        } else if self.broken > 0 || self.odd > 0 {
            ("broken", "broken value")
        } else if has(&[Badge::Padding]) {
            ("padded", "padded with blanks")
        } else if self.any() {
            ("odd", "odd characters")
        } else {
            ("", "")
        }
    }

    pub fn any(&self) -> bool {
        self.hidden > 0
            || self.broken > 0
            || self.odd > 0
            || !self.duplicates.is_empty()
            || !self.alike.is_empty()
            || !self.leads_to.is_empty()
            || self.badges.alarms().next().is_some()
    }

    /// Every reason, for places without a preview.
    pub fn reasons(&self) -> Vec<String> {
        let counted = [
            (self.duplicates.len(), "duplicate key"),
            (self.alike.len(), "key that looks like another"),
            (self.odd, "value that is no JSON"),
            (self.hidden, "hidden character"),
        ];
        let counted = counted.into_iter().filter(|(n, _)| *n > 0);
        let words = Some(self.words()).filter(|words| !words.is_empty());
        let hosts = named_hosts(&self.leads_to).map(|host| format!("leads to {}", host.plain()));
        words.into_iter().chain(hosts).chain(counted.map(|(n, what)| format!("{what}: {n}"))).collect()
    }

    fn add(&mut self, badges: Badges) {
        self.badges = self.badges.with(badges);
    }

    fn add_line(&mut self, text: &str) {
        self.add(badges_of_line(text));
        self.add_hosts(text);
    }

    fn add_hosts(&mut self, text: &str) {
        for host in misleading(text) {
            if !self.leads_to.iter().any(|known| known == host) {
                self.leads_to.push(host.to_owned());
            }
        }
        self.leads_to.truncate(MOST_MISLEADING + 1);
    }

    /// Adds the agent's description. Its broken strings and odd words are not counted, because it does not run.
    fn add_said(&mut self, text: &str) {
        let mut said = Self { leads_to: std::mem::take(&mut self.leads_to), ..Self::default() };
        said.add_json(text);
        if said.broken > 0 {
            said.badges.add(Badge::Broken);
        }
        self.add(said.badges);
        self.leads_to = said.leads_to;
    }

    /// Checks every decoded key and string. Returns the number of hidden characters.
    fn add_json(&mut self, text: &str) -> usize {
        let mut unseen = 0;
        let mut scanner = Scanner::new(text);
        while let Ok(Some(token)) = scanner.next_token() {
            if matches!(token.kind, TokenKind::Key | TokenKind::String) {
                let decoded = json::decode(token.text);
                self.broken += usize::from(decoded.lossy);
                unseen += hidden(&decoded.text);
                self.add(badges(&decoded.text));
                self.add_hosts(&decoded.text);
            }
            self.odd += usize::from(json::ODD_WORDS.contains(&token.text));
        }
        unseen
    }
}

/// A risk word that this version does not know.
const fn risk_word(risk: &Risk) -> Option<&Untrusted> {
    match risk {
        Risk::Other(word) => Some(word),
        Risk::Low | Risk::Medium | Risk::High | Risk::Critical => None,
    }
}

const fn effect_word(effect: &Effect) -> Option<&Untrusted> {
    match effect {
        Effect::Other(word) => Some(word),
        Effect::Read | Effect::Write | Effect::External | Effect::Destructive => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ActionId, RawJson};

    /// Has a Cyrillic letter.
    const ODD: &str = "save_docum\u{435}nt";

    fn plain() -> PendingAction {
        let row = Row {
            agent: Some("refunds-agent".into()),
            ..Row::new(ActionId::new("a-1"), "save_document".into(), "Save the plan".into())
        };
        let input = RawJson::parse(r#"{"title":"Plan"}"#).unwrap();
        PendingAction::new(row, input.clone(), input)
    }

    fn with(change: impl FnOnce(&mut PendingAction)) -> Flags {
        let mut action = plain();
        change(&mut action);
        Flags::of(&action)
    }

    #[test]
    fn plain_action_has_no_flag() {
        assert!(!Flags::of(&plain()).any());
        assert!(Flags::of(&plain()).reasons().is_empty());
    }

    #[test]
    fn every_foreign_field_is_judged() {
        let odd = || Some(Untrusted::from(ODD));
        let json = || RawJson::parse(format!(r#"{{"note":"{ODD}"}}"#)).unwrap();
        let all = [
            ("tool", with(|a| a.row.tool = ODD.into())),
            ("line break in a tool", with(|a| a.row.tool = "read_file\nrisk: low".into())),
            ("title", with(|a| a.row.title = ODD.into())),
            ("id", with(|a| a.row.id = ActionId::new(ODD))),
            ("batch", with(|a| a.row.batch = Some(BatchId::new(ODD)))),
            ("agent", with(|a| a.row.agent = odd())),
            ("mission", with(|a| a.row.mission = odd())),
            ("workspace", with(|a| a.row.workspace = odd())),
            ("session", with(|a| a.row.session = odd())),
            ("run", with(|a| a.row.run = odd())),
            ("checkpoint", with(|a| a.row.checkpoint = odd())),
            ("risk", with(|a| a.row.risk = Risk::parse(ODD))),
            ("effect", with(|a| a.row.effect = Some(Effect::parse(ODD)))),
            ("input", with(|a| a.input = json())),
            ("preview", with(|a| a.preview = Some(json()))),
            ("before", with(|a| a.before = Some(json()))),
            ("summary", with(|a| a.summary = odd())),
            ("requester", with(|a| a.requested_by = odd())),
            ("call", with(|a| a.tool_call = odd())),
        ];
        for (field, flags) in all {
            assert!(flags.any(), "{field}");
            assert!(!flags.reasons().is_empty(), "{field}");
        }
    }

    #[test]
    fn a_misleading_host_is_flagged_and_named() {
        let flags = with(|action| {
            let input = r#"{"link":["https://github.com@evil.example/login","https://p\u0430ypal.com"]}"#;
            action.input = RawJson::parse(input).unwrap();
        });
        let plain = with(|a| a.input = RawJson::parse(r#"{"link":"https://github.com/a@b"}"#).unwrap());

        assert!(flags.any() && !plain.any());
        let reasons = flags.reasons();
        assert!(reasons.contains(&"leads to evil.example".to_owned()), "{reasons:?}");
        assert!(reasons.contains(&"leads to p⟦а U+0430⟧ypal.com".to_owned()), "{reasons:?}");
    }

    #[test]
    fn a_misleading_host_is_named_in_any_field() {
        let link = || Untrusted::from("https:paypal.com@evil.example/");
        let json = || Some(RawJson::parse(r#"{"a":"//paypal.com@evil.example/"}"#).unwrap());
        let all = [
            with(|a| a.row.tool = link()),
            with(|a| a.row.title = link()),
            with(|a| a.row.agent = Some(link())),
            with(|a| a.summary = Some(link())),
            with(|a| a.preview = json()),
            with(|a| a.before = json()),
            with(|a| a.requested_by = Some(link())),
        ];
        for (nth, flags) in all.iter().enumerate() {
            assert!(flags.reasons().contains(&"leads to evil.example".to_owned()), "{nth}: {flags:?}");
        }
    }

    #[test]
    fn names_in_other_scripts_are_not_flagged() {
        let flags = with(|action| {
            action.row.agent = Some("Агент возвратов".into());
            action.row.workspace = Some("büro".into());
            action.row.title = "世界へ: Grüße, 3 €".into();
        });
        assert!(!flags.any(), "{flags:?}");
    }
}
