//! `placet claim ID`: says to others that this reviewer is on an action, or (`--end`) no longer.

use crate::domain::ActionKey;
use crate::inbox::Inbox;
use crate::text;

use super::args::ClaimArgs;
use super::exit::Exit;
use super::find::{SearchedId, find};
use super::output::{self, problem};

/// Claims actions, one after another. What somebody else is on already counts as skipped; the worst decides how it ends.
pub async fn claim(inbox: &Inbox, args: &ClaimArgs) -> anyhow::Result<Exit> {
    let sought = |id| SearchedId { id, source: args.source.as_deref(), may_begin: true };
    let sought: Vec<_> = args.id.iter().map(|id| sought(id)).collect();
    let mut exit = Exit::Done;
    for found in find(inbox, &sought).await? {
        let ended = match found {
            Ok((key, _)) => one(inbox, &key, args.end).await?,
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

async fn one(inbox: &Inbox, key: &ActionKey, end: bool) -> anyhow::Result<Exit> {
    let id = output::identifier(key.id.untrusted());
    if end {
        return Ok(match inbox.end_claim(key).await {
            Ok(()) => {
                output::line(&format!("{id} is not claimed by you"))?;
                Exit::Done
            }
            Err(why) => {
                output::complain(&problem(&why));
                Exit::Failed
            }
        });
    }
    match inbox.claim(key).await {
        Ok(claim) if inbox.subject(&key.source).is_none_or(|me| me == claim.by) => {
            output::line(&format!("{id} is claimed by you, for five minutes; anybody may still decide it"))?;
            Ok(Exit::Done)
        }
        Ok(claim) => {
            let name = text::name(&claim.by).plain();
            output::line(&format!("{id} is claimed by {name} already; you may decide it all the same"))?;
            Ok(Exit::Skipped)
        }
        Err(why) => {
            output::complain(&problem(&why));
            Ok(Exit::Failed)
        }
    }
}
