//! Sources with old or missing numbers.

use crate::inbox::figures::{Board, SourceBoard, words};

use super::observer::Problems;

/// Describes the sources whose numbers are doubtful, in words that do not change every second.
pub(super) fn of(board: &Board, problems: &Problems) -> Vec<String> {
    let doubtful = board.sources.iter().filter(|source| !source.is_good());
    let say = |source: &SourceBoard| {
        let name = &source.name;
        match source.heard {
            Some(heard) => format!("{name} {} old", words::age(heard, board.at)),
            None if problems.contains_key(name) => format!("{name} cannot be read"),
            None => format!("{name} has not answered"),
        }
    };
    doubtful.map(say).collect()
}
