//! `placet log verify|export`: checks and exports the receipts.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context as _;
use clap::Args as ClapArgs;
use serde_json::json;

use crate::contract::time;
use crate::domain::{Digest, Timestamp};
use crate::journal::{Checked, Field, Journal, Receipt, SavedHead};
use crate::private;
use crate::text::csv::record;

use super::exit::{Exit, Usage};
use super::{input, output};

/// Read every receipt and every decision, and report what was changed outside placet
#[derive(Debug, ClapArgs)]
pub struct VerifyArgs {
    /// A head kept elsewhere: its hash, or a file whose last line is a receipt or a head; - reads standard input
    #[arg(long, value_name = "FILE|HASH")]
    head: Option<String>,
    /// One JSON object; keep it elsewhere as a head
    #[arg(long)]
    json: bool,
}

/// Print every receipt as JSON, one a line, oldest first; the last line is a head
#[derive(Debug, ClapArgs)]
pub struct ExportArgs {
    /// Write to this file instead, readable only by its owner; it must not exist
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// As CSV for spreadsheets; only the JSON can be verified
    #[arg(long)]
    csv: bool,
}

const PAGE: u32 = 1_000;

pub(super) async fn verify(journal: &Journal, args: &VerifyArgs) -> anyhow::Result<Exit> {
    let kept = args.head.as_deref().map(read_head).transpose()?;
    let (all, read) = (u64::try_from(journal.newest_receipt().await?).ok(), AtomicU64::new(0));
    let checking = journal.verify_counting(kept.as_slice(), &read);
    let checked = output::counting("receipts read", all, &read, checking).await??;
    let Checked { receipts, decisions, head, wrong } = &checked;
    let ok = wrong.is_none();
    if args.json {
        output::versioned(&json!({
            "ok": ok,
            "receipts": receipts,
            "decisions": decisions,
            "problem": wrong.as_ref().map(|wrong| &wrong.what),
            "at": wrong.as_ref().and_then(|wrong| wrong.seq),
            "seq": head.as_ref().map(|head| head.seq),
            "hash": head.as_ref().map(|head| &head.hash),
        }))?;
        return Ok(if ok { Exit::Done } else { Exit::Failed });
    }
    if let Some(wrong) = wrong {
        let about = wrong.seq.map(|seq| format!("receipt {seq}: ")).unwrap_or_default();
        output::line(&format!("{about}{}", wrong.what))?;
    }
    let said = if ok { "Intact" } else { "Changed outside placet" };
    let (receipts, decisions) = (output::count(*receipts, "receipt"), output::count(*decisions, "decision"));
    output::line(&format!("{said}: {receipts}, {decisions}"))?;
    if let Some(head) = head {
        output::line(&format!("the newest is {} {}", head.seq, output::shown(&head.hash.as_str().into())))?;
    }
    Ok(if ok { Exit::Done } else { Exit::Failed })
}

fn read_head(given: &str) -> anyhow::Result<SavedHead> {
    if Digest::parse(given).is_some() {
        return Ok(SavedHead::Hash(given.to_owned()));
    }
    let text = input::read(Path::new(given))?;
    let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let wrong = |_| {
        let prints = "`placet log export` and `placet log verify --json` print one";
        Usage(format!("there is no head at the end of {given:?}; {prints}"))
    };
    Ok(serde_json::from_str(last).map(SavedHead::Head).map_err(wrong)?)
}

pub(super) async fn export(journal: &Journal, args: &ExportArgs) -> anyhow::Result<Exit> {
    let mut file = match &args.to {
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
    if args.csv {
        let names = Receipt::default().fields().map(|(name, _)| name.to_owned());
        put(&record(&[&names[..], &["format".to_owned(), "hash".to_owned()]].concat()))?;
    }
    let (all, written) = (u64::try_from(journal.newest_receipt().await?).ok(), AtomicU64::new(0));
    let writing = async {
        let mut last = 0;
        loop {
            let page = journal.receipts(last, PAGE).await?;
            let Some(newest) = page.last() else { return anyhow::Ok(()) };
            last = newest.seq;
            for receipt in &page {
                if args.csv {
                    put(&record(&receipt_csv(receipt)))?;
                } else {
                    put(&output::json_line(receipt)?)?;
                }
            }
            written.fetch_add(page.len() as u64, Ordering::Relaxed);
        }
    };
    if args.to.is_none() && output::is_looked_at() {
        writing.await?;
    } else {
        output::counting("receipts written", all, &written, writing).await??;
    }
    if let Some(file) = file {
        file.sync_all()?;
    }
    Ok(Exit::Done)
}

/// Returns a CSV record: [`Receipt::fields`], the label and the hash. Text is as shown.
fn receipt_csv(receipt: &Receipt) -> Vec<String> {
    let cell = |(name, field): (&str, Field<'_>)| match (name, field) {
        ("at", Field::Number(Some(at))) => time::write(Timestamp::from_millis(at)),
        (_, field) => field.text().map(|text| output::shown(&text.into_owned().into())).unwrap_or_default(),
    };
    let last = [Receipt::FORMAT.to_owned(), output::shown(&receipt.hash.as_str().into())];
    receipt.fields().into_iter().map(cell).chain(last).collect()
}
