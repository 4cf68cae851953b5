//! The same change over several actions: what it comes to for each, before anything is staged.

use std::collections::HashMap;

use crate::domain::json;
use crate::domain::{ActionKey, Edits, RawJson, Timestamp, changed_keys, merge};

/// Which actions the change of a form is for.
#[derive(Clone, Debug)]
pub struct Bulk {
    /// All of them, the form's own one too.
    pub keys: Vec<ActionKey>,
    /// What it comes to; `None` while the form is being filled in.
    pub rows: Option<Vec<BulkRow>>,
    /// The first row on screen.
    pub top: usize,
    /// When the rows came on screen.
    pub since: Timestamp,
}

#[derive(Clone, Debug)]
pub struct BulkRow {
    pub key: ActionKey,
    pub fate: Fate,
}

/// What the change comes to for one action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// `None`: it is like that already, and is approved as proposed.
    Applies(Option<Edits>),
    /// And why. May quote foreign text.
    LeftOut(String),
}

impl Bulk {
    pub fn applies(&self) -> usize {
        let rows = self.rows.iter().flatten();
        rows.filter(|row| matches!(row.fate, Fate::Applies(_))).count()
    }
}

/// The change that `edits` makes to `first`, made to another input.
///
/// A list or an object is taken over only where both proposals have the same one: else it would bring the elements of one
/// action into another.
pub fn applied(edits: &Edits, first: &RawJson, other: &RawJson) -> Fate {
    let left_out = |why: String| Fate::LeftOut(why);
    let (Some(changes), Some(old), Some(new)) = (edits.as_json().members(), first.members(), other.members())
    else {
        return left_out("its input is no JSON object".to_owned());
    };
    let values = |members: &[json::Member<'_>]| -> HashMap<String, String> {
        members.iter().map(|it| (it.key.text.clone().into_owned(), json::compact(it.value))).collect()
    };
    let (old, new) = (values(&old), values(&new));
    for change in &changes {
        let key = change.key.text.as_ref();
        let (before, there) = (old.get(key), new.get(key));
        let nested = |value: Option<&String>| value.is_some_and(|value| value.starts_with(['{', '[']));
        if before.is_some() && there.is_none() {
            return left_out(format!("it has no {key}"));
        }
        if (nested(before) || nested(there)) && before != there {
            return left_out(format!("its {key} is another list or object"));
        }
    }
    let merged = merge(other, edits).and_then(|merged| changed_keys(other, merged.as_str()));
    match merged {
        Ok(edits) => Fate::Applies(edits),
        Err(error) => left_out(error.to_string()),
    }
}
