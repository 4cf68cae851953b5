//! `placet retry`: decides like `placet decide`.

use clap::Args as ClapArgs;
use clap::builder::NonEmptyStringValueParser;

use super::args::{Completed, id};
use super::decide::DecideArgs;

/// Ask the agents of actions to try again, with guidance, where the source can
#[derive(Debug, ClapArgs)]
pub struct RetryArgs {
    /// The action, by its id or any unique beginning of it
    #[arg(required = true, value_parser = id, add = Completed::Ids)]
    pub id: Vec<String>,
    /// Guidance for the agent
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub guidance: String,
    /// Only this source
    #[arg(long, value_name = "NAME", add = Completed::Sources)]
    pub source: Option<String>,
    /// Print what would be sent, and send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Wait until the actions are back, at most this many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "180")]
    pub follow: Option<u64>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

impl From<RetryArgs> for DecideArgs {
    fn from(RetryArgs { id, guidance, source, dry_run, follow, json }: RetryArgs) -> Self {
        let (approve, reject, take_back, reason, from) = <_>::default();
        let (retry, guidance) = (id, Some(guidance));
        Self { approve, reject, take_back, reason, from, source, dry_run, follow, json, retry, guidance }
    }
}
