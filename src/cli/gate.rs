//! `placet gate token`: who may propose, read, decide.

use secrecy::ExposeSecret as _;
use serde::Serialize;

use crate::config::GateConfig;
use crate::contract::time;
use crate::gate::{Gate, Scope, UnknownScope};

use super::args::TokenCommand;
use super::output;
use super::{Exit, Usage};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TokenJson<'a> {
    id: &'a str,
    subject: &'a str,
    workspace: &'a str,
    scopes: Vec<&'static str>,
    created_at: String,
    revoked: bool,
}

/// Works on the database itself, so it needs no running gate; a running one obeys at once.
pub async fn token(config: GateConfig, command: TokenCommand) -> anyhow::Result<Exit> {
    let gate = Gate::open(&config).await?;
    match command {
        TokenCommand::Create { scopes, subject, workspace } => {
            let scopes = scopes.iter().map(|word| word.parse()).collect::<Result<Vec<Scope>, UnknownScope>>();
            let scopes = scopes.map_err(|unknown| Usage(unknown.to_string()))?;
            let token = gate.create_token(&subject, &workspace, &scopes, None).await?;
            output::line(token.expose_secret())?;
            Ok(Exit::Done)
        }
        TokenCommand::List { json } => {
            for token in gate.list_tokens().await? {
                let scopes: Vec<_> = token.scopes.iter().map(|scope| scope.as_str()).collect();
                if json {
                    output::json(&TokenJson {
                        id: &token.id,
                        subject: &token.subject,
                        workspace: &token.workspace,
                        created_at: time::write(token.created_at),
                        revoked: token.revoked_at.is_some(),
                        scopes,
                    })?;
                    continue;
                }
                let (subject, workspace) = (token.subject.as_str().into(), token.workspace.as_str().into());
                let (subject, workspace) = (output::cell(&subject, 20), output::cell(&workspace, 20));
                let state = if token.revoked_at.is_some() { "revoked" } else { "valid" };
                output::line(&format!(
                    "{}  {subject}  {workspace}  {state:8}  {}",
                    token.id,
                    scopes.join(",")
                ))?;
            }
            Ok(Exit::Done)
        }
        TokenCommand::Revoke { id } => {
            if gate.revoke_token(&id).await? {
                output::line("revoked")?;
                return Ok(Exit::Done);
            }
            output::complain("no valid token has this id; `placet gate token list` prints them");
            Ok(Exit::Failed)
        }
    }
}
