//! Actions in full: each source by itself, so that none waits for another one.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use tokio::sync::mpsc;

use super::{Effects, caught};
use crate::domain::{ActionKey, SourceName};
use crate::inbox::Problem;
use crate::tui::msg::{Loaded, What};

/// So many actions are asked for at once.
const PAGE: usize = 500;
/// A review waits no longer than this for more, once something came: the others can be reviewed without.
const MORE: Duration = Duration::from_secs(5);

/// Tells what each source gave as soon as it did.
pub(super) fn each(effects: &Effects, keys: Vec<ActionKey>) {
    for (_, keys) in by_source(keys) {
        let this = effects.clone();
        effects.spawn(async move {
            for page in keys.chunks(PAGE) {
                let loaded = load(&this, page).await;
                this.say(What::Loaded(loaded)).await;
            }
        });
    }
}

/// Everything, with a problem for what did not come in time.
pub(super) async fn for_review(effects: &Effects, keys: Vec<ActionKey>) -> Vec<Loaded> {
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
    let why = format!("could not be read: no answer for {} s", MORE.as_secs());
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

/// A key that no answer speaks of is a problem too.
async fn load(effects: &Effects, page: &[ActionKey]) -> Vec<Loaded> {
    let (inbox, asked) = (effects.inbox.clone(), page.to_vec());
    let mut answered = match caught(async move { Ok(inbox.load(&asked).await) }).await {
        Ok(answered) => answered,
        Err(problem) => page.iter().map(|key| (key.clone(), Err(problem.clone()))).collect(),
    };
    let known: HashSet<ActionKey> = answered.iter().map(|(key, _)| key.clone()).collect();
    let missing = page.iter().filter(|key| !known.contains(key));
    answered.extend(missing.map(|key| problem(key.clone(), "no longer knows this action".to_owned())));
    answered
}

fn problem(key: ActionKey, what: String) -> Loaded {
    let source = Some(key.source.clone());
    (key, Err(Problem { source, what, why: None }))
}
