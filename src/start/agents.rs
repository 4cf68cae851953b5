//! Finds the gate for agents' commands, without starting one.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};

use crate::cli::Usage;
use crate::config::paths::Paths;
use crate::config::{Config, SourceConfig, SourceKind, TokenFrom, urls_in};
use crate::domain::Check;
use crate::net::http::SetupError;
use crate::sources::{AgentClient, OpenError, SourceError};

use super::embedded;

/// Time to wait for a gate. A placet that takes over needs less.
const FIND_LIMIT: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(250);

const CONFIGURATION: &str = "the configuration";

/// A gate that accepted the token.
pub(super) struct AgentGate {
    pub(super) client: AgentClient,
    pub(super) workspace: String,
    /// Its URLs and the setting that names it, for messages.
    pub(super) place: String,
}

#[derive(Clone, Debug)]
pub(super) struct NamedGate {
    pub(super) source: SourceConfig,
    pub(super) by: &'static str,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GateArgs<'a> {
    pub(super) url: Option<&'a str>,
    pub(super) token_file: Option<&'a Path>,
}

/// Finds the gate for a hook or a proxy by [`named`], else [`local`]. Fails if none answers within ten seconds, or if
/// the token lacks the scopes to propose, read and execute.
pub(super) async fn gate(paths: &Paths) -> anyhow::Result<AgentGate> {
    let config = Config::load(paths)?;
    let named = named(&config, GateArgs::default(), variable)?;
    let started = Instant::now();
    loop {
        let found = named.clone().or_else(|| local(&config, token(GateArgs::default(), variable)));
        let why = match &found {
            Some(gate) => match open(gate).await? {
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
                let place = found.map_or_else(|| "on this machine".to_owned(), |gate| format!("at {gate}"));
                bail!("No gate {place}. Start `placet`.");
            }
        }
    }
}

/// Tries once. The outer error is a configuration mistake, the inner one the gate's.
async fn open(gate: &NamedGate) -> anyhow::Result<Result<AgentGate, SourceError>> {
    let client = gate.client(None)?;
    let token = match client.token().await {
        Ok(token) => token,
        Err(error) => return Ok(Err(error)),
    };
    for scope in ["propose", "read", "execute"] {
        if token.lacks(scope) {
            bail!(
                "The token for {gate} lacks the scope `{scope}`. Name an agent's token in PLACET_TOKEN_FILE."
            );
        }
    }
    Ok(Ok(AgentGate { client, workspace: token.workspace, place: gate.to_string() }))
}

impl NamedGate {
    /// Opens a client; `ca_file` replaces the source's. An error names the variable or option at fault.
    pub(super) fn client(&self, ca_file: Option<PathBuf>) -> anyhow::Result<AgentClient> {
        let ca_file = ca_file.or_else(|| self.source.ca_file.clone());
        let by = self.by;
        AgentClient::open(&SourceConfig { ca_file, ..self.source.clone() }).map_err(|error| match error {
            _ if by == CONFIGURATION => error.into(),
            OpenError::Setup(_, SetupError::InTheClear(host)) => anyhow!(
                "{by} has http:// for {host}: whoever is on the way could read the token and act as the agent. Use https://, or \
                 configure a source with this URL and insecure_http = true where something else protects the way"
            ),
            OpenError::Setup(_, error) => anyhow!("{by}: {error}"),
            OpenError::CaFile(_, path, why) => anyhow!("cannot read the ca_file {}: {why}", path.display()),
            error @ OpenError::NoWorkspace(_) => error.into(),
        })
    }
}

impl std::fmt::Display for NamedGate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let urls: Vec<&str> = self.source.urls().collect();
        write!(f, "{}, which {} names", urls.join(" or "), self.by)
    }
}

pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the gate of `--url`, else `PLACET_URL`, else the first gate of the configuration. Certificates and headers
/// come from the source that has all its URLs.
pub(super) fn named(
    config: &Config,
    args: GateArgs<'_>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<NamedGate>, Usage> {
    let token = token(args, &variable);
    let (urls, by) = match (args.url, variable("PLACET_URL")) {
        (Some(url), _) => (urls_in(url), "--url"),
        (None, Some(urls)) => (urls_in(&urls), "PLACET_URL"),
        (None, None) => {
            let source = config.sources.iter().find(|source| source.kind == SourceKind::Gate).cloned();
            return Ok(source.map(|source| configured(config, source, token)));
        }
    };
    let Some(url) = urls.first() else { return Err(Usage(format!("{by} names no URL"))) };
    if urls.iter().any(|url| url.contains(['@', '?', '#'])) {
        let advice = "leave that out, and name the file with the agent's token in PLACET_TOKEN_FILE";
        return Err(Usage(format!("{by} holds a user, a password or a query; {advice}")));
    }
    if let Some(url) = urls.iter().find(|url| !["http://", "https://"].iter().any(|it| url.starts_with(it))) {
        return Err(Usage(format!(
            "{by} has {url:?}, which is no http or https URL; write http://HOST:PORT"
        )));
    }
    let known = config.source_at(&urls).filter(|source| source.kind == SourceKind::Gate);
    let source = known.cloned().unwrap_or_else(|| SourceConfig::of("gate", SourceKind::Gate, url));
    // Never the token of this machine's gate, because the URL may lead to another one.
    let token = token.ok_or_else(|| {
        Usage(format!("{by} is set; set PLACET_TOKEN_FILE to the file with the agent's token, too"))
    })?;
    let source = SourceConfig { token: Some(token), workspace: None, ..source }.at(&urls);
    Ok(Some(NamedGate { source, by }))
}

/// Replaces the owner's token of this machine's gate by the agent's, because an owner may not propose.
fn configured(config: &Config, source: SourceConfig, token: Option<TokenFrom>) -> NamedGate {
    let agents = embedded::agents_token_beside(&config.gate, source.token.as_ref());
    let token = token.or(agents).or_else(|| source.token.clone());
    NamedGate { source: SourceConfig { token, ..source }, by: CONFIGURATION }
}

/// Returns the gate served on this machine, with its agent's token by default.
pub(super) fn local(config: &Config, token: Option<TokenFrom>) -> Option<NamedGate> {
    let source = embedded::running_for_agents(&config.gate)?;
    let token = token.or_else(|| source.token.clone());
    Some(NamedGate { source: SourceConfig { token, ..source }, by: "gate.json" })
}

/// Returns the token of `--token-file`, else `PLACET_TOKEN`, else `PLACET_TOKEN_FILE`.
pub(super) fn token(args: GateArgs<'_>, variable: impl Fn(&str) -> Option<String>) -> Option<TokenFrom> {
    match (args.token_file, variable("PLACET_TOKEN"), variable("PLACET_TOKEN_FILE")) {
        (Some(path), ..) => Some(TokenFrom::File(path.to_owned())),
        (None, Some(_), _) => Some(TokenFrom::Env("PLACET_TOKEN".to_owned())),
        (None, None, path) => path.map(|path| TokenFrom::File(path.into())),
    }
}

