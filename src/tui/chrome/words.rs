//! Texts for times, counts and states.

use std::fmt::Display;

use crate::contract::time;
pub(crate) use crate::domain::time::age;
use crate::domain::time::{seconds, short};
use crate::domain::{Look, Risk, Seen, StagedCounts, Timestamp};
use crate::inbox::Connection;
use crate::text;
use crate::text::Shown;
pub(crate) use crate::text::count;
use crate::tui::core::model::Model;
use crate::tui::queue::list::SourceState;

/// Returns the age of a row: `now`, `3 m`, `2 h`, `5 d`.
pub(crate) fn row_age(from: Timestamp, now: Timestamp) -> String {
    let millis = now.since(from);
    if millis < 60_000 { "now".to_owned() } else { short(millis) }
}

/// Returns `4 m left` in the last hour before expiry.
pub(crate) fn expires(at: Option<Timestamp>, now: Timestamp) -> Option<String> {
    let left = at?.since(now);
    (left < 3_600_000).then(|| match left / 60_000 {
        ..1 => "<1 m left".to_owned(),
        minutes => format!("{minutes} m left"),
    })
}

/// Returns `expires in 12 m`, with seconds in the last two minutes.
pub(crate) fn expires_in(at: Timestamp, now: Timestamp) -> String {
    let left = at.since(now).max(0);
    match left / 1_000 {
        seconds @ ..60 => format!("expires in {seconds} s"),
        seconds @ 60..=120 => format!("expires in {} m {:02} s", seconds / 60, seconds % 60),
        _ => format!("expires in {}", age(now, at)),
    }
}

/// Returns `14:22:07` in the reviewer's time zone.
pub(crate) fn clock(model: &Model, at: Timestamp) -> String {
    time::formatted(at, &model.settings.zone, "%H:%M:%S").unwrap_or_default()
}

/// Returns `14:22`, with the date if it is another day.
pub(crate) fn moment(model: &Model, at: Timestamp) -> String {
    let zone = &model.settings.zone;
    let (Some(then), Some(now)) = (time::local(at, zone), time::local(model.now, zone)) else {
        return String::new();
    };
    let form = if then.date() == now.date() { "%H:%M" } else { "%b %-d %H:%M" };
    then.strftime(form).to_string()
}

/// Returns `14:22`, or only the date if it is another day.
pub(crate) fn day(model: &Model, at: Timestamp) -> String {
    let moment = moment(model, at);
    moment.rsplit_once(' ').map(|(day, _)| day.to_owned()).unwrap_or(moment)
}

/// Returns `a5 e1 x2`; empty if nothing is staged.
pub(crate) fn staged(counts: StagedCounts) -> String {
    let some = counts.each().filter(|(_, n)| *n > 0);
    let said: Vec<String> =
        some.map(|(kind, n)| format!("{}{n}", kind.letter().to_ascii_lowercase())).collect();
    said.join(" ")
}

/// Returns a risk in at most four columns if it is a known one. High risks are in capitals, for screens without colour.
pub(crate) fn risk(risk: &Risk) -> Shown {
    match risk {
        Risk::Low => Shown::ours("low"),
        Risk::Medium => Shown::ours("med"),
        Risk::High => Shown::ours("HIGH"),
        Risk::Critical => Shown::ours("CRIT"),
        Risk::Other(word) => text::line(word).in_column().cut(8),
    }
}

pub(crate) const fn seen(seen: Option<Seen>) -> &'static str {
    match seen {
        Some(Seen::InFull) => "read",
        Some(Seen::Opened) => "partly read",
        None => "unread",
    }
}

pub(crate) fn risk_in_full(risk: &Risk) -> Shown {
    match risk {
        Risk::Low => Shown::ours("low"),
        Risk::Medium => Shown::ours("medium"),
        Risk::High => Shown::ours("HIGH"),
        Risk::Critical => Shown::ours("CRITICAL"),
        Risk::Other(word) => text::line(word),
    }
}

/// The action was rejected, but undoing its earlier steps failed.
pub(crate) const UNDO_FAILED: &str = "undo failed";

/// Returns the state of a source, and true if it can be trusted.
pub(crate) fn connection(source: &SourceState, now: Timestamp) -> (String, bool) {
    let stale = source.is_stale(now);
    let (word, good) = match &source.connection {
        Connection::Live | Connection::Polling if stale => ("STALE".to_owned(), false),
        Connection::Connecting => ("CONNECTING".to_owned(), false),
        Connection::Live => (LIVE.to_owned(), true),
        Connection::Polling => ("POLLING".to_owned(), true),
        Connection::Retrying { retry_in, .. } => {
            let left = retry_in.as_millis() as i64 - now.since(source.connection_at);
            if left > 0 && !source.still {
                (format!("RETRY in {} s", (left + 999) / 1_000), false)
            } else {
                ("RETRYING".to_owned(), false)
            }
        }
        Connection::Refused { .. } => ("REFUSED".to_owned(), false),
        Connection::Stopped { .. } => ("STOPPED".to_owned(), false),
    };
    match source.heard {
        Some(at) if !good && now.since(at) >= 1_000 => {
            let old = if source.still { age(at, now) } else { seconds(now.since(at)) };
            (format!("{word}, data {old} old"), false)
        }
        Some(_) if good && source.problem.is_some() => (format!("{word}, list failed"), false),
        Some(_) => (word, good),
        // The connection's state means nothing before the first list.
        None if good && source.problem.is_some() => ("CANNOT BE READ".to_owned(), false),
        None if good => ("READING".to_owned(), false),
        None => (word, false),
    }
}

