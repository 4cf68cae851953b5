//! `placet log report`: what became of one submission, as far as it is known now.

use std::collections::HashMap;

use crate::cli::args::ReportArgs;
use crate::cli::{Exit, Usage, report};
use crate::domain::{ActionKey, Followed, Status, SubmissionId, Timestamp};
use crate::journal::{Journal, Past};

pub(super) async fn print(journal: &Journal, args: &ReportArgs) -> anyhow::Result<Exit> {
    let past = if args.id == "last" {
        journal.log(1).await?.into_iter().next()
    } else {
        journal.past(&SubmissionId::new(args.id.as_str())).await?
    };
    let unknown = || {
        Usage(format!(
            "no submission {:?} was sent from here; `placet log --columns submission` has their ids",
            args.id
        ))
    };
    let past = past.ok_or_else(unknown)?;
    let (known, followed) = (past.report(), followed(journal, &past).await?);
    if args.csv {
        report::csv(&known, &followed)?;
    } else {
        report::print(&known, &followed, args.json)?;
    }
    Ok(Exit::Done)
}

/// Where its actions were last seen, as the receipts have it.
async fn followed(journal: &Journal, past: &Past) -> anyhow::Result<HashMap<ActionKey, Followed>> {
    let receipts = journal.receipts_of(&past.id).await?;
    let of = |sent: &crate::journal::Sent| {
        let receipt = super::newest(&receipts, sent, "followed")?;
        let seen = super::followed(receipt.outcome.as_deref()?)?;
        let followed = Followed {
            key: sent.key.clone(),
            title: sent.title.clone(),
            status: Status::parse(seen.status.as_raw()),
            result: None,
            error: seen.error,
            outcome: None,
            at: Timestamp::from_millis(receipt.at),
        };
        Some((sent.key.clone(), followed))
    };
    Ok(past.items.iter().filter_map(of).collect())
}
