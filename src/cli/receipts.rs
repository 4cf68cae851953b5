//! `placet log verify|export`: the receipts themselves.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;

use crate::contract::fields::Fields;
use crate::contract::time;
use crate::domain::{Digest, Timestamp};
use crate::journal::{Checked, Head, Journal, Receipt, SavedHead};
use crate::private;
use crate::text::csv::record;

use super::exit::{Exit, Usage};
use super::{input, output};

/// Receipts read at a time.
const PAGE: u32 = 1_000;

#[derive(Serialize)]
struct CheckedJson<'a> {
    ok: bool,
    receipts: u64,
    decisions: u64,
    without: u64,
    problem: Option<&'a str>,
    /// The receipt that the problem is about.
    at: Option<i64>,
    /// Of the newest receipt: to be kept elsewhere.
    seq: Option<i64>,
    hash: Option<&'a str>,
}

/// Says what was changed behind the journal's back. `head` was kept elsewhere.
pub(super) async fn verify(journal: &Journal, head: Option<&str>, json: bool) -> anyhow::Result<Exit> {
    let kept = head.map(read_head).transpose()?;
    let checked = journal.verify(kept.as_slice()).await?;
    let Checked { receipts, decisions, without, head, wrong } = &checked;
    let ok = wrong.is_none();
    if json {
        output::versioned(&CheckedJson {
            ok,
            receipts: *receipts,
            decisions: *decisions,
            without: *without,
            problem: wrong.as_ref().map(|wrong| wrong.what.as_str()),
            at: wrong.as_ref().and_then(|wrong| wrong.seq),
            seq: head.as_ref().map(|head| head.seq),
            hash: head.as_ref().map(|head| head.hash.as_str()),
        })?;
        return Ok(if ok { Exit::Done } else { Exit::Failed });
    }
    if let Some(wrong) = wrong {
        let about = wrong.seq.map(|seq| format!("receipt {seq}: ")).unwrap_or_default();
        output::line(&format!("{about}{}", wrong.what))?;
    }
    let said = if ok { "nothing was changed" } else { "the journal was changed behind placet's back" };
    output::line(&format!("{said}: {receipts} receipts, {decisions} decisions"))?;
    if *without > 0 {
        output::line(&format!("{without} decisions are from before there were receipts, and prove nothing"))?;
    }
    if let Some(head) = head {
        output::line(&format!("the newest is {} {}", head.seq, output::shown(&head.hash.as_str().into())))?;
    }
    Ok(if ok { Exit::Done } else { Exit::Failed })
}

/// A hash, a file whose last line has one, or - for standard input.
fn read_head(given: &str) -> anyhow::Result<SavedHead> {
    if Digest::parse(given).is_some() {
        return Ok(SavedHead::Hash(given.to_owned()));
    }
    let text = input::read(Path::new(given))?;
    let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let head = Fields::of(last).and_then(|fields| {
        let seq = i64::try_from(fields.number("seq")?).ok()?;
        let hash = fields.text("hash")?.as_raw().to_owned();
        Some(SavedHead::Head(Head { seq, hash }))
    });
    let wrong = || {
        let prints = "`placet log export` and `placet log verify --json` print one";
        Usage(format!("there is no head at the end of {given:?}; {prints}"))
    };
    Ok(head.ok_or_else(wrong)?)
}

/// A receipt as it is exported. The hash covers `at` as milliseconds since 1970, and the exact bytes of `outcome`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReceiptJson<'a> {
    format: String,
    seq: i64,
    kind: &'a str,
    at: i64,
    submission: &'a str,
    source: &'a str,
    action: &'a str,
    client: &'a str,
    reviewer: Option<&'a str>,
    login: Option<&'a str>,
    tool: Option<&'a str>,
    decision: Option<&'a str>,
    said: Option<&'a str>,
    digest: Option<&'a str>,
    effective: Option<&'a str>,
    terms: Option<&'a str>,
    seen: Option<&'a str>,
    dwell_ms: Option<i64>,
    outcome: Option<&'a str>,
    /// `None`: its form does not cover them.
    #[serde(flatten)]
    more: Option<MoreJson<'a>>,
    hash: &'a str,
}

