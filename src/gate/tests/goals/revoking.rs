//! G34: a revoked or expired token is refused, and the database does not contain tokens.

use std::time::Duration;

use reqwest::{Method, Response};
use secrecy::{ExposeSecret as _, SecretString};

use crate::gate::Scope;
use crate::gate::audit::hex;
use crate::gate::tests::postgres;
use crate::gate::tests::support::{LIMIT, TestGate, answer, plain};
use crate::gate::token::hash;

/// Between one and two intervals of a stream's ticks.
const TICK: Duration = Duration::from_secs(16);

async fn status(gate: &TestGate, token: &SecretString) -> u16 {
    answer(gate.request(Method::GET, "/api/pending-actions?workspace_id=w", token)).await.status
}

async fn revoke(gate: &TestGate, subject: &str) {
    let tokens = gate.gate.list_tokens().await.unwrap();
    let id = &tokens.iter().find(|token| token.subject == subject).unwrap().id;
    assert!(gate.gate.revoke_token(id).await.unwrap());
}

#[tokio::test]
async fn g34_revoked_or_expired_token_is_refused_at_once() {
    let (_folder, gate) = plain().await;
    gate.gate.inner.clock.stop();
    let scopes = [Scope::Read];
    let revoked = gate.gate.create_token("revoked", "w", &scopes, None).await.unwrap();
    let expiring =
        gate.gate.create_token("expiring", "w", &scopes, Some(Duration::from_mins(1))).await.unwrap();
    assert_eq!([status(&gate, &revoked).await, status(&gate, &expiring).await], [200, 200]);

    revoke(&gate, "revoked").await;
    gate.gate.inner.clock.pass(59_000);
    let in_time = [status(&gate, &revoked).await, status(&gate, &expiring).await];
    gate.gate.inner.clock.pass(1_001);
    let after = [status(&gate, &revoked).await, status(&gate, &expiring).await];

    assert_eq!((in_time, after), ([401, 200], [401, 401]));
}

async fn open(gate: &TestGate, token: &SecretString) -> Response {
    let mut stream =
        gate.request(Method::GET, "/api/pending-actions/events?workspace_id=w", token).send().await.unwrap();
    let first = stream.chunk().await.unwrap().unwrap();
    assert!(first.starts_with(b"event: briefing"), "{first:?}");
    stream
}

/// Returns the next event, `None` if the stream ended.
async fn next(stream: &mut Response) -> Option<String> {
    let chunk = tokio::time::timeout(LIMIT, stream.chunk()).await.unwrap().unwrap()?;
    Some(String::from_utf8(chunk.to_vec()).unwrap())
}

#[tokio::test]
async fn g34_open_stream_ends_with_its_token() {
    let (_folder, gate) = plain().await;
    let scopes = [Scope::Read];
    let revoked = gate.gate.create_token("revoked", "w", &scopes, None).await.unwrap();
    let expiring =
        gate.gate.create_token("expiring", "w", &scopes, Some(Duration::from_mins(1))).await.unwrap();
    let mut streams =
        [open(&gate, &revoked).await, open(&gate, &expiring).await, open(&gate, &gate.owner).await];

    gate.gate.inner.clock.pass(60_001);
    let id =
        gate.gate.list_tokens().await.unwrap().into_iter().find(|it| it.subject == "revoked").unwrap().id;
    gate.gate.revoke_token(&id).await.unwrap();
    // Advances only the timers.
    tokio::time::pause();
    tokio::time::advance(TICK).await;
    tokio::time::resume();

    // A briefing may report the revocation first, followed by a tick or the end.
    for (stream, lives) in streams.iter_mut().zip([false, false, true]) {
        let mut last = next(stream).await;
        while last.as_ref().is_some_and(|event| event.starts_with("event: briefing")) {
            last = next(stream).await;
        }
        assert_eq!(last.is_some_and(|event| event.starts_with("event: tick")), lives);
    }
}

#[tokio::test]
async fn g34_database_files_hold_no_usable_token() {
    if postgres::is_used() {
        // Opens SQLite's file.
        return;
    }
    let (folder, gate) = plain().await;
    let guest = gate.gate.create_token("a-guest", "w", &[Scope::Read], None).await.unwrap();
    gate.propose("t", r#"{"n":"in-the-file"}"#).await;
    for token in [&gate.owner, &gate.agent, &guest] {
        assert_eq!(status(&gate, token).await, 200);
    }

    let mut dump = Vec::new();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        dump.extend(std::fs::read(file.unwrap().path()).unwrap());
    }
    let holds = |text: &str| dump.windows(text.len()).any(|part| part == text.as_bytes());

    assert!(holds("a-guest") && holds("in-the-file"), "the dump contains the database");
    for token in [&gate.owner, &gate.agent, &guest] {
        let secret = token.expose_secret();
        let random = secret.rsplit('_').next().unwrap();
        for part in [secret, random, &random[..16], &random[random.len() - 16..]] {
            assert!(!holds(part), "part of a token is in the database");
        }
        // The stored hash is not accepted as a token.
        let kept = hash(token);
        assert!(dump.windows(kept.len()).any(|part| part == kept), "its hash is stored");
        for stolen in [
            hex(&kept),
            format!("placet_owner_{}", hex(&kept)),
            kept.iter().map(|byte| char::from(byte % 26 + b'a')).collect(),
        ] {
            assert_eq!(status(&gate, &SecretString::from(stolen)).await, 401);
        }
    }
}