/// Returns the terminal's title: counts only, because foreign text could fake one.
pub(crate) fn title(model: &Model) -> String {
    let lost = match model.list.stats.unknown {
        0 => String::new(),
        lost => format!("{lost} {}, ", Look::UNKNOWN.word),
    };
    match (model.list.stats.high_risk(), model.list.stats.pending) {
        (0, pending) => format!("{lost}{pending} pending - placet"),
        (high, pending) => format!("({high}!) {lost}{pending} pending - placet"),
    }
}

pub(crate) fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

pub(crate) const LIVE: &str = "LIVE";
pub(crate) const NEW_CALL: &str = "new call";
pub(crate) const LIST_NOT_READ: &str = "the list could not be read: ";
pub(crate) const NOTHING_WAS_SENT: &str = "nothing was sent";
pub(crate) const REASON_DEMANDED: &str = "this source asks for a reason with every rejection";
pub(crate) const HIDDEN_CHARACTER: &str = "hidden character";
pub(crate) const KEYS_TOO_FAST: &str = "Nothing sent: ignored pasted keys";

pub(crate) const NOTHING_TO_COMMENT_ON: &str = "nothing is staged for this action to comment on";
pub(crate) const A_PART_FAILED: &str = "a part of placet failed; see placet.log in the state folder";
pub(crate) const NO_LONGER_PENDING: &str = "it is no longer pending";
pub(crate) const NOT_EDITED_YET: &str = "not edited: its content is not here yet";

pub(crate) const THE_ID: &str = "the id";
pub(crate) const PREVIEW_NOT_HERE: &str = "the preview is not here yet; try again in a moment";
pub(crate) const PREVIEW_TOO_LONG: &str = "too long to be copied as text; the JSON can be copied";
pub(crate) const THE_PREVIEW: &str = "the preview";
pub(crate) const THE_COMMAND: &str = "the command";
pub(crate) const THE_LINK: &str = "the link";
pub(crate) const NO_LINK: &str = "there is no http or https link in this action";
pub(crate) const NO_OTHER_OF_MISSION: &str = "no other action of this mission is pending";
pub(crate) const BROWSER_ASKED: &str = "the browser was asked to open it";
pub(crate) const NOT_OPENED: &str = "not opened: ";
pub(crate) const NO_CURSOR: &str = "put the cursor on an action first";
pub(crate) const CONTENT_NOT_HERE: &str = "its content is not here yet; try again in a moment";
pub(crate) const HIDDEN_NOT_COPIED: &str = "not copied: there are hidden characters in it";

pub(crate) const NO_SOURCE_IS_CONFIGURED: &str = "No source is configured.";
pub(crate) const NOTHING_IS_PENDING: &str = "Nothing is pending.";
pub(crate) const ASKING_WHAT_IS_PENDING: &str = "Asking what is pending…";
pub(crate) const PROPOSE_SOMETHING: &str = "Propose something from another terminal, and decide it here:";
pub(crate) const PROPOSE_COMMAND: &str = "    placet propose create_linear_issue --input -";
pub(crate) const WHEN_CLOSED: &str = "Agents cannot propose over HTTP while placet is closed.";
pub(crate) const GATE_SERVED_ELSEWHERE: &str = "Another placet serves the gate.";

pub(crate) const NO_KEY: &str = "no key";

pub(crate) const UNKNOWN_TO_DECIDE: &str = "? to decide";
pub(crate) const TOO_SMALL: &str = "too small to decide:";
pub(crate) const ENLARGE: &str = "enlarge to 40x10";

pub(crate) const NOTHING_IS_STAGED_TO_DISCARD: &str = "nothing is staged to discard";
pub(crate) const GONE_WITH_DEMO: &str = "gone with the demo.";
pub(crate) const KEPT: &str = "kept for next time.";
pub(crate) const QUITTING_RECALLS: &str = "Quitting now recalls the decisions about to be sent.";
pub(crate) const QUITTING_WAITS: &str = "A submission is being sent; quitting waits a few seconds for it.";
pub(crate) const DEMO_ENDS: &str = "the demo is thrown away.";
pub(crate) const AGENTS_CANNOT_PROPOSE: &str = "agents cannot propose over HTTP until placet runs again.";
pub(crate) const KEEP_AND_QUIT: &str = " keep and quit   ";
pub(crate) const QUIT: &str = " quit   ";
pub(crate) const DEMO_KEEPS_NOTHING: &str = "the demo keeps nothing";
pub(crate) const STAGED_STAYS: &str = "staged decisions are kept";

