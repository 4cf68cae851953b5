//! The gate for an agent's door: found, never started.

use std::time::{Duration, Instant};

use anyhow::bail;

use crate::cli::Usage;
use crate::config::paths::Paths;
use crate::config::{Config, SourceConfig, SourceKind, TokenFrom, urls_in};
use crate::sources::{AgentClient, SourceError};

use super::embedded;

/// How long an agent waits for a gate that is not there: a placet that takes over is there in less.
const FIND_LIMIT: Duration = Duration::from_secs(10);
/// How often it looks meanwhile.
const LOOK: Duration = Duration::from_millis(250);

/// A gate that answers, and what its token opens.
pub(super) struct AgentGate {
    pub(super) client: AgentClient,
    pub(super) workspace: Option<String>,
}

/// Finds the gate that `PLACET_URL` names, with `PLACET_TOKEN` or `PLACET_TOKEN_FILE`, else the one that placet serves on this
/// machine, with its agent's token. Fails when none answers within ten seconds, or when the token may not propose, read and execute.
pub(super) async fn gate(paths: &Paths) -> anyhow::Result<AgentGate> {
    let config = Config::load(paths)?;
    let env = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let named = named(&config, env)?;
    let started = Instant::now();
    loop {
        let found = named.clone().or_else(|| embedded::running_for_agents(&config.gate));
        let why = match &found {
            Some(source) => match open(source).await? {
                Ok(gate) => return Ok(gate),
                Err(error) => Some(error),
            },
            None => None,
        };
        let is_over = started.elapsed() >= FIND_LIMIT;
        match why {
            Some(error) if !error.is_away() => bail!("The gate {error}."),
            _ if !is_over => tokio::time::sleep(LOOK).await,
            _ => {
                let place = found
                    .map_or_else(|| "on this machine".to_owned(), |gate| format!("at {}", listed(&gate)));
                bail!("No gate {place}. Start `placet`.");
            }
        }
    }
}

/// One try. The outer error is a mistake in what was set, the inner one the gate's.
async fn open(source: &SourceConfig) -> anyhow::Result<Result<AgentGate, SourceError>> {
    let client = AgentClient::open(source)?;
    let token = match client.token().await {
        Ok(token) => token,
        Err(error) => return Ok(Err(error)),
    };
    for scope in ["propose", "read", "execute"] {
        if token.lacks(scope) {
            bail!("The token for {} lacks the scope `{scope}`. Use an agent's token.", listed(source));
        }
    }
    Ok(Ok(AgentGate { client, workspace: token.workspace }))
}

fn listed(source: &SourceConfig) -> String {
    source.urls().collect::<Vec<_>>().join(" or ")
}

/// The gate of the environment. How it is reached (certificates, headers) stands at the source that has all these URLs, if
/// one is configured.
fn named(config: &Config, env: impl Fn(&str) -> Option<String>) -> Result<Option<SourceConfig>, Usage> {
    let Some(urls) = env("PLACET_URL") else { return Ok(None) };
    let urls = urls_in(&urls);
    let Some(url) = urls.first() else {
        return Err(Usage("PLACET_URL names no URL".to_owned()));
    };
    let token = match (env("PLACET_TOKEN"), env("PLACET_TOKEN_FILE")) {
        (Some(_), _) => TokenFrom::Env("PLACET_TOKEN".to_owned()),
        (None, Some(path)) => TokenFrom::File(path.into()),
        // Never that of this machine's gate: the URL may name any other.
        (None, None) => {
            return Err(Usage(
                "PLACET_URL is set; set PLACET_TOKEN_FILE to the file with the agent's token".to_owned(),
            ));
        }
    };
    let known = config.source_at(&urls).filter(|source| source.kind == SourceKind::Gate);
    let source = known.cloned().unwrap_or_else(|| SourceConfig::of("gate", SourceKind::Gate, url));
    Ok(Some(SourceConfig { token: Some(token), workspace: None, ..source }.at(&urls)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named_by(variables: &[(&str, &str)]) -> Result<Option<SourceConfig>, Usage> {
        let find = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let paths = Paths::find(None, |_| Some("/nowhere".into())).unwrap();
        named(&Config::parse("", &paths).unwrap(), find)
    }

    #[test]
    fn environment_names_url_and_token() {
        let file = named_by(&[("PLACET_URL", "http://g:1/"), ("PLACET_TOKEN_FILE", "/t")]).unwrap().unwrap();
        assert_eq!((file.url.as_str(), file.token), ("http://g:1", Some(TokenFrom::File("/t".into()))));
        let token = named_by(&[("PLACET_URL", "http://g:1"), ("PLACET_TOKEN", "x")]).unwrap().unwrap();
        assert_eq!(token.token, Some(TokenFrom::Env("PLACET_TOKEN".to_owned())));
        assert!(named_by(&[("PLACET_TOKEN", "x")]).unwrap().is_none());
    }

    #[test]
    fn environment_names_several_urls_of_one_gate() {
        let variables = [("PLACET_URL", " http://a:1/,http://b:1  http://c:1 "), ("PLACET_TOKEN", "x")];
        let gate = named_by(&variables).unwrap().unwrap();
        assert_eq!(gate.urls().collect::<Vec<_>>(), ["http://a:1", "http://b:1", "http://c:1"]);
        assert!(named_by(&[("PLACET_URL", " , "), ("PLACET_TOKEN", "x")]).is_err(), "it names none");
    }

    #[test]
    fn url_without_token_is_refused() {
        let error = named_by(&[("PLACET_URL", "http://g:1")]).unwrap_err();
        assert!(error.to_string().contains("PLACET_TOKEN_FILE"), "{error}");
    }
}
