//! The filter language, on examples and against a slow reference.

use proptest::prelude::*;

use crate::domain::{
    ActionId, ActionKey, Approvals, BatchId, DecisionKind, Effect, Entry, Risk, Row, SourceName, Status,
    Timestamp, Untrusted,
};
use crate::rounds;

use super::{Claimant, Filter, Finder, Is, Subject};

const NOW: i64 = 1_000_000_000;
const MINUTE: i64 = 60_000;

#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) entry: Entry,
    staged: Option<DecisionKind>,
    is: Vec<Is>,
    claimed: Option<Untrusted>,
    me: Option<Untrusted>,
    names: Vec<(Untrusted, Untrusted)>,
}

impl Subject for Known {
    fn entry(&self) -> &Entry {
        &self.entry
    }
    fn staged(&self) -> Option<DecisionKind> {
        self.staged
    }
    fn is(&self, state: Is) -> bool {
        self.is.contains(&state)
    }
    fn name(&self, subject: &Untrusted) -> Option<&Untrusted> {
        self.names.iter().find(|(known, _)| known == subject).map(|(_, name)| name)
    }
    fn claimed(&self) -> Option<Claimant<'_>> {
        let by = self.claimed.as_ref()?;
        Some(if by.as_raw() == "me" { Claimant::Me(by) } else { Claimant::Other(by) })
    }
    fn me(&self) -> Option<&Untrusted> {
        self.me.as_ref()
    }
}

pub(super) fn known(title: &str, tool: &str, agent: &str, risk: &str, minutes: i64) -> Known {
    let row = Row {
        batch: Some(BatchId::new("m-81:issues")),
        checkpoint: Some("cp 7".into()),
        mission: Some("onboarding".into()),
        agent: Some(agent.into()),
        risk: Risk::parse(risk),
        effect: Some(Effect::External),
        created_at: Timestamp::from_millis(NOW - minutes * MINUTE),
        ..Row::new(ActionId::new("pa-3f9c"), tool.into(), title.into())
    };
    let key = ActionKey { source: SourceName::new("team-gate"), id: row.id.clone() };
    Known {
        entry: Entry { key, row },
        staged: None,
        is: vec![Is::Unopened],
        claimed: None,
        me: None,
        names: Vec::new(),
    }
}

#[test]
fn reused_finder_matches_like_a_new_one() {
    let mut finder = Finder::default();
    let rows = [("Pay", "pay", "billing"), ("Mail", "send_email", "support"), ("Note", "pay", "support")];
    let rows = rows.map(|(title, tool, agent)| known(title, tool, agent, "low", 5));
    for words in ["bill", "supp", "pay supp", "bill supp", "-'bill pay", "team", "onbo send"] {
        let filter = Filter::parse(words).unwrap();
        for row in rows.iter().chain(rows.iter().rev()) {
            let now = Timestamp::from_millis(NOW);
            let found = Finder::default().holds(&filter, row, now);
            assert_eq!(finder.holds(&filter, row, now), found, "{words}: {row:?}");
        }
    }
}

#[test]
fn unknown_source_is_rejected() {
    let names = [SourceName::new("gate"), SourceName::new("team-gate")];
    let told =
        |text: &str| Filter::parse(text).unwrap().check_sources(&names).map_err(|error| error.to_string());

    for known in
        ["source:gate", "source:team", "source:=gate", "tool:nosuch", "-source:nosuch source:gate", ""]
    {
        let refused = known.starts_with('-');
        assert_eq!(told(known).is_err(), refused, "{known}");
    }
    assert_eq!(
        told("risk:high source:nosuch").unwrap_err(),
        "there is no source \"nosuch\"; the sources are: gate, team-gate (at character 11)"
    );
    assert_eq!(Filter::parse("source:x").unwrap().check_sources(&[]), Ok(()), "no sources are known");
}

fn outage() -> Known {
    known("Escalate: outage in EU region", "create_linear_issue", "support-bot", "high", 90)
}

pub(super) fn holds(filter: &str, subject: &Known) -> bool {
    let filter = Filter::parse(filter).unwrap_or_else(|error| panic!("{filter:?}: {error}"));
    Finder::default().holds(&filter, subject, Timestamp::from_millis(NOW))
}

#[track_caller]
fn check(subject: &Known, yes: &[&str], no: &[&str]) {
    for filter in yes {
        assert!(holds(filter, subject), "{filter:?} should hold");
    }
    for filter in no {
        assert!(!holds(filter, subject), "{filter:?} should not hold");
    }
}

