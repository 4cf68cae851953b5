//! The people that a gate reports.

use super::*;
use crate::domain::Person;

#[tokio::test]
async fn people_come_with_names_if_any() {
    let gate = Backend::default();
    let people = r#"{"items":[{"subject":"kim","name":"Kim Example","groups":["a"]},{"subject":"lee"},{"name":"nobody"},7]}"#;
    gate.on("GET", "/api/people").reply(200, people);
    let source = gate.source(SourceKind::Gate, Some("w")).await;

    let told = source.abilities().lookup.unwrap().people().await.unwrap();

    let kim = Person { subject: "kim".into(), name: Some("Kim Example".into()) };
    assert_eq!(told, [kim, Person { subject: "lee".into(), name: None }]);
}

#[tokio::test]
async fn check_reports_subjects_that_look_like_others() {
    let gate = Backend::default();
    gate.always("GET", 200, r#"{"items":[],"nextCursor":null,"revision":1}"#);
    let people =
        r#"{"items":[{"subject":"kim"},{"subject":"кim"},{"subject":"k\u00adim"},{"subject":"山田 kim"}]}"#;
    gate.on("GET", "/api/people").reply(200, people);

    let checks = gate.source(SourceKind::Gate, Some("w")).await.check(Duration::from_secs(20)).await;

    let told = checks.into_iter().filter(|check| check.what == "subject");
    let told: Vec<_> = told.map(|check| (check.verdict, check.said.unwrap())).collect();
    assert_eq!(told, [(Verdict::Warn, "кim".into()), (Verdict::Warn, "k\u{ad}im".into())]);
}
