//! `placet gate move`: moves a gate's database from SQLite to PostgreSQL while it is not served.

use std::fs::File;

use crate::cli::gate::database::exists;
use crate::cli::gate::moving::{self, MoveArgs};
use crate::cli::{Exit, Usage};
use crate::config::paths::Paths;
use crate::config::{Config, GateConfig};
use crate::sqlite;

use super::{embedded, serve};

pub(super) async fn run(paths: &Paths, args: &MoveArgs) -> anyhow::Result<Exit> {
    let named = |text: &str| serve::with_database(Config::load(paths)?.gate, Some(text), paths);
    let (from, mut to) = (named(&args.from)?, named(&args.to)?);
    let wrong = "a gate is moved --from sqlite:PATH --to postgres://USER@HOST/NAME";
    if from.server.is_some() || to.server.is_none() {
        return Err(Usage(wrong.to_owned()).into());
    }
    // The move needs a session, and `--to` names the server itself.
    to.postgres.pooler = false;
    exists(&from)?;
    let _lock = lock(&from).await?;
    moving::run(&from.database, &to, args.json).await
}

/// Locks the old database, so that it is not served during the move. A read-only one needs no lock.
async fn lock(from: &GateConfig) -> anyhow::Result<Option<File>> {
    if sqlite::is_read_only(&from.database) {
        return Ok(None);
    }
    let lock = embedded::lock_file(&from.database)?;
    anyhow::ensure!(
        serve::locked(&lock, from).await?,
        "a placet serves {}; end it (for a service, systemctl stop), and start the move again",
        from.database.display()
    );
    Ok(Some(lock))
}