#[test]
fn words_match_fuzzily() {
    check(
        &outage(),
        &[
            "",
            "  ",
            "outage",
            "OUTAGE".to_lowercase().as_str(),
            "outge",
            "escal",
            "linear",
            "eu region",
            "bot",
            "team",
            "onboard",
            "pa-3f",
            "out reg",
            "\"in EU\"",
            "'age",
            "-",
            "'",
            "\"",
            "Esc",
        ],
        &["outrage", "ozq", "cghr", "drive", "ESC", "'outge", "\"EU in\"", "3f9c", "egion esz"],
    );
}

#[test]
fn scattered_letters_do_not_match() {
    let insights = known("Save 2 insights: Most setup questions come early", "save_insights", "a", "low", 1);
    check(&insights, &["insights", "insigts", "setup"], &["issue", "mails", "spec"]);
}

#[test]
fn dash_excludes_the_exact_term() {
    check(
        &outage(),
        &["-draft", "-outge", "-tool:drive", "outage -draft"],
        &["-outage", "-tool:linear", "-\"in EU\""],
    );
}

#[test]
fn fields_match_their_own_value() {
    check(
        &outage(),
        &[
            "tool:linear",
            "tool:LINEAR",
            "agent:bot",
            "source:team",
            "mission:onb",
            "batch:m-81",
            "checkpoint:\"cp 7\"",
            "title:EU",
            "id:3f9c",
            "tool:drive,linear",
            "tool:=create_linear_issue",
            "effect:external",
            "effect:>=external",
            "effect:ext",
        ],
        &["tool:outage", "tool:=linear", "run:x", "agent:drive,mail", "effect:write", "effect:>external"],
    );
}

#[test]
fn risks_and_times_compare() {
    let mut soon = outage();
    soon.entry.row.expires_at = Some(Timestamp::from_millis(NOW + 20 * MINUTE));
    check(
        &soon,
        &[
            "risk:high",
            "risk:>=medium",
            "risk:>med",
            "risk:low,high",
            "risk:<critical",
            "age:>1h",
            "age:>1h29m",
            "age:<2h",
            "expires:<30m",
            "expires:>10m,never",
            "is:high",
        ],
        &["risk:low", "risk:>high", "risk:<=medium", "age:>2h", "age:<1h", "expires:>30m", "expires:never"],
    );
    check(&outage(), &["expires:never", "-expires:<1d"], &["expires:<1d", "expires:>1s"]);
    check(&known("t", "x", "y", "spicy", 1), &["risk:high", "risk:>=high", "is:high"], &["risk:low,medium"]);
}

#[test]
fn states_come_from_the_subject() {
    let mut subject = outage();
    check(
        &subject,
        &["is:unopened", "is:opened,unopened", "-is:staged", "-kind:exclude"],
        &["is:opened", "kind:exclude"],
    );
    subject.staged = Some(DecisionKind::Reject);
    check(&subject, &["is:staged", "kind:exclude", "kind:edit,exclude"], &["kind:approve", "-is:staged"]);
}

#[test]
fn errors_give_position_and_suggestion() {
    let error = |text: &str| Filter::parse(text).unwrap_err().to_string();

    assert_eq!(
        error("outage tol:linear"),
        "there is no field tol:, did you mean tool:? In quotes it is a word like any other (at character 8)"
    );
    assert_eq!(
        error("risk:low,hihg"),
        "risk: takes low, medium, high or critical, with > >= < or <= before it (at character 10)"
    );
    assert!(error("age:1h").contains("> or < and a time"), "a bare age says neither older nor younger");
    for text in
        ["age:>", "age:>5", "age:>99999999999999999w", "is:foo", "is:>high", "kind:x", "tool:", "tool:>x"]
    {
        assert!(Filter::parse(text).is_err(), "{text:?}");
    }
    for text in ["https://example.com", "10:30", "\"fix:this\"", "'fix:this", "a-b", "risk:low,"] {
        assert!(Filter::parse(text).is_ok(), "{text:?}");
    }
}

#[test]
fn longer_filter_narrows() {
    let narrows = |new: &str, old: &str| Filter::parse(new).unwrap().narrows(&Filter::parse(old).unwrap());

    assert!(narrows("outage", "out") && narrows("out reg", "out") && narrows("Out", "o") && narrows("x", ""));
    assert!(narrows("out risk:high", "out") && narrows("risk:high out", "out risk:high"));
    assert!(!narrows("ou", "out") && !narrows("-outa", "-out") && !narrows("risk:low,high", "risk:low"));
    assert!(!narrows("out", "Out") && !narrows("outage", "'out") && !narrows("", "x"));
}

