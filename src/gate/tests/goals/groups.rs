//! G21: in random requests for batches and checkpoints each item gets the outcome of a model, counts add up, and
//! unlisted actions stay unchanged.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::future::join_all;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::domain::Digest;
use crate::gate::tests::rounds::runner;
use crate::gate::tests::support::{Answer, TestGate, plain};

/// In one of the checkpoint's batches, or in neither.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Batch,
    OtherBatch,
    Elsewhere,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Expecting {
    Nothing,
    Right,
    Wrong,
    Malformed,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Editing {
    No,
    Good,
    Identity,
    OtherThanShown,
}

#[derive(Debug, Clone)]
struct Item {
    place: Place,
    before: &'static str,
    listed: bool,
    exclude: bool,
    expecting: Expecting,
    editing: Editing,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Asked {
    Batch,
    Approve,
    Reject,
}

#[derive(Debug, Clone)]
struct Case {
    asked: Asked,
    items: Vec<Item>,
    unknown: usize,
}

fn case() -> impl Strategy<Value = Case> {
    let item = (
        select(vec![Place::Batch, Place::Batch, Place::OtherBatch, Place::Elsewhere]),
        select(vec!["pending", "pending", "pending", "approved", "rejected", "withdrawn"]),
        any::<bool>(),
        any::<bool>(),
        select(vec![
            Expecting::Nothing,
            Expecting::Right,
            Expecting::Right,
            Expecting::Wrong,
            Expecting::Malformed,
        ]),
        select(vec![Editing::No, Editing::Good, Editing::Identity, Editing::OtherThanShown]),
    );
    let item = item.prop_map(|(place, before, listed, exclude, expecting, editing)| {
        // Lists most items.
        Item { place, before, listed: listed || exclude, exclude, expecting, editing }
    });
    let asked = select(vec![Asked::Batch, Asked::Approve, Asked::Reject]);
    (asked, prop::collection::vec(item, 1..8), 0_usize..2).prop_map(|(asked, items, unknown)| Case {
        asked,
        items,
        unknown,
    })
}

impl Item {
    fn tool(&self) -> &'static str {
        if self.place == Place::OtherBatch { "u" } else { "t" }
    }

    /// The outcome that the reply must report.
    fn outcome(&self, asked: Asked) -> &'static str {
        let inside = match asked {
            Asked::Batch => self.place == Place::Batch,
            Asked::Approve | Asked::Reject => self.place != Place::Elsewhere,
        };
        match (inside, self.before, self.expecting) {
            (false, ..) => "missing",
            (_, "approved" | "rejected" | "withdrawn", _) => "skipped",
            (.., Expecting::Wrong) => "changed",
            (.., Expecting::Malformed) => "invalid",
            _ if self.exclude || asked == Asked::Reject => "rejected",
            _ => match self.editing {
                Editing::Identity => "invalid",
                Editing::OtherThanShown => "changed",
                Editing::No | Editing::Good => "approved",
            },
        }
    }

    fn asks(&self, id: &str, asked: Asked) -> Value {
        let digest = |input| Digest::of(self.tool(), "w", input).to_string();
        let mut item = json!({"pendingActionId": id});
        match self.expecting {
            Expecting::Nothing => {}
            Expecting::Right => item["expectedDigest"] = digest(r#"{"n":1}"#).into(),
            Expecting::Wrong => item["expectedDigest"] = digest(r#"{"n":1.0}"#).into(),
            Expecting::Malformed => item["expectedDigest"] = "sha256:0".into(),
        }
        if asked == Asked::Reject {
            return item;
        }
        item["exclude"] = self.exclude.into();
        match self.editing {
            Editing::No => {}
            Editing::Good => item["userEdits"] = json!({"n": 2}),
            Editing::Identity => item["userEdits"] = json!({"workspaceId": "x"}),
            Editing::OtherThanShown => {
                item["userEdits"] = json!({"n": 3});
                item["expectedEffectiveDigest"] = digest(r#"{"n":2}"#).into();
            }
        }
        item
    }
}

/// Proposes the actions and brings them to their earlier status.
async fn prepare(gate: &TestGate, case: &Case, name: &str) -> Vec<String> {
    join_all(case.items.iter().map(async |item| {
        let more = match item.place {
            Place::Elsewhere => format!(r#","missionId":"not-{name}""#),
            _ => format!(r#","missionId":"{name}","checkpointId":"{name}""#),
        };
        let id = gate.propose_with(item.tool(), r#"{"n":1}"#, &more).await;
        let path = |verb: &str| format!("/api/pending-actions/{id}/{verb}");
        match item.before {
            "approved" => drop(gate.approve(&id, "").await),
            "rejected" => drop(gate.reject(&id, "").await),
            "withdrawn" => drop(gate.post_as(&gate.agent, &path("withdraw"), "").await),
            _ => {}
        }
        id
    }))
    .await
}

async fn rows(gate: &TestGate, ids: &[String]) -> BTreeMap<String, (String, u64)> {
    let list = gate.list(&format!("&view=row&ids={}", ids.join(","))).await.json();
    let row = |row: &Value| {
        let text = |name: &str| row[name].as_str().unwrap().to_owned();
        (text("id"), (text("status"), row["revision"].as_u64().unwrap()))
    };
    list["items"].as_array().unwrap().iter().map(row).collect()
}

fn counts<'a>(outcomes: impl Iterator<Item = &'a str>) -> [u64; 4] {
    outcomes.fold([0; 4], |mut counts, outcome| {
        let place = ["approved", "rejected", "skipped"].iter().position(|word| *word == outcome);
        counts[place.unwrap_or(3)] += 1;
        counts
    })
}

fn said(body: &Value) -> [u64; 4] {
    ["approved", "rejected", "skipped", "failed"].map(|name| body[name].as_u64().unwrap())
}

async fn ask(gate: &TestGate, case: &Case, name: &str, ids: &[String]) -> Answer {
    let listed = case.items.iter().zip(ids).filter(|(item, _)| item.listed);
    let unknown = (0..case.unknown).map(|n| json!({"pendingActionId": format!("unknown-{n}")}));
    let items: Vec<Value> = listed.map(|(item, id)| item.asks(id, case.asked)).chain(unknown).collect();
    let path = match case.asked {
        Asked::Batch => format!("/api/pending-actions/batch/{name}:t/approve"),
        Asked::Approve => format!("/api/checkpoints/{name}/approve"),
        Asked::Reject => format!("/api/checkpoints/{name}/reject"),
    };
    gate.post(&path, &json!({"items": items}).to_string()).await
}

async fn check(gate: &TestGate, case: &Case, name: &str) {
    let ids = prepare(gate, case, name).await;
    let before = rows(gate, &ids).await;
    let answer = ask(gate, case, name, &ids).await;
    let after = rows(gate, &ids).await;

    let group_exists = case.items.iter().any(|item| match case.asked {
        Asked::Batch => item.place == Place::Batch,
        _ => item.place != Place::Elsewhere,
    });
    if !group_exists {
        assert_eq!((answer.code(), after), ((404, "NOT_FOUND".to_owned()), before));
        return;
    }
    assert_eq!(answer.status, 200, "{}", answer.text);
    let reply = answer.json();
    let listed: Vec<_> = case.items.iter().zip(&ids).filter(|(item, _)| item.listed).collect();
    // The reply lists all items in the order of the request.
    let outcomes: Vec<_> = reply["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["pendingActionId"].as_str().unwrap(), item["outcome"].as_str().unwrap()))
        .collect();
    let unknown = ["unknown-0", "unknown-1"].into_iter().take(case.unknown).map(|id| (id, "missing"));
    let want: Vec<_> =
        listed.iter().map(|(item, id)| (id.as_str(), item.outcome(case.asked))).chain(unknown).collect();
    assert_eq!(outcomes, want);
    assert_eq!(said(&reply), counts(want.iter().map(|(_, outcome)| *outcome)));
    if case.asked != Asked::Batch {
        sums_by_batch(&reply, &listed, case);
    }
    for (item, id) in case.items.iter().zip(&ids) {
        let decided = ["approved", "rejected"].contains(&item.outcome(case.asked)) && item.listed;
        if decided {
            assert_eq!(after[id].0, item.outcome(case.asked));
        } else {
            assert_eq!(after[id], before[id], "it must stay unchanged");
        }
    }
}

fn sums_by_batch(reply: &Value, listed: &[(&Item, &String)], case: &Case) {
    let batches = reply["batches"].as_array().unwrap();
    let mut sums = [0; 4];
    for batch in batches {
        let tool = batch["batchId"].as_str().map(|id| id.rsplit(':').next().unwrap().to_owned());
        let mine = listed.iter().filter(|(item, _)| match &tool {
            Some(tool) => item.place != Place::Elsewhere && item.tool() == tool,
            None => item.place == Place::Elsewhere,
        });
        let mut want = counts(mine.map(|(item, _)| item.outcome(case.asked)));
        want[3] += if tool.is_none() { case.unknown as u64 } else { 0 };
        assert_eq!(said(batch), want, "{tool:?}");
        sums.iter_mut().zip(said(batch)).for_each(|(sum, count)| *sum += count);
    }
    assert_eq!(sums, said(reply));
}

#[test]
fn g21_batches_and_checkpoints_add_up() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (_folder, gate) = runtime.block_on(plain());
    let names = AtomicU32::new(0);

    let ran = runner(20, 10_000).run(&case(), |case| {
        let name = format!("m{}", names.fetch_add(1, Ordering::Relaxed));
        runtime.block_on(check(&gate, &case, &name));
        Ok(())
    });

    ran.unwrap_or_else(|failed| panic!("{failed}"));
}
