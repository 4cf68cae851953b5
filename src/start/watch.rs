//! `placet watch` that prints.

use crate::cli::args::WatchArgs;
use crate::cli::{self, Exit, Watching};
use crate::config::paths::Paths;

use super::headless;
use super::serve::EndSignals;

/// Until SIGINT, SIGTERM or SIGHUP, or until nobody reads it any more.
pub(super) async fn run(paths: &Paths, args: &WatchArgs) -> anyhow::Result<Exit> {
    let mut end = EndSignals::listen()?;
    let open = headless::open(paths).await?;
    let watch = &open.config().watch;
    let watching = Watching { targets: watch.targets, reviewers: watch.reviewers };
    let watched = cli::watch(open.inbox(), args, watching, end.next()).await;
    open.close(watched).await
}
