//! `placet watch` with printed output.

use crate::cli::Exit;
use crate::cli::watch::{self, WatchArgs, Watching};
use crate::config::paths::Paths;
use crate::inbox::notify::Caller;

use super::headless;
use super::signals::EndSignals;

/// Runs until SIGINT, SIGTERM or SIGHUP, or until its reader is gone.
pub(super) async fn run(paths: &Paths, args: &WatchArgs) -> anyhow::Result<Exit> {
    let mut end = EndSignals::listen()?;
    let open = headless::open(paths).await?;
    let watch = open.config().watch.clone();
    let watched =
        match if args.once { Ok(None) } else { Caller::new(open.config(), open.inbox().undelivered()) } {
            Ok(caller) => watch::run(open.inbox(), args, Watching { watch, caller }, end.next()).await,
            Err(refused) => Err(refused.into()),
        };
    open.close(watched).await
}
