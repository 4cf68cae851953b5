//! Performs effects, each in its own task that answers with a message, so that the screen never waits.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::domain::{
    ActionKey, Digest, FlowsAsked, KeptMinute, Minute, PendingAction, Revision, Row, SourceName, Submission,
    SubmissionId, Untrusted,
};
use crate::inbox::figures::Figures;
use crate::inbox::notices::Notice;
use crate::inbox::notify::Channels;
use crate::inbox::{Inbox, Problem};
use crate::journal::{KeptFilter, Write};
use crate::program::Late;
use crate::text::Flags;
use crate::tui::app::words;
use crate::tui::core::msg::{Clip, Effect, Loaded, Msg, What};
use crate::tui::decide::state::Guard;
use crate::tui::history::state::PageRequest;
use crate::tui::preview::page::ToLayOut;
use crate::tui::preview::page::made::Cached;
use crate::tui::preview::state::{Asked, AskedState};

use super::caught::{caught, failed_inside};
use super::clock::now;
use super::editor;
use super::os;
use super::pages::read;

/// Time for which approved actions are followed.
const FOLLOW: Duration = Duration::from_hours(1);
/// Time before a failed save is retried.
const RETRY: Duration = Duration::from_secs(2);

#[derive(Debug, Clone)]
pub(crate) struct Effects {
    inbox: Inbox,
    msgs: mpsc::Sender<Msg>,
    /// Tasks that quitting waits for: submissions, resolutions, journal writes.
    must_finish: TaskTracker,
    /// Tasks that are cancelled at the end, before the journal is closed.
    may_end: TaskTracker,
    over: CancellationToken,
    unsaved: Arc<Unsaved>,
    /// Channels of the notify rules.
    ways: Channels,
}

/// Pending journal writes in order. Writes queued during a write are written together with the next.
#[derive(Debug, Default)]
struct Unsaved {
    queue: Mutex<Vec<Vec<Write>>>,
    writing: tokio::sync::Mutex<()>,
    retrying: AtomicBool,
}

impl Unsaved {
    fn queue(&self) -> MutexGuard<'_, Vec<Vec<Write>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Effects {
    pub(crate) fn new(inbox: Inbox, msgs: mpsc::Sender<Msg>) -> Self {
        Self {
            inbox,
            msgs,
            must_finish: TaskTracker::new(),
            may_end: TaskTracker::new(),
            over: CancellationToken::new(),
            unsaved: Arc::default(),
            ways: Channels::default(),
        }
    }

    pub(crate) fn with_ways(self, ways: Channels) -> Self {
        Self { ways, ..self }
    }

