//! POST requests to configured targets of executors and notifications, and nowhere else.
//!
//! A target is https and public, or listed. Its name is resolved once per request, checked and connected to, so that a
//! second DNS answer cannot redirect it. Redirects and environment proxies are not followed.

use std::fmt;
use std::io::{self, Read as _};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue};

use super::http::{HttpError, asked_to_wait, build, describe, failed};
use super::public::is_public;

type Lookup = Arc<dyn Fn(String) -> Answer + Send + Sync>;
type Answer = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

pub struct Targets {
    listed: Vec<Listed>,
    listing: &'static str,
    lookup: Lookup,
    /// Client for listed targets, at any address.
    free: OnceLock<Result<reqwest::Client, String>>,
    /// Client for other targets, at public addresses only.
    public: OnceLock<Result<reqwest::Client, String>>,
}

/// A target allowed over http and at any address.
#[derive(Debug)]
struct Listed {
    /// As the URL parser writes it.
    host: String,
    port: Option<u16>,
}

impl Targets {
    /// `listed` are entries `host` or `host:port`. The error is a sentence for the operator.
    pub fn new(listed: &[String]) -> Result<Self, String> {
        Self::with_lookup(listed, Arc::new(|name| Box::pin(look_up(name))))
    }

    pub fn none_listed() -> Self {
        Self::over(Vec::new(), Arc::new(|name| Box::pin(look_up(name))))
    }

    fn with_lookup(listed: &[String], lookup: Lookup) -> Result<Self, String> {
        let listed = listed.iter().map(|entry| {
            Listed::parse(entry).ok_or_else(|| {
                // A password may precede an `@`.
                let entry = entry.rsplit('@').next().unwrap_or_default();
                format!("{entry:?} is no host or host:port, as in \"127.0.0.1:9000\" or \"tickets.internal\"")
            })
        });
        let listed = listed.collect::<Result<_, _>>()?;
        Ok(Self::over(listed, lookup))
    }

    /// Targets for one receiver of notifications, which `private` lists. The error is a sentence for the operator.
    pub fn of_hook(url: &str, private: bool) -> Result<Self, String> {
        let parsed = Url::parse(url).map_err(|error| format!("the url is none: {error}"))?;
        let host = parsed.host_str().filter(|_| private).map(str::to_owned);
        let listed = host.map(|host| Listed { host, port: parsed.port_or_known_default() });
        let targets = Self::over(listed.into_iter().collect(), Arc::new(|name| Box::pin(look_up(name))));
        let targets = Self { listing: "set allow_private = true", ..targets };
        targets.check(url)?;
        Ok(targets)
    }

    fn over(listed: Vec<Listed>, lookup: Lookup) -> Self {
        let listing = "list it in gate.allow_targets";
        Self { listed, listing, lookup, free: OnceLock::new(), public: OnceLock::new() }
    }

    /// Checks the URL itself. Its addresses are checked when sending.
    pub fn check(&self, url: &str) -> Result<(), String> {
        self.judge(url).map(drop)
    }

    /// Sends a POST without token, connection pool, redirects or proxy. Any status is an answer; a refused target is
    /// [`HttpError::NotSent`].
    ///
    /// `timeout` limits the whole exchange; at most `cap` bytes of the answer are read.
    pub async fn post(
        &self,
        url: &str,
        headers: &[(&str, String)],
        body: String,
        timeout: Duration,
        cap: usize,
    ) -> Result<(u16, Vec<u8>), HttpError> {
        let mut response = self.send(url, headers, body, timeout).await?;
        let coding = response.headers().get(CONTENT_ENCODING).map(HeaderValue::as_bytes);
        let is_packed = coding
            .is_some_and(|it| [&b"gzip"[..], b"x-gzip"].iter().any(|name| it.eq_ignore_ascii_case(name)));
        let mut kept = Vec::new();
        while kept.len() < cap {
            let Some(chunk) = response.chunk().await.map_err(|error| HttpError::Lost(describe(&error)))?
            else {
                break;
            };
            kept.extend_from_slice(chunk.get(..(cap - kept.len()).min(chunk.len())).unwrap_or_default());
        }
        Ok((response.status().as_u16(), if is_packed { unpacked(&kept, cap) } else { kept }))
    }

    /// Like [`Self::post`], but returns status and `Retry-After` without reading the body.
    pub async fn notify(
        &self,
        url: &str,
        headers: &[(&str, String)],
        body: String,
        timeout: Duration,
    ) -> Result<(u16, Option<Duration>), HttpError> {
        let response = self.send(url, headers, body, timeout).await?;
        Ok((response.status().as_u16(), asked_to_wait(response.headers())))
    }

