//! Metrics for `GET /metrics`.
//!
//! Counters cover the whole gate; labels are fixed words and route templates. Gauges cover the workspace of the
//! requesting token and do not name it.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::store::Census;
use super::trace;
use crate::domain::{Status, Timestamp};

/// Bucket bounds of request durations, in seconds. The longest long poll takes a minute.
const SECONDS: [f64; 12] = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];
/// Bucket bounds of writes per commit. The writer takes at most 256.
const JOBS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
/// Label of an unknown path or method.
const NONE: &str = "none";

const STATUSES: [Status; 10] = [
    Status::Pending,
    Status::Approved,
    Status::Running,
    Status::Executed,
    Status::Failed,
    Status::Unknown,
    Status::Rejected,
    Status::Expired,
    Status::Withdrawn,
    Status::Superseded,
];

#[derive(Clone)]
pub(crate) struct Metrics(Arc<Counted>);

struct Counted {
    registry: Registry,
    /// Known templates, because unknown paths must not become labels.
    routes: HashSet<&'static str>,
    requests: Family<Answered, Counter>,
    durations: Family<Asked, Histogram, fn() -> Histogram>,
    proposals: Counter,
    settled: Family<Outcome, Counter>,
    dispatches: Counter,
    executions: Family<Outcome, Counter>,
    commits: Counter,
    jobs: Histogram,
    resyncs: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Asked {
    method: &'static str,
    route: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    method: &'static str,
    route: &'static str,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct InStatus {
    status: String,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl Metrics {
    pub(crate) fn new(routes: &[(Method, &'static str)]) -> Self {
        let mut counted = Counted {
            registry: Registry::with_prefix("placet"),
            routes: routes.iter().map(|(_, path)| *path).collect(),
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            proposals: Counter::default(),
            settled: Family::default(),
            dispatches: Counter::default(),
            executions: Family::default(),
            commits: Counter::default(),
            jobs: Histogram::new(JOBS),
            resyncs: Counter::default(),
        };
        counted.register();
        // Creates series at zero, so that the first increase is visible.
        for (method, route) in routes {
            drop(counted.durations.get_or_create(&Asked { method: word(method), route }));
        }
        for outcome in ["approved", "rejected", "expired", "withdrawn", "superseded"] {
            drop(counted.settled.get_or_create(&Outcome { outcome }));
        }
        for outcome in ["executed", "failed", "lost", "requeued", "settled"] {
            drop(counted.executions.get_or_create(&Outcome { outcome }));
        }
        Self(Arc::new(counted))
    }

    /// `kind` is a word of the timeline.
    pub(crate) fn happened(&self, kind: &'static str) {
        match kind {
            "created" => drop(self.0.proposals.inc()),
            "dispatched" => drop(self.0.dispatches.inc()),
            "approved" | "rejected" | "expired" | "lapsed" | "withdrawn" | "superseded" => {
                self.0.settled.get_or_create(&Outcome { outcome: kind }).inc();
            }
            "executed" | "failed" | "lost" | "requeued" | "settled" => {
                self.0.executions.get_or_create(&Outcome { outcome: kind }).inc();
            }
            _ => {}
        }
    }

    pub(crate) fn committed(&self, jobs: usize) {
        self.0.commits.inc();
        self.0.jobs.observe(f64::from(u32::try_from(jobs).unwrap_or(u32::MAX)));
    }

    /// Counts a stream client that was too far behind and had to list again.
    pub(crate) fn resynced(&self) {
        self.0.resyncs.inc();
    }

    fn answered(&self, method: &'static str, route: &'static str, status: u16, seconds: f64) {
        self.0.requests.get_or_create(&Answered { method, route, status }).inc();
        self.0.durations.get_or_create(&Asked { method, route }).observe(seconds);
    }

    pub(crate) fn write(&self, census: &Census, streams: u32, now: Timestamp) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode_registry(&mut text, &self.0.registry)?;
        encode_registry(&mut text, &gauges(census, streams, now))?;
        encode_eof(&mut text)?;
        Ok(text)
    }
}

impl Counted {
    fn register(&mut self) {
        let registry = &mut self.registry;
        let version = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "What is running", version);
        let requests = self.requests.clone();
        registry.register("http_requests", "Requests answered, by route template", requests);
        let durations = self.durations.clone();
        let help = "Until the answer began; a stream's time is not counted";
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, durations);
        registry.register("proposals", "Proposals recorded", self.proposals.clone());
        registry.register("decisions", "How pending actions were settled", self.settled.clone());
        registry.register("dispatches", "Runs begun, by the gate or by an agent", self.dispatches.clone());
        let help = "How runs ended; requeued is lost and to be run again, settled is what a human said of a lost one";
        registry.register("executions", help, self.executions.clone());
        registry.register("commits", "Transactions committed", self.commits.clone());
        registry.register("jobs_per_commit", "Writes that one commit carried", self.jobs.clone());
        registry.register("stream_resyncs", "Streams told to list again", self.resyncs.clone());
    }
}

/// Converts OpenMetrics text to the text format 0.0.4, where a family has the name of its samples and no unit.
pub(crate) fn as_plain_text(open: &str) -> String {
    let kinds: HashMap<&str, &str> =
        open.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect();
    let mut text = String::with_capacity(open.len());
    for line in open.lines().filter(|line| !line.starts_with("# UNIT ") && *line != "# EOF") {
        let mut words = line.splitn(4, ' ');
        match [words.next(), words.next(), words.next(), words.next()] {
            [Some("#"), Some(word @ ("HELP" | "TYPE")), Some(name), rest] => {
                let (suffix, kind) = match kinds.get(name) {
                    Some(&"counter") => ("_total", "counter"),
                    Some(&"info") => ("_info", "gauge"),
                    kind => ("", kind.copied().unwrap_or("untyped")),
                };
                let rest = if word == "TYPE" { kind } else { rest.unwrap_or_default() };
                text.extend(["# ", word, " ", name, suffix, " ", rest, "\n"]);
            }
            _ => text.extend([line, "\n"]),
        }
    }
    text
}

fn gauges(census: &Census, streams: u32, now: Timestamp) -> Registry {
    let gauge = |value: u64| -> Gauge {
        let gauge = Gauge::default();
        gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        gauge
    };
    let mut registry = Registry::with_prefix("placet");
    registry.register("open_streams", "Streams of briefings that are open", gauge(u64::from(streams)));
    registry.register("pending", "Pending actions of this token's workspace", gauge(census.pending));
    let age = census.oldest.map_or(0, |oldest| now.as_millis().saturating_sub(oldest.as_millis()).max(0));
    let help = "Age of the oldest pending action of this token's workspace; 0 without one";
    registry.register_with_unit("oldest_pending_age", help, Unit::Seconds, gauge(age.unsigned_abs() / 1_000));
    let actions = Family::<InStatus, Gauge>::default();
    for status in STATUSES {
        let count =
            census.by_status.iter().find(|(known, _)| *known == status).map_or(0, |(_, count)| *count);
        let label = InStatus { status: status.as_raw().to_owned() };
        actions.get_or_create(&label).set(i64::try_from(count).unwrap_or(i64::MAX));
    }
    registry.register("actions", "Actions of this token's workspace", actions);
    registry
}

fn word(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        _ => NONE,
    }
}

/// The subject of a request, set by the guard and logged by [`observe`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Named(pub(crate) Arc<OnceLock<String>>);

/// Counts and logs each request, without its content. The outermost middleware.
pub(crate) async fn observe(State(metrics): State<Metrics>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = word(request.method());
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.and_then(|path| metrics.0.routes.get(path.as_str())).copied().unwrap_or(NONE);
    let (named, traceparent) = (Named::default(), trace::of(request.headers()));
    request.extensions_mut().insert(named.clone());
    let response = next.run(request).await;
    let (status, seconds) = (response.status().as_u16(), began.elapsed().as_secs_f64());
    metrics.answered(method, route, status, seconds);
    let ms = (seconds * 1_000.0) as u64;
    // Debug formatting escapes line breaks in the subject, so it cannot start a log line.
    tracing::debug!(method, route, status, ms, subject = ?named.0.get(), traceparent, "answered");
    response
}
