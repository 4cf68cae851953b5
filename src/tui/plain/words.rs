//! The table of plain mode's words, used by the parser, by `help`, and for the names of commands in sentences.

use std::fmt::Display;

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
    TakeBack,
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
    Claim,
    Snooze,
    Reload,
    Quiet,
    Speak,
    Help,
    Quit,
}

#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) verb: Verb,
    pub(crate) name: &'static str,
    pub(crate) takes: &'static str,
    pub(crate) help: &'static str,
    /// The commands that this word stands for in sentences.
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
    word(Verb::Rest, "rest", "", "stages approvals for what you have read here, except high risk", &[Command::ApproveRest]),
    word(Verb::Clear, "clear", "", "makes this action undecided again", &[Command::Clear]),
    word(Verb::Undo, "undo", "", "undoes the last step", &[Command::Undo]),
    word(Verb::TakeBack, "take-back", "", "takes your approval of this action back, where more people must approve", &[Command::TakeBack]),
    word(Verb::Redo, "redo", "", "does it again", &[Command::Redo]),
    word(Verb::Next, "next", "", "goes to the next undecided action", &[Command::NextUndecided]),
    word(Verb::Previous, "previous", "", "goes to the previous undecided action", &[Command::PreviousUndecided]),
    word(Verb::First, "first", "", "goes to the first action", &[Command::Top]),
    word(Verb::Last, "last", "", "goes to the last action", &[Command::Bottom]),
    word(Verb::Go, "go", "NUMBER", "goes to the action with this number", &[]),
    word(Verb::List, "list", "[COUNT]", "names the actions from here on", &[]),
    word(Verb::Batch, "batch", "", "names the actions that are decided together with this one", &[]),
    word(Verb::Where, "where", "", "says how things stand, and the action again", &[]),
    word(Verb::Watch, "watch", "", "reads each queue's size, growth and alerts", &[Command::Watch]),
    word(Verb::Staged, "staged", "", "names the staged decisions", &[]),
    word(Verb::Submit, "submit", "[batch]", "reviews all staged decisions, or only this batch, and asks before it sends", &[Command::ReviewBatch, Command::ReviewAll]),
    word(Verb::Report, "report", "", "reads the report of the last submission", &[Command::LastReport]),
    word(Verb::Settle, "settle", "landed, failed or again [because TEXT]", "resolves an action whose outcome is unknown", &[Command::ResolveUnknown]),
    word(Verb::Claim, "claim", "", "tells others that you are on this action, or no longer", &[Command::Claim]),
    word(Verb::Snooze, "snooze", "UNTIL", "hides this action until a time: 1h, tomorrow 9:00, mon; snooze off brings all back", &[Command::Snooze]),
    word(Verb::Reload, "reload", "", "reads the list again, and takes in new actions", &[Command::Reload]),
    word(Verb::Quiet, "quiet", "", "stops news", &[]),
    word(Verb::Speak, "speak", "", "resumes news", &[]),
    word(Verb::Help, "help", "[WORD]", "lists the words, or explains one", &[Command::Help]),
    word(Verb::Quit, "quit", "", "leaves; staged decisions stay", &[Command::Quit]),
];

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meant<'a> {
    Nothing,
    Word(Verb, &'a str),
    /// An ambiguous abbreviation.
    Unclear(Vec<&'static str>),
    Unknown(&'static str),
}

/// Parses a line. Words may be abbreviated unless ambiguous.
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

/// Returns the word itself, or all words that begin with it.
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

/// Returns a keymap that names words in place of keys.
pub(crate) fn keymap() -> Keymap {
    let names = |command| WORDS.iter().find(|word| word.commands.contains(&command)).map(|word| word.name);
    Keymap::of_words(names)
}

pub(crate) const NOTHING_PENDING: &str = "Nothing is pending. New actions are announced as they come.";
pub(crate) const NOTHING_CHOSEN: &str = "No action is selected. first goes to the first one.";
pub(crate) const ALL_DECIDED: &str = "Everything is decided. submit reviews and sends what is staged.";
pub(crate) const NO_OTHER: &str = "There is no other undecided action.";
pub(crate) const SAY_LIST: &str = "Say list, list and a number, or list all.";
pub(crate) const END_OF_THE_LIST: &str = "End of the list.";
pub(crate) const NOTHING_IS_STAGED: &str = "Nothing is staged.";
pub(crate) const NOT_SAVED_YET: &str = "not saved yet";
pub(crate) const NEW_ACTION: &str = "new action";
pub(crate) const HELP_UNKNOWN: &str = "Unknown word. help alone names all words.";
pub(crate) const HELP_END: &str = "The beginning of a word is enough. An empty line reads the action again.";
pub(crate) const HELP_FIRST: &str = "Words: show, approve, exclude [because TEXT], edit, next, undo, submit, help, quit. Nothing is sent before submit asks.";

pub(crate) const BECAUSE_NEEDS_TEXT: &str = "Nothing was decided: add a text after because.";
pub(crate) const TEXT_NEEDS_BECAUSE: &str = "Nothing was decided. Put the text after the word because.";
pub(crate) const ANOTHER_IS_NEXT: &str = "another action is next now";
pub(crate) const CHANGED_SINCE_READ_OUT: &str = "it changed since it was read out";
pub(crate) const LINE_CAME_BEFORE: &str = "you typed before the action was read out";
pub(crate) const NOTHING_READ_OUT: &str = "no action was read out yet";
pub(crate) const ANSWER_FIRST: &str = "Not approved: it needs an answer. edit names its fields; say edit, the field that is empty, an equals sign and the answer, then approve.";
pub(crate) const REASON_FIRST: &str =
    "Nothing was decided: this source requires a reason. Say exclude because, and the reason.";
pub(crate) const REASONS_NOT_KEPT: &str =
    "Its source keeps no reasons; this one stays in the journal on this machine.";
pub(crate) const SAY_COMMENT: &str = "Say comment, and the text.";
pub(crate) const NOTHING_TO_COMMENT_ON: &str =
    "Nothing is staged for this action: say approve because, or exclude because, and the text.";
pub(crate) const COMMENTS_NOT_KEPT: &str =
    "Its source keeps no comments; this one stays in the journal on this machine.";
pub(crate) const NOTHING_WAS_DECIDED: &str = "Nothing was decided.";
pub(crate) const ALL_DECIDED_HERE: &str =
    "Everything here is decided. submit reviews it, and asks before it sends.";
pub(crate) const CLEARED: &str = "Cleared: this action is undecided again.";
pub(crate) const WAS_UNDECIDED_ALREADY: &str = "This action was undecided already.";
pub(crate) const DONE_AGAIN: &str = "Done again.";
pub(crate) const SAYS_LANDED: &str = "that it ran";
pub(crate) const SAYS_NOT_LANDED: &str = "that it did not run; it is not run again";
pub(crate) const SAYS_AGAIN: &str = "to run it again, which is right only if running twice does no harm";
pub(crate) const SAY_SETTLE: &str =
    "Say settle landed, settle failed or settle again. Look in the target first.";
pub(crate) const NOT_UNKNOWN: &str = "Nothing was settled: this action's outcome is not unknown.";
pub(crate) const TYPED_BEFORE: &str =
    "Ignored: that was typed before the question. Type yes to tell it, anything else goes back.";

pub(crate) const NOTHING_TO_EDIT: &str = "No action is selected.";
pub(crate) const CONTENT_NOT_HERE: &str = "Its content is not here yet. Say show first.";
pub(crate) const NOT_FIELDS: &str = "This input is not a list of fields; it cannot be edited here.";
pub(crate) const FIELD_IS_EMPTY: &str =
    "Not edited: the field is empty, so write the value as JSON, with text in double quotes.";
pub(crate) const GROUP_OF_FIELDS: &str = "group of fields";
pub(crate) const TRUE_OR_FALSE: &str = "true or false";
pub(crate) const SAY_EDIT: &str =
    "Not edited. Say edit, the field, an equals sign and the new value: edit title=New title.";
pub(crate) const EDIT_HELP: &str = "To change one: edit FIELD=VALUE. The rest of the line is the value.";
pub(crate) const NO_EDITS: &str = "There are no edits of this action to drop.";
pub(crate) const EDITS_DROPPED_STAGED: &str =
    "The edits are dropped. The staged decision still has them: approve stages it without, clear removes it.";
pub(crate) const EDITS_DROPPED: &str = "The edits are dropped.";

pub(crate) const NOTHING_WAS_READ_YET: &str = "nothing was read yet";
pub(crate) const ALERTS_ARE_NOT_KNOWN_YET: &str = "Alerts are not known yet.";
pub(crate) const NO_ALERTS_SO_FAR: &str = "No alerts from what was read so far.";
pub(crate) const ALL_OTHERS: &str = "all others";

pub(crate) const SETTLED_ELSEWHERE: &str = "settled elsewhere";
pub(crate) const EXECUTED_AFTER_APPROVAL: &str = "executed after approval";
pub(crate) const QUIET: &str = "Quiet: no news until you say speak. Your words still get answers.";
pub(crate) const NEWS_IS_TOLD_AGAIN: &str = "News is on again.";
pub(crate) const NO_SOURCE_HAS_ANSWERED_YET: &str = "No source has answered yet.";
pub(crate) const ONE_FROM_LAST_TIME: &str = "1 decision is staged from last time; staged names it.";
pub(crate) const NO_TERMINAL: &str = "Standard input is not a terminal. For scripts use placet decide; here submit asks for a count or for yes.";

pub(crate) const NOTHING_BEING_READ: &str = "Nothing is being read. show reads the action.";
pub(crate) const LEFT_OUT_OF_PREVIEW: &str = "left out of the agent's preview: ";
pub(crate) const END_READ_IN_FULL: &str = "End. Read in full.";

pub(crate) const LOW_RISK: &str = "Low risk";
pub(crate) const MEDIUM_RISK: &str = "Medium risk";
pub(crate) const HIGH_RISK: &str = "High risk";
pub(crate) const CRITICAL_RISK: &str = "Critical risk";
pub(crate) const READ_IN_FULL: &str = "Read in full.";
pub(crate) const READ_IN_PART: &str = "Read in part.";
pub(crate) const IS_HELD: &str = "Its decision is about to be sent; undo recalls it.";
pub(crate) const IS_SENDING: &str = "Its decision is being sent.";
pub(crate) const IS_UNKNOWN: &str =
    "Its decision was sent; the outcome is unknown. It is checked again, and settle resolves it.";
pub(crate) const RAN_UNKNOWN: &str = "It was approved and ran; the outcome is unknown. settle resolves it.";
pub(crate) const EXPIRED: &str = "Expired: it can no longer be decided.";
pub(crate) const BY_YOU: &str = " by you";
pub(crate) const ONE_NEW_ABOVE: &str = "1 new action above comes in when you move on.";

pub(crate) const PLACET_A11Y_IS_SET: &str = "PLACET_A11Y is set";
pub(crate) const TERM_IS_DUMB: &str = "TERM is dumb";
pub(crate) const TERM_IS_NOT_SET: &str = "TERM is not set";

pub(crate) const SAY_SUBMIT: &str =
    "Nothing was sent. Say submit for all that is staged, or submit batch for this batch.";
pub(crate) const NOTHING_STAGED: &str = "Nothing is staged. approve and exclude stage decisions.";
pub(crate) const REVIEW_CLOSED: &str = "The review is closed. Nothing was sent.";
pub(crate) const STAYS_STAGED: &str = "Nothing was sent. Everything stays staged.";
pub(crate) const OTHER_DECISION: &str = "other decision";
pub(crate) const WARNING_UNREAD: &str = "Warning, approved unread";
pub(crate) const WARNING_CHANGED: &str = "Warning, changed since it was read";
pub(crate) const NOTHING_CAN_BE_SENT: &str = "Nothing can be sent.";
pub(crate) const LIST_NAMES_ALL: &str = "list names all of them.";
pub(crate) const TYPE_YES: &str = "Type yes to send, anything else goes back.";
pub(crate) const OF_THESE: &str = "of these";
pub(crate) const NOBODY_TOLD_WHO_DECIDED: &str = "No source reported who decided.";
pub(crate) const ACCEPTED_AND_SETTLED_LATER: &str = "accepted and settled later";
pub(crate) const AFTER_APPROVAL: &str = "After approval";
pub(crate) const SINCE_THEN: &str = "Since then";
pub(crate) const SOURCE_PAUSED: &str =
    "The source is paused: approved actions do not run until someone resumes it.";

pub(crate) const LINE_TOO_LONG: &str = "Ignored: the line is longer than 64 kilobytes.";
pub(crate) const CONTROL_CHARACTER: &str =
    "Ignored: the line holds a control character, from an arrow key perhaps.";
pub(crate) const NO_QUESTION: &str =
    "Nothing was done: no question is open. go and a number goes to an action.";
pub(crate) const RECALLED: &str = "Recalled: nothing was sent. Everything stays staged.";

sentences! {
    say_go(total: usize) => "Say go and a number from 1 to {total}.";
    left_in_list(left: usize) => "{left} more in the list.";
    left_in_batch(left: usize) => "{left} more in this batch.";
    batch_has(actions: &str, staged: usize) => "This batch has {actions}; {staged} staged.";
    not_saved(why: &str) => "NOT SAVED: {why}. A crash would lose your staged decisions.";
    staged_not_sent(decisions: &str, saved: &str) => "{decisions} staged, {saved}, nothing sent.";
    taken_in(actions: &str, counts: &str) => "{actions} taken in. {counts}";

    not_decided_here(why: &str) => "Nothing was decided: {why}. Here it is.";
    read_first(why: &impl Display) => "not approved: it is {why}, so read it to the end first; show reads it";
    not_decided(why: &str) => "nothing was decided: {why}";
    say_name(name: &str, wants: &str) => "Nothing was decided. Say {name}, and {wants}.";
    staged(decision: &str, left: usize) => "Staged: {decision}. {left} undecided left.";
    staged_already(decision: &str) => "Already staged: {decision}.";
    tells_source(says: &str) => "This tells the source {says}. Type yes to tell it, anything else goes back.";

    edited(shown: &str, value: &str) => "Edited, not staged yet: {shown} becomes {value}. approve stages it, revert drops it.";
    as_proposed(shown: &str) => "{shown} is as proposed.";
    edit_is_broken(error: &impl Display) => "The edit is not JSON yet: {error}. revert drops it.";
    no_such_field(names: &str) => "There is no such field. Fields: {names}.";
    wrong_kind(kind: &str) => "Not edited: the value must be a {kind}, as JSON.";

    over_target(n: u64, target: &str) => " {n} over the target of {target}.";
    last_minutes(minutes: u32, all: &str, over: &str) => "The last {minutes} minutes. All: {all}.{over}";
    not_counted(unread: &str) => "Not counted, not read yet: {unread}.";
    and_more(more: usize) => "And {more} more.";
    since_then(approved: u64, rejected: u64, left: u64, failed: u64, unknown: u64) => "Approved {approved}, excluded {rejected}, left undecided {left}, failed after approval {failed}, outcome unknown {unknown}.";
    nothing_read(source: &impl Display, state: &str) => "Source {source}: nothing was read yet: {state}.";
    may_be_old(state: &str) => " Its numbers may be old: {state}.";
    high_risk(n: &impl Display) => "{n} high";
    now_rates(arrived: u64, resolved: u64) => "now {arrived} in and {resolved} out a minute";
    mean_rates(arrive: &str, resolve: &str) => "in 15 minutes {arrive} in and {resolve} out a minute";
    clears_in(clears: &str) => "clears in {clears}";

    source_back(name: &str) => "Source {name} is back.";
    source_lost(name: &str) => "Source {name} is lost; placet keeps trying. Your staged decisions are safe.";
    review_closed(why: &str) => "The review is closed and nothing was sent. {why}";
    was_read_out(place: &str, standing: &str) => "{place}, which was read out last: {standing} next goes on.";
    read_out_changed(place: &str) => "{place}, which was read out last, changed. show reads it again.";
    actions_pending(said: &str, pending: usize) => "Actions: {said}; {pending} pending.";
    plain_mode(why: &str) => "Plain mode on, because {why}. ";
    from_last_time(staged: usize) => "{staged} decisions are staged from last time; staged names them.";

    cannot_be_read(what: &str) => "Its content cannot be read: {what}. reload tries again.";
    more_lines(left: usize) => "{left} more lines. more reads on.";

    other_risk(word: &str) => "Risk {word}, taken as high";
    nth_of(nth: usize, total: usize) => "Action {nth} of {total}";
    action(place: &str, risk: &str, tool: &str, title: &str, waiting: &str, at: &str) => "{place}. {risk}. {tool}. Title: {title}. Waiting {waiting}.{at}";
    expires_in(left: &str) => "Expires in {left}.";
    decided(who: &str, approved: u64, excluded: u64, median: &str) => "Decided by {who}: {approved} approved, {excluded} excluded, half of them within {median}.";
    accepted(title: &str, why: &str) => "Accepted: {title}. {why}.";
    approvals(given: u64, needed: u64, by: &str) => "{given} of {needed} approvals{by}.";
    look_twice(flags: &str) => "Warning: look twice: {flags}.";
    before_you_decide(told: &str) => "Before you decide: {told}.";
    with_edits(keys: &str) => " with edit of {keys}";
    new_above(held: usize) => "{held} new actions above come in when you move on.";
    not_answered(name: &impl Display) => "Source {name} has not answered yet.";
    not_connected(name: &impl Display) => "Source {name} is not connected.";
    paused(name: &impl Display) => "Source {name} is paused: approved actions do not run until someone resumes it.";

    typed_before(question: &str) => "Ignored: that was typed before the question. {question}";
    confirmed(seconds: f64) => "Confirmed. It is sent in {seconds} seconds; undo recalls it.";
    batch_only(other: &str) => "This batch only; {other} stay staged.";
    edited_keys(title: &str, keys: &str) => "Edited: {title}. Changed: {keys}.";
    same(title: &str, became: &str) => "Warning, same as {title}: {became}.";
    are_risky(approvals: &str, are: &str, risk: &str) => "Warning: {approvals} {are} {risk}.";
    not_sent(title: &str, why: &str) => "Not sent: {title}. {why}";
    warning(does: &str, count: usize, source: &impl Display, words: &str) => "warning, {does} {count} on {source}: {words}";
    type_count(why: &str, count: usize) => "{why}. Type {count} to send, anything else goes back.";
    and_more_of(more: usize, what: &str) => "And {more} more {what}.";
    on_the_way(n: usize, source: &impl Display) => "On the way: {n} to {source}, not answered yet.";
    failed(title: &str, why: &str) => "Failed: {title}. It stays staged. {why}";
    lost(title: &str, why: &str) => "Unknown: {title}. placet keeps checking and does not send it again. {why}";
    not_finished(open: usize) => "{open} not finished";

    unclear(names: &str) => "Unclear: that begins {names}. Nothing was done.";
    nearest_word(nearest: &str) => "Unknown word. The nearest is {nearest}. Nothing was done; help names all words.";
    pasted(lines: &str) => "Ignored {lines} that came as fast as pasted text. Nothing was done with them.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unambiguous_abbreviation_is_enough() {
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
