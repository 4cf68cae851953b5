//! Requested decisions, from the command line or a file.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::cli::args::{Completed, id};
use crate::cli::exit::Usage;
use crate::cli::{input, output};
use crate::domain::Untrusted;

/// Approve or reject actions by id
#[derive(Debug, ClapArgs)]
pub struct DecideArgs {
    /// Approve this action, by its id or any unique beginning of it; repeat for more
    #[arg(long, value_name = "ID", value_parser = id, add = Completed::Ids)]
    pub approve: Vec<String>,
    /// Reject this action, given the same way; repeat for more
    #[arg(long, value_name = "ID", value_parser = id, add = Completed::Ids)]
    pub reject: Vec<String>,
    /// Take your own approval of this action back, given the same way, while more people must approve it; repeat for more
    #[arg(long, value_name = "ID", value_parser = id, conflicts_with_all = ["approve", "reject", "from", "dry_run", "follow", "json"])]
    pub take_back: Vec<String>,
    /// Why, for every rejection given by --reject
    #[arg(long, requires = "reject")]
    pub reason: Option<String>,
    /// Decisions as JSON: [{"id","decision":"approve|reject|retry","userEdits"?,"reason"?,"digest"?,"terms"?,"source"?}]; - is standard input
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Only this source
    #[arg(long, value_name = "NAME", add = Completed::Sources)]
    pub source: Option<String>,
    /// Print what would be sent, and send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Wait until approved actions have run, at most this many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "60")]
    pub follow: Option<u64>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    /// Of `placet retry`.
    #[arg(skip)]
    pub retry: Vec<String>,
    #[arg(skip)]
    pub guidance: Option<String>,
}

/// A requested decision, in the form of `--from`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RequestedDecision {
    pub(super) id: String,
    pub(super) decision: Word,
    #[serde(default)]
    pub(super) source: Option<String>,
    #[serde(default)]
    pub(super) user_edits: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) reason: Option<String>,
    /// The digest that `show --json` printed. The decision is refused if the content has changed.
    #[serde(default)]
    pub(super) digest: Option<String>,
    /// The action's `terms`, likewise.
    #[serde(default)]
    pub(super) terms: Option<String>,
    /// Given on the command line, where the beginning of an id suffices.
    #[serde(skip)]
    pub(super) typed: bool,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum Word {
    Approve,
    Reject,
    Retry,
}

/// Returns all requested decisions. Fails if an action is listed twice.
pub(super) fn requested_decisions(args: &DecideArgs) -> anyhow::Result<Vec<RequestedDecision>> {
    let plain = |id: &String, decision, reason| RequestedDecision {
        id: id.clone(),
        decision,
        source: None,
        user_edits: None,
        reason,
        digest: None,
        terms: None,
        typed: true,
    };
    let mut wishes: Vec<RequestedDecision> =
        args.approve.iter().map(|id| plain(id, Word::Approve, None)).collect();
    wishes.extend(args.reject.iter().map(|id| plain(id, Word::Reject, args.reason.clone())));
    wishes.extend(args.retry.iter().map(|id| plain(id, Word::Retry, args.guidance.clone())));
    if let Some(path) = &args.from {
        let listed = listed(&input::given(path)?, path)?;
        wishes.extend(listed.into_iter().map(|wish| RequestedDecision { id: wish.id.trim().into(), ..wish }));
    }
    let mut ids: Vec<_> = wishes.iter().map(|wish| (&wish.id, &wish.source)).collect();
    ids.sort();
    if let Some(pair) = ids.windows(2).find(|pair| pair.first() == pair.last()) {
        let id = pair.first().map(|(id, _)| Untrusted::from(id.as_str())).unwrap_or_default();
        return Err(twice(&id).into());
    }
    if wishes.is_empty() {
        return Err(
            Usage("nothing to decide; give --approve ID, --reject ID or --from FILE".to_owned()).into()
        );
    }
    Ok(wishes)
}

pub(super) fn twice(id: &Untrusted) -> Usage {
    Usage(format!("{} is decided twice", output::identifier(id)))
}

/// Parses a JSON array of decisions, or one decision per line.
fn listed(text: &str, path: &Path) -> Result<Vec<RequestedDecision>, Usage> {
    let path = path.display();
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text)
            .map_err(|error| Usage(format!("{path} is not a list of decisions: {error}")));
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let wish = |(nth, line): (usize, &str)| {
        // The parser always reports line 1.
        serde_json::from_str(line).map_err(|error| {
            Usage(format!(
                "{path} is not a list of decisions, and its line {} is not a decision: {error}",
                nth + 1
            ))
        })
    };
    lines.map(wish).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Result<Vec<String>, String> {
        let listed = listed(text, Path::new("x.json"));
        listed
            .map(|wishes| wishes.into_iter().map(|wish| wish.id).collect())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_list_and_one_decision_a_line_are_the_same() {
        let (one, two) = (r#"{"id":"1","decision":"approve"}"#, r#"{"id":"2","decision":"reject"}"#);

        assert_eq!(ids(&format!(" [{one},\n{two}]")).unwrap(), ["1", "2"]);
        assert_eq!(ids(&format!("{one}\n\n{two}\n")).unwrap(), ["1", "2"]);
        let wrong = ids(&format!("{one}\n{{\"id\":\"2\",\"decision\":\"maybe\"}}\n")).unwrap_err();
        assert!(wrong.contains("line 2") && wrong.contains("maybe"), "{wrong}");
        assert!(ids(r#"{"id":"1","decision":"approve","exclude":true}"#).is_err());
    }

    #[test]
    fn file_that_cannot_be_read_is_a_wrong_argument() {
        let error = anyhow::Error::from(input::given(Path::new("/no/such/file")).unwrap_err());

        assert!(error.is::<Usage>(), "{error}");
        assert_eq!(error.to_string(), "cannot read /no/such/file: No such file or directory (os error 2)");
    }
}