/// Checks `PLACET_URL` for `placet doctor`; `None` if it is not set.
pub(super) fn check(config: &Config) -> Option<Check> {
    const WHAT: &str = "PLACET_URL";
    variable(WHAT)?;
    Some(match named(config, GateArgs::default(), variable) {
        Ok(gate) => {
            let urls: Vec<&str> = gate.iter().flat_map(|gate| gate.source.urls()).collect();
            let found = format!("hook, mcp and propose use the gate at {}", urls.join(" or "));
            Check::warn(WHAT, found, "unset it if that is not meant; commands that decide do not read it")
        }
        Err(Usage(wrong)) => Check::bad(WHAT, wrong, "correct or unset it; until then agents reach no gate"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GATE: &str = "[[source]]\nname = \"c\"\nkind = \"confused-ai\"\nurl = \"http://c:1\"\n\
                        [[source]]\nname = \"g\"\nkind = \"gate\"\nurl = \"http://g:9\"\ntoken_file = \"/own\"\n";

    fn found(
        config: &str,
        args: GateArgs<'_>,
        variables: &[(&str, &str)],
    ) -> Result<Option<NamedGate>, Usage> {
        let find = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let paths = Paths::find(None, |_| Some("/nowhere".into())).unwrap();
        named(&Config::parse(config, &paths).unwrap(), args, find)
    }

    fn named_by(variables: &[(&str, &str)]) -> Result<Option<SourceConfig>, Usage> {
        Ok(found("", GateArgs::default(), variables)?.map(|gate| gate.source))
    }

    #[test]
    fn flag_then_environment_then_configuration_name_the_gate() {
        let args = GateArgs { url: Some("http://f:1"), token_file: Some(Path::new("/flag")) };
        let environment = [("PLACET_URL", "http://e:1"), ("PLACET_TOKEN_FILE", "/env")];
        let of = |args, variables: &[(&str, &str)]| {
            let gate = found(GATE, args, variables).unwrap().unwrap();
            let Some(TokenFrom::File(token)) = gate.source.token else { panic!("{:?}", gate.source.token) };
            (gate.source.url, token.display().to_string(), gate.by)
        };
        let want = |url: &str, token: &str, by| (url.to_owned(), token.to_owned(), by);

        assert_eq!(of(args, &environment), want("http://f:1", "/flag", "--url"));
        let no_file = GateArgs { token_file: None, ..args };
        assert_eq!(of(no_file, &environment), want("http://f:1", "/env", "--url"));
        let none = GateArgs::default();
        assert_eq!(of(none, &environment), want("http://e:1", "/env", "PLACET_URL"));
        assert_eq!(of(none, &environment[1..]), want("http://g:9", "/env", "the configuration"));
        assert_eq!(of(none, &[]), want("http://g:9", "/own", "the configuration"));
        assert!(found("", none, &environment[1..]).unwrap().is_none());
    }

    #[test]
    fn a_password_in_a_url_is_refused_and_not_repeated() {
        for url in [
            "http://u:hidden@g:1",
            "http://g:1 https://hidden@h",
            "http://u:hid den@g",
            "u:hidden@g",
            "http://g:1/?token=hidden",
            "http://g:1/#hidden",
        ] {
            let error = named_by(&[("PLACET_URL", url), ("PLACET_TOKEN", "x")]).unwrap_err().to_string();
            assert!(
                error.contains("holds a user, a password or a query") && !error.contains("hid"),
                "{error}"
            );
        }
        for url in ["gate.local:7900", "not a url", "ftp://g"] {
            let error = named_by(&[("PLACET_URL", url), ("PLACET_TOKEN", "x")]).unwrap_err().to_string();
            assert!(error.starts_with("PLACET_URL has ") && error.contains("write http://"), "{error}");
        }
    }

    #[test]
    fn the_environment_names_url_and_token() {
        let file = named_by(&[("PLACET_URL", "http://g:1/"), ("PLACET_TOKEN_FILE", "/t")]).unwrap().unwrap();
        assert_eq!((file.url.as_str(), file.token), ("http://g:1", Some(TokenFrom::File("/t".into()))));
        let token = named_by(&[("PLACET_URL", "http://g:1"), ("PLACET_TOKEN", "x")]).unwrap().unwrap();
        assert_eq!(token.token, Some(TokenFrom::Env("PLACET_TOKEN".to_owned())));
        assert!(named_by(&[("PLACET_TOKEN", "x")]).unwrap().is_none());
    }

    #[test]
    fn the_environment_can_name_several_urls() {
        let variables = [("PLACET_URL", " http://a:1/,http://b:1  http://c:1 "), ("PLACET_TOKEN", "x")];
        let gate = named_by(&variables).unwrap().unwrap();
        assert_eq!(gate.urls().collect::<Vec<_>>(), ["http://a:1", "http://b:1", "http://c:1"]);
        assert!(named_by(&[("PLACET_URL", " , "), ("PLACET_TOKEN", "x")]).is_err(), "there is no URL");
    }

    #[test]
    fn remote_plain_http_is_refused_for_agents() {
        let gate = |config, variables: &[(&str, &str)]| {
            let gate = found(config, GateArgs::default(), variables).unwrap().unwrap();
            gate.client(None).map(drop).unwrap_err().to_string()
        };
        let error = gate("", &[("PLACET_URL", "http://example.com"), ("PLACET_TOKEN", "x")]);
        assert!(error.starts_with("PLACET_URL has http:// for example.com: whoever"), "{error}");
        assert!(error.contains("act as the agent. Use https://, or configure a source"), "{error}");
        let configured = "[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = \"http://g.example.com\"\ntoken_file = \"/own\"\n";
        assert!(gate(configured, &[]).starts_with("source \"team\": "));
    }

    #[test]
    fn a_url_without_token_is_refused() {
        let error = named_by(&[("PLACET_URL", "http://g:1")]).unwrap_err();
        assert!(error.to_string().contains("PLACET_TOKEN_FILE"), "{error}");
    }
}