/// What receipts cover since `placet-receipt/v2`, in the order of the hash.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MoreJson<'a> {
    title: Option<&'a str>,
    batch: Option<&'a str>,
    risk: Option<&'a str>,
    owner: Option<&'a str>,
    left_pending: Option<i64>,
}

/// Every receipt, oldest first: one JSON object a line, or as CSV; on standard output, or in a new file that only its owner can
/// read.
pub(super) async fn export(journal: &Journal, to: Option<&Path>, csv: bool) -> anyhow::Result<Exit> {
    let mut file = match to {
        None => None,
        Some(path) => {
            let opened = private::options().write(true).create_new(true).open(path);
            Some(opened.with_context(|| format!("cannot write {}", path.display()))?)
        }
    };
    let mut put = |text: &str| match &mut file {
        Some(file) => file.write_all(text.as_bytes()),
        None => output::records(text),
    };
    if csv {
        put(&record(&CSV.map(str::to_owned)))?;
    }
    let mut last = 0;
    loop {
        let page = journal.receipts(last, PAGE).await?;
        let Some(newest) = page.last() else { break };
        last = newest.seq;
        for receipt in &page {
            if csv {
                put(&record(&receipt_csv(receipt)))?;
            } else {
                put(&output::json_line(&receipt_json(receipt))?)?;
            }
        }
    }
    if let Some(file) = file {
        file.sync_all()?;
    }
    Ok(Exit::Done)
}

const CSV: [&str; 25] = [
    "seq",
    "kind",
    "at",
    "submission",
    "source",
    "action",
    "client",
    "reviewer",
    "login",
    "tool",
    "decision",
    "said",
    "digest",
    "effective",
    "terms",
    "seen",
    "dwell_ms",
    "outcome",
    "title",
    "batch",
    "risk",
    "owner",
    "left_pending",
    "format",
    "hash",
];

/// In the order of the head; text as it is shown.
fn receipt_csv(receipt: &Receipt) -> [String; 25] {
    let text = |text: &str| output::shown(&text.into());
    let maybe = |it: &Option<String>| it.as_deref().map(text).unwrap_or_default();
    [
        receipt.seq.to_string(),
        text(&receipt.kind),
        time::write(Timestamp::from_millis(receipt.at)),
        text(&receipt.submission),
        text(&receipt.source),
        text(&receipt.action),
        text(&receipt.client),
        maybe(&receipt.reviewer),
        maybe(&receipt.login),
        maybe(&receipt.tool),
        maybe(&receipt.decision),
        maybe(&receipt.said),
        maybe(&receipt.digest),
        maybe(&receipt.effective),
        maybe(&receipt.terms),
        maybe(&receipt.seen),
        receipt.dwell_ms.map(|millis| millis.to_string()).unwrap_or_default(),
        maybe(&receipt.outcome),
        maybe(&receipt.title),
        maybe(&receipt.batch),
        maybe(&receipt.risk),
        maybe(&receipt.owner),
        receipt.left_pending.map(|left| left.to_string()).unwrap_or_default(),
        receipt.format(),
        text(&receipt.hash),
    ]
}

fn receipt_json(receipt: &Receipt) -> ReceiptJson<'_> {
    ReceiptJson {
        format: receipt.format(),
        seq: receipt.seq,
        kind: &receipt.kind,
        at: receipt.at,
        submission: &receipt.submission,
        source: &receipt.source,
        action: &receipt.action,
        client: &receipt.client,
        reviewer: receipt.reviewer.as_deref(),
        login: receipt.login.as_deref(),
        tool: receipt.tool.as_deref(),
        decision: receipt.decision.as_deref(),
        said: receipt.said.as_deref(),
        digest: receipt.digest.as_deref(),
        effective: receipt.effective.as_deref(),
        terms: receipt.terms.as_deref(),
        seen: receipt.seen.as_deref(),
        dwell_ms: receipt.dwell_ms,
        outcome: receipt.outcome.as_deref(),
        more: receipt.covers_all().then_some(MoreJson {
            title: receipt.title.as_deref(),
            batch: receipt.batch.as_deref(),
            risk: receipt.risk.as_deref(),
            owner: receipt.owner.as_deref(),
            left_pending: receipt.left_pending,
        }),
        hash: &receipt.hash,
    }
}
