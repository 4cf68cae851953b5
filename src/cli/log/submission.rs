//! `placet log report`: the report of one submission with current outcomes.

use std::collections::HashMap;

use clap::Args as ClapArgs;

use crate::cli::args::id;
use crate::cli::exit::{Exit, Usage};
use crate::cli::find::ambiguous;
use crate::cli::shift::look;
use crate::cli::{output, report};
use crate::domain::{ActionKey, Followed, SubmissionId};
use crate::inbox::Inbox;
use crate::journal::{Journal, Sent, SubmissionRecord};

/// Print the report of one submission again, with current outcomes
#[derive(Debug, ClapArgs)]
pub struct ReportArgs {
    /// Id of the submission (column `submission` of `placet log`), or a unique prefix of it; or `last`
    #[arg(default_value = "last", value_parser = id)]
    pub id: String,
    /// CSV for spreadsheets (with a header, lines end with LF); text as shown, never a formula
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

pub(super) async fn print(
    journal: &Journal,
    inbox: Option<&Inbox>,
    args: &ReportArgs,
) -> anyhow::Result<Exit> {
    let mut past = if args.id == "last" {
        journal.log(1).await?.into_iter().next()
    } else {
        find(journal, &args.id).await?
    };
    if let (Some(inbox), Some(before)) = (inbox, &past) {
        look(inbox, before.items.iter()).await;
        past = journal.past(&before.id).await?;
    }
    let unknown = || {
        Usage(format!(
            "no submission {:?} was sent from here; `placet log --columns submission` has their ids",
            args.id
        ))
    };
    let past = past.ok_or_else(unknown)?;
    let (known, followed) = (past.report(), followed(&past));
    if args.csv {
        report::csv(&known, &followed)?;
    } else {
        report::print(&known, &followed, &HashMap::new(), args.json)?;
    }
    Ok(Exit::Done)
}

async fn find(journal: &Journal, given: &str) -> anyhow::Result<Option<SubmissionRecord>> {
    if let Some(past) = journal.past(&SubmissionId::new(given)).await? {
        return Ok(Some(past));
    }
    let ids = if given.is_empty() { Vec::new() } else { journal.submissions_beginning(given).await? };
    match ids.as_slice() {
        [] => Ok(None),
        [only] => Ok(journal.past(only).await?),
        several => {
            let shown = |id: &SubmissionId| output::identifier(&id.as_str().into());
            Err(ambiguous(given, several.iter().map(shown)).into())
        }
    }
}

fn followed(past: &SubmissionRecord) -> HashMap<ActionKey, Followed> {
    let of = |sent: &Sent| {
        let seen = sent.followed.as_ref()?;
        let followed = Followed {
            key: sent.key.clone(),
            title: sent.title.clone(),
            status: seen.status.clone(),
            result: None,
            error: seen.error.clone(),
            outcome: None,
            at: past.begun_at,
        };
        Some((sent.key.clone(), followed))
    };
    past.items.iter().filter_map(of).collect()
}
