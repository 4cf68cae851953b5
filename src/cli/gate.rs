//! `placet gate token|pause|resume|settle|callbacks|backup|audit`: commands of the gate's owner that work on the
//! database.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::clock;
use crate::config::GateConfig;
use crate::contract::action::wire_status;
use crate::contract::audit;
use crate::contract::audit::AuditBody;
use crate::contract::fields::Fields;
use crate::contract::time;
use crate::domain::{Status, Untrusted};
use crate::gate::{AuditHead, Gate, NewToken, OpenApproval, Scope, Token, UnknownScope};

use crate::private;
use crate::sqlite;
use crate::text;

use super::args::{
    AuditCommand, CallbacksArgs, OwnerCommand, PauseArgs, PruneArgs, SettleArgs, TokenCommand,
};
use super::columns::ShortIds;
use super::exit::{Exit, Usage};
use super::find::ambiguous;
use super::{input, output};

impl OwnerCommand {
    pub fn database(&self) -> Option<&str> {
        let named = match self {
            Self::Token { database, .. } | Self::Audit { database, .. } => database,
            Self::Pause(args) | Self::Resume(args) => &args.database,
            Self::Settle(args) => &args.database,
            Self::Prune(args) => &args.database,
            Self::Callbacks(args) => &args.database,
        };
        named.database.as_deref()
    }
}

/// Opens the database, runs the command and closes the database. `who` is the login name, for the audit.
pub async fn owner(config: GateConfig, command: OwnerCommand, who: Option<String>) -> anyhow::Result<Exit> {
    exists(&config)?;
    let bare = bare(config);
    let gate = match &command {
        OwnerCommand::Audit { .. } | OwnerCommand::Callbacks(_) => Gate::open_to_read(&bare).await?,
        _ => Gate::open(&bare).await?,
    };
    let who = who.as_deref();
    let end = match command {
        OwnerCommand::Token { command, .. } => token(&gate, command, who).await,
        OwnerCommand::Pause(args) => pause(&gate, &args, true, who).await,
        OwnerCommand::Resume(args) => pause(&gate, &args, false, who).await,
        OwnerCommand::Settle(args) => settle(&gate, args, who.unwrap_or("somebody on this machine")).await,
        OwnerCommand::Prune(args) => prune(&gate, &args, bare.keep_settled, who).await,
        OwnerCommand::Callbacks(args) => callbacks(&gate, &args).await,
        OwnerCommand::Audit { command, .. } => audit(&gate, command).await,
    };
    gate.close().await;
    end
}

/// Removes tools, callbacks and TLS, so that a missing program, key or secret, or a refused target, does not prevent
/// revoking a token.
fn bare(config: GateConfig) -> GateConfig {
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

/// Copies the database. Needs no running gate, and does not disturb one.
pub async fn backup(config: &GateConfig, file: &Path) -> anyhow::Result<Exit> {
    if config.server.is_some() {
        let with = "a gate on PostgreSQL is backed up with PostgreSQL's own tools: pg_dump URL > FILE, or a copy of the server";
        return Err(Usage(with.to_owned()).into());
    }
    exists(config)?;
    let (all, copied) = (fs::metadata(&config.database).ok().map(|it| it.len()), AtomicU64::new(0));
    let copying = sqlite::backup(&config.database, file, &copied);
    let bytes = output::counting("bytes copied", all, &copied, copying).await??;
    output::line(&format!("{}  {bytes} bytes", file.display()))?;
    Ok(Exit::Done)
}

async fn pause(gate: &Gate, args: &PauseArgs, paused: bool, who: Option<&str>) -> anyhow::Result<Exit> {
    let workspace = args.workspace.as_deref();
    let changed =
        if paused { gate.pause(workspace, who).await? } else { gate.resume(workspace, who).await? };
    let what = workspace.map_or_else(|| "the whole gate".to_owned(), |it| output::identifier(&it.into()));
    output::line(&match (paused, changed) {
        (true, true) => format!("paused: {what}. Nothing new runs there; running actions will finish"),
        (true, false) => format!("it was paused already: {what}"),
        (false, true) => format!("resumed: {what}"),
        (false, false) => format!("it was not paused: {what}"),
    })?;
    Ok(Exit::Done)
}

async fn settle(gate: &Gate, args: SettleArgs, who: &str) -> anyhow::Result<Exit> {
    let found = gate.ids_beginning(&args.id, 20).await?;
    let id = one_of(&args.id, &found)?.unwrap_or(&args.id);
    let action = gate.settle(id, args.how, args.reason, who).await?;
    output::line(&format!("it is {} now", text::status_word(&action.row.status).cut(20).plain()))?;
    Ok(Exit::Done)
}

/// Returns the id that `given` begins; `None` if there is none.
fn one_of<'a>(given: &str, ids: &'a [String]) -> Result<Option<&'a str>, Usage> {
    match ids {
        _ if given.is_empty() => Ok(None),
        ids if ids.iter().any(|id| id == given) => Ok(ids.iter().find(|id| *id == given).map(String::as_str)),
        [] => Ok(None),
        [only] => Ok(Some(only)),
        several => Err(ambiguous(given, several.iter().map(|id| output::identifier(&id.as_str().into())))),
    }
}