    /// Starts an effect. The terminal's own effects are handled by the loop.
    pub(crate) fn perform(&self, effect: Effect) {
        let this = self.clone();
        match effect {
            Effect::Restore => self.spawn(this.restore()),
            Effect::RestoreMinutes => self.spawn(restore(this)),
            Effect::KeepMinutes(kept) => drop(self.must_finish.spawn(keep(this, kept))),
            Effect::Reconcile => self.spawn(this.reconcile()),
            Effect::TakeBack { id, keys } => drop(self.must_finish.spawn(this.take_back(id, keys))),
            Effect::Sync { source, since } => self.spawn(this.sync(source, since)),
            Effect::Load(keys) => each(&this, keys),
            Effect::LayOut(page) => self.spawn(this.lay_out(*page)),
            Effect::Ask { asked, stood, listed } => self.spawn(this.ask(asked, stood, listed)),
            Effect::List { number, ask } => self.spawn(this.list(number, ask)),
            Effect::AskRan(source) => self.spawn(this.ask_ran(source)),
            Effect::AskPeople(source) => self.spawn(this.ask_people(source)),
            Effect::Flows { source, asked } => self.spawn(this.flows(source, asked)),
            Effect::LoadForReview { review, keys } => self.spawn(this.load_for_review(review, keys)),
            Effect::Hold { submission, left_pending } => drop(self.must_finish.spawn(async move {
                let (inbox, id) = (this.inbox.clone(), submission.id().clone());
                let answer = caught(async move { inbox.hold(&submission, left_pending).await }).await;
                this.say(What::Held(id, answer)).await;
            })),
            Effect::Recall(id) => drop(self.must_finish.spawn(this.recall(id))),
            Effect::Submit { submission, left_pending } => {
                drop(self.must_finish.spawn(this.submit(*submission, left_pending)));
            }
            Effect::ResolveUnknown { key, finding, reason } => drop(self.must_finish.spawn(async move {
                let (inbox, of) = (this.inbox.clone(), key.clone());
                let answer = caught(async move { inbox.settle(&of, finding, reason).await }).await;
                this.say(What::Resolved(key, finding, answer)).await;
            })),
            Effect::TakeBackApproval(key) => drop(self.must_finish.spawn(this.take_back_approval(key))),
            Effect::Claim { key, end } => self.spawn(this.claim(key, end)),
            Effect::Follow(keys) => self.spawn(this.follow(keys)),
            Effect::Save(writes) => self.save(writes),
            Effect::Learn(learned) => self.spawn(async move { this.inbox.learn(learned).await }),
            Effect::KeepFilters(filters) => drop(self.must_finish.spawn(this.keep_filters(filters))),
            Effect::WakeIn(millis) => self.spawn(this.wake_in(millis, What::Wake)),
            Effect::AwaitKey => self.spawn(this.wake_in(Guard::ALONE, What::StoodAlone)),
            Effect::LearnTool { source, tool } => self.spawn(this.learn(source, tool)),
            Effect::Copy(clip) => self.spawn(this.copy(clip)),
            Effect::Export { folder, text } => drop(self.must_finish.spawn(this.export(folder, text))),
            Effect::ExportBoard { folder, json, csv } => {
                drop(self.must_finish.spawn(this.export_board(folder, json, csv)));
            }
            Effect::Open(link) => self.spawn(this.open(link)),
            Effect::Tell(notice) => this.notice(*notice),
            Effect::CopyByTerminal(_)
            | Effect::Mouse(_)
            | Effect::Notify(_)
            | Effect::Ring
            | Effect::Repaint
            | Effect::Suspend
            | Effect::Editor { .. }
            | Effect::Quit => {}
        }
    }

    async fn recall(self, id: SubmissionId) {
        // Harmless: a held submission is never sent, and the next start forgets it.
        if let Err(problem) = self.inbox.recall(&id).await {
            tracing::error!(what = problem.what, "cannot forget what was held");
        }
    }

    async fn load_for_review(self, review: u64, keys: Vec<ActionKey>) {
        let actions = for_review(&self, keys).await;
        let id = SubmissionId::new(uuid::Uuid::now_v7().to_string());
        self.say(What::ReviewLoaded { review, id, actions }).await;
    }

    async fn claim(self, key: ActionKey, end: bool) {
        let answer = if end {
            self.inbox.end_claim(&key).await.map(|()| None)
        } else {
            self.inbox.claim(&key).await.map(Some)
        };
        self.say(What::Claimed(key, answer)).await;
    }

    async fn take_back_approval(self, key: ActionKey) {
        let (inbox, of) = (self.inbox.clone(), key.clone());
        let answer = caught(async move { inbox.take_back_approval(&of).await }).await;
        self.say(What::ApprovalTakenBack(key, answer)).await;
    }

    async fn keep_filters(self, filters: Vec<KeptFilter>) {
        let inbox = self.inbox.clone();
        let answer = caught(async move { inbox.keep_filters(filters).await }).await;
        self.say(What::FiltersKept(answer)).await;
    }

    async fn submit(self, submission: Submission, left_pending: u64) {
        // Receipts refer to what was seen, so that is saved first.
        self.flush().await;
        let id = submission.id().clone();
        let (told, mut some) = mpsc::channel(8);
        let sending = self.inbox.submit_telling(submission, left_pending, told);
        let passing = async {
            while let Some(told) = some.recv().await {
                self.say(What::Sending(id.clone(), told)).await;
            }
        };
        let (answer, ()) = tokio::join!(sending, passing);
        self.say(What::Submitted(id.clone(), answer)).await;
    }

    async fn take_back(self, id: SubmissionId, keys: Vec<ActionKey>) {
        let inbox = self.inbox.clone();
        let answer = caught(async move { inbox.take_back(&id, &keys).await }).await;
        self.say(What::TakenBack(answer)).await;
    }

