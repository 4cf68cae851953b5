//! A fake engine like the measured one: it queues decisions, keeps one key for all decisions on a step, and loses retried
//! reason steps.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::contract::time;
use crate::domain::{ActionId, Timestamp, json};
use crate::sources::tests::Faults;
use crate::sources::warden::Clock;

mod books;

const BEGIN: i64 = 1_795_000_000_000;

/// A step in the engine. Its JSON is written as text, so that bytes are kept.
#[derive(Clone, Debug)]
pub(super) struct WaitingStep {
    pub(super) namespace: String,
    pub(super) trace: String,
    pub(super) span: String,
    pub(super) step: &'static str,
    pub(super) kind: &'static str,
    pub(super) order: u32,
    pub(super) status: String,
    pub(super) payload: String,
    pub(super) started: i64,
    pub(super) output: Option<String>,
    pub(super) failure: Option<String>,
    /// The first decision, whose key stays used.
    pub(super) first: Option<First>,
    pub(super) guidance: Option<String>,
    pub(super) retries: (u32, u32),
    /// Error of its run, or of a policy, after approval.
    pub(super) breaks: Option<&'static str>,
    pub(super) broken: Option<String>,
    pub(super) more: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct First {
    pub(super) body: String,
    /// Whether it failed in the outbox and can be queued again.
    pub(super) failed: bool,
}

enum Event {
    Decision(usize),
    Retry(usize, Option<String>),
}

#[derive(Default)]
pub(super) struct Books {
    pub(super) steps: Vec<WaitingStep>,
    queue: VecDeque<Event>,
    tokens: HashSet<String>,
    pub(super) taken: HashMap<ActionId, usize>,
    pub(super) log: Vec<(String, String)>,
    /// Number of requests until the queue is processed.
    lag: usize,
    pub(super) stalled: bool,
    /// Whether concurrent decisions miss each other's key.
    pub(super) races: bool,
    /// Whether the queue is processed before every answer.
    pub(super) quick: bool,
    /// Whether retried reason steps return.
    pub(super) mended: bool,
    /// Whether sagas and definitions cannot be read.
    pub(super) nameless: bool,
    /// Page size of the next list, if not as requested.
    pub(super) page: Option<usize>,
    /// Whether it answers like later revisions: errors with a code, lists with a total.
    pub(super) later: bool,
    /// Compensating steps by run, as items of the list of steps.
    pub(super) undo: Vec<(String, String)>,
    /// Steps that leave the list after its first page was read.
    pub(super) leaves_while_paging: Vec<ActionId>,
}

#[derive(Clone)]
pub(super) struct Engine {
    pub(super) faults: Arc<Faults>,
    books: Arc<Mutex<Books>>,
    now: Arc<AtomicI64>,
}

type Answer = (u16, String);

fn answer(status: u16, body: &str) -> Answer {
    (status, body.to_owned())
}

/// Returns a refusal as text in `detail`.
fn detail(status: u16, what: &str) -> Answer {
    (status, format!(r#"{{"detail":{}}}"#, json::encode(what)))
}

pub(super) fn refusal(status: u16) -> Answer {
    match status {
        404 => detail(404, "Step not found."),
        409 => detail(409, "Step is not awaiting human review (status=COMPLETED)."),
        422 => answer(
            422,
            r#"{"detail":[{"type":"missing","loc":["body"],"msg":"Field required","input":null}]}"#,
        ),
        500 => answer(500, "Internal Server Error"),
        _ => detail(status, "because"),
    }
}

fn moment(at: i64) -> String {
    time::write(Timestamp::from_millis(at)).replace('Z', "300Z")
}

impl WaitingStep {
    pub(super) fn id(&self) -> ActionId {
        ActionId::new(format!("{}/{}/{}", self.namespace, self.trace, self.span))
    }

    fn common(&self) -> String {
        format!(
            r#""namespace":"{}","saga_trace_id":"{}","step_span_id":"{}","step_id":"{}","step_name":"Step {}","step_kind":"{}","order_index":{},"worker":"desk-worker","worker_version":"2.1.0","started_at":"{}""#,
            self.namespace,
            self.trace,
            self.span,
            self.step,
            self.step,
            self.kind,
            self.order,
            moment(self.started)
        )
    }

    fn item(&self) -> String {
        if let Some(broken) = &self.broken {
            return broken.clone();
        }
        let subject = if self.kind == "commit" { "arguments" } else { "output" };
        let Self { payload, more, .. } = self;
        format!(r#"{{{},"review_subject":"{subject}","review_payload":{payload}{more}}}"#, self.common())
    }

    fn line(&self) -> String {
        let or_null = |text: &Option<String>| text.clone().unwrap_or_else(|| "null".to_owned());
        format!(
            r#"{},"status":"{}","end_time":null,"compensates_span_id":null,"error_details":{},"timing":null,"usage":null"#,
            self.common(),
            self.status,
            or_null(&self.failure)
        )
    }

    fn details(&self) -> String {
        let arguments = match (&self.guidance, self.kind) {
            (_, "commit") => self.payload.clone(),
            (None, _) => r#"{"ticket":7}"#.to_owned(),
            (Some(guidance), _) => format!(
                r#"{{"ticket":7,"_hitl_retry":{{"attempt":{},"guidance":{},"max_retries":{}}}}}"#,
                self.retries.0,
                json::encode(guidance),
                self.retries.1
            ),
        };
        let output = self.output.clone().unwrap_or_else(|| "null".to_owned());
        let prompt = if self.kind == "commit" { "null" } else { r#""reply.j2""# };
        format!(
            r#"{{{},"resolved_arguments":{arguments},"output_payload":{output},"prompt_ref":{prompt}}}"#,
            self.line()
        )
    }
}

impl Engine {
    pub(super) fn new() -> Self {
        Self { faults: Arc::default(), books: Arc::default(), now: Arc::new(AtomicI64::new(BEGIN)) }
    }

    pub(super) fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }

    pub(super) fn clock(&self) -> Clock {
        let now = Arc::clone(&self.now);
        Clock(Arc::new(move || Timestamp::from_millis(now.load(Ordering::SeqCst))))
    }

    pub(super) fn pass(&self, seconds: i64) {
        self.now.fetch_add(seconds * 1_000, Ordering::SeqCst);
    }

    pub(super) fn hold(&self, kind: &'static str, payload: &str) -> ActionId {
        let mut books = self.books();
        let n = books.steps.len();
        let held = WaitingStep {
            namespace: "default".to_owned(),
            trace: format!("{:032x}", 0xabc0_0000 + n),
            span: format!("{:016x}", 0xdef0 + n),
            step: if kind == "commit" { "send" } else { "draft" },
            kind,
            order: u32::from(kind == "commit"),
            status: "AWAITING_HUMAN".to_owned(),
            payload: payload.to_owned(),
            started: BEGIN - 100_000 + n as i64,
            output: None,
            failure: None,
            first: None,
            guidance: None,
            retries: (0, 1),
            breaks: None,
            broken: None,
            more: "",
        };
        let id = held.id();
        books.steps.push(held);
        id
    }

    pub(super) fn with<T>(&self, id: &ActionId, change: impl FnOnce(&mut WaitingStep) -> T) -> T {
        let mut books = self.books();
        let step = books.steps.iter_mut().find(|step| step.id() == *id).unwrap();
        change(step)
    }

    pub(super) fn posts(&self) -> Vec<(String, String)> {
        let books = self.books();
        books.log.iter().filter(|(line, _)| line.starts_with("POST")).cloned().collect()
    }

    pub(super) fn work(&self) {
        self.books().work(self.now.load(Ordering::SeqCst));
    }

    pub(super) fn answer(&self, method: &str, path: &str, query: &str, body: &str) -> Answer {
        let mut books = self.books();
        if books.quick {
            books.work(self.now.load(Ordering::SeqCst));
        }
        let mark = if query.is_empty() { "" } else { "?" };
        books.log.push((format!("{method} {path}{mark}{query}"), body.to_owned()));
        let query: HashMap<String, String> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.replace("%2F", "/")))
            .collect();
        let parts: Vec<&str> = path.trim_start_matches("/v1/").split('/').collect();
        if method == "POST" {
            return match parts.as_slice() {
                ["sagas", trace, "steps", span, verb @ ("decision" | "retry")] => {
                    let answered = books.post(trace, span, &query, verb, body);
                    books.worded(answered)
                }
                _ => detail(404, "Not Found"),
            };
        }
        let answered = books.get(&parts, &query);
        let answered = books.worded(answered);
        if !books.stalled && books.lag == 0 {
            books.work(self.now.load(Ordering::SeqCst));
        }
        books.lag = books.lag.saturating_sub(1);
        answered
    }
}
