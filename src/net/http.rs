//! An HTTP client for one backend: base URLs, token, time and size limits; returns status and text.
//!
//! It does not follow redirects, because they would receive the token. It retries only with a renewed token, at another
//! address of the backend, or, for a GET, after a wait that the server asked for. Errors say whether the request may
//! have arrived.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::select_ok;
use reqwest::header::{
    CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER,
};
use reqwest::{StatusCode, Url};
use secrecy::SecretString;

use super::Bearer;
use crate::domain::Timestamp;

mod addresses;
mod exchange;
mod quiet;
mod scheme;
mod tls;

use addresses::{Address, Addresses, Round};
pub use exchange::{Ask, HttpError, REPLY_MAX, Reply};
use quiet::{Patience, Quiet};
pub use scheme::Scheme;
pub use tls::{is_about_certificate, needs_https};

/// Maximum bytes of an error reply. Of a larger one only the status is kept.
pub const ERROR_MAX: usize = 64 << 10;
/// Longest `Retry-After` that is obeyed.
pub const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);

const CONNECT_LIMIT: Duration = Duration::from_secs(5);
const KEEPALIVE: Duration = Duration::from_secs(30);

#[derive(Clone, Debug)]
pub struct Http {
    addresses: Arc<Addresses>,
    bearer: Option<Bearer>,
    scheme: Arc<Scheme>,
    longest: Duration,
    untouched: fn(&Reply) -> bool,
}

#[derive(Clone, Debug)]
pub struct Way<'a> {
    /// PEM certificates trusted in addition to the system's.
    pub ca: Option<&'a [u8]>,
    /// Uses the proxy of `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, except for this machine. Off by
    /// default, because a plain-http proxy can read the token.
    pub env_proxy: bool,
    /// Allows sending the token to another machine over plain http.
    pub insecure_http: bool,
    pub scheme: Scheme,
    /// Headers for a proxy in front of the backend, sent with each request. Must not contain secrets.
    pub headers: &'a [(String, String)],
    /// Upper limit for each request's own time limit.
    pub longest: Duration,
    pub more: &'a [String],
    /// Whether an answer says that the backend did nothing.
    pub untouched: fn(&Reply) -> bool,
}

impl Default for Way<'_> {
    fn default() -> Self {
        let (ca, scheme, headers, longest) = (None, Scheme::Bearer, &[][..], Duration::MAX);
        let (more, untouched): (_, fn(&Reply) -> bool) = (&[][..], |_| false);
        Self { ca, env_proxy: false, insecure_http: false, scheme, headers, longest, more, untouched }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    #[error("{0:?} is no http or https URL")]
    Url(String),
    #[error("its URL holds a user or password; leave that out, and say where the token is")]
    Login,
    #[error("its ca_file holds no certificates in PEM")]
    Ca,
    #[error(
        "whoever is on the way to {0} could read the token and decide with it, because http:// hides nothing; use https://, or \
         set insecure_http = true beside the source where something else protects the way (a tunnel, a network of its own)"
    )]
    InTheClear(String),
    #[error("{0:?} cannot be a header, or cannot hold what is set for it")]
    Header(String),
    #[error("cannot set up the HTTP client: {0}")]
    Client(String),
}

impl Http {
    /// Creates a client; `base` has no trailing slash.
    pub fn new(base: &str, bearer: Option<Bearer>) -> Result<Self, SetupError> {
        Self::by(base, bearer, Way::default())
    }

    pub fn by(base: &str, bearer: Option<Bearer>, way: Way<'_>) -> Result<Self, SetupError> {
        if let Scheme::Header(name) = &way.scheme
            && HeaderName::try_from(name).is_err()
        {
            return Err(SetupError::Header(name.clone()));
        }
        let address = |base: &str| address(base, bearer.is_some(), &way);
        let more = way.more.iter().map(|base| address(base)).collect::<Result<_, _>>()?;
        let addresses = Arc::new(Addresses::new(address(base)?, more));
        let scheme = Arc::new(way.scheme);
        Ok(Self { addresses, bearer, scheme, longest: way.longest, untouched: way.untouched })
    }

