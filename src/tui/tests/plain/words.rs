//! The words of plain mode and their answers.

use crate::domain::{
    ActionId, Approvals, Briefing, Capabilities, Claim, Note, Notes, Revision, Status, Timestamp,
};
use crate::inbox::{Event, EventKind};
use crate::journal::Write;
use crate::tui::core::msg::{Effect, What};
use crate::tui::plain::session::How;
use crate::tui::plain::words::WORDS;
use crate::tui::testing::{CAN, NOW, action, decided, few, key, lost, source};

use super::talk::{SCRIPT, TERMINAL, Talk, risky};

#[test]
#[expect(clippy::too_many_lines, reason = "a session is read as a whole")]
fn a_whole_session() {
    let how = How { width: Some(80), ..TERMINAL };
    let mut talk = Talk::new(how, [vec![risky()], few(2)].concat());

    talk.types("approve\nshow\nexclude because closes tickets of other teams\ned title=Another title\nshow\nap\nsubmit");
    talk.types("2\nsubmit\nyes");
    talk.accepts();
    talk.types("quit");

    assert!(talk.left);
    insta::assert_snapshot!(talk.heard, @r#"
    Plain mode on, because --plain. 3 pending, 3 undecided, oldest 3 h 12 min, 1
    high.
    Action 1 of 3. High risk. update_linear_issue from refunds-agent. Title:
    Bulk-close 214 tickets. Waiting 3 h 12 min.
    Words: show, approve, exclude [because TEXT], edit, next, undo, submit, help,
    quit. Nothing is sent before submit asks.
    > approve
    Not approved: it is high risk, so read it to the end first; show reads it.
    > show
    Action 1 of 3, Bulk-close 214 tickets.
    | title         Bulk-close 214 tickets
    | ids           [1,2]
    | count         214
    | workspace_id  acme

    What approving does
      changes an existing issue in Linear
      can be undone by hand: set the fields back in Linear; its history has the
      old values
    End. Read in full.
    > exclude because closes tickets of other teams
    Staged: exclude, with a reason. 2 undecided left.
    Action 2 of 3. Low risk. create_linear_issue from support. Title: Issue number
    1. Waiting 59 min.
    > ed title=Another title
    Edited, not staged yet: title becomes "Another title". approve stages it,
    revert drops it.
    > show
    Action 2 of 3, Issue number 1 → Another title.
    your edits replace: title (the Diff tab shows them)

    | title  Issue number 1 → Another title
    | n      1.10

    What approving does
      creates one issue in Linear
      can be undone by hand: cancel the issue in Linear
    End. Read in full.
    > ap
    Staged: approve with edit of title. 1 undecided left.
    Action 3 of 3. Low risk. create_linear_issue from support. Title: Issue number
    2. Waiting 58 min.
    > submit
    2 batches, 2 decisions: 1 approve with edit, 1 exclude (final).
    1 stays pending in these batches.
    Edited: Issue number 1 → Another title. Changed: title.
    Exclude: update_linear_issue. Title: Bulk-close 214 tickets.
    Approve with edit: create_linear_issue. Title: Issue number 1 → Another title.
    The gate refuses any action that changed after you saw it.
    Type yes to send, anything else goes back.
    > 2
    Nothing was sent. Everything stays staged.
    > submit
    2 batches, 2 decisions: 1 approve with edit, 1 exclude (final).
    1 stays pending in these batches.
    Edited: Issue number 1 → Another title. Changed: title.
    Exclude: update_linear_issue. Title: Bulk-close 214 tickets.
    Approve with edit: create_linear_issue. Title: Issue number 1 → Another title.
    The gate refuses any action that changed after you saw it.
    Type yes to send, anything else goes back.
    > yes
    Sending 2 decisions.
    > 
    Sent. 1 approved, 1 rejected, 1 left pending.
    After approval: 1 not finished.
    > quit
    "#);
}

#[test]
fn output_never_contains_control_or_hidden_characters() {
    let evil = "\u{1b}[2J\u{9b}31m\u{202e}\r\u{8}\u{7}\u{200b}\u{e0041}";
    let input = format!("{{\"{evil}x\":\"{evil}\\u001b]0;t\\u0007\",\"b\":\"{}\"}}", "long ".repeat(500))
        .replace(['\u{1b}', '\u{8}', '\u{7}', '\r'], "\\u001b");
    let hostile = |id: &str| {
        let mut it = action(&format!("{id} tool agent high 5"), evil, &input);
        it.row.tool = evil.into();
        it.row.agent = Some(evil.into());
        it.summary = Some(evil.into());
        it.error = Some(evil.into());
        it
    };
    let mut talk = Talk::new(TERMINAL, vec![hostile("1"), hostile("2"), lost(hostile("3"))]);
    for word in WORDS.iter().filter(|word| word.name != "quit") {
        for rest in ["", " because no", " x=1", " 1", " all", " landed"] {
            talk.types(&format!("{}{rest}\nno", word.name));
        }
    }
    talk.changes(vec![decided(hostile("2"), Status::Executed, evil)]);
    talk.waits(60);
    talk.types("list all\nwhere\nsubmit\n1");

    let hides = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{e000}'..);
    let bad = |c: char| c != '\n' && (c.is_control() || hides(c));
    assert_eq!(talk.heard.chars().find(|c| bad(*c)), None);
}

#[test]
fn our_own_words_are_ascii() {
    let mut talk = Talk::new(TERMINAL, [vec![risky(), lost(few(3).pop().unwrap())], few(2)].concat());
    talk.types("help\nwhere\nshow\nraw\ndiff\ncontext\nlist\nbatch\nedit\nstaged\nreport\napprove\nundo\nredo\nclear");
    talk.types("exclude because no\nsubmit\nlist\nyes");
    talk.accepts();
    talk.types("report\nlast\nsettle landed\nno\nreload\nquiet\nspeak\nnonsense\nre\nrest\nfirst\ngo 99\nmore\nretry x");

    assert_eq!(talk.heard.lines().find(|line| !line.is_ascii()), None);
}

#[test]
fn script_is_answered_line_by_line() {
    let mut talk = Talk::new(SCRIPT, few(2));
    talk.slow = true;
    for line in ["show", "approve", "exclude because twice", "submit all", "yes", "report"] {
        talk.types_now(line);
    }
    talk.ends_input();
    assert_eq!(talk.submitted.len(), 0, "the review is being read");
    talk.answers();
    assert_eq!(talk.submitted.len(), 1, "{}", talk.heard);
    assert!(!talk.left, "left before the report");
    talk.accepts();

    insta::assert_snapshot!(talk.heard, @"
    Plain mode on, because --plain. 2 pending, 2 undecided, oldest 59 min.
    Standard input is not a terminal. For scripts use placet decide; here submit asks for a count or for yes.
    Action 1 of 2. Low risk. create_linear_issue from support. Title: Issue number 1. Waiting 59 min.
    Words: show, approve, exclude [because TEXT], edit, next, undo, submit, help, quit. Nothing is sent before submit asks.
    Action 1 of 2, Issue number 1.
    | title  Issue number 1
    | n      1.10

    What approving does
      creates one issue in Linear
      can be undone by hand: cancel the issue in Linear
    End. Read in full.
    Staged: approve. 1 undecided left.
    Action 2 of 2. Low risk. create_linear_issue from support. Title: Issue number 2. Waiting 58 min.
    Staged: exclude, with a reason. 0 undecided left.
    Everything here is decided. submit reviews it, and asks before it sends.
    1 batch, 2 decisions: 1 approve, 1 exclude (final).
    Approve: create_linear_issue. Title: Issue number 1.
    Exclude: create_linear_issue. Title: Issue number 2.
    The gate refuses any action that changed after you saw it.
    Type yes to send, anything else goes back.
    Sending 2 decisions.
    Sent. 1 approved, 1 rejected.
    After approval: 1 not finished.
    Sent. 1 approved, 1 rejected.
    After approval: 1 not finished.
    ");
    assert!(talk.left);
}

#[test]
fn news_is_batched_and_can_be_silenced() {
    let mut talk = Talk::new(TERMINAL, few(2));
    talk.types("where");
    for n in 3..=5 {
        talk.changes(few(n).split_off(n - 1));
    }
    assert_eq!(talk.waits(2), "", "no news right after an answer");
    let heard = talk.waits(3);
    assert_eq!(heard, "\nActions: 3 new; 5 pending.\n> ");

    talk.types("quiet");
    talk.changes(few(6).split_off(5));
    assert_eq!(talk.waits(10), "");
    talk.types("speak");
    insta::assert_snapshot!(talk.waits(5), @"

Actions: 1 new; 6 pending.
>
");
    insta::assert_snapshot!(talk.types("go 6"), @"
go 6
Action 6 of 6. Low risk. create_linear_issue from support. Title: Issue number 6. Waiting 54 min.
>
");
}

#[test]
fn edit_keeps_types_and_needs_approving() {
    let mut talk = Talk::new(TERMINAL, vec![risky()]);
    talk.types("show");

    insta::assert_snapshot!(talk.types("edit"), @r#"
edit
title, text: "Bulk-close 214 tickets"
ids, list: [1,2]
count, number: 214
workspace_id, text: "acme"
To change one: edit FIELD=VALUE. The rest of the line is the value.
>
"#);
    insta::assert_snapshot!(talk.types("edit count=many"), @"
edit count=many
Not edited: the value must be a number, as JSON.
>
");
    insta::assert_snapshot!(talk.types("edit workspace_id=other"), @r#"
edit workspace_id=other
Not edited: the key "workspace_id" says whose action this is and cannot be edited.
>
"#);
    insta::assert_snapshot!(talk.types("edit nothing=1"), @"
edit nothing=1
There is no such field. Fields: title, ids, count, workspace_id.
>
");
    insta::assert_snapshot!(talk.types("edit count = 3"), @"
edit count = 3
Edited, not staged yet: count becomes 3. approve stages it, revert drops it.
>
");
    insta::assert_snapshot!(talk.types("edit title=Close \"3\" tickets"), @r#"
edit title=Close "3" tickets
Edited, not staged yet: title becomes "Close \"3\" tickets". approve stages it, revert drops it.
>
"#);
    assert_eq!(talk.staged(), "");
    insta::assert_snapshot!(talk.types("diff"), @r#"
    diff
    Action 1 of 1, Bulk-close 214 tickets  title Bulk-close 214 tickets → Close "3" tickets  count 214 → 3.
    | title
    | was: Bulk-close 214 tickets
    | becomes: Close "3" tickets
    | count
    | was: 214
    | becomes: 3

    2 other fields unchanged

    The agent did not report the state before.
    End.
    >
    "#);
    talk.types("approve");

    let staged = talk.model().decide.draft.get(&key("r")).unwrap();
    let edits = staged.decision.edits().unwrap().as_json().as_str().to_owned();
    assert_eq!(edits, r#"{"title":"Close \"3\" tickets","count":3}"#);
    insta::assert_snapshot!(talk.types("revert"), @"
revert
The edits are dropped. The staged decision still has them: approve stages it without, clear removes it.
>
");
}

#[test]
fn notes_are_read_out_and_questions_need_an_answer() {
    const NOTES: &[Note] = &[Note::UNVERIFIED];
    let can = Capabilities { answer: true, notes: Notes::of(NOTES), also_rejects: 1, ..CAN };
    let ask = action("1 ask_human support low 5", "Which plan?", r#"{"question":"Which?","answer":null}"#);
    let mut talk = Talk::with(TERMINAL, vec![ask], can);
    let read = talk.types("first");
    insta::assert_snapshot!(read, @"
first
Action 1 of 1. Low risk. ask_human from support. Title: Which plan?. Waiting 5 min. Before you decide: it asks for an answer: write it with the edit key, then approve; reject also rejects 1 ungated call; identity not verified by this backend: it keeps the name it is told.
>
");

    let said = talk.types("approve");
    insta::assert_snapshot!(said, @"
approve
Not approved: it needs an answer. edit names its fields; say edit, the field that is empty, an equals sign and the answer, then approve.
>
");
    let said = talk.types("show\nedit answer=\"small\"\napprove");
    insta::assert_snapshot!(said, @r#"
    show
    Action 1 of 1, Which plan?.
    | question  Which?
    | answer    null

    What approving does
      Runs with exactly this input. No description for this tool.
    End. Read in full.
    > edit answer="small"
    Edited, not staged yet: answer becomes "small". approve stages it, revert drops it.
    > approve
    Staged: approve with edit of answer. 0 undecided left.
    Everything here is decided. submit reviews it, and asks before it sends.
    >
    "#);
    let said = talk.types("undo\nexclude");
    insta::assert_snapshot!(said, @"
    undo
    Undone.
    Action 1 of 1. Low risk. ask_human from support. Title: Which plan?  answer null → small. Waiting 5 min. Read in full. Before you decide: it asks for an answer: write it with the edit key, then approve; reject also rejects 1 ungated call; identity not verified by this backend: it keeps the name it is told.
    > exclude
    Staged: exclude. 0 undecided left.
    Everything here is decided. submit reviews it, and asks before it sends.
    >
    ");
    let said = talk.types("submit");
    insta::assert_snapshot!(said, @"
    submit
    1 batch, 1 decision: 1 exclude (final).
    Exclude: ask_human. Title: Which plan?.
    Warning, rejecting 1 on gate: 1 ungated call is rejected with it.
    Warning, rejecting 1 on gate: identity not verified by this backend: it keeps the name it is told.
    The gate refuses any action that changed after you saw it.
    Type yes to send, anything else goes back.
    >
    ");
}

#[test]
fn figures_are_read_out_as_sentences() {
    let mut talk = Talk::new(SCRIPT, [vec![risky()], few(2)].concat());

    let said = talk.types("watch");

    insta::assert_snapshot!(said, @"
    The last 60 minutes. All: 3 pending, over target, 1 high, oldest 3 h 12 min. 1 over the target of 1 h 0 min.
    Source gate: 3 pending, over target, 1 high, oldest 3 h 12 min.
    Queue support: 2 pending, starting, oldest 59 min.
    Queue refunds-agent: 1 pending, over target, 1 high, oldest 3 h 12 min. 1 over the target of 1 h 0 min.
    Approved 0, excluded 0, left undecided 0, failed after approval 0, outcome unknown 0.
    Alert. gate: 1 high over 15 m.
    Alert. gate: 1 over 1 h.
    ");
}

/// Makes the reviewer `lee` at a gate that reports claims.
fn as_lee(talk: &mut Talk, claims: Vec<Claim>) {
    talk.session.model.list.sources[0].subject = Some("lee".into());
    let briefing = Briefing { revision: Some(Revision(7)), claims: Some(claims), ..Briefing::default() };
    talk.take(What::Source(Event { source: source(), kind: EventKind::Briefing(briefing) }));
}

/// Takes the claim requests sent so far; true for a release.
fn claims_asked(talk: &mut Talk) -> Vec<(String, bool)> {
    let asked = std::mem::take(&mut talk.others).into_iter().filter_map(|effect| match effect {
        Effect::Claim { key, end } => Some((key.id.as_raw().to_owned(), end)),
        _ => None,
    });
    asked.collect()
}

#[test]
fn claim_asks_the_source_and_reads_its_answer_out() {
    let mut talk = Talk::new(TERMINAL, few(2));
    let claim =
        |by: &str| Claim { id: ActionId::new("1"), by: by.into(), since: Timestamp::from_millis(NOW) };

    assert!(talk.types("claim").contains("keeps no claims"), "{}", talk.heard);
    assert_eq!(claims_asked(&mut talk), []);
    as_lee(&mut talk, Vec::new());
    talk.types("claim");
    assert_eq!(claims_asked(&mut talk), [("1".to_owned(), false)]);
    talk.take(What::Claimed(key("1"), Ok(Some(claim("lee")))));
    assert!(talk.heard.contains("Anyone can still decide"), "{}", talk.heard);
    talk.types("claim");
    assert_eq!(claims_asked(&mut talk), [("1".to_owned(), true)]);
    talk.take(What::Claimed(key("1"), Ok(None)));
    assert!(talk.heard.contains("No longer claimed"), "{}", talk.heard);

    as_lee(&mut talk, vec![claim("kim")]);
    let heard = talk.types("claim");
    assert!(heard.contains("has been on it for <1 min"), "{heard}");
    assert_eq!(claims_asked(&mut talk), []);
}

#[test]
fn snooze_hides_the_action_and_reads_the_next_one_out() {
    let mut talk = Talk::new(TERMINAL, few(2));

    assert!(talk.types("snooze soon").contains("Snooze takes a time"), "{}", talk.heard);
    let heard = talk.types("snooze 1h");
    assert!(heard.contains("1 action snoozed until") && heard.contains("Issue number 2"), "{heard}");
    let kept = |talk: &Talk| {
        let snoozes = talk.saved.iter().filter_map(|write| match write {
            Write::Snooze { key, snooze } => Some((key.id.as_raw().to_owned(), snooze.is_some())),
            _ => None,
        });
        snoozes.collect::<Vec<_>>()
    };
    assert_eq!(kept(&talk), [("1".to_owned(), true)]);
    let heard = talk.types("snooze off");
    assert!(heard.contains("is back"), "{heard}");
    assert_eq!(kept(&talk).last(), Some(&("1".to_owned(), false)));
}

#[test]
fn take_back_needs_an_own_approval() {
    let mut actions = few(2);
    let by = vec!["Lee".into()];
    actions[0].row.approvals = Some(Approvals { needed: 2, by }.into());
    let mut talk = Talk::new(TERMINAL, actions);
    as_lee(&mut talk, Vec::new());
    let asked = |talk: &Talk| {
        talk.others.iter().filter(|effect| matches!(effect, Effect::TakeBackApproval(_))).count()
    };

    talk.types("take-back");
    assert_eq!(asked(&talk), 1);
    talk.take(What::ApprovalTakenBack(key("1"), Ok(())));
    assert!(talk.heard.contains("pproval is taken back"), "{}", talk.heard);
    talk.types("next");
    let heard = talk.types("take-back");
    assert_eq!(asked(&talk), 1, "{heard}");
}
