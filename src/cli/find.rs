//! Finds actions by id in all sources.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

use crate::domain::{ActionId, ActionKey, PendingAction, SourceName, Untrusted};
use crate::inbox::{Inbox, Problem, SentHere};
use crate::text;

use super::exit::{Exit, Usage};
use super::output;

/// Longest wait for a source, if it is the only one.
const PATIENCE: Duration = Duration::from_mins(1);
/// Longest wait for each of several sources.
const SOME: Duration = Duration::from_secs(15);
/// Longest wait for a source to list ids with a prefix.
const BEGINNING: Duration = Duration::from_secs(5);
/// Longest wait for the other sources once everything is found.
const GRACE: Duration = Duration::from_secs(3);

const ODD: &str = "it has odd characters, shown in ⟦⟧; copy it again";

pub(super) fn chosen(inbox: &Inbox, name: Option<&str>) -> anyhow::Result<Vec<SourceName>> {
    let names = inbox.source_names();
    match name {
        None => Ok(names),
        Some(wanted) => {
            let known: Vec<_> = names.iter().map(|name| name.as_str().to_owned()).collect();
            let found = names.into_iter().find(|name| name.as_str() == wanted);
            let found = found.ok_or_else(|| {
                Usage(format!("there is no source {wanted:?}; the sources are: {}", known.join(", ")))
            })?;
            Ok(vec![found])
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SearchedId<'a> {
    pub(super) id: &'a str,
    pub(super) source: Option<&'a str>,
    /// Accept the beginning of a single id.
    pub(super) may_begin: bool,
}

#[derive(Debug)]
pub(super) struct NotFound {
    pub(super) problem: Problem,
    /// `Unreachable` if no source answered, `Usage` for an id with odd characters, otherwise `Failed`.
    pub(super) exit: Exit,
    /// The action, if every source that might have it answered that it does not. Its source is the one asked, or
    /// `any`.
    pub(super) gone: Option<ActionKey>,
}

pub(super) type FoundAction = Result<(ActionKey, PendingAction), NotFound>;

struct Answer {
    loaded: Vec<(ActionKey, Result<PendingAction, Problem>)>,
    /// Whether the source answered, with or without the actions.
    lists: bool,
}

/// Finds actions in all sources concurrently, and returns them in the order of the request. A silent source does not
/// delay actions that another source has; it is named on standard error. Fails for an id that several sources know,
/// and for the beginning of several ids.
pub(super) async fn find(inbox: &Inbox, sought: &[SearchedId<'_>]) -> anyhow::Result<Vec<FoundAction>> {
    let mut found = exactly(inbox, sought).await?;
    for (one, looked) in sought.iter().zip(&mut found) {
        let shown = output::identifier(&one.id.into());
        if let Err(not_found) = looked.as_mut()
            && not_found.exit == Exit::Failed
            && shown != one.id
        {
            not_found.problem.what = format!("No action id starts with {shown:?}: {ODD}");
            not_found.problem.why = None;
            not_found.exit = Exit::Usage;
            continue;
        }
        if one.may_begin && looked.is_err() && !one.id.is_empty() {
            match beginning(inbox, one).await? {
                Begun::With(key) => {
                    for (key, action) in inbox.load(std::slice::from_ref(&key)).await {
                        *looked = action
                            .map(|action| (key.clone(), action))
                            .map_err(|problem| missing(key, problem));
                    }
                }
                Begun::NotSure(problem) => {
                    *looked = Err(NotFound { problem, exit: Exit::Unreachable, gone: None });
                }
                Begun::Nowhere => {}
            }
        }
    }
    Ok(found)
}

enum Begun {
    With(ActionKey),
    /// A source did not answer, and may have another one.
    NotSure(Problem),
    Nowhere,
}

/// Returns the only action whose id has this beginning. Fails and names the ids if there are several.
async fn beginning(inbox: &Inbox, one: &SearchedId<'_>) -> anyhow::Result<Begun> {
    let sources = chosen(inbox, one.source)?;
    let asking =
        sources.iter().map(|source| tokio::time::timeout(BEGINNING, inbox.beginning(source, one.id)));
    let asking = futures_util::future::join_all(asking);
    let answers = output::waiting_for(|| format!("looking for {:?}", one.id), asking).await;
    let (mut keys, mut silent) = (Vec::new(), None);
    for (source, answer) in sources.iter().zip(answers) {
        match answer {
            Ok(Ok(ids)) => {
                keys.extend(ids.into_iter().map(|id| ActionKey { source: source.clone(), id }));
            }
            Ok(Err(_)) | Err(_) => silent = Some(source),
        }
    }
    // A complete id may be the beginning of others.
    let whole: Vec<_> = keys.iter().filter(|key| one.is(key)).collect();
    match whole.as_slice() {
        [] => {}
        [only] => return Ok(Begun::With((*only).clone())),
        _ => return Ok(Begun::Nowhere),
    }
    if keys.len() > 1 {
        let several = inbox.source_names().len() > 1;
        let named = |key: &ActionKey| {
            let id = output::identifier(key.id.untrusted());
            if several { format!("{id} in {}", key.source) } else { id }
        };
        return Err(ambiguous(one.id, keys.iter().map(named)).into());
    }
    Ok(match (keys.pop(), silent) {
        (None, _) => Begun::Nowhere,
        (Some(key), None) => Begun::With(key),
        (Some(_), Some(silent)) => Begun::NotSure(Problem {
            source: Some(silent.clone()),
            what: "does not answer and may have another action whose id begins so; give the whole id, or --source"
                .to_owned(),
            why: Some(Untrusted::from(one.id)),
        }),
    })
}

const NAMED: usize = 10;

pub(super) fn ambiguous(given: &str, ids: impl ExactSizeIterator<Item = String>) -> Usage {
    let more = if ids.len() > NAMED { " …" } else { "" };
    let ids: Vec<String> = ids.take(NAMED).collect();
    let given = output::identifier(&given.into());
    Usage(format!(
        "several ids begin with {given}; give more of the one that you mean: {}{more}",
        ids.join(", ")
    ))
}

/// Returns the id that `given` begins; `None` if there is none.
pub(super) fn with_beginning<'a>(given: &str, ids: &'a [String]) -> Result<Option<&'a str>, Usage> {
    if let Some(whole) = ids.iter().find(|id| *id == given) {
        return Ok(Some(whole));
    }
    match ids {
        [] => Ok(None),
        [only] => Ok(Some(only)),
        several => Err(ambiguous(given, several.iter().map(|id| output::identifier(&id.as_str().into())))),
    }
}

fn missing(key: ActionKey, problem: Problem) -> NotFound {
    let is_gone = problem.is_gone();
    let why = problem.why.or_else(|| Some(key.id.untrusted().clone()));
    NotFound { problem: Problem { why, ..problem }, exit: Exit::Failed, gone: is_gone.then_some(key) }
}

/// Returns the decisions sent from here on an action that no source has, oldest first, with their source; `None` if
/// there are none.
pub(super) async fn sent_here(
    inbox: &Inbox,
    source: Option<&str>,
    id: &ActionId,
) -> anyhow::Result<Option<(ActionKey, Vec<SentHere>)>> {
    for source in chosen(inbox, source)? {
        let key = ActionKey { source, id: id.clone() };
        let sent = inbox.sent_here(&key).await.map_err(|failed| anyhow::anyhow!(output::problem(&failed)))?;
        if !sent.is_empty() {
            return Ok(Some((key, sent)));
        }
    }
    Ok(None)
}

fn nobody(one: &SearchedId<'_>, some_are_silent: bool) -> Problem {
    let id = output::identifier(&one.id.into());
    let what = match (some_are_silent, one.may_begin) {
        (true, _) => format!("no source that answered knows {id:?}"),
        (false, true) => format!("No action id starts with {id:?}"),
        (false, false) => format!("no source knows {id:?}"),
    };
    Problem { source: None, what, why: None }
}

async fn exactly(inbox: &Inbox, sought: &[SearchedId<'_>]) -> anyhow::Result<Vec<FoundAction>> {
    let mut asked: Vec<(SourceName, Vec<ActionKey>)> = Vec::new();
    for one in sought {
        for source in chosen(inbox, one.source)? {
            let key = ActionKey { source: source.clone(), id: ActionId::new(one.id) };
            match asked.iter_mut().find(|(name, _)| *name == source) {
                Some((_, keys)) => keys.push(key),
                None => asked.push((source, vec![key])),
            }
        }
    }
    let mut looks: FuturesUnordered<_> =
        asked.iter().map(|(source, keys)| look(inbox, source, keys)).collect();
    let mut answers = HashMap::new();
    let collecting = async {
        while let Ok(Some((source, answer))) = {
            let found = |one: &&SearchedId<'_>| is_found(one, &answers);
            let patience = match sought.iter().filter(found).count() {
                n if n == sought.len() => GRACE,
                _ if asked.len() == 1 => PATIENCE,
                _ => SOME,
            };
            tokio::time::timeout(patience, looks.next()).await
        } {
            answers.insert(source, answer);
        }
    };
    let all = text::count(sought.len(), "action");
    output::waiting_for(|| format!("looking for {all}"), collecting).await;
    for (source, _) in asked.iter().filter(|(source, _)| !answers.contains_key(source)) {
        output::complain(&format!("{source} does not answer; whether it knows the id, too, is not known"));
    }
    let all = inbox.source_names();
    sought.iter().map(|one| pick(one, &answers, &all)).collect()
}

async fn look<'a>(inbox: &Inbox, source: &'a SourceName, keys: &[ActionKey]) -> (&'a SourceName, Answer) {
    let mut loaded = inbox.load(keys).await;
    // A source that returns its list has answered, so it does not have the action.
    let lists = loaded.iter().any(|(_, action)| action.is_ok()) || inbox.sync(source, None).await.is_ok();
    let refused = |(_, action): &(_, Result<_, Problem>)| action.as_ref().is_err_and(|it| !it.is_gone());
    // A single id may be the reason that all were refused.
    if lists && keys.len() > 1 && loaded.iter().all(refused) {
        let each = keys.iter().map(|key| inbox.load(std::slice::from_ref(key)));
        loaded = futures_util::future::join_all(each).await.into_iter().flatten().collect();
    }
    (source, Answer { loaded, lists })
}

fn is_found(one: &SearchedId<'_>, answers: &HashMap<&SourceName, Answer>) -> bool {
    let loaded = answers.iter().filter(|(source, _)| one.is_in(source)).flat_map(|(_, it)| &it.loaded);
    loaded.into_iter().any(|(key, action)| one.is(key) && action.is_ok())
}

fn pick(
    one: &SearchedId<'_>,
    answers: &HashMap<&SourceName, Answer>,
    all: &[SourceName],
) -> anyhow::Result<FoundAction> {
    let (mut found, mut last, mut reached) = (Vec::new(), None, false);
    let asked: Vec<&SourceName> = all.iter().filter(|source| one.is_in(source)).collect();
    let says_no = |source: &&SourceName| {
        let answer = answers.get(*source).filter(|answer| answer.lists);
        let problem = answer.and_then(|it| it.loaded.iter().find(|(key, _)| one.is(key))?.1.as_ref().err());
        problem.is_some_and(Problem::is_gone)
    };
    let gone = asked.iter().all(says_no).then(|| {
        let source = match asked.as_slice() {
            [only] => (*only).clone(),
            _ => SourceName::new("any"),
        };
        ActionKey { source, id: ActionId::new(one.id) }
    });
    for (_, answer) in answers.iter().filter(|(source, _)| one.is_in(source)) {
        reached |= answer.lists;
        // The same id may be requested twice.
        match answer.loaded.iter().find(|(key, _)| one.is(key)) {
            Some((key, Ok(action))) => found.push((key.clone(), action.clone())),
            Some((key, Err(problem))) => {
                let what = format!("{}, asked for {}", problem.what, output::identifier(key.id.untrusted()));
                last = Some(Problem { what, ..problem.clone() });
            }
            None => {}
        }
    }
    if found.len() > 1 {
        return Err(Usage("several sources know this id; name one with --source".to_owned()).into());
    }
    let silent = asked.iter().any(|source| !answers.get(*source).is_some_and(|answer| answer.lists));
    let exit = if reached { Exit::Failed } else { Exit::Unreachable };
    // A typed id may never have existed.
    let last = last.filter(|_| gone.is_none() || !one.may_begin);
    Ok(found.pop().ok_or_else(|| NotFound {
        problem: last.unwrap_or_else(|| nobody(one, silent)),
        exit,
        gone,
    }))
}

impl SearchedId<'_> {
    fn is_in(&self, source: &SourceName) -> bool {
        self.source.is_none_or(|name| name == source.as_str())
    }

    fn is(&self, key: &ActionKey) -> bool {
        key.id == ActionId::new(self.id)
    }
}