    /// Sends a request to the address that answered last. If it does not answer and a retry is safe, tries each other
    /// address once; the error then names all of them.
    ///
    /// After 429 or 503 with `Retry-After`, a GET waits and is sent again. If the wait exceeds ten seconds or the
    /// request's limit, the answer is returned at once, and also to every GET until then. A POST does not wait.
    /// Without a key it is sent again only if the backend did nothing.
    pub async fn ask(&self, ask: &Ask) -> Result<Reply, HttpError> {
        let addresses = &self.addresses;
        let mut round = Round::new(ask, self.untouched);
        let (mut nth, mut left) = (addresses.first(), addresses.count());
        loop {
            left -= 1;
            let (address, trying) = (addresses.at(nth), addresses.trying(nth));
            let end = self.ask_at(address, ask, left > 0).await;
            trying.ended(&end);
            if let Some(end) = round.takes(&address.base, end, left == 0) {
                return end;
            }
            nth = addresses.after(nth);
        }
    }

    async fn ask_at(&self, address: &Address, ask: &Ask, elsewhere: bool) -> Result<Reply, HttpError> {
        if ask.body.is_some() {
            return self.once(address, ask).await;
        }
        let patience = Patience::of(ask.limit, elsewhere);
        if let Some(reply) = address.quiet.wait(patience).await {
            return Ok(reply);
        }
        let reply = self.once(address, ask).await?;
        if !address.quiet.asked_for(&reply, patience) || address.quiet.wait(patience).await.is_some() {
            return Ok(reply);
        }
        let reply = self.once(address, ask).await?;
        address.quiet.asked_for(&reply, patience);
        Ok(reply)
    }

    /// Sends once, and again with a renewed token after 401.
    async fn once(&self, address: &Address, ask: &Ask) -> Result<Reply, HttpError> {
        let token = self.token().await?;
        let reply = self.send(address, ask, token.as_ref()).await?;
        if reply.status != StatusCode::UNAUTHORIZED {
            return Ok(reply);
        }
        match self.renewed(token.as_ref()).await? {
            Some(token) => self.send(address, ask, Some(&token)).await,
            None => Ok(reply),
        }
    }

    pub fn each(&self) -> Vec<(String, Self)> {
        let alone = |address: &Arc<Address>| {
            let addresses = Arc::new(Addresses::new(Arc::clone(address), Vec::new()));
            (address.base.clone(), Self { addresses, ..self.clone() })
        };
        self.addresses.all().map(alone).collect()
    }

    pub fn base(&self) -> &str {
        &self.addresses.at(self.addresses.first()).base
    }

    pub(super) fn first(&self) -> usize {
        self.addresses.first()
    }

    /// Records that a stream to this address failed, so that the next one uses another address.
    pub(super) fn failed(&self, nth: usize) {
        self.addresses.failed(nth);
    }

    /// Whether an address uses plain http to another machine, where others on the network can read and forge answers.
    pub fn in_the_clear(&self) -> bool {
        let is_clear = |url: &Url| url.scheme() == "http" && !is_loopback(url);
        self.addresses.all().any(|address| Url::parse(&address.base).is_ok_and(|url| is_clear(&url)))
    }

    /// Returns the server's time from the `Date` of any answer. Sends no token.
    pub async fn date(&self, limit: Duration) -> Option<Timestamp> {
        let asked = self.addresses.all().map(|address| {
            let limit = limit.min(self.longest);
            Box::pin(address.client.get(format!("{}/", address.base)).timeout(limit).send())
        });
        let (response, _) = select_ok(asked).await.ok()?;
        let date = response.headers().get(DATE)?.to_str().ok()?;
        let at = jiff::fmt::rfc2822::parse(date).ok()?.timestamp();
        Some(Timestamp::from_millis(at.as_millisecond()))
    }

    pub(super) async fn token(&self) -> Result<Option<SecretString>, HttpError> {
        match &self.bearer {
            Some(bearer) => bearer.token().await.map(Some),
            None => Ok(None),
        }
    }