    /// Runs the reviewer's editor, which has the terminal until it ends.
    pub(crate) fn edit(&self, key: ActionKey, digest: Digest, text: String) {
        let this = self.clone();
        drop(tokio::spawn(async move {
            let answer = match editor::find() {
                Ok(editor) => editor.edit(&text).await,
                Err(why) => Err(why),
            };
            this.say(What::Edited { key, digest, answer }).await;
        }));
    }

    /// Runs the reviewer's notification command with `text` on its standard input, for at most two seconds.
    pub(crate) fn tell_command(argv: Vec<String>, text: String) {
        drop(tokio::spawn(async move {
            if let Err(error) = os::run(&argv, text.as_bytes(), Late::Killed).await {
                tracing::warn!(%error, "the notification's command failed");
            }
        }));
    }

    fn notice(self, notice: Notice) {
        let (rule, ways) = (notice.rule, self.ways.clone());
        ways.tell(notice, move |answer| async move { self.say(What::Noticed { rule, answer }).await });
    }

    /// Waits briefly for notices and ends all other tasks, so that the journal is no longer used when it is closed.
    pub(crate) async fn end(&self) {
        self.ways.finish().await;
        self.over.cancel();
        self.may_end.close();
        self.may_end.wait().await;
    }

    fn spawn(&self, what: impl Future<Output = ()> + Send + 'static) {
        drop(self.may_end.spawn(self.over.clone().run_until_cancelled_owned(what)));
    }

    pub(crate) async fn finish(&self) {
        self.must_finish.close();
        self.must_finish.wait().await;
    }

    pub(crate) fn watch(&self) {
        let this = self.clone();
        let mut events = self.inbox.watch();
        self.spawn(async move {
            while let Some(event) = events.recv().await {
                this.say(What::Source(event)).await;
            }
        });
    }

    /// Saves writes, retrying with the next save and periodically until they are stored.
    fn save(&self, writes: Vec<Write>) {
        self.unsaved.queue().push(writes);
        let this = self.clone();
        drop(self.must_finish.spawn(async move {
            let mut saved = this.flush().await;
            while !saved && !this.unsaved.retrying.swap(true, Ordering::SeqCst) {
                tokio::time::sleep(RETRY).await;
                // Cleared before the write, so that a save failing meanwhile can wait for another retry.
                this.unsaved.retrying.store(false, Ordering::SeqCst);
                saved = this.flush().await;
            }
        }));
    }

    /// Writes all queued writes in order, one flush at a time. Returns true if all are saved.
    async fn flush(&self) -> bool {
        let _writing = self.unsaved.writing.lock().await;
        let mut queued = std::mem::take(&mut *self.unsaved.queue());
        if queued.is_empty() {
            return true;
        }
        // Seen contents are saved silently; the screen reports on decisions only.
        let spoken_of = |writes: &&Vec<Write>| !writes.iter().all(Write::is_about_looking);
        let mut saves = queued.iter().filter(spoken_of).count();
        let (inbox, writes) = (self.inbox.clone(), queued.iter().flatten().cloned().collect());
        let answer = caught(async move { inbox.save(writes).await }).await;
        let on_disk = answer.is_ok();
        if !on_disk {
            let mut queue = self.unsaved.queue();
            queued.append(&mut queue);
            *queue = queued;
            // They remain queued.
            saves = 0;
        }
        self.say(What::Saved { saves, answer }).await;
        on_disk
    }

    async fn learn(self, source: SourceName, tool: Untrusted) {
        let (inbox, from, name) = (self.inbox.clone(), source.clone(), tool.clone());
        let answer = caught(async move { inbox.tool(&from, &name).await }).await;
        self.say(What::ToolLearnt { source, tool, answer }).await;
    }

    async fn copy(self, clip: Clip) {
        let answer = os::copy(&clip.text).await;
        self.say(What::Copied(clip, answer)).await;
    }

    async fn open(self, link: String) {
        let answer = os::open(link).await;
        self.say(What::Opened(answer)).await;
    }

