//! `placet gate audit`.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use clap::{Args as ClapArgs, Subcommand};
use serde_json::{Value, json};

use crate::cli::args::DatabaseArg;
use crate::cli::exit::{Exit, Usage};
use crate::cli::{input, output};
use crate::contract::audit::{self, AuditBody};
use crate::contract::fields::Fields;
use crate::domain::Untrusted;
use crate::gate::{AuditHead, Gate};

/// Check, print and anchor the audit
#[derive(Debug, ClapArgs)]
pub struct AuditArgs {
    #[command(flatten)]
    pub database: DatabaseArg,
    #[command(subcommand)]
    pub command: AuditCommand,
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Read every row and report what was changed outside the gate
    Verify {
        /// Heads printed earlier, one JSON object a line; - reads standard input
        #[arg(long, value_name = "FILE")]
        heads: Option<PathBuf>,
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print every row as JSON, one a line
    Export {
        /// Only this workspace
        #[arg(long)]
        workspace: Option<String>,
    },
    /// Print the newest hash of each workspace as JSON, one a line; keep it where the gate cannot write
    Head,
}

pub(super) async fn run(gate: &Gate, command: AuditCommand) -> anyhow::Result<Exit> {
    match command {
        AuditCommand::Verify { heads, json } => {
            let kept = heads.map(|path| read_heads(&path)).transpose()?.unwrap_or_default();
            verify(gate, &kept, json).await
        }
        AuditCommand::Export { workspace } => {
            let workspaces = match workspace {
                Some(workspace) => vec![workspace],
                None => gate.audit_heads().await?.into_iter().map(|head| head.workspace).collect(),
            };
            let written = AtomicU64::new(0);
            let writing = async {
                for workspace in workspaces {
                    let put = |row: &AuditBody<'_>| {
                        written.fetch_add(1, Ordering::Relaxed);
                        output::json(row)
                    };
                    gate.export_audit(&workspace, put).await?;
                }
                anyhow::Ok(())
            };
            if output::is_looked_at() {
                writing.await?;
            } else {
                output::counting("rows written", None, &written, writing).await??;
            }
            Ok(Exit::Done)
        }
        AuditCommand::Head => {
            for head in gate.audit_heads().await? {
                output::json(&head_json(&head))?;
            }
            Ok(Exit::Done)
        }
    }
}

async fn verify(gate: &Gate, kept: &[AuditHead], json: bool) -> anyhow::Result<Exit> {
    let rows: u64 = gate.audit_heads().await?.iter().map(|head| head.revision).sum();
    let read = AtomicU64::new(0);
    let reading = gate.verify_audit_counting(kept, &read);
    let verified = output::counting("rows read", Some(rows * 2), &read, reading).await??;
    let ok = verified.problems.is_empty();
    if json {
        output::versioned(&json!({
            "ok": ok,
            "rows": verified.rows,
            "actions": verified.actions,
            "problems": verified.problems,
            "heads": verified.heads.iter().map(head_json).collect::<Vec<_>>(),
        }))?;
    } else {
        for problem in &verified.problems {
            output::line(output::cell(&Untrusted::from(problem.as_str()), 300).trim_end())?;
        }
        let rows = output::count(verified.rows, "audit row");
        let actions = output::count(verified.actions, "action");
        let said = if ok { "Intact" } else { "Changed outside the gate" };
        let heads = output::count(kept.len() as u64, "kept head");
        let heads = if kept.is_empty() { String::new() } else { format!(", {heads}") };
        output::line(&format!("{said}: {rows}, {actions}{heads}"))?;
    }
    Ok(if ok { Exit::Done } else { Exit::Failed })
}

pub(super) fn head_json(head: &AuditHead) -> Value {
    audit::head(&head.workspace, head.revision, &head.hash)
}

fn read_heads(path: &Path) -> anyhow::Result<Vec<AuditHead>> {
    let text = input::read(path)?;
    let head = |line: &str| {
        let fields = Fields::of(line)?;
        let text = |name| fields.text(name).map(|text| text.as_raw().to_owned());
        Some(AuditHead {
            workspace: text("workspaceId")?,
            revision: fields.number("revision")?,
            hash: text("hash")?,
        })
    };
    let wrong = |line: &str| Usage(format!("{line:?} is not a head; `placet gate audit head` prints them"));
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let heads: Vec<_> = lines.map(|line| head(line).ok_or_else(|| wrong(line))).collect::<Result<_, _>>()?;
    if heads.is_empty() {
        return Err(Usage(format!("there is no head in {}", path.display())).into());
    }
    Ok(heads)
}
