//! `placet gate move`: moves a gate from SQLite to PostgreSQL.

use std::path::Path;
use std::sync::atomic::AtomicU64;

use anyhow::Context as _;
use clap::Args as ClapArgs;
use serde_json::json;

use crate::config::GateConfig;
use crate::gate::{Move, Moved};

use super::audit::head_json;
use crate::cli::exit::Exit;
use crate::cli::output;

/// Move a gate from SQLite to PostgreSQL; the old database stays as it is
#[derive(Debug, ClapArgs)]
pub struct MoveArgs {
    /// The database that is there: sqlite:PATH. Nothing may serve it meanwhile
    #[arg(long, value_name = "URL")]
    pub from: String,
    /// A database without a gate: postgres://USER@HOST/NAME
    #[arg(long, value_name = "URL")]
    pub to: String,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// Added to errors after an interruption or a lost connection.
const GOES_ON: &str = "the move is not finished; the same command goes on with it";

/// Moves all rows, compares both databases, and prints the result. The old database must not be served meanwhile.
pub async fn run(from: &Path, to: &GateConfig, as_json: bool) -> anyhow::Result<Exit> {
    let url = to.server.as_deref().unwrap_or_default();
    let mut moving = Move::open(from, url, &to.postgres).await?;
    let rows = AtomicU64::new(0);
    output::counting("rows read", None, &rows, moving.read(&rows)).await??;
    let (all, rows) = (moving.rows(), AtomicU64::new(0));
    output::counting("rows moved", Some(all), &rows, moving.carry(&rows))
        .await
        .context(GOES_ON)?
        .context(GOES_ON)?;
    let rows = AtomicU64::new(0);
    let moved =
        output::counting("rows compared", None, &rows, moving.verify(&rows)).await.context(GOES_ON)??;
    moving.close().await;
    tell(from, &moved, all, as_json)?;
    Ok(Exit::Done)
}

fn tell(from: &Path, moved: &Moved, rows: u64, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return output::versioned(&json!({
            "rows": rows,
            "tables": moved.tables.iter().map(|table| json!({
                "name": table.name,
                "rows": table.rows,
                "digest": table.digest,
            })).collect::<Vec<_>>(),
            "heads": moved.heads.iter().map(head_json).collect::<Vec<_>>(),
        }));
    }
    let of = |name: &str| moved.tables.iter().find(|table| table.name == name).map_or(0, |table| table.rows);
    let (actions, audit) = (of("actions"), of("audit"));
    output::line(&format!(
        "moved: {actions} actions, {audit} audit rows, {rows} rows in all; both databases hold the same, and both audits hold"
    ))?;
    output::line(&format!("{} is as it was; no gate may serve it any more", from.display()))?;
    Ok(())
}