const WORDS: [&str; 8] = ["outage", "refund", "EU", "region", "Zürich", "退款", "to", "INV-8841"];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 0..6).prop_map(|words| words.join(" "))
}

fn subjects() -> impl Strategy<Value = Known> {
    let risk = prop::sample::select(&["low", "medium", "high", "critical", "spicy"][..]);
    (text(), text(), text(), risk, 0..300_i64)
        .prop_map(|(title, tool, agent, risk, minutes)| known(&title, &tool, &agent, risk, minutes))
}

#[derive(Clone, Debug)]
enum Plain {
    Exact(&'static str),
    Tool(&'static str),
    Risk(&'static str, u8),
    Older(i64),
}

fn plain() -> impl Strategy<Value = (bool, Plain)> {
    let word = || prop::sample::select(&WORDS[..]);
    let risk = prop::sample::select(&[("low", 0), ("medium", 1), ("high", 2), ("critical", 3)][..]);
    let one = prop_oneof![
        word().prop_map(Plain::Exact),
        word().prop_map(Plain::Tool),
        risk.prop_map(|(word, rank)| Plain::Risk(word, rank)),
        (0..300_i64).prop_map(Plain::Older),
    ];
    (any::<bool>(), one)
}

fn written((negated, plain): &(bool, Plain)) -> String {
    let dash = if *negated { "-" } else { "" };
    match plain {
        Plain::Exact(word) => format!("{dash}'{word}"),
        Plain::Tool(word) => format!("{dash}tool:{word}"),
        Plain::Risk(word, _) => format!("{dash}risk:>={word}"),
        Plain::Older(minutes) => format!("{dash}age:>{minutes}m"),
    }
}

fn reference((negated, plain): &(bool, Plain), subject: &Known) -> bool {
    // The matcher ignores accents.
    let fold = |text: &str| text.to_lowercase().replace('ü', "u");
    let row = &subject.entry.row;
    let holds = match plain {
        Plain::Exact(word) => {
            let cased = word.chars().any(char::is_uppercase);
            let like = |text: &str| if cased { text.replace('ü', "u") } else { fold(text) };
            let all = [
                row.title.as_raw(),
                row.tool.as_raw(),
                row.agent.as_ref().unwrap().as_raw(),
                "team-gate",
                "onboarding",
                "pa-3f9c",
                "m-81:issues",
                "cp 7",
            ];
            all.iter().any(|text| like(text).contains(&like(word)))
        }
        Plain::Tool(word) => fold(row.tool.as_raw()).contains(&fold(word)),
        Plain::Risk(_, rank) => row.risk.rank() >= *rank,
        Plain::Older(minutes) => NOW - row.created_at.as_millis() > minutes * MINUTE,
    };
    holds != *negated
}

proptest! {
    #![proptest_config(rounds::config(128, 5_000))]

    #[test]
    fn exact_terms_match_the_reference(
        terms in prop::collection::vec(plain(), 0..4), subject in subjects(),
    ) {
        let filter = terms.iter().map(written).collect::<Vec<_>>().join(" ");
        let expected = terms.iter().all(|term| reference(term, &subject));
        prop_assert_eq!(holds(&filter, &subject), expected, "{}", filter);
    }

    #[test]
    fn word_matches_its_text_and_longer_words_narrow(
        subject in subjects(), word in "[a-zE]{1,6}", more in "[a-zE]{0,3}",
    ) {
        if holds(&format!("'{word}"), &subject) && !"pa-3f9c m-81:issues cp 7".contains(&word) {
            prop_assert!(holds(&word, &subject), "{word}");
        }
        let (short, long) = (Filter::parse(&word).unwrap(), Filter::parse(&format!("{word}{more}")).unwrap());
        if long.narrows(&short) && holds(long.text(), &subject) {
            prop_assert!(holds(short.text(), &subject), "{} but not {word}", long.text());
        }
    }

    #[test]
    fn parsing_never_panics(text in "\\PC{0,40}") {
        if let Ok(filter) = Filter::parse(&text) {
            Finder::default().holds(&filter, &outage(), Timestamp::from_millis(NOW));
        }
    }
}

#[test]
fn trailing_star_matches_a_prefix() {
    check(
        &outage(),
        &["tool:create_*", "tool:CREATE*", "tool:linear,create*", "-tool:linear*"],
        &["tool:linear*"],
    );
    let starred = known("buy 5*", "t", "a", "low", 1);
    check(&starred, &["title:\"5*\"", "title:buy*"], &["title:5*", "title:\"buy*\""]);
    assert!(Filter::parse("tool:*").is_err() && Filter::parse("tool:>x*").is_err());
}

#[test]
fn terms_that_need_a_screen_are_named() {
    let asked = |text: &str| Filter::parse(text).unwrap().only_on_screen();

    assert_eq!(asked("risk:high age:>1h is:high,unknown -is:settled word"), None);
    assert_eq!(asked("a is:high,marked").as_deref(), Some("is:marked"));
    assert_eq!(asked("-is:unopened").as_deref(), Some("is:unopened"));
    assert_eq!(asked("kind:exclude").as_deref(), Some("kind:"));
}

#[test]
fn claims_match_by_claimant() {
    let found = |text: &str| {
        let filter = Filter::parse(text).unwrap();
        [None, Some("me"), Some("Kim"), Some("kimberly")].map(|claimed| {
            let subject = Known { claimed: claimed.map(Untrusted::from), ..known("t", "t", "a", "low", 1) };
            Finder::default().holds(&filter, &subject, Timestamp::from_millis(NOW))
        })
    };

    assert_eq!(found("claimed:me"), [false, true, false, false]);
    assert_eq!(found("claimed:none"), [true, false, false, false]);
    assert_eq!(found("-claimed:none"), [false, true, true, true]);
    assert_eq!(found("claimed:kim"), [false, false, true, true]);
    assert_eq!(found("claimed:me,none"), [true, true, false, false]);
    assert!(Filter::parse("claimed:>me").is_err());
    assert_eq!(Filter::parse("claimed:me").unwrap().only_on_screen(), None);
}

#[test]
fn approvals_match_by_approver_and_need() {
    let found = |text: &str| {
        let filter = Filter::parse(text).unwrap();
        let holds = |by: Option<&[&str]>, status: &str| {
            let mut subject = Known { me: Some("lee".into()), ..known("t", "t", "a", "low", 1) };
            let by = by.map(|by| by.iter().map(|by| (*by).into()).collect());
            subject.entry.row.approvals = by.map(|by| Approvals { needed: 2, by }.into());
            subject.entry.row.status = Status::parse(status);
            Finder::default().holds(&filter, &subject, Timestamp::from_millis(NOW))
        };
        [
            holds(None, "pending"),
            holds(Some(&[]), "pending"),
            holds(Some(&["Kim"]), "pending"),
            holds(Some(&["Lee "]), "pending"),
            holds(Some(&["kim", "lee"]), "approved"),
        ]
    };

    assert_eq!(found("approvals:waiting"), [false, false, true, true, false]);
    assert_eq!(found("approvals:none"), [false, true, false, false, false]);
    assert_eq!(found("approvals:me"), [false, false, false, true, true], "subjects ignore case and blanks");
    assert_eq!(found("approvals:kim"), [false, false, true, false, true]);
    assert_eq!(found("approvals:waiting -approvals:me"), [false, false, true, false, false]);
    assert!(Filter::parse("approvals:>2").is_err());
    assert_eq!(Filter::parse("approvals:me").unwrap().only_on_screen(), None);
}

#[test]
fn people_match_by_subject_and_name() {
    let mut subject = known("t", "t", "a", "low", 1);
    subject.claimed = Some("k-81".into());
    subject.entry.row.resolved_by = Some("k-81".into());
    subject.names = vec![("k-81".into(), "Kim Example".into()), ("l-7".into(), "Lee".into())];
    let holds = |text: &str| {
        Finder::default().holds(&Filter::parse(text).unwrap(), &subject, Timestamp::from_millis(NOW))
    };

    for text in [
        "claimed:k-81",
        "claimed:kim",
        "claimed:\"kim ex\"",
        "by:k-81",
        "by:example",
        "by:==\"Kim Example\"",
        "-by:lee",
    ] {
        assert!(holds(text), "{text}");
    }
    for text in ["claimed:example", "claimed:lee", "by:lee", "-by:kim", "-by:k-81", "kim"] {
        assert!(!holds(text), "{text}");
    }
}