    pub(super) async fn renewed(
        &self,
        refused: Option<&SecretString>,
    ) -> Result<Option<SecretString>, HttpError> {
        match (&self.bearer, refused) {
            (Some(bearer), Some(refused)) => bearer.renewed(refused).await,
            (None, _) | (_, None) => Ok(None),
        }
    }

    /// Sends a GET for an endless reply. There is no time limit on the whole, so the caller limits each wait.
    pub(super) async fn open(
        &self,
        nth: usize,
        path: &str,
        mut headers: HeaderMap,
        token: Option<&SecretString>,
    ) -> Result<reqwest::Response, HttpError> {
        if let Some(token) = token {
            let (name, value) = self.scheme.header(token)?;
            headers.insert(name, value);
        }
        let address = self.addresses.at(nth);
        let request = address.client.get(format!("{}{path}", address.base)).headers(headers);
        request.send().await.map_err(|error| failed(&error))
    }

    async fn send(
        &self,
        address: &Address,
        ask: &Ask,
        token: Option<&SecretString>,
    ) -> Result<Reply, HttpError> {
        let url = format!("{}{}", address.base, ask.path);
        let mut request = match &ask.body {
            Some(body) => {
                address.client.post(url).header(CONTENT_TYPE, "application/json").body(body.clone())
            }
            None => address.client.get(url),
        };
        if let Some(key) = &ask.key {
            request = request.header("idempotency-key", key);
        }
        if let Some(token) = token {
            let (name, value) = self.scheme.header(token)?;
            request = request.header(name, value);
        }
        let response =
            request.timeout(ask.limit.min(self.longest)).send().await.map_err(|error| failed(&error))?;
        let (status, retry_after) = (response.status().as_u16(), retry_after(response.headers()));
        let encoding = response.headers().get(CONTENT_ENCODING).cloned();
        let mut bytes = match read(response, if success(status) { REPLY_MAX } else { ERROR_MAX }).await {
            Err(HttpError::TooLarge) if !success(status) => Vec::new(),
            read => read?,
        };
        if let Some(why) = odd_form(encoding.as_ref(), &bytes) {
            if success(status) {
                return Err(HttpError::Form(why));
            }
            bytes.clear();
        }
        let text = String::from_utf8(bytes).unwrap_or_else(|error| marked(error.as_bytes()));
        // Error texts are shown and logged, and some servers repeat the request in them. Texts with status 200 hold
        // bytes of actions and are not changed.
        let text = match token.filter(|_| status != 200) {
            Some(token) => self.scheme.masked(&text, token),
            None => text,
        };
        Ok(Reply { status, text, retry_after })
    }
}

fn address(base: &str, has_token: bool, way: &Way<'_>) -> Result<Arc<Address>, SetupError> {
    let url = Url::parse(base).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    // A text with an `@` may contain a password.
    let url = url.ok_or_else(|| {
        if base.contains('@') { SetupError::Login } else { SetupError::Url(base.to_owned()) }
    })?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(SetupError::Login);
    }
    let loopback = is_loopback(&url);
    if has_token && url.scheme() == "http" && !loopback && !way.insecure_http {
        return Err(SetupError::InTheClear(url.host_str().unwrap_or_default().to_owned()));
    }
    let ca = match way.ca.map(reqwest::Certificate::from_pem_bundle) {
        Some(Ok(found)) if !found.is_empty() => found,
        Some(_) => return Err(SetupError::Ca),
        None => Vec::new(),
    };
    let headers = headers(way.headers)?;
    let client = build(|builder| {
        let builder = builder.default_headers(headers.clone());
        let builder = builder.pool_max_idle_per_host(8);
        // Reading the system's certificates is slow, and plain http to this machine needs none.
        let builder = match url.scheme() {
            "http" if loopback => builder.tls_certs_only([]),
            _ => builder.tls_certs_merge(ca.iter().cloned()),
        };
        if loopback || !way.env_proxy { builder.no_proxy() } else { builder }
    });
    let client = client.map_err(SetupError::Client)?;
    let base = base.trim_end_matches('/').to_owned();
    Ok(Arc::new(Address { client, base, quiet: Quiet::default() }))
}

