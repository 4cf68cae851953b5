//! Lists the links of an action. It does not open them.

use std::collections::HashSet;

use crate::domain::json::{Scanner, TokenKind};
use crate::domain::{RawJson, Untrusted, json};
use crate::text;

use super::made::Cached;

/// Maximum number of links that are offered for an action.
const MOST: usize = 200;

/// Returns the addresses (`http`, `https`, `mailto`) in the input of an action, then in its result: each once, in
/// order, at most [`MOST`]. They are as written, and may lead elsewhere than they seem to.
pub(crate) fn links(cached: &Cached) -> Vec<Untrusted> {
    let (mut all, mut known) = (Vec::new(), HashSet::new());
    let action = &cached.action;
    let texts = [Some(&action.input), action.effective_input.as_ref(), action.result.as_ref()];
    for text in texts.into_iter().flatten().map(RawJson::as_str) {
        let mut scanner = Scanner::new(text);
        while let Ok(Some(token)) = scanner.next_token() {
            if token.kind != TokenKind::String || all.len() >= MOST {
                continue;
            }
            for link in text::links_in(&json::decode(token.text).text) {
                if all.len() < MOST && known.insert(link.to_owned()) {
                    all.push(link.into());
                }
            }
        }
    }
    all
}
