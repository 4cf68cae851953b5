//! Two people at a time claim, end and decide one action. The gate's answers must match a model in one of the two
//! orders.

use futures_util::future::join_all;
use secrecy::SecretString;

use super::{claim, member};
use crate::domain::Claim;
use crate::gate::tests::rounds::{Random, rounds};
use crate::gate::tests::support::{TestGate, plain};

const PEOPLE: [&str; 3] = ["ann", "bob", "eve"];
/// Rounds for one action.
const MOMENTS: usize = 8;

#[derive(Clone, Copy, Debug)]
enum Act {
    Claim,
    End,
    Approve,
    Reject,
}

/// An answer: the claim's holder, whether a claim ended, or who decided.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    On(String),
    Ended(bool),
    Decided(String),
    TooLate(String),
}

#[derive(Clone, Debug, Default)]
struct Model {
    now: i64,
    decided: Option<usize>,
    /// The holder and the end.
    claim: Option<(usize, i64)>,
}

impl Model {
    fn live(&self) -> Option<(usize, i64)> {
        self.claim.filter(|(_, until)| *until > self.now && self.decided.is_none())
    }

    fn act(&mut self, who: usize, act: Act) -> Told {
        let name = |who: usize| PEOPLE[who].to_owned();
        let until = self.now + Claim::QUIET;
        match (act, self.decided) {
            (Act::End, decided) => {
                let is_mine = self.claim.is_some_and(|(by, until)| by == who && until > self.now);
                self.claim = self.claim.filter(|_| !is_mine);
                // A decided action may keep a hidden claim; ending it does not count.
                Told::Ended(is_mine && decided.is_none())
            }
            (_, Some(by)) => Told::TooLate(name(by)),
            (Act::Claim, None) => {
                let by = self.live().map_or(who, |(by, _)| by);
                if by == who {
                    self.claim = Some((who, until));
                }
                Told::On(name(by))
            }
            (Act::Approve | Act::Reject, None) => {
                self.decided = Some(who);
                Told::Decided(name(who))
            }
        }
    }
}

async fn told(gate: &TestGate, token: &SecretString, id: &str, act: Act) -> Told {
    let path = match act {
        Act::Claim => {
            let answer = claim(gate, token, id).await;
            return if answer.status == 200 {
                Told::On(answer.at("/claimedBy"))
            } else {
                Told::TooLate(answer.at("/error/resolvedBy"))
            };
        }
        Act::End => format!("/api/claims/{id}/end"),
        Act::Approve => format!("/api/pending-actions/{id}/approve"),
        Act::Reject => format!("/api/pending-actions/{id}/reject"),
    };
    let answer = gate.post_as(token, &path, "").await;
    match (act, answer.status) {
        (Act::End, 200) => Told::Ended(answer.json()["ended"] == true),
        (_, 200) => Told::Decided(answer.at("/resolvedBy")),
        _ => Told::TooLate(answer.at("/error/resolvedBy")),
    }
}

/// Runs two acts on the model in one order.
fn in_order(model: &Model, acts: [(usize, Act); 2], first: usize) -> (Model, [Told; 2]) {
    let mut model = model.clone();
    let mut told = [Told::Ended(false), Told::Ended(false)];
    for nth in [first, 1 - first] {
        told[nth] = model.act(acts[nth].0, acts[nth].1);
    }
    (model, told)
}

/// Runs two acts at once. Returns the models that match the answers and the claim seen afterwards.
async fn moment(
    gate: &TestGate,
    tokens: &[SecretString],
    id: &str,
    models: Vec<Model>,
    random: &mut Random,
) -> Vec<Model> {
    let pass = [0, 0, 0, 60_000, Claim::QUIET - 1, Claim::QUIET][random.below(6)];
    gate.gate.inner.clock.pass(pass);
    let mut chance = || {
        let act = match random.below(12) {
            0..6 => Act::Claim,
            6..9 => Act::End,
            9..11 => Act::Approve,
            _ => Act::Reject,
        };
        (random.below(PEOPLE.len()), act)
    };
    let acts = [chance(), chance()];
    let [one, other] = acts.map(|(who, act)| told(gate, &tokens[who], id, act));
    let (one, other) = tokio::join!(one, other);
    let answered = [one, other];
    let seen = gate.gate.store().claims("w").await.unwrap();
    let seen = seen.iter().find(|claim| claim.id.as_raw() == id).map(|claim| claim.by.as_raw().to_owned());
    let possible = models.iter().flat_map(|model| {
        let model = Model { now: model.now + pass, ..model.clone() };
        [0, 1].map(|first| in_order(&model, acts, first))
    });
    let possible: Vec<_> = possible.collect();
    let fits = |(model, told): &&(Model, [Told; 2])| {
        let alike = told.iter().zip(&answered).zip(acts).all(|((told, answered), (_, act))| {
            // Whether the hidden claim of a decided action ended does not matter.
            told == answered || matches!(act, Act::End) && model.decided.is_some()
        });
        alike && model.live().map(|(who, _)| PEOPLE[who].to_owned()) == seen
    };
    let models: Vec<Model> = possible.iter().filter(fits).map(|(model, _)| model.clone()).collect();
    assert!(
        !models.is_empty(),
        "{acts:?} was answered {answered:?}, and {seen:?} is on it; the model has {possible:#?}"
    );
    models
}

#[tokio::test]
async fn concurrent_claims_and_decisions_match_a_model() {
    let (_folder, gate) = plain().await;
    gate.gate.inner.clock.stop();
    let tokens = join_all(PEOPLE.map(|name| member(&gate, name))).await;
    let mut seeds = Random::seeded();

    for _ in 0..rounds(20, 300) {
        let seed = seeds.below(usize::MAX >> 1) as u64;
        let (mut random, mut models) = (Random::of(seed), vec![Model::default()]);
        let id = gate.propose("t", "{}").await;
        for _ in 0..MOMENTS {
            models = moment(&gate, &tokens, &id, models, &mut random).await;
        }
    }

    let verified = gate.gate.verify_audit(&[]).await.unwrap();
    assert_eq!(verified.problems, Vec::<String>::new());
}
