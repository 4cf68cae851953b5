//! An engine that behaves as the real one was measured: it queues decisions and takes them later, holds one key for every decision
//! about a step, and loses retried reason steps.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::contract::time;
use crate::domain::{ActionId, Timestamp, json};
use crate::sources::tests::Faults;
use crate::sources::warden::Clock;

mod books;

/// When it all begins: the source's clock starts here, too.
const BEGIN: i64 = 1_795_000_000_000;

/// A step as the engine keeps it. What it sends is written from it as text, so that bytes stay bytes.
#[derive(Clone, Debug)]
pub(super) struct WaitingStep {
    pub(super) namespace: String,
    pub(super) trace: String,
    pub(super) span: String,
    pub(super) step: &'static str,
    pub(super) kind: &'static str,
    pub(super) order: u32,
    pub(super) status: String,
    /// The envelope, or the arguments.
    pub(super) payload: String,
    pub(super) started: i64,
    pub(super) output: Option<String>,
    pub(super) failure: Option<String>,
    /// The first decision about it: its key is used for ever.
    pub(super) first: Option<First>,
    pub(super) guidance: Option<String>,
    pub(super) retries: (u32, u32),
    /// Its run breaks, or a policy says no, after it was approved.
    pub(super) breaks: Option<&'static str>,
    /// Written instead of the whole item.
    pub(super) broken: Option<String>,
    /// Written into the item.
    pub(super) more: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct First {
    pub(super) body: String,
    /// It failed in the outbox, and can be queued again.
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
    /// Decisions and retries that were queued, by step.
    pub(super) taken: HashMap<ActionId, usize>,
    /// Every request as it came: method and address, and the body.
    pub(super) log: Vec<(String, String)>,
    /// Requests until the queue is taken.
    lag: usize,
    pub(super) stalled: bool,
    /// Decisions come so close together that the engine sees no key of another's.
    pub(super) races: bool,
    /// Takes what is queued before it answers anything else.
    pub(super) quick: bool,
    /// Retried reason steps come back.
    pub(super) mended: bool,
    /// Sagas and definitions cannot be read.
    pub(super) nameless: bool,
    /// How the next list is paged, where not as asked.
    pub(super) page: Option<usize>,
    /// It answers as later revisions do: errors with a code, lists with a total.
    pub(super) later: bool,
    /// Steps that undo others, as items of the list of steps, by the run.
    pub(super) undo: Vec<(String, String)>,
    /// Taken out of the list as soon as its first page was read.
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

/// A refusal in one of its two forms.
fn detail(status: u16, what: &str) -> Answer {
    (status, format!(r#"{{"detail":{}}}"#, json::encode(what)))
}

/// How it says a status.
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

    /// A step that is held, in a run of its own.
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

    /// Every POST that came: where to, and what.
    pub(super) fn posts(&self) -> Vec<(String, String)> {
        let books = self.books();
        books.log.iter().filter(|(line, _)| line.starts_with("POST")).cloned().collect()
    }

    /// The workers go on until nothing is queued.
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
