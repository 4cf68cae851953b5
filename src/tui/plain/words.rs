//! The table of plain mode's words: what a line may begin with, what may follow, and what it does. It feeds the parser, `help`, and
//! the names of commands in sentences.

use crate::domain::DecisionKind;
use crate::tui::core::command::Command;
use crate::tui::core::keymap::Keymap;
use crate::tui::preview::page::made::Tab;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Read(Tab),
    More,
    Approve,
    Exclude,
    Edit,
    Revert,
    Comment,
    Ask(DecisionKind),
    Rest,
    Clear,
    Undo,
    Redo,
    Next,
    Previous,
    First,
    Last,
    Go,
    List,
    Batch,
    Where,
    Watch,
    Staged,
    Submit,
    Report,
    Settle,
    Reload,
    Quiet,
    Speak,
    Help,
    Quit,
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) verb: Verb,
    pub(crate) name: &'static str,
    /// What may follow; empty when nothing may.
    pub(crate) takes: &'static str,
    pub(crate) help: &'static str,
    /// Commands that sentences of the model name, and that this word stands for.
    commands: &'static [Command],
}

const fn word(
    verb: Verb,
    name: &'static str,
    takes: &'static str,
    help: &'static str,
    commands: &'static [Command],
) -> Word {
    Word { verb, name, takes, help, commands }
}

/// The order of `help`.
#[rustfmt::skip]
pub(crate) const WORDS: &[Word] = &[
    word(Verb::Read(Tab::Rendered), "show", "", "reads the action, its input first", &[Command::Zoom, Command::Open]),
    word(Verb::More, "more", "", "reads on", &[Command::ScrollDown, Command::PageDown]),
    word(Verb::Read(Tab::Raw), "raw", "", "reads the input as JSON, as it was proposed", &[]),
    word(Verb::Read(Tab::Diff), "diff", "", "reads before and after, and your edits", &[Command::Diff]),
    word(Verb::Read(Tab::Context), "context", "", "reads where the action comes from", &[]),
    word(Verb::Approve, "approve", "[because TEXT]", "stages an approval of this action, with your edits if there are any", &[Command::Approve]),
    word(Verb::Exclude, "exclude", "[because TEXT]", "stages a rejection of this action", &[Command::Exclude, Command::ExcludeBecause]),
    word(Verb::Edit, "edit", "[FIELD=VALUE]", "changes one field; alone it names the fields", &[Command::Edit]),
    word(Verb::Revert, "revert", "", "drops your edits of this action", &[]),
    word(Verb::Comment, "comment", "TEXT", "adds a comment to the staged decision", &[]),
    word(Verb::Ask(DecisionKind::Retry), "retry", "TEXT", "stages: try again, with this guidance", &[]),
    word(Verb::Rest, "rest", "", "stages approvals for the rest of this batch: read, and not high-risk", &[Command::ApproveRest]),
    word(Verb::Clear, "clear", "", "makes this action undecided again", &[Command::Clear]),
    word(Verb::Undo, "undo", "", "undoes the last step", &[Command::Undo]),
    word(Verb::Redo, "redo", "", "does it again", &[Command::Redo]),
    word(Verb::Next, "next", "", "goes to the next undecided action", &[Command::NextUndecided]),
    word(Verb::Previous, "previous", "", "goes to the undecided action before", &[Command::PreviousUndecided]),
    word(Verb::First, "first", "", "goes to the first action", &[Command::Top]),
    word(Verb::Last, "last", "", "goes to the last action", &[Command::Bottom]),
    word(Verb::Go, "go", "NUMBER", "goes to the action with this number", &[]),
    word(Verb::List, "list", "[COUNT]", "names the actions from here on", &[]),
    word(Verb::Batch, "batch", "", "names the actions that are decided together with this one", &[]),
    word(Verb::Where, "where", "", "says how things stand, and the action again", &[]),
    word(Verb::Watch, "watch", "", "reads how every queue stands, how fast it grows, and what is alarming", &[Command::Watch]),
    word(Verb::Staged, "staged", "", "names what is staged and not sent", &[]),
    word(Verb::Submit, "submit", "[batch]", "reviews what is staged, all of it or this batch only, and asks before it sends", &[Command::ReviewBatch, Command::ReviewAll]),
    word(Verb::Report, "report", "", "says what became of the last submission", &[Command::LastReport]),
    word(Verb::Settle, "settle", "landed, failed or again [because TEXT]", "resolves an action whose outcome is unknown", &[Command::ResolveUnknown]),
    word(Verb::Reload, "reload", "", "reads the list again, and takes in new actions", &[Command::Reload]),
    word(Verb::Quiet, "quiet", "", "keeps news back", &[]),
    word(Verb::Speak, "speak", "", "tells news again", &[]),
    word(Verb::Help, "help", "[WORD]", "says what words there are, or what one does", &[Command::Help]),
    word(Verb::Quit, "quit", "", "leaves; what is staged is kept", &[Command::Quit]),
];

/// What a line means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meant<'a> {
    Nothing,
    /// With what follows the word.
    Word(Verb, &'a str),
    /// The beginning of several words.
    Unclear(Vec<&'static str>),
    /// No word; the nearest one.
    Unknown(&'static str),
}

/// Reads a line. The beginning of a word is enough where only one begins so.
pub(crate) fn meant(line: &str) -> Meant<'_> {
    let line = line.trim();
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    if first.is_empty() {
        return Meant::Nothing;
    }
    match found(first).as_slice() {
        [] => Meant::Unknown(nearest(first)),
        [only] => Meant::Word(only.verb, rest.trim()),
        many => Meant::Unclear(many.iter().map(|word| word.name).collect()),
    }
}

/// The word itself, or all that begin so.
pub(crate) fn found(typed: &str) -> Vec<&'static Word> {
    let typed = typed.to_lowercase();
    match WORDS.iter().find(|word| word.name == typed) {
        Some(word) => vec![word],
        None => WORDS.iter().filter(|word| word.name.starts_with(&typed)).collect(),
    }
}

fn nearest(typed: &str) -> &'static str {
    let typed = typed.to_lowercase();
    let distance = |word: &&Word| strsim::damerau_levenshtein(word.name, &typed);
    WORDS.iter().min_by_key(distance).map_or("help", |word| word.name)
}

/// A keymap without keys: where the model names the key of a command, it names a word.
pub(crate) fn keymap() -> Keymap {
    let names = |command| WORDS.iter().find(|word| word.commands.contains(&command)).map(|word| word.name);
    Keymap::of_words(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_word_is_enough_where_only_one_begins_so() {
        assert_eq!(meant("ap"), Meant::Word(Verb::Approve, ""));
        assert_eq!(
            meant("  Exclude   because  it is wrong "),
            Meant::Word(Verb::Exclude, "because  it is wrong")
        );
        assert_eq!(meant("re"), Meant::Unclear(vec!["revert", "retry", "rest", "redo", "report", "reload"]));
        assert_eq!(meant("   "), Meant::Nothing);
    }

    #[test]
    fn another_word_does_nothing_and_names_the_nearest() {
        assert_eq!(meant("aprove"), Meant::Unknown("approve"));
        assert_eq!(meant("sumbit all"), Meant::Unknown("submit"));
        assert_eq!(meant("y"), Meant::Unknown("go"));
    }

    #[test]
    fn no_word_is_the_beginning_of_another() {
        for word in WORDS {
            assert_eq!(found(word.name).len(), 1, "{}", word.name);
            assert_eq!(WORDS.iter().filter(|it| it.verb == word.verb).count(), 1, "{}", word.name);
        }
    }
}