    async fn sync(self, source: SourceName, since: Option<Revision>) {
        let (inbox, name) = (self.inbox.clone(), source.clone());
        let (told, mut pages) = mpsc::channel(1);
        let asking = caught(async move {
            match since {
                Some(since) => inbox.sync(&name, Some(since)).await,
                None => inbox.sync_in_pages(&name, told).await,
            }
        });
        let passing = async {
            while let Some(page) = pages.recv().await {
                self.say(What::Synced(source.clone(), Ok(page))).await;
            }
        };
        let (answer, ()) = tokio::join!(asking, passing);
        self.say(What::Synced(source, answer)).await;
    }

    async fn ask(self, asked: Asked, stood: AskedState, listed: Vec<Row>) {
        let (inbox, (key, question)) = (self.inbox.clone(), asked.clone());
        let answer = Box::new(caught(async move { inbox.ask(&key, question, &listed).await }).await);
        self.say(What::Answered { asked, stood, answer }).await;
    }

    async fn export(self, folder: PathBuf, text: String) {
        let written = tokio::task::spawn_blocking(move || os::write(&folder, &text)).await;
        let answer = written.unwrap_or_else(|error| Err(error.to_string()));
        self.say(What::Exported(answer)).await;
    }

    async fn export_board(self, folder: PathBuf, json: String, csv: String) {
        let files = [("json", json), ("csv", csv)];
        let written = tokio::task::spawn_blocking(move || os::write_all(&folder, "watch", &files)).await;
        let answer = written.unwrap_or_else(|error| Err(error.to_string()));
        self.say(What::BoardExported(answer)).await;
    }

    async fn flows(self, source: SourceName, asked: FlowsAsked) {
        let (inbox, name) = (self.inbox.clone(), source.clone());
        let answer = caught(async move { inbox.flows(&name, &asked).await }).await;
        self.say(What::Flows(source, answer)).await;
    }

    async fn ask_ran(self, source: SourceName) {
        let ran = self.inbox.ran_lately(&source).await;
        self.say(What::Ran(ran)).await;
    }

    async fn ask_people(self, source: SourceName) {
        let answer = self.inbox.people(&source).await;
        self.say(What::People(source, answer)).await;
    }

    async fn list(self, number: u64, ask: PageRequest) {
        let page = Box::new(read(self.inbox.clone(), ask).await);
        self.say(What::Listed { number, page }).await;
    }

    async fn restore(self) {
        let inbox = self.inbox.clone();
        let answer = caught(async move { inbox.restore().await.map(Box::new) }).await;
        self.say(What::Restored(answer)).await;
    }

    async fn reconcile(self) {
        let inbox = self.inbox.clone();
        let answer = caught(async move { inbox.reconcile().await }).await;
        self.say(What::Reconciled(answer)).await;
    }

    async fn follow(self, keys: Vec<ActionKey>) {
        let (changes, mut seen) = mpsc::channel(64);
        let following = self.inbox.follow(keys, FOLLOW, changes);
        let passing = async {
            while let Some(followed) = seen.recv().await {
                self.say(What::Followed(followed)).await;
            }
        };
        tokio::join!(following, passing);
    }

    async fn look_through(&self, key: ActionKey, answer: Result<PendingAction, Problem>) {
        let action = match answer {
            Ok(action) => action,
            Err(problem) => return self.say(What::Loaded(vec![(key, Err(problem))])).await,
        };
        let [one, other] = [action.clone(), action.clone()];
        let digest = tokio::task::spawn_blocking(move || one.digest());
        let flags = tokio::task::spawn_blocking(move || Flags::of(&other));
        self.say(match tokio::join!(digest, flags) {
            (Ok(digest), Ok(flags)) => What::LoadedLong(key, Arc::new(Cached::of(action, digest, flags))),
            _ => What::Loaded(vec![(key, Err(failed_inside()))]),
        })
        .await;
    }

    async fn lay_out(self, page: ToLayOut) {
        // A panic is reported as a failed part, without a page.
        if let Ok(page) = tokio::task::spawn_blocking(move || page.lay_out()).await {
            self.say(What::LaidOut(Box::new(page))).await;
        }
    }

    async fn wake_in(self, millis: u64, what: What) {
        tokio::time::sleep(Duration::from_millis(millis)).await;
        self.say(what).await;
    }

    /// Sends a message to the loop; if the loop has ended, drops it.
    async fn say(&self, what: What) {
        let _ = self.msgs.send(Msg { at: now(), what }).await;
    }
}

// Loading actions, from each source separately, so that none waits for another.

