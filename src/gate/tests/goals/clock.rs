//! G20: only the server's clock decides, and it may jump.

use reqwest::Method;

use crate::contract::time;
use crate::domain::Timestamp;
use crate::gate::reconcile;
use crate::gate::tests::rounds::{Random, rounds};
use crate::gate::tests::support::{Answer, TestGate, answer, plain};

const HOUR: i64 = 60 * 60 * 1_000;

/// Date headers of clients with broken clocks.
const DATES: [&str; 3] =
    ["Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 2099 23:59:59 GMT", "Sun, 22 Nov 2026 12:00:00 GMT"];

async fn approve(gate: &TestGate, id: &str, date: &str) -> Answer {
    let path = format!("/api/pending-actions/{id}/approve");
    let request = gate.request(Method::POST, &path, &gate.owner).header("date", date);
    answer(request).await
}

/// A duration from minus one hour to one hour.
fn hour(random: &mut Random) -> i64 {
    i64::try_from(random.below(7_200_001)).unwrap() - HOUR
}

/// A proposal that expires within two hours, by `ttlSeconds` or `expiresAt`.
async fn propose(gate: &TestGate, random: &mut Random) -> (String, Timestamp) {
    let seconds = 1 + random.below(7_200);
    let more = if random.below(2) == 0 {
        format!(r#","ttlSeconds":{seconds}"#)
    } else {
        let at = gate.gate.inner.clock.now().plus_millis(i64::try_from(seconds).unwrap() * 1_000);
        format!(r#","expiresAt":"{}""#, time::write(at))
    };
    let id = gate.propose_with("t", "{}", &more).await;
    let expires = time::read(&gate.action(&id).await.at("/expiresAt")).unwrap();
    (id, expires)
}

#[tokio::test]
async fn g20_clock_jump_changes_no_expiry() {
    let (_folder, gate) = plain().await;
    let mut random = Random::seeded();
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..rounds(160, 5_000) {
        let (id, expires) = propose(&gate, &mut random).await;
        gate.gate.inner.clock.pass(hour(&mut random));
        if random.below(2) == 0 {
            reconcile::sweep(&gate.gate).await.unwrap();
        }
        let before = gate.gate.inner.clock.now();
        let waits = gate.status(&id).await;
        let answer = approve(&gate, &id, DATES[random.below(3)]).await;
        let after = gate.gate.inner.clock.now();

        if expires <= before {
            assert_eq!((answer.status, answer.at("/error/status").as_str()), (409, "expired"));
            // An expired action stays expired when the clock goes back.
            reconcile::sweep(&gate.gate).await.unwrap();
            gate.gate.inner.clock.pass(-HOUR);
            let late = approve(&gate, &id, DATES[0]).await;
            assert_eq!((late.status, gate.status(&id).await.as_str()), (409, "expired"));
            refused += 1;
        } else if after < expires {
            assert_eq!((waits.as_str(), answer.status), ("pending", 200), "it expired early");
            accepted += 1;
        }
    }
    assert!(accepted > 10 && refused > 10, "{accepted} accepted, {refused} refused");
}
