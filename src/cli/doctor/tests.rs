use futures_util::future::join_all;

use super::*;
use crate::domain::SourceName;
use crate::sources::tests::{Fault, standing};

fn args(json: bool, source: Option<&str>) -> DoctorArgs {
    DoctorArgs { json, source: source.map(str::to_owned) }
}

/// Returns the report on a backend of this kind, healthy or with a fault in every request.
async fn told(kind: &'static str, fault: Option<Fault>) -> String {
    let source = standing(kind, fault).await;
    let limit = if fault == Some(Fault::SilentBefore) { 2 } else { 20 };
    let checks = source.check(Duration::from_secs(limit)).await;
    let place = SourceLabel { name: "there".to_owned(), kind, url: "https://there.example".to_owned() };
    Section { source: Some(place), checks }.text().join("\n")
}

#[tokio::test]
async fn healthy_sources_are_reported_without_advice() {
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
async fn failed_checks_have_advice() {
    for kind in ["gate", "praxiom", "agents-api"] {
        for status in [401, 403, 404, 500] {
            let told = told(kind, Some(Fault::Status(status))).await;

            assert!(told.contains("WRONG"), "{kind} {status}: {told}");
            assert!(told.contains("do: "), "{kind} {status}: {told}");
        }
    }
}

#[tokio::test]
async fn hanging_source_is_reported_in_time() {
    // Concurrent, because each waits for its limit.
    join_all(["gate", "praxiom", "agents-api"].map(async |kind| {
        let told = told(kind, Some(Fault::SilentBefore)).await;

        assert!(told.contains("no answer"), "{kind}: {told}");
        assert!(told.contains("do: "), "{kind}: {told}");
    }))
    .await;
}

#[tokio::test]
async fn unreachable_misconfigured_and_tokenless_sources_are_reported() {
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

    run(&mut findings, &[away, no_token, in_the_clear]).await.unwrap();

    let mut told: Vec<String> = findings.sections.iter().map(|it| it.text()[1].clone()).collect();
    told.sort();
    assert!(told[0].starts_with("  WRONG  list           it cannot be reached"), "{told:?}");
    assert!(told[1].starts_with("  WRONG  set-up") && told[1].contains("http://"), "{told:?}");
    assert!(told[2].starts_with("  WRONG  token          cannot be read"), "{told:?}");
    assert_eq!(findings.end().unwrap(), Exit::Failed);
}

#[test]
fn notes_are_no_failure_and_error_lines_are_indented() {
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
fn unknown_source_name_is_refused() {
    let all = vec![SourceConfig::of("team", crate::config::SourceKind::Gate, "http://127.0.0.1:9")];
    let team = chosen(all.clone(), &args(false, Some("team"))).unwrap();
    assert_eq!(team[0].name, SourceName::new("team"));
    assert!(chosen(all, &args(false, Some("tean"))).is_err());
}

#[test]
fn clocks_may_differ_by_two_minutes() {
    assert_eq!((apart(120_000), apart(-120_000)), (None, None));
    let words = |ahead: i64| apart(ahead).unwrap().found;
    assert!(words(600_000).contains("10 min ahead of"));
    assert!(words(-180_000).contains("3 min behind"));
}