/// Builds a client without redirects and with a connect limit.
pub(super) fn build(
    shape: impl Fn(reqwest::ClientBuilder) -> reqwest::ClientBuilder,
) -> Result<reqwest::Client, String> {
    // A second call fails, which is fine: a provider is installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        let builder = reqwest::Client::builder()
            .user_agent(concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_LIMIT)
            .tcp_keepalive(KEEPALIVE)
            .redirect(reqwest::redirect::Policy::none());
        shape(builder)
    };
    // Without a CA bundle https fails, but plain http to a local gate works.
    let client = builder().build().or_else(|_| builder().tls_certs_only([]).build());
    client.map_err(|error| describe(&error))
}

const fn success(status: u16) -> bool {
    matches!(status, 200..=299)
}

/// Why a body is not plain UTF-8; `None` if it may be.
fn odd_form(encoding: Option<&HeaderValue>, body: &[u8]) -> Option<String> {
    let encoding = encoding.and_then(|name| name.to_str().ok()).map_or("", str::trim);
    let is_plain = encoding.is_empty() || encoding.eq_ignore_ascii_case("identity");
    match body {
        _ if !is_plain => Some(format!(
            "its answer is compressed ({encoding}), which was not asked for; switch that off at the backend or the proxy before it"
        )),
        [0x1f, 0x8b, ..] => odd_form(Some(&HeaderValue::from_static("gzip")), &[]),
        [0xef, 0xbb, 0xbf, ..] => {
            Some("its answer begins with a byte order mark (BOM), which JSON forbids; let the backend leave it out".to_owned())
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            Some("its answer is UTF-16 with a byte order mark (BOM); let the backend send UTF-8".to_owned())
        }
        _ => None,
    }
}

fn marked(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\u{1a}{byte:02X}"); // writing to a String cannot fail
        }
    }
    text
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let name = host == "localhost" || host.ends_with(".localhost");
    name || host
        .parse::<std::net::IpAddr>()
        .is_ok_and(|address| address.is_loopback() || address.is_unspecified())
}

fn headers(given: &[(String, String)]) -> Result<HeaderMap, SetupError> {
    let header = |(name, value): &(String, String)| {
        let wrong = || SetupError::Header(name.clone());
        Ok((
            HeaderName::try_from(name).map_err(|_| wrong())?,
            HeaderValue::try_from(value).map_err(|_| wrong())?,
        ))
    };
    given.iter().map(header).collect()
}

async fn read(response: reqwest::Response, cap: usize) -> Result<Vec<u8>, HttpError> {
    // Reserves the announced length, to avoid copies while growing.
    let length =
        response.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or_default();
    let mut bytes = Vec::with_capacity(length.min(cap));
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| HttpError::Lost(describe(&error)))?;
        if bytes.len() + chunk.len() > cap {
            return Err(HttpError::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

pub(super) fn failed(error: &reqwest::Error) -> HttpError {
    if error.is_connect() || error.is_builder() {
        HttpError::NotSent(describe(error))
    } else {
        HttpError::Lost(describe(error))
    }
}

/// Returns the innermost cause, without the URL.
pub(super) fn describe(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    if let Some(words) = tls::words(error) {
        return words;
    }
    let mut cause = error.source();
    while let Some(deeper) = cause.and_then(std::error::Error::source) {
        cause = Some(deeper);
    }
    let cause = cause.map_or_else(|| "the request failed".to_owned(), ToString::to_string);
    tls::of_plain_http(&cause).unwrap_or(cause)
}

pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    asked_to_wait(headers).map(|wait| wait.min(RETRY_AFTER_MAX))
}

/// Parses `Retry-After`: seconds or a date (RFC 9110, 10.2.3).
pub(super) fn asked_to_wait(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    match text.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => {
            // jiff's timestamps end before year 9999 does. The year 9599 has the same weekdays.
            let until = jiff::fmt::rfc2822::parse(&text.replace(" 9999 ", " 9599 ")).ok()?.timestamp();
            Some(Duration::try_from(until.duration_since(jiff::Timestamp::now())).unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests;
