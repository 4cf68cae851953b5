use futures_util::future::join_all;

use super::*;
use crate::domain::SourceName;
use crate::sources::tests::{Fault, standing};

fn args(json: bool, source: Option<&str>) -> DoctorArgs {
    DoctorArgs { json, source: source.map(str::to_owned) }
}

/// What is told of a backend of this kind: healthy, or with something in the way of every request.
async fn told(kind: &'static str, fault: Option<Fault>) -> String {
    let source = standing(kind, fault).await;
    let limit = if fault == Some(Fault::SilentBefore) { 2 } else { 20 };
    let checks = source.check(Duration::from_secs(limit)).await;
    let place = SourceLabel { name: "there".to_owned(), kind, url: "https://there.example".to_owned() };
    Section { source: Some(place), checks }.text().join("\n")
}

#[tokio::test]
async fn what_works_is_told_without_advice() {
    assert_eq!(
        told("agents-api", None).await,
        "there (agents-api, https://there.example)
  ok     address        WordPress answers
                        it said: A Site
  ok     abilities      they are there, a host answers, and this user may use them
  ok     user           decisions are sent under the name that the site gave
                        it said: user:7
  ok     list           0 pending"
    );
    for kind in ["gate", "praxiom"] {
        let told = told(kind, None).await;
        assert!(told.contains("ok     list") && !told.contains("WRONG") && !told.contains("do:"), "{told}");
    }
}

#[tokio::test]
async fn what_does_not_work_says_what_to_do() {
    for kind in ["gate", "praxiom", "agents-api"] {
        for status in [401, 403, 404, 500] {
            let told = told(kind, Some(Fault::Status(status))).await;

            assert!(told.contains("WRONG"), "{kind} {status}: {told}");
            assert!(told.contains("do: "), "{kind} {status}: {told}");
        }
    }
}

#[tokio::test]
async fn one_that_hangs_says_so_in_time() {
    // At once: each of them waits for its limit.
    join_all(["gate", "praxiom", "agents-api"].map(async |kind| {
        let told = told(kind, Some(Fault::SilentBefore)).await;

        assert!(told.contains("no answer"), "{kind}: {told}");
        assert!(told.contains("do: "), "{kind}: {told}");
    }))
    .await;
}

#[tokio::test]
async fn sources_are_told_as_they_answer_and_what_cannot_be_set_up_or_has_no_token_is_one_of_them() {
    use crate::config::SourceKind;
    let source = |name: &str, url: &str| SourceConfig::of(name, SourceKind::Gate, url);
    let nobody = crate::net::testing::nobody().await;
    let away = source("away", &nobody);
    let no_token = SourceConfig {
        token: Some(TokenFrom::File("/nowhere/token".into())),
        ..source("no-token", "http://127.0.0.1:9")
    };
    let in_the_clear = SourceConfig {
        token: Some(TokenFrom::Env("PATH".to_owned())),
        ..source("in-the-clear", "http://gate.example")
    };
    let mut findings = Findings::new(&args(true, None));

    doctor(&mut findings, &[away, no_token, in_the_clear]).await.unwrap();

    let mut told: Vec<String> = findings.sections.iter().map(|it| it.text()[1].clone()).collect();
    told.sort();
    assert!(told[0].starts_with("  WRONG  list           it cannot be reached"), "{told:?}");
    assert!(told[1].starts_with("  WRONG  set-up") && told[1].contains("http://"), "{told:?}");
    assert!(told[2].starts_with("  WRONG  token          cannot be read"), "{told:?}");
    assert_eq!(findings.end().unwrap(), Exit::Failed);
}

#[test]
fn what_is_to_know_is_no_failure_and_lines_of_an_error_stand_beneath_each_other() {
    let mut findings = Findings::new(&args(true, None));
    findings.here(vec![Check::warn("clock", "late", "set it")]).unwrap();
    assert_eq!(findings.end().unwrap(), Exit::Done);

    let wrong =
        Check::bad("configuration", "line 3\n  | \u{1b}[2J", "correct it").said(Some("\u{1b}x".into()));
    let text = Section { source: None, checks: vec![wrong] }.text();

    assert_eq!(text[0], "this machine");
    assert_eq!(text[1], "  WRONG  configuration  line 3");
    assert!(text[2].contains("⟦ESC⟧[2J") && text[3].contains("it said: ⟦ESC⟧x"), "{text:?}");
    assert!(text[4].ends_with("do: correct it"));
}

#[test]
fn a_name_that_no_source_has_is_a_mistake_of_whoever_typed_it() {
    let all = vec![SourceConfig::of("team", crate::config::SourceKind::Gate, "http://127.0.0.1:9")];
    let team = chosen(all.clone(), &args(false, Some("team"))).unwrap();
    assert_eq!(team[0].name, SourceName::new("team"));
    assert!(chosen(all, &args(false, Some("tean"))).is_err());
}

#[test]
fn clocks_may_lie_two_minutes_apart() {
    assert_eq!((apart(120_000), apart(-120_000)), (None, None));
    let words = |ahead: i64| apart(ahead).unwrap().found;
    assert!(words(600_000).contains("10 min ahead of"));
    assert!(words(-180_000).contains("3 min behind"));
}