async fn prune(
    gate: &Gate,
    args: &PruneArgs,
    keep_settled: Option<Duration>,
    who: Option<&str>,
) -> anyhow::Result<Exit> {
    let now = clock::now();
    let before = match (&args.before, keep_settled) {
        (Some(text), _) => input::moment(text, now)?,
        (None, Some(keep)) => now.plus_millis(-i64::try_from(keep.as_millis()).unwrap_or(i64::MAX)),
        (None, None) => {
            let how = "gate.keep_settled is off; say what to prune with --before, like --before 90d";
            return Err(Usage(how.to_owned()).into());
        }
    };
    let mut export = args.export.as_deref().map(new_file).transpose()?;
    let gone = AtomicU64::new(0);
    let pruning = gate.prune(before, who, &gone, |lines| kept(export.as_mut(), lines));
    let pruned = output::counting("actions pruned", None, &gone, pruning).await??;
    let what = match pruned.actions {
        1 => "1 action that was".to_owned(),
        many => format!("{many} actions that were"),
    };
    let said = format!("pruned: {what} settled before {}", output::moment(before));
    output::line(&match &args.export {
        Some(path) => format!("{said}; exported to {}", path.display()),
        None => said,
    })?;
    Ok(Exit::Done)
}

fn new_file(path: &Path) -> anyhow::Result<File> {
    let opened = private::options().write(true).create_new(true).open(path);
    opened.with_context(|| format!("cannot create {}; it must not be there yet", path.display()))
}

/// Writes the export to disk before its actions are deleted.
fn kept(file: Option<&mut File>, lines: &[String]) -> anyhow::Result<()> {
    let Some(file) = file else { return Ok(()) };
    for line in lines {
        writeln!(file, "{line}").context("cannot write the export; nothing that is not in it was pruned")?;
    }
    file.sync_all().context("cannot write the export; nothing that is not in it was pruned")
}

async fn callbacks(gate: &Gate, args: &CallbacksArgs) -> anyhow::Result<Exit> {
    let callbacks = gate.callbacks(args.limit).await?;
    let actions: Vec<Untrusted> = callbacks.iter().map(|it| it.action.as_str().into()).collect();
    let ids = ShortIds::of(&actions);
    for callback in callbacks {
        let (state, when) = match (callback.next_at, callback.ended_at, &callback.error) {
            (Some(next), ..) => ("waiting", format!("next try {}", output::moment(next))),
            (None, at, None) => ("arrived", at.map(output::moment).unwrap_or_default()),
            (None, at, Some(_)) => ("given up", at.map(output::moment).unwrap_or_default()),
        };
        if args.json {
            output::versioned(&json!({
                "id": callback.id,
                "callback": callback.name,
                "pendingActionId": callback.action,
                "workspaceId": callback.workspace,
                "revision": callback.revision,
                "status": wire_status(&Status::parse(&callback.status)),
                "state": state,
                "tries": callback.tries,
                "at": time::write(callback.at),
                "nextTryAt": callback.next_at.map(time::write),
                "endedAt": callback.ended_at.map(time::write),
                "lastError": callback.error,
            }))?;
            continue;
        }
        let (name, action) = (callback.name.as_str().into(), callback.action.as_str().into());
        let (name, action) = (output::identifier_cell(&name, 20), ids.short(&action).plain());
        let status = output::padded(&text::status_word(&Status::parse(&callback.status)), 10);
        let tries = callback.tries;
        let said =
            callback.error.map(|why| format!("  {}", output::cell(&why.as_str().into(), 200).trim_end()));
        let said = said.unwrap_or_default();
        output::line(&format!("{state:8}  {name}  {status}  {action}  tries {tries}  {when}{said}"))?;
    }
    Ok(Exit::Done)
}

