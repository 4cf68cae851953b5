//! `placet claim ID`: claims actions for this reviewer, or (`--end`) ends the claim.

use clap::Args as ClapArgs;
use serde_json::json;

use crate::contract::absent::without_nulls;
use crate::contract::time;
use crate::domain::{ActionKey, Claim, subject};
use crate::inbox::Inbox;
use crate::text;

use super::args::{Completed, id};
use super::exit::Exit;
use super::find::{SearchedId, find};
use super::output::{self, problem};

/// Tell other reviewers you are on it (not a lock)
#[derive(Debug, ClapArgs)]
pub struct ClaimArgs {
    /// The action's id or any unique beginning of it; several are claimed one after another
    #[arg(required = true, value_parser = id, add = Completed::Ids)]
    pub id: Vec<String>,
    /// Its source, when several know the id
    #[arg(long, value_name = "NAME", add = Completed::Sources)]
    pub source: Option<String>,
    /// You are no longer on it
    #[arg(long)]
    pub end: bool,
    /// One JSON object a line for each action
    #[arg(long)]
    pub json: bool,
}

/// Claims actions, one after another. An action that somebody else has claimed counts as skipped. Returns the worst
/// exit code.
pub async fn run(inbox: &Inbox, args: &ClaimArgs) -> anyhow::Result<Exit> {
    let sought = |id| SearchedId { id, source: args.source.as_deref(), may_begin: true };
    let sought: Vec<_> = args.id.iter().map(|id| sought(id)).collect();
    let mut exit = Exit::Done;
    for found in find(inbox, &sought).await? {
        let ended = match found {
            Ok((key, _)) => one(inbox, &key, args).await?,
            Err(not_found) => {
                output::complain(&problem(&not_found.problem));
                not_found.exit
            }
        };
        if exit != Exit::Failed && ended != Exit::Done {
            exit = ended;
        }
    }
    Ok(exit)
}

async fn one(inbox: &Inbox, key: &ActionKey, args: &ClaimArgs) -> anyhow::Result<Exit> {
    let claimed =
        if args.end { inbox.end_claim(key).await.map(|()| None) } else { inbox.claim(key).await.map(Some) };
    let claimed = match claimed {
        Ok(claimed) => claimed,
        Err(why) => {
            output::complain(&problem(&why));
            return Ok(Exit::Failed);
        }
    };
    let mine = |claim: &Claim| inbox.subject(&key.source).is_none_or(|me| subject::is_same(&me, &claim.by));
    let outcome = match &claimed {
        None => "ended",
        Some(claim) if mine(claim) => "claimed",
        Some(_) => "taken",
    };
    if args.json {
        output::versioned(&without_nulls(json!({
            "source": key.source.as_str(),
            "id": key.id.as_raw(),
            "outcome": outcome,
            "claimedBy": claimed.as_ref().map(|claim| claim.by.as_raw()),
            "claimedAt": claimed.as_ref().map(|claim| time::write(claim.since)),
        })))?;
    } else {
        output::line(&said(key, outcome, claimed.as_ref()))?;
    }
    Ok(if outcome == "taken" { Exit::Skipped } else { Exit::Done })
}

fn said(key: &ActionKey, outcome: &str, claimed: Option<&Claim>) -> String {
    let id = output::identifier(key.id.untrusted());
    match (outcome, claimed) {
        ("taken", Some(claim)) => {
            let name = text::name(&claim.by).plain();
            format!("{id}: claimed by {name}. You can still decide")
        }
        ("claimed", _) => format!("{id}: claimed for five minutes. Anyone can still decide"),
        _ => format!("{id}: not claimed by you"),
    }
}
