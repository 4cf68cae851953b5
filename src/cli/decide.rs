//! `placet decide`: the same path as the inbox, draft, freeze, journal, source, report, without a screen.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::domain::{
    ActionKey, Capabilities, Decision, DecisionKind, Digest, Draft, Edits, Entry, Followed, Outcome,
    PendingAction, RawJson, Report, ReportLine, Staged, Status, SubmissionId, Timestamp, Untrusted, freeze,
};
use crate::inbox::{Inbox, Rows};

use super::args::DecideArgs;
use super::output;
use super::{Exit, Usage, problem, show};

/// One decision of `--from`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wanted {
    id: String,
    decision: Word,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    user_edits: Option<Box<RawValue>>,
    #[serde(default)]
    reason: Option<String>,
    /// What `show --json` printed: the decision is refused when the content is another one now.
    #[serde(default)]
    digest: Option<String>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Word {
    Approve,
    Reject,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReportJson<'a> {
    submission: &'a str,
    approved: u64,
    rejected: u64,
    skipped: u64,
    accepted: u64,
    failed: u64,
    unknown: u64,
    left_pending: u64,
    items: Vec<LineJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LineJson<'a> {
    source: &'a str,
    id: &'a str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_by: Option<&'a str>,
    /// With `--follow`: where the action stands now.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// Decides, and prints the report that the inbox would show.
pub async fn decide(inbox: &Inbox, args: &DecideArgs, now: Timestamp) -> anyhow::Result<Exit> {
    let wanted = wanted(args)?;
    let (mut draft, mut loaded) = (Draft::default(), HashMap::new());
    for wish in wanted {
        let source = wish.source.as_deref().or(args.source.as_deref());
        match show::find(inbox, &wish.id, source).await? {
            Ok((key, action)) => {
                let staged = stage(&key, &action, wish, now)?;
                draft.stage([(key.clone(), Some(staged))]);
                loaded.insert(key, action);
            }
            Err(not_found) => {
                output::complain(&problem(&not_found.problem));
                return Ok(not_found.exit);
            }
        }
    }
    let entries = entries(inbox, &loaded).await;
    let can = |key: &ActionKey| entries.get(key).map_or(Capabilities::READ_ONLY, |entry| entry.can);
    let id = SubmissionId::new(uuid::Uuid::now_v7().to_string());
    let submission = match freeze(id, draft.iter(), &loaded, can) {
        Ok(submission) => submission,
        Err(refusal) => {
            let about = refusal.key().map(|key| format!("{}: ", output::shown(key.id.untrusted())));
            output::complain(&format!("{}{refusal}; nothing was sent", about.unwrap_or_default()));
            return Ok(Exit::Failed);
        }
    };
    if args.dry_run {
        let counts = draft.counts();
        output::line(&format!(
            "would send {} decisions in {} requests: {} approve, {} approve with edits, {} reject; nothing was sent",
            submission.len(),
            submission.batches().len(),
            counts.approve,
            counts.edit,
            counts.reject
        ))?;
        return Ok(Exit::Done);
    }
    let left = left_pending(&entries, &draft);
    let report = match inbox.submit(submission, left).await {
        Ok(report) => report,
        Err(not_sent) => {
            output::complain(&problem(&not_sent));
            return Ok(Exit::Failed);
        }
    };
    let followed = follow(inbox, &report, args.follow).await;
    print(&report, &followed, args.json)?;
    let failed_later = followed.values().any(|it| matches!(it.status, Status::Failed | Status::Unknown));
    Ok(if failed_later { Exit::Failed } else { Exit::of(&report.counts()) })
}

fn wanted(args: &DecideArgs) -> anyhow::Result<Vec<Wanted>> {
    let plain = |id: &String, decision, reason| Wanted {
        id: id.clone(),
        decision,
        source: None,
        user_edits: None,
        reason,
        digest: None,
    };
    let mut wanted: Vec<Wanted> = args.approve.iter().map(|id| plain(id, Word::Approve, None)).collect();
    wanted.extend(args.reject.iter().map(|id| plain(id, Word::Reject, args.reason.clone())));
    if let Some(path) = &args.from {
        let text = read(path)?;
        let listed: Vec<Wanted> = serde_json::from_str(&text)
            .map_err(|error| anyhow::anyhow!("{} is not a list of decisions: {error}", path.display()))?;
        wanted.extend(listed);
    }
    let mut ids: Vec<_> = wanted.iter().map(|wish| (&wish.id, &wish.source)).collect();
    ids.sort();
    if let Some(pair) = ids.windows(2).find(|pair| pair.first() == pair.last()) {
        let id = pair.first().map(|(id, _)| Untrusted::from(id.as_str())).unwrap_or_default();
        return Err(Usage(format!("{} is decided twice", output::shown(&id))).into());
    }
    if wanted.is_empty() {
        return Err(
            Usage("nothing to decide; give --approve ID, --reject ID or --from FILE".to_owned()).into()
        );
    }
    Ok(wanted)
}

/// A file, or standard input for `-`.
pub(super) fn read(path: &Path) -> anyhow::Result<String> {
    if path.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(path).map_err(|error| anyhow::anyhow!("cannot read {}: {error}", path.display()))
}

fn stage(key: &ActionKey, action: &PendingAction, wish: Wanted, at: Timestamp) -> anyhow::Result<Staged> {
    let edits = match wish.user_edits {
        None => None,
        Some(edits) => Some(Edits::new(RawJson::parse(edits.get())?)?),
    };
    let digest = match wish.digest {
        None => action.digest(),
        Some(text) => Digest::parse(&text)
            .ok_or_else(|| anyhow::anyhow!("{text:?} is no digest; `placet show --json` prints one"))?,
    };
    let decision = match wish.decision {
        Word::Approve => Decision::Approve { edits, comment: wish.reason },
        Word::Reject if edits.is_some() => anyhow::bail!("a rejection takes no userEdits"),
        Word::Reject => Decision::Reject { reason: wish.reason },
    };
    let batch = Entry { key: key.clone(), row: action.row.clone(), can: Capabilities::READ_ONLY }.batch();
    Ok(Staged { decision, batch, digest: Some(digest), at })
}

/// What is pending in the sources that are touched: for capabilities, and to count what is left.
async fn entries(inbox: &Inbox, loaded: &HashMap<ActionKey, PendingAction>) -> HashMap<ActionKey, Entry> {
    let mut sources: Vec<_> = loaded.keys().map(|key| key.source.clone()).collect();
    sources.sort();
    sources.dedup();
    let mut entries = HashMap::new();
    for source in sources {
        if let Ok(synced) = inbox.sync(&source, None).await {
            let (Rows::All(rows) | Rows::Changes { entries: rows, .. }) = synced.rows;
            entries.extend(rows.into_iter().map(|entry| (entry.key.clone(), entry)));
        }
    }
    for (key, action) in loaded {
        // An action that is settled by now is not in the list; freeze says so in its own words.
        let settled = || Entry {
            key: key.clone(),
            row: action.row.clone(),
            can: inbox.capabilities(&key.source, &action.row),
        };
        entries.entry(key.clone()).or_insert_with(settled);
    }
    entries
}

fn left_pending(entries: &HashMap<ActionKey, Entry>, draft: &Draft) -> u64 {
    let batches: std::collections::HashSet<_> = draft.iter().map(|(_, staged)| &staged.batch).collect();
    let waiting =
        entries.values().filter(|entry| entry.row.status.is_pending() && draft.get(&entry.key).is_none());
    waiting.filter(|entry| batches.contains(&entry.batch())).count() as u64
}

async fn follow(inbox: &Inbox, report: &Report, seconds: Option<u64>) -> HashMap<ActionKey, Followed> {
    let mut latest = HashMap::new();
    let Some(seconds) = seconds else { return latest };
    let approved = report.lines.iter().filter(|line| line.outcome == Outcome::Approved);
    let keys: Vec<ActionKey> = approved.map(|line| line.key.clone()).collect();
    let (changes, mut received) = mpsc::channel(64);
    let following = inbox.follow(keys, Duration::from_secs(seconds), changes);
    let collecting = async {
        while let Some(followed) = received.recv().await {
            latest.insert(followed.key.clone(), followed);
        }
    };
    tokio::join!(following, collecting);
    latest
}

fn print(report: &Report, followed: &HashMap<ActionKey, Followed>, json: bool) -> anyhow::Result<()> {
    let counts = report.counts();
    if json {
        return output::json(&ReportJson {
            submission: report.id.as_str(),
            approved: counts.approved,
            rejected: counts.rejected,
            skipped: counts.skipped,
            accepted: counts.accepted,
            failed: counts.failed,
            unknown: counts.unknown,
            left_pending: counts.left_pending,
            items: report.lines.iter().map(|line| line_json(line, followed.get(&line.key))).collect(),
        });
    }
    for line in &report.lines {
        output::line(&line_text(line, followed.get(&line.key)))?;
    }
    output::line(&format!(
        "approved {}, rejected {}, skipped {}, accepted {}, failed {}, unknown {}; left pending {}",
        counts.approved,
        counts.rejected,
        counts.skipped,
        counts.accepted,
        counts.failed,
        counts.unknown,
        counts.left_pending
    ))?;
    Ok(())
}

fn line_text(line: &ReportLine, followed: Option<&Followed>) -> String {
    let edits = if line.decision == DecisionKind::ApproveWithEdits { " with edits" } else { "" };
    let outcome = match &line.outcome {
        Outcome::Approved => format!("approved{edits}"),
        Outcome::Rejected => "rejected".to_owned(),
        Outcome::Skipped { status, by } => {
            let status =
                status.as_ref().map_or_else(|| "settled".to_owned(), |status| output::shown(&status.word()));
            let by = by.as_ref().map(|by| format!(" by {}", output::shown(by))).unwrap_or_default();
            format!("skipped, {status}{by}")
        }
        Outcome::Accepted => "accepted".to_owned(),
        Outcome::Failed { why } => format!("failed, {}", output::shown(why)),
        Outcome::Unknown { why } => format!("unknown, {}", output::shown(why)),
    };
    let then = match followed {
        None => String::new(),
        Some(followed) => {
            let error = followed
                .error
                .as_ref()
                .map(|error| format!(": {}", output::shown(error)))
                .unwrap_or_default();
            format!(", then {}{error}", output::shown(&followed.status.word()))
        }
    };
    format!("{}  {outcome}{then}  {}", output::shown(line.key.id.untrusted()), output::shown(&line.title))
}

fn line_json<'a>(line: &'a ReportLine, followed: Option<&'a Followed>) -> LineJson<'a> {
    let (outcome, why, resolved_by) = match &line.outcome {
        Outcome::Approved => ("approved", None, None),
        Outcome::Rejected => ("rejected", None, None),
        Outcome::Skipped { by, .. } => ("skipped", None, by.as_ref()),
        Outcome::Accepted => ("accepted", None, None),
        Outcome::Failed { why } => ("failed", Some(why), None),
        Outcome::Unknown { why } => ("unknown", Some(why), None),
    };
    LineJson {
        source: line.key.source.as_str(),
        id: line.key.id.as_raw(),
        outcome,
        why: why.map(Untrusted::as_raw),
        resolved_by: resolved_by.map(Untrusted::as_raw),
        status: followed.map(|it| it.status.as_raw()),
        error: followed.and_then(|it| it.error.as_ref()).map(Untrusted::as_raw),
    }
}