async fn audit(gate: &Gate, command: AuditCommand) -> anyhow::Result<Exit> {
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
            if output::is_seen() {
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

async fn token(gate: &Gate, command: TokenCommand, who: Option<&str>) -> anyhow::Result<Exit> {
    match command {
        TokenCommand::Create { scopes, subject, name, groups, workspace, expires_in } => {
            let scopes = scopes.iter().map(|word| word.parse()).collect::<Result<Vec<Scope>, UnknownScope>>();
            let scopes = scopes.map_err(|unknown| Usage(unknown.to_string()))?;
            let lifetime = expires_in.as_deref().map(input::duration).transpose()?;
            let token = NewToken { subject, name, groups, workspace, scopes, lifetime };
            let token = gate.issue_token(token).await?;
            output::line(token.expose_secret())?;
            Ok(Exit::Done)
        }
        TokenCommand::List { json } => {
            let tokens = gate.list_tokens().await?;
            let ids: Vec<Untrusted> = tokens.iter().map(|token| token.id.as_str().into()).collect();
            let ids = ShortIds::of(&ids);
            tokens.iter().try_for_each(|token| print(token, &ids, json))?;
            Ok(Exit::Done)
        }
        TokenCommand::Rotate { id, overlap } => {
            let overlap = input::duration(&overlap)?;
            let new = match token_beginning(gate, &id, false).await? {
                Some(id) => gate.rotate_token(&id, overlap).await?,
                None => None,
            };
            let Some(token) = new else { return Ok(no_token()) };
            output::line(token.expose_secret())?;
            Ok(Exit::Done)
        }
        TokenCommand::Revoke { id, void_approvals } => revoke(gate, &id, void_approvals, who).await,
    }
}

async fn revoke(gate: &Gate, given: &str, void: bool, who: Option<&str>) -> anyhow::Result<Exit> {
    let Some(id) = token_beginning(gate, given, void).await? else { return Ok(no_token()) };
    let Some(open) = gate.revoke_with_approvals(&id, void, who).await? else { return Ok(no_token()) };
    output::line("revoked")?;
    for OpenApproval { id, tool, status, is_voided } in &open {
        let (id, tool) = (output::identifier(&id.as_str().into()), output::identifier(&tool.as_str().into()));
        let became = match (is_voided, status) {
            (true, Status::Pending) => "approval withdrawn, still pending",
            (true, _) => "approval withdrawn, expired",
            (false, Status::Pending) => "approval stands, pending",
            (false, Status::Approved) if !void => "approval stands, approved",
            (false, _) => "taken already, may have run",
        };
        output::line(&format!("{id}  {tool}  {became}"))?;
    }
    if !void && !open.is_empty() {
        let how = format!("placet gate token revoke {id} --void-approvals");
        output::line(&format!("these approvals of its subject stand; to withdraw what nobody took: {how}"))?;
    }
    Ok(Exit::Done)
}

/// Returns the id of the token with this beginning, among valid tokens or all.
async fn token_beginning(gate: &Gate, given: &str, all: bool) -> anyhow::Result<Option<String>> {
    let tokens = gate.list_tokens().await?.into_iter().filter(|token| all || token.revoked_at.is_none());
    let ids: Vec<String> = tokens.map(|token| token.id).filter(|known| known.starts_with(given)).collect();
    Ok(one_of(given, &ids)?.map(str::to_owned))
}

fn no_token() -> Exit {
    output::complain("no valid token has this id; `placet gate token list` prints them");
    Exit::Failed
}

fn print(token: &Token, ids: &ShortIds, json: bool) -> anyhow::Result<()> {
    let scopes: Vec<_> = token.scopes.iter().map(|scope| scope.as_str()).collect();
    if json {
        return output::versioned(&json!({
            "id": token.id,
            "subject": token.subject,
            "name": token.name,
            "groups": token.groups,
            "workspace": token.workspace,
            "scopes": scopes,
            "createdAt": time::write(token.created_at),
            "expiresAt": token.expires_at.map(time::write),
            "revoked": token.revoked_at.is_some(),
            "lastUsedAt": token.last_used_at.map(time::write),
        }));
    }
    let (subject, workspace) = (token.subject.as_str().into(), token.workspace.as_str().into());
    let (subject, workspace) =
        (output::identifier_cell(&subject, 20), output::identifier_cell(&workspace, 20));
    let state = match (token.revoked_at, token.expires_at) {
        (Some(_), _) => "revoked".to_owned(),
        (None, Some(at)) if at <= clock::now() => "expired".to_owned(),
        (None, Some(at)) => format!("until {}", output::moment(at)),
        (None, None) => "valid".to_owned(),
    };
    let used = token
        .last_used_at
        .map_or_else(|| "never used".to_owned(), |at| format!("used {}", output::moment(at)));
    let name = token.name.as_ref().map(|name| format!("  {}", output::shown(&name.as_str().into())));
    let groups = Some(token.groups.join(", ")).filter(|groups| !groups.is_empty());
    let groups = groups.map(|groups| format!("  in {}", output::shown(&groups.into())));
    let (name, groups) = (name.unwrap_or_default(), groups.unwrap_or_default());
    let scopes = scopes.join(",");
    let id = ids.short(&token.id.as_str().into()).plain();
    output::line(&format!("{id}  {subject}  {workspace}  {state:8}  {used}  {scopes}{name}{groups}"))?;
    Ok(())
}
