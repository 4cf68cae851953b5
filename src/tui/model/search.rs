//! Looking for something in the preview.

use crate::tui::page::{Found, Hit, Made};

/// A search in the text of the preview.
#[derive(Clone, Debug, Default)]
pub struct Search {
    pub text: String,
    /// Keys are text.
    pub typing: bool,
    /// Where the preview stood when the search began.
    pub from: usize,
    pub hits: Vec<Hit>,
    pub at: usize,
    /// The page that the hits are in.
    pub of: Option<Made>,
}

impl Search {
    pub fn found(&self) -> Found<'_> {
        Found { hits: &self.hits, at: self.at }
    }

    /// `match 2 of 9`; empty while nothing is looked for.
    pub fn count(&self) -> String {
        match (self.text.is_empty(), self.hits.len()) {
            (true, _) => String::new(),
            (false, 0) => "no match".to_owned(),
            (false, all) => format!("match {} of {all}", self.at + 1),
        }
    }
}