pub(crate) const UNKNOWN_COMMAND: &str = "there is no such command";
pub(crate) const TYPE_A_WORD_OR_A: &str = "type a word or a key";
pub(crate) const NO_COMMAND_MATCHES: &str = "No command matches.";
pub(crate) const NOT_HERE: &str = "(not here) ";

pub(crate) const TOKEN_CANNOT_DECIDE: &str = "Read-only: this token cannot decide";
pub(crate) const TAKES_THEM_BACK: &str = " takes them back";
pub(crate) const ALL_KEYS: &str = " all keys ";
pub(crate) const MARKS_IT: &str = "marks it";
pub(crate) const DROP_IT: &str = "drop it";
pub(crate) const APPROVE_REST: &str = "approve rest";

pub(crate) const MOUSE_ON: &str =
    "mouse on: the wheel scrolls, a click selects a row; hold Shift to select text";
pub(crate) const MOUSE_OFF: &str = "mouse off: the terminal selects text with it";

sentences! {
    unread(why: &impl Display) => "{why}, unread";
    not_edited(why: &impl Display) => "not edited: {why}";
    with_unknown_outcome(n: &impl Display) => "{n} with unknown outcome";
    not_notified(why: &str) => "not notified: {why}";
    group_keys(rest: &str, mark: &str, review: &str) => "{rest} approves the rest   {mark} marks all   {review} reviews";

    said_already(said: &str) => "its {said} is already that";
    paste_ignored(characters: usize) => "ignored a paste of {characters} characters: only forms take text";
    no_such_keys(written: &str, last: &impl Display, keys: &str) => "{written} {last} does nothing; after {written} comes {keys}";

    hidden_in_it(hidden: &str) => "; {hidden} in it";
    copied(what: &str, bytes: &str, how: &str, hidden: &str) => "copied {what}, {bytes}, by {how}{hidden}";
    too_long_to_copy(what: &str, bytes: usize, longest: usize) => "not copied: {what} is {bytes} bytes, and terminals take {longest}; `placet show` prints it";
    copies_a_link(key: &str) => "; {key} copies a link";
    show_command(source: &str, end: &str, id: &str) => "placet show --source {source} {end}{id}";

    demo_folder(folder: &impl Display) => "Executed actions write their files to {folder}";
    agents_propose(url: &str, token: &impl Display) => "Agents propose at {url} with the token in {token}";
    kept_in(database: &impl Display) => "Everything is kept in {database}";

    other_marks(sending: &str, lost: &str) => "{sending} sending   {lost} outcome unknown   + marked   ! look twice";

    to_decide(n: usize) => "{n} to decide";
    not_shown(n: usize) => ": {n} not shown";
    new_above(n: usize) => "{n} new above";
    some_up(up: usize, all: usize) => "{up} of {all} sources up";
    all_up(all: usize) => "{all} sources up";
    high_and_critical(high: usize, critical: usize) => "{high} high-risk, {critical} critical";
    at_port(port: u16) => ", port {port}";
    outcome_unknown(n: usize) => "{n} outcome unknown";

    review_then_send(key: &str) => "{key}: review, then send";
    first_keys(approve: &str, exclude: &str, edit: &str) => "{approve} approve · {exclude} exclude · {edit} edit. Nothing is sent yet.";
    more_keys(help: &str, palette: &str) => "{help} keys · {palette} commands";

    not_discarded(count: usize) => "that is not {count}; nothing was discarded";
    again_quits(key: &str, then: &str) => "{key} again quits; {then}";
    staged_not_sent(staged: &str, then: &str) => "{staged} staged and not sent; {then}";
    gate_stops(url: &str) => "The gate at {url} stops:";
    type_to_discard(staged: usize, accept: &str, typed: &str) => "type {staged} and {accept} to discard and quit: {typed}_   ";

    does_nothing(name: &str) => "{name} does nothing here";
    takes_one_of(name: &str, values: &str) => "{name} takes one of: {values}";
    help_note(first: usize, last: usize, all: usize, down: &str, page: &str, back: &str) => "{first}-{last} of {all}   {down} {page} scroll   {back} closes";
    palette_note(found: usize, all: usize, run: &str, complete: &str, back: &str) => "{found} of {all}   {run} runs   {complete} completes   {back} closes";

    read_only(dot: &str, key: &str) => "Read-only{dot}{key} back to the inbox   ";
    approved_unread(n: usize) => "{n} approved unread";
    hidden_by_filter(n: usize) => "{n} hidden by the filter";
    sending_in(n: &str, seconds: i64) => "sending {n} in {seconds} s";

    hold_shift(key: &str) => "hold Shift (Option on a Mac) to select text, or switch the mouse off: {key}";
}
