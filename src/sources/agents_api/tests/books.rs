//! The records of a fake site.

use std::sync::{Arc, Mutex, MutexGuard};

use crate::clock;
use crate::contract::time;
use crate::domain::{ActionId, json};
use crate::sources::tests::Faults;

/// The plugin that stores and runs pending actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Host {
    /// Answers every refusal with 400 and one code, keeps no payload, and deletes failed actions.
    DataMachine,
    /// Has its own statuses and keeps payloads.
    OfItsOwn,
    /// No host: agents-api alone.
    Nobody,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    pub(super) host: Host,
    pub(super) pretty_permalinks: bool,
    pub(super) passwords: bool,
    pub(super) tells_who: bool,
    pub(super) rights: bool,
    pub(super) abilities_api: bool,
    pub(super) agents_api: bool,
    /// Maximum actions per page, and whether the host supports pages.
    pub(super) page_max: usize,
    pub(super) pages: bool,
}

impl Setup {
    pub(super) const DATA_MACHINE: Self = Self {
        host: Host::DataMachine,
        pretty_permalinks: true,
        passwords: true,
        tells_who: true,
        rights: true,
        abilities_api: true,
        agents_api: true,
        page_max: 200,
        pages: true,
    };
}

/// A site; its user has the id 7.
pub(super) struct Site {
    pub(super) setup: Mutex<Setup>,
    pub(super) faults: Faults,
    books: Mutex<Books>,
}

#[derive(Default)]
pub(super) struct Books {
    pub(super) actions: Vec<Kept>,
    pub(super) asked: Vec<String>,
    pub(super) resolves: Vec<String>,
    /// Page of the list and number of top actions that settle when it is requested.
    pub(super) settles_at_page: Option<(usize, usize)>,
}

#[derive(Clone)]
pub(super) struct Kept {
    pub(super) id: String,
    /// Members before `status`, each followed by a comma; without `action_id`.
    pub(super) head: String,
    pub(super) kind: String,
    pub(super) input: String,
    pub(super) status: String,
    pub(super) creator: u64,
    pub(super) resolver: Option<String>,
    pub(super) expires_at: String,
    pub(super) metadata: String,
    pub(super) payload: Option<String>,
    pub(super) result: Option<String>,
    pub(super) error: Option<String>,
    /// Unknown members, preceded by a comma.
    pub(super) odd: &'static str,
    pub(super) broken: Option<&'static str>,
    /// Another reviewer is first. Number of reads that return nothing before their acceptance shows.
    pub(super) claimed_for: Option<usize>,
    pub(super) taken: usize,
}

impl Kept {
    pub(super) fn text(&self, host: Host) -> String {
        if let Some(broken) = self.broken {
            return broken.to_owned();
        }
        let word = |text: &Option<String>| text.as_deref().map_or("null".to_owned(), json::encode);
        let nothing = if host == Host::DataMachine { "[]" } else { "null" };
        let kept = self.payload.clone().filter(|_| host == Host::OfItsOwn);
        let kept = kept.map_or("[]".to_owned(), |payload| format!(r#"{{"payload":{payload}}}"#));
        let resolved = self.resolver.is_some().then(|| "2026-11-22T10:00:00+00:00".to_owned());
        format!(
            r#"{{"action_id":{},"kind":{},{}"apply_input":{},"workspace":{{"workspace_type":"site","workspace_id":"1"}},"agent":"editor","creator":"user:{}","status":"{}","created_at":"2026-11-21T20:37:34+00:00","expires_at":{},"resolved_at":{},"resolver":{},"resolution_result":{},"resolution_error":{},"resolution_metadata":{kept},"metadata":{}{}}}"#,
            json::encode(&self.id),
            json::encode(&self.kind),
            self.head,
            self.input,
            self.creator,
            self.status,
            self.expires_at,
            word(&resolved),
            word(&self.resolver),
            self.result.as_deref().unwrap_or(nothing),
            word(&self.error),
            self.metadata,
            self.odd,
        )
    }

    /// The abilities report neither running nor failed actions.
    pub(super) fn is_told(&self) -> bool {
        !matches!(self.status.as_str(), "applying" | "failed")
    }

    pub(super) fn has_expired(&self) -> bool {
        let text = json::decode(&self.expires_at).text.into_owned();
        time::read(&text).is_some_and(|at| at <= clock::now())
    }
}

impl Site {
    pub(super) fn new(setup: Setup) -> Arc<Self> {
        Arc::new(Self { setup: Mutex::new(setup), faults: Faults::default(), books: Mutex::default() })
    }

    pub(super) fn setup(&self) -> Setup {
        *self.setup.lock().unwrap()
    }

    pub(super) fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }

    pub(super) fn put(&self, change: impl FnOnce(&mut Kept)) -> ActionId {
        let mut books = self.books();
        let id = format!("act_{}", books.actions.len());
        let expires_at = time::write(clock::now().plus_millis(60 * 60 * 1_000)).replace('Z', "+00:00");
        let mut kept = Kept {
            head: format!(r#""summary":"Publish post {id}","preview":{{"title":"{id}"}},"#),
            id: id.clone(),
            kind: "publish_post".to_owned(),
            input: r#"{"title":"Hello","n":1.10,"tags":[]}"#.to_owned(),
            status: "pending".to_owned(),
            creator: 7,
            resolver: None,
            expires_at: json::encode(&expires_at),
            metadata: r#"{"effect":"write","session_id":"ses_1","run_id":"run_1","tool_call_id":"call_1"}"#
                .to_owned(),
            payload: None,
            result: None,
            error: None,
            odd: "",
            broken: None,
            claimed_for: None,
            taken: 0,
        };
        change(&mut kept);
        let id = ActionId::new(kept.id.as_str());
        books.actions.push(kept);
        id
    }

    pub(super) fn with<T>(&self, id: &ActionId, act: impl FnOnce(&mut Kept) -> T) -> Option<T> {
        self.books().actions.iter_mut().find(|kept| kept.id == id.as_raw()).map(act)
    }
}
