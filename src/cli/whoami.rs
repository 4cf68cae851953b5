//! `placet whoami`: the subject that each source takes this reviewer for.

use std::time::Duration;

use clap::Args as ClapArgs;
use serde_json::json;

use crate::config::SourceConfig;
use crate::contract::time;
use crate::domain::Untrusted;
use crate::sources::{self, Identity};

use super::exit::Exit;
use super::output;

/// Print as whom each source takes your decisions
#[derive(Debug, ClapArgs)]
pub struct WhoamiArgs {
    /// One JSON object for each source, a line each
    #[arg(long)]
    pub json: bool,
}

const LIMIT: Duration = Duration::from_secs(30);

pub async fn run(configs: &[SourceConfig], args: &WhoamiArgs) -> anyhow::Result<Exit> {
    let mut exit = Exit::Done;
    for config in configs {
        let told = ask(config).await;
        if told.is_err() {
            exit = Exit::Failed;
        }
        if args.json { json_form(config, &told)? } else { text_form(config, &told)? }
    }
    Ok(exit)
}

/// Returns `None` if this kind of source does not say. An error is a sentence.
async fn ask(config: &SourceConfig) -> Result<Option<Identity>, String> {
    let source = sources::open_to_look(config).map_err(|error| error.to_string())?;
    let Some(lookup) = source.abilities().lookup else { return Ok(None) };
    let asked = tokio::time::timeout(LIMIT, lookup.whoami()).await;
    asked.map_err(|_| format!("no answer within {} s", LIMIT.as_secs()))?.map_err(|error| error.to_string())
}

fn text_form(config: &SourceConfig, told: &Result<Option<Identity>, String>) -> anyhow::Result<()> {
    let source = config.name.to_string();
    let text = match told {
        Err(why) => format!("not known: {}", output::shown(&why.as_str().into())),
        Ok(None) => "the source does not say; its token or its login decides".to_owned(),
        Ok(Some(who)) => {
            let all = |words: &[Untrusted]| words.iter().map(output::name).collect::<Vec<_>>().join(", ");
            let several = |words: &[Untrusted]| (!words.is_empty()).then(|| all(words));
            let parts = [
                Some(output::name(&who.subject)),
                who.name.as_ref().map(|name| format!(" ({})", output::name(name))),
                several(&who.groups).map(|groups| format!(" in {groups}")),
                who.workspace.as_ref().map(|workspace| format!(", workspace {}", output::name(workspace))),
                several(&who.scopes).map(|scopes| format!(", may {scopes}")),
                who.expires_at.map(|at| format!(", until {}", output::moment(at))),
            ];
            parts.into_iter().flatten().collect()
        }
    };
    Ok(output::line(&format!("{source}: {text}"))?)
}

fn json_form(config: &SourceConfig, told: &Result<Option<Identity>, String>) -> anyhow::Result<()> {
    let who = told.as_ref().ok().and_then(Option::as_ref);
    let all = |words: &[Untrusted]| words.iter().map(|word| word.as_raw().to_owned()).collect::<Vec<_>>();
    let mut line = json!({
        "source": config.name.to_string(),
        "subject": who.map(|who| who.subject.as_raw()),
        "name": who.and_then(|who| who.name.as_ref()).map(Untrusted::as_raw),
        "groups": who.map(|who| all(&who.groups)).unwrap_or_default(),
        "workspace": who.and_then(|who| who.workspace.as_ref()).map(Untrusted::as_raw),
        "scopes": who.map(|who| all(&who.scopes)).unwrap_or_default(),
        "expiresAt": who.and_then(|who| who.expires_at).map(time::write),
    });
    let problem = match told {
        Err(why) => Some(why.as_str()),
        Ok(None) => Some("the source does not say"),
        Ok(Some(_)) => None,
    };
    if let (Some(problem), Some(line)) = (problem, line.as_object_mut()) {
        line.insert("problem".to_owned(), problem.into());
    }
    output::versioned(&line)
}
