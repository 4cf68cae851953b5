//! `placet gate backup|migrate`, and the database that a command opens.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

use clap::Args as ClapArgs;

use crate::cli::args::DatabaseArg;
use crate::cli::exit::{Exit, Usage};
use crate::cli::output;
use crate::config::GateConfig;
use crate::gate::Gate;
use crate::sqlite;

/// Copy the gate's database to a new file, also while the gate runs
#[derive(Debug, ClapArgs)]
pub struct BackupArgs {
    #[command(flatten)]
    pub database: DatabaseArg,
    /// The file to write; it must not exist
    file: PathBuf,
}

/// Removes tools, callbacks and TLS, so that a missing program, key or secret, or a refused target, does not prevent
/// revoking a token.
pub(super) fn bare(config: GateConfig) -> GateConfig {
    let (tools, callbacks) = (BTreeMap::new(), BTreeMap::new());
    GateConfig { tools, callbacks, allow_targets: Vec::new(), tls: None, proxy: None, ..config }
}

/// Migrates the database by opening it. The gate creates a database file itself when it starts.
pub async fn migrate(config: GateConfig) -> anyhow::Result<Exit> {
    exists(&config)?;
    Gate::open(&bare(config)).await?.close().await;
    output::line("the database is at this version")?;
    Ok(Exit::Done)
}

/// Fails if the database does not exist. A command that created it would answer about an empty database.
pub fn exists(config: &GateConfig) -> Result<(), Usage> {
    if config.server.is_some() || config.database.exists() {
        return Ok(());
    }
    let database = config.database.display();
    Err(Usage(format!(
        "there is no gate database at {database}; name it with --database, or set PLACET_STATE_DIR"
    )))
}

pub async fn backup(config: &GateConfig, args: &BackupArgs) -> anyhow::Result<Exit> {
    if config.server.is_some() {
        let with = "a gate on PostgreSQL is backed up with PostgreSQL's own tools: pg_dump URL > FILE, or a copy of the server";
        return Err(Usage(with.to_owned()).into());
    }
    exists(config)?;
    let (all, copied) = (fs::metadata(&config.database).ok().map(|it| it.len()), AtomicU64::new(0));
    let copying = sqlite::backup(&config.database, &args.file, &copied);
    let bytes = output::counting("bytes copied", all, &copied, copying).await??;
    output::line(&format!("{}  {bytes} bytes", args.file.display()))?;
    Ok(Exit::Done)
}
