//! Bearers of tokens: names, groups, last uses and rotation.

use std::time::Duration;

use reqwest::Method;
use secrecy::{ExposeSecret as _, SecretString};

use super::support::{LIMIT, TestGate, answer, plain};
use crate::domain::Timestamp;
use crate::gate::reconcile::note_uses;
use crate::gate::token::{self, Token};
use crate::gate::{NewToken, Scope};

fn kim() -> NewToken {
    NewToken {
        subject: "kim".to_owned(),
        name: Some(" Kim Example ".to_owned()),
        groups: vec!["support".to_owned(), "nights".to_owned()],
        workspace: "w".to_owned(),
        scopes: vec![Scope::Read, Scope::Decide],
        lifetime: None,
    }
}

async fn all_of(gate: &TestGate, subject: &str) -> Vec<Token> {
    let tokens = gate.gate.list_tokens().await.unwrap();
    tokens.into_iter().filter(|token| token.subject == subject).collect()
}

async fn status(gate: &TestGate, token: &SecretString) -> u16 {
    answer(gate.request(Method::GET, "/api/pending-actions", token)).await.status
}

#[tokio::test]
async fn person_has_a_name_and_groups() {
    let (_folder, gate) = plain().await;
    let token = gate.gate.issue_token(kim()).await.unwrap();

    let me = answer(gate.request(Method::GET, "/api/workspaces", &token)).await;
    let people = gate.get("/api/people").await;

    assert_eq!(me.at("/items/0/subjectName"), "Kim Example");
    assert_eq!(me.at("/items/0/groups"), r#"["support","nights"]"#);
    let named = r#"{"subject":"kim","name":"Kim Example","groups":["support","nights"]}"#;
    assert!(people.text.contains(named), "{people:?}");
    assert_eq!(gate.gate.verify_audit(&[]).await.unwrap().problems, Vec::<String>::new());
    gate.stop().await;
}

#[tokio::test]
async fn subject_that_looks_like_another_gets_no_token() {
    let (_folder, gate) = plain().await;
    for subject in ["кim", "k\u{200b}im", "kim\u{7f}x", "kim\u{2066}x", "kim ольга"] {
        let refused = gate.gate.issue_token(NewToken { subject: subject.to_owned(), ..kim() }).await;
        let said = refused.unwrap_err().to_string();
        assert!(
            said.contains("the subject holds U+") || said.contains("mixes scripts"),
            "{subject:?}: {said}"
        );
    }
    for subject in ["ким", "山田 Taro", "kim@example.com"] {
        gate.gate.issue_token(NewToken { subject: subject.to_owned(), ..kim() }).await.unwrap();
    }
    gate.stop().await;
}

/// The token may be older than the check.
#[tokio::test]
async fn subject_that_looks_like_another_only_reads() {
    let (_folder, gate) = plain().await;
    let all = [Scope::Read, Scope::Propose, Scope::Decide, Scope::Execute, Scope::Admin];
    let (token, secret) = Token::issue("к\u{200b}im", "w", &all, None);
    gate.gate.store().add_token(token, token::hash(&secret)).await.unwrap();
    let id = gate.propose("t", "{}").await;

    assert_eq!(status(&gate, &secret).await, 200);
    let proposal = r#"{"toolName":"t","workspaceId":"w","toolInput":{}}"#;
    let approve = format!("/api/pending-actions/{id}/approve");
    for (path, body) in [("/api/pending-actions", proposal), (&approve, ""), ("/api/gate/pause", "")] {
        let refused = gate.post_as(&secret, path, body).await;
        assert_eq!(refused.code(), (403, "FORBIDDEN".to_owned()), "{path}");
        assert!(refused.at("/error/message").contains("your subject holds U+200B"), "{refused:?}");
    }
    assert_eq!(gate.status(&id).await, "pending");
    gate.stop().await;
}

#[tokio::test]
async fn requester_that_looks_like_another_is_refused() {
    let (_folder, gate) = plain().await;
    for (requester, status) in [("Ольга К.", 202), ("Kim 山田", 202), ("Oльга", 422), ("k\u{ad}im", 422)]
    {
        let body =
            format!(r#"{{"toolName":"t","workspaceId":"w","toolInput":{{}},"requestedBy":"{requester}"}}"#);
        let answer = gate.post_as(&gate.agent, "/api/pending-actions", &body).await;
        assert_eq!(answer.status, status, "{requester:?}: {answer:?}");
    }
    gate.stop().await;
}

#[tokio::test]
async fn invalid_name_group_or_workspace_is_refused() {
    let (_folder, gate) = plain().await;
    let long = "x".repeat(101);
    for name in ["two\nlines", &long] {
        let new = NewToken { name: Some(name.to_owned()), ..kim() };
        assert!(gate.gate.issue_token(new).await.is_err(), "{name:?}");
    }
    for group in ["", "two words", "a,b", &long] {
        let new = NewToken { groups: vec![group.to_owned()], ..kim() };
        assert!(gate.gate.issue_token(new).await.is_err(), "{group:?}");
    }
    for workspace in ["", " ", "*", "two\nlines", "a\u{7f}", &"w".repeat(129)] {
        let new = NewToken { workspace: workspace.to_owned(), ..kim() };
        assert!(gate.gate.issue_token(new).await.is_err(), "{workspace:?}");
    }
    assert_eq!(all_of(&gate, "kim").await, []);
    gate.stop().await;
}

#[tokio::test]
async fn rotated_token_works_until_its_overlap_ends() {
    let (_folder, gate) = plain().await;
    gate.gate.inner.clock.stop();
    let lifetime = Some(Duration::from_hours(48));
    let old = gate.gate.issue_token(NewToken { lifetime, ..kim() }).await.unwrap();
    let id = all_of(&gate, "kim").await[0].id.clone();
    gate.gate.inner.clock.pass(60_000);

    let new = gate.gate.rotate_token(&id, Duration::from_hours(1)).await.unwrap().unwrap();

    assert_eq!([status(&gate, &old).await, status(&gate, &new).await], [200, 200]);
    gate.gate.inner.clock.pass(3_600_001);
    assert_eq!([status(&gate, &old).await, status(&gate, &new).await], [401, 200]);
    let tokens = all_of(&gate, "kim").await;
    let of = |token: &Token| (token.name.clone(), token.groups.clone(), token.scopes.clone());
    assert_eq!(of(&tokens[0]), of(&tokens[1]));
    let lived = tokens[1].expires_at.unwrap().as_millis() - tokens[1].created_at.as_millis();
    assert_eq!(lived, 48 * 60 * 60 * 1_000);
    assert!(
        gate.gate.rotate_token(&id, Duration::from_hours(1)).await.unwrap().is_none(),
        "the old token has ended"
    );
    assert_eq!(gate.gate.verify_audit(&[]).await.unwrap().problems, Vec::<String>::new());
    gate.stop().await;
}

/// A longer overlap must not extend the old token's life.
#[tokio::test]
async fn rotation_does_not_extend_a_token() {
    let (_folder, gate) = plain().await;
    gate.gate.inner.clock.stop();
    let lifetime = Some(Duration::from_mins(5));
    let old = gate.gate.issue_token(NewToken { lifetime, ..kim() }).await.unwrap();
    let id = all_of(&gate, "kim").await[0].id.clone();

    gate.gate.rotate_token(&id, Duration::from_hours(1)).await.unwrap().unwrap();

    gate.gate.inner.clock.pass(300_001);
    assert_eq!(status(&gate, &old).await, 401);
    assert_eq!(gate.gate.verify_audit(&[]).await.unwrap().problems, Vec::<String>::new());
    gate.stop().await;
}

#[tokio::test]
async fn last_use_is_noted_at_most_once_a_minute() {
    let (_folder, gate) = plain().await;
    gate.gate.inner.clock.stop();
    let token = gate.gate.issue_token(kim()).await.unwrap();
    // Uses only the first of several gates.
    let ask = async || {
        let path = format!("{}/api/pending-actions", gate.url);
        answer(gate.client.get(path).bearer_auth(token.expose_secret())).await.status
    };
    let used = async || all_of(&gate, "kim").await[0].last_used_at;
    // The gate itself may be about to store it.
    let after = async |last: Option<Timestamp>| {
        let noted = async {
            while used().await == last {
                note_uses(&gate.gate).await.unwrap();
            }
        };
        tokio::time::timeout(LIMIT, noted).await.unwrap();
        used().await
    };
    let heads = gate.gate.audit_heads().await.unwrap();
    assert_eq!(used().await, None);

    ask().await;
    let first = after(None).await;
    gate.gate.inner.clock.pass(59_000);
    ask().await;
    let noted_soon = gate.gate.inner.uses.take();
    gate.gate.inner.clock.pass(2_000);
    ask().await;
    let later = after(first).await;

    assert_eq!(noted_soon, []);
    assert_eq!(later.unwrap().as_millis() - first.unwrap().as_millis(), 61_000);
    assert_eq!(gate.gate.audit_heads().await.unwrap(), heads);
    gate.stop().await;
}
