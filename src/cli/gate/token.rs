//! `placet gate token`.

use clap::{Args as ClapArgs, Subcommand};
use secrecy::ExposeSecret as _;
use serde_json::json;

use crate::cli::args::{DatabaseArg, id};
use crate::cli::columns::ShortIds;
use crate::cli::exit::{Exit, Usage};
use crate::cli::find::with_beginning;
use crate::cli::{input, output};
use crate::clock;
use crate::contract::time;
use crate::domain::{Status, Untrusted};
use crate::gate::{Gate, NewToken, OpenApproval, Scope, Token, UnknownScope};

/// Create, list and revoke tokens
#[derive(Debug, ClapArgs)]
pub struct TokenArgs {
    #[command(flatten)]
    pub database: DatabaseArg,
    #[command(subcommand)]
    pub command: TokenCommand,
}

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Create a token and print it, once
    Create {
        /// propose, read, decide, execute, admin
        #[arg(long, value_delimiter = ',', required = true)]
        scopes: Vec<String>,
        /// The holder; decisions are recorded under this name
        #[arg(long)]
        subject: String,
        /// Their name, for people to read
        #[arg(long)]
        name: Option<String>,
        /// The team their decisions are counted under, like support
        #[arg(long, value_name = "GROUP", value_delimiter = ',')]
        groups: Vec<String>,
        /// The one workspace it opens
        #[arg(long)]
        workspace: String,
        /// Time it is valid, like 12h or 30d [default: until it is revoked]
        #[arg(long, value_name = "TIME")]
        expires_in: Option<String>,
    },
    /// Print every token's id, subject, workspace, scopes and last use, never the token
    List {
        #[arg(long)]
        json: bool,
    },
    /// Create and print a new token for an old one; the old one stays valid for a while
    Rotate {
        /// The old token's id, or any unique beginning of it
        #[arg(value_parser = id)]
        id: String,
        /// Time both are valid, like 30m or 7d
        #[arg(long, value_name = "TIME", default_value = "24h")]
        overlap: String,
    },
    /// Revoke a token at once
    Revoke {
        /// The token's id, or any unique beginning of it
        #[arg(value_parser = id)]
        id: String,
        /// Withdraw approvals of its subject that no executor has taken: those actions wait for another person, or expire
        #[arg(long)]
        void_approvals: bool,
    },
}

pub(super) async fn run(gate: &Gate, command: TokenCommand, who: Option<&str>) -> anyhow::Result<Exit> {
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
    Ok(with_beginning(given, &ids)?.map(str::to_owned))
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