const PAGE: usize = 500;
/// Larger inputs are examined before the loop gets them, because that would delay keys. Bytes.
const LONG: usize = 64 << 10;
/// Time for which a review waits for more actions after the last ones arrived.
const MORE: Duration = Duration::from_secs(5);

/// Reports the actions of each source as they arrive.
pub(crate) fn each(effects: &Effects, keys: Vec<ActionKey>) {
    for (_, keys) in by_source(keys) {
        let this = effects.clone();
        effects.spawn(async move {
            for page in keys.chunks(PAGE) {
                let is_long = |(_, answer): &Loaded| {
                    answer.as_ref().is_ok_and(|action| action.input.as_str().len() > LONG)
                };
                let (long, loaded): (Vec<_>, Vec<_>) = load(&this, page).await.into_iter().partition(is_long);
                if !loaded.is_empty() {
                    this.say(What::Loaded(loaded)).await;
                }
                for (key, answer) in long {
                    this.look_through(key, answer).await;
                }
            }
        });
    }
}

/// Loads all actions, with a problem for each that did not arrive in time.
pub(crate) async fn for_review(effects: &Effects, keys: Vec<ActionKey>) -> Vec<Loaded> {
    let (pages, mut come) = mpsc::channel(16);
    for (_, keys) in by_source(keys.clone()) {
        let (this, pages) = (effects.clone(), pages.clone());
        effects.spawn(async move {
            for page in keys.chunks(PAGE) {
                let loaded = load(&this, page).await;
                if pages.send(loaded).await.is_err() {
                    return;
                }
            }
        });
    }
    drop(pages);
    let mut all: Vec<Loaded> = come.recv().await.unwrap_or_default();
    while let Ok(Some(page)) = tokio::time::timeout(MORE, come.recv()).await {
        all.extend(page);
    }
    let here: HashSet<&ActionKey> = all.iter().map(|(key, _)| key).collect();
    let late: Vec<ActionKey> = keys.into_iter().filter(|key| !here.contains(key)).collect();
    let why = words::no_answer_for(MORE.as_secs());
    all.extend(late.into_iter().map(|key| problem(key, why.clone())));
    all
}

fn by_source(keys: Vec<ActionKey>) -> BTreeMap<SourceName, Vec<ActionKey>> {
    let mut by: BTreeMap<SourceName, Vec<ActionKey>> = BTreeMap::new();
    for key in keys {
        by.entry(key.source.clone()).or_default().push(key);
    }
    by
}

/// Loads a page. An action missing from the answer becomes a problem.
async fn load(effects: &Effects, page: &[ActionKey]) -> Vec<Loaded> {
    let (inbox, asked) = (effects.inbox.clone(), page.to_vec());
    let mut answered = match caught(async move { Ok(inbox.load_or_kept(&asked).await) }).await {
        Ok(answered) => answered,
        Err(problem) => page.iter().map(|key| (key.clone(), Err(problem.clone()))).collect(),
    };
    let known: HashSet<ActionKey> = answered.iter().map(|(key, _)| key.clone()).collect();
    let missing = page.iter().filter(|key| !known.contains(key));
    answered.extend(missing.map(|key| problem(key.clone(), words::NO_LONGER_THERE.to_owned())));
    answered
}

fn problem(key: ActionKey, what: String) -> Loaded {
    let source = Some(key.source.clone());
    (key, Err(Problem { source, what, why: None }))
}

// The figures' minutes in the journal. Losing them only costs history, so errors are logged and not shown.

pub(crate) async fn restore(effects: Effects) {
    let inbox = effects.inbox.clone();
    let since = Minute::of(now()).plus(1 - i64::from(Figures::LONGEST));
    let kept = caught(async move { inbox.kept_minutes(since).await }).await;
    if let Err(problem) = &kept {
        tracing::warn!(what = problem.what, "earlier figures cannot be read");
    }
    effects.say(What::KeptMinutes(kept.unwrap_or_default())).await;
}

pub(crate) async fn keep(effects: Effects, minutes: Vec<KeptMinute>) {
    let inbox = effects.inbox.clone();
    if let Err(problem) = caught(async move { inbox.keep_minutes(&minutes).await }).await {
        tracing::warn!(what = problem.what, "the last minute's figures cannot be saved");
    }
}