    async fn send(
        &self,
        url: &str,
        headers: &[(&str, String)],
        body: String,
        timeout: Duration,
    ) -> Result<reqwest::Response, HttpError> {
        let (url, is_listed) = self.judge(url).map_err(HttpError::NotSent)?;
        let mut fields = HeaderMap::new();
        for (name, value) in headers {
            let (Ok(name), Ok(value)) = (HeaderName::try_from(*name), HeaderValue::try_from(value.as_str()))
            else {
                return Err(HttpError::NotSent(format!("the header {name} cannot be sent")));
            };
            fields.insert(name, value);
        }
        let client = self.client(is_listed).map_err(HttpError::NotSent)?;
        let request = client.post(url).headers(fields).body(body).timeout(timeout);
        request.send().await.map_err(|error| failed(&error))
    }

    /// Returns the parsed URL and whether it is listed. Messages do not repeat the URL, because an agent may read them.
    fn judge(&self, url: &str) -> Result<(Url, bool), String> {
        let parsed = Url::parse(url).map_err(|error| format!("the url is none: {error}"))?;
        let refused = |why: &str| Err(format!("the url is refused: {why}"));
        if !matches!(parsed.scheme(), "http" | "https") {
            return refused("only https:// is spoken, and http:// to what is listed");
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return refused("a URL must not carry a user or password");
        }
        let Some(host) = parsed.host_str() else { return refused("it names no host") };
        let port = parsed.port_or_known_default();
        if self.listed.iter().any(|it| it.host == host && it.port.is_none_or(|it| Some(it) == port)) {
            return Ok((parsed, true));
        }
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        let name = host.trim_end_matches('.');
        if name == "localhost" || name.ends_with(".localhost") || address.is_ok_and(|it| !is_public(it)) {
            return refused(&format!("its host is not public; {} if it is meant", self.listing));
        }
        if parsed.scheme() != "https" {
            return refused(&format!("it is not https; {} if the way there is safe", self.listing));
        }
        Ok((parsed, false))
    }

    /// Returns a client, created once because reading the certificates is slow. It has no pool: a pooled connection
    /// belongs to its runtime and to an earlier DNS answer.
    fn client(&self, is_listed: bool) -> Result<&reqwest::Client, String> {
        let cell = if is_listed { &self.free } else { &self.public };
        let made = cell.get_or_init(|| {
            build(|builder| {
                let resolver = Resolver { lookup: Arc::clone(&self.lookup), only_public: !is_listed };
                builder.pool_max_idle_per_host(0).no_proxy().dns_resolver(Arc::new(resolver))
            })
        });
        made.as_ref().map_err(Clone::clone)
    }
}

/// Unpacks at most `cap` bytes. A failure becomes the text, because the status still counts.
fn unpacked(packed: &[u8], cap: usize) -> Vec<u8> {
    let mut plain = Vec::new();
    let read = flate2::read::MultiGzDecoder::new(packed).take(cap as u64).read_to_end(&mut plain);
    match read {
        // A longer answer was cut before unpacking.
        Err(error) if packed.len() < cap => {
            format!("the answer is gzip that cannot be unpacked: {error}").into_bytes()
        }
        _ => plain,
    }
}

impl fmt::Debug for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Targets").field("listed", &self.listed).finish_non_exhaustive()
    }
}

impl Listed {
    fn parse(entry: &str) -> Option<Self> {
        if entry.contains(['/', '\\', '?', '#', '@', '*', ' ']) {
            return None;
        }
        let (host, port) = match entry.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                (host.to_owned(), Some(port.parse().ok()?))
            }
            Some(_) if !entry.starts_with('[') => (format!("[{entry}]"), None),
            _ => (entry.to_owned(), None),
        };
        // The parser normalises the spelling of a host.
        let url = Url::parse(&format!("https://{host}/")).ok()?;
        Some(Self { host: url.host_str()?.to_owned(), port })
    }
}

/// A DNS resolver that checks the addresses it returns, so that only checked addresses are connected to.
struct Resolver {
    lookup: Lookup,
    only_public: bool,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (name, only_public) = (name.as_str().to_owned(), self.only_public);
        let asked = (self.lookup)(name.clone());
        Box::pin(async move {
            let addresses = asked.await?;
            // One bad address among good ones refuses them all.
            if let Some(bad) = addresses.iter().find(|it| only_public && !is_public(it.ip())) {
                tracing::warn!(name, address = %bad.ip(), "a target's name leads to an address that is not public");
                return Err("the target's name leads to an address that is not public".into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

async fn look_up(name: String) -> io::Result<Vec<SocketAddr>> {
    Ok(tokio::net::lookup_host((name, 0)).await?.collect())
}

#[cfg(test)]
mod tests;
