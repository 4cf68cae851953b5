//! Sheets and forms over the inbox.

use crate::domain::{DecisionKind, Followed, Outcome, Status, Timestamp};
use crate::tui::core::msg::What;
use crate::tui::core::settings::GatePlace;
use crate::tui::testing::{Desk, action, few, key};

use crate::tui::tests::queue::screens::at_work;

fn sheet(desk: &Desk) -> String {
    let screen = desk.without_tabs();
    let lines: Vec<&str> = screen.lines().collect();
    lines.get(2..lines.len() - 3).unwrap_or_default().join("\n")
}

#[test]
fn the_report() {
    let mut desk = at_work(100, 30);
    desk.press("S");
    desk.wait(500);
    desk.press("y");
    desk.reports(|kind| match kind {
        DecisionKind::Approve => Outcome::Approved,
        DecisionKind::ApproveWithEdits => Outcome::Failed { why: "priority: 3 is not one of 0..2".into() },
        _ => Outcome::Skipped { status: Some(Status::Rejected), by: Some("lee".into()) },
    });
    desk.press("gr");

    desk.say(What::Followed(Followed {
        key: key("pa-8841"),
        title: "Refund double-charge INV-8841".into(),
        status: Status::Executed,
        result: None,
        error: None,
        outcome: None,
        at: Timestamp::default(),
    }));

    insta::assert_snapshot!(sheet(&desk), @"
       │ Refund double-charge INV-8841             executed │ creates one issue in Linear
    ▌✎ │ Escalate: EU outage → [now] Escalate: EU out… 32 m │ Escalate: EU outage → [now] Escalate: EU…
       │ 退款申请 世界 [] 客户 needs a long answe… low 31 m │   your edits replace: title (the Diff
     ▾ update_linear_issue  low                 all settled │   tab shows them)
       │ Close stale ticket #1182           rejected by lee │
       │ ┌─ Sent: 3 decisions  14:22 ─────────────────────────────────────────────────────────────┐
     • re│  batch                                     approved  rejected   skipped    failed      │
     ▾ go│  refunds-agent:create_linear_issue                1         0         0         1      │
     • │ │  refunds-agent:update_linear_issue                0         0         1         0      │
     • │ │  all                                              1         0         1         1      │
     • │ │                                                                                        │
         │  ✎ Escalate: EU outage → [now] Escalate: EU …  failed  priority: 3 is not one of 0..2  │
         │  ✗ Close stale ticket #1182                    skipped  rejected by lee                │
         │  ✓ Refund double-charge INV-8841               ran                                     │
         │  1 stays pending                                                                       │
         │                                                                                        │
         │  Enter closes   w writes a file   y copies   o shows the first skipped                 │
         └─ failed decisions stay staged ─────────────────────────────────────────────────────────┘
                                                            │
                                                            │   What approving does
                                                            │     creates one issue in Linear
                                                            │     can be undone by hand: cancel the
                                                            │     issue in Linear
                                                            │
                                                            │
    ");
}

#[test]
fn the_edit_form() {
    let mut desk = at_work(100, 30);

    desk.press("e");

    insta::assert_snapshot!(sheet(&desk), @r#"
     ✓ │ Refund double-charge INV-8841                 44 m │ creates one issue in Linear
    ▌✎ │ Escalate: EU outage → [now] Escalate: EU out… 32 m │ Escalate: EU outage → [now] Escalate: EU…
       │ 退款申请 世界 [] 客户 needs a long answe… low 31 m │   your edits replace: title (the Diff
     ▾┌─ Edit before approving ──────────────────────────────────────────────────────────────────────┐
     ✗│  create_linear_issue   Escalate: EU outage → [now] Escalate: EU outa…                        │
      │    field        proposed                              yours                                  │
     •│  > title        Escalate: EU outage                   [now] Escalate: EU outage *            │
     ▾│    priority     3                                     =                                      │
     •│    team         SUP                                   =                                      │
     •│    labels       ["outage","eu"]                       =                                      │
     •│    assignee     null                                  =                                      │
      │    description  Three enterprise clients … (2 lines)  =                                      │
      │                                                                                              │
      │  title, text                                                Enter: approve with these edits  │
      │  > [now] Escalate: EU outage                                                                 │
      │                                                                                              │
      │  Edits: title                                                                                │
      │  An edited field is sent whole                                                               │
      │  Ctrl-G $EDITOR  Ctrl-R back to proposed  Ctrl-T JSON                                        │
      │  [approve with these edits]  [back to proposed]  [close]                          Tab: next  │
      └─ nothing is sent from here; closing keeps your text ─────────────────────────────────────────┘
                                                            │     can be undone by hand: cancel the
                                                            │     issue in Linear
                                                            │
                                                            │
    "#);
}

#[test]
fn a_hostile_action_in_full() {
    let mut desk = at_work(80, 24);

    desk.press("nnz");

    insta::assert_snapshot!(desk.without_tabs(), @"
    placet  5 to decide   F 3 blocked   1 critical       ● gate   kim@acme   14:22
    refund_payment · CRITICAL · sends money · cannot be undone
    Refund 1.10 EUR to ⟦ESC⟧[2J⟦U+202E⟧yrollam
      ! hidden characters: 1, shown as ⟦…⟧
    │ ! duplicate keys: to; executors differ in which one they take
      ! look twice: control, bidi, duplicate-key

    │ amount    1.10 EUR
    │ currency  EUR
    │ to        ⟦U+202E⟧yrollam
    │ to        alice

      What approving does
        sends money
        cannot be undone






    (tabs) partly read 1-12/12
    staged 1 approve · 1 edit · 1 exclude                                    saved
    x exclude  e edit  s send  u undo  S send all  n next  ] tabs       ? all keys
    ");
}

#[test]
fn nothing_pending() {
    let mut desk = Desk::new(100, 30, Vec::new());
    desk.model.settings.place.gate = Some(GatePlace {
        url: "http://127.0.0.1:7878".to_owned(),
        serving: true,
        agent_token: "/home/kim/.local/state/placet/agent.token".into(),
        database: "/home/kim/.local/state/placet/gate.db".into(),
        other_port: None,
    });

    insta::assert_snapshot!(desk.without_tabs(), @r#"
    placet  0 to decide                                                      ● gate   kim@acme   14:22

       Nothing is pending.

       gate  live

       Propose something from another terminal, and decide it here:
         echo '{"title":"Hello","team":"SUP"}' |
           placet propose create_linear_issue --input -

       Agents propose at http://127.0.0.1:7878 with the token in
       /home/kim/.local/state/placet/agent.token
       Everything is kept in /home/kim/.local/state/placet/gate.db
       Agents cannot propose over HTTP while placet is closed.















    Vd decided  gw watch  : commands  q quit                                                ? all keys
    "#);
}

/// A mail with a list and more fields than a small screen has rows.
fn mail(width: u16, height: u16) -> Desk {
    let input = r#"{"workspace_id":"acme","to":"kim@acme.example","subject":"Your refund","body":"Dear Kim,\nit is on its way.","amount":1.10,"tags":["a","b"],"urgent":false,"cc":null}"#;
    let one = action("1 send_email support low 5", "Your refund", input);
    let mut desk = Desk::new(width, height, vec![one]);
    desk.press("e!");
    desk
}

#[test]
fn the_edit_form_on_a_small_screen() {
    insta::assert_snapshot!(mail(80, 24).without_tabs(), @r#"
     placet  1 to decide   F 1 blocked                    ● gate   kim@acme   14:22
    ▌ ┌─ Edit before approving ──────────────────────────────────────────────────┐w
      │  send_email   Your refund                                                │
      │    field         proposed                   yours                        │
      │    workspace_id  acme                       = locked                     │
      │    to            kim@acme.example           =                            │
      │  > subject       Your refund                Your refund! *               │
      │    body          Dear Kim, (2 lines)        =                            │
      │    amount        1.10                       =                            │
      │    tags          ["a","b"]                  =                            │
      │    urgent        false                      =                            │
      │    cc            null                       =                            │
    ──│                                                                          │──
    │ │  subject, text                          Enter: approve with these edits  │
    │ │  > Your refund!                                                          │
    │ │                                                                          │
    │ │  Edits: subject                                                          │
    │ │  An edited field is sent whole                                           │
    │ │  Ctrl-G $EDITOR  Ctrl-R back to proposed  Ctrl-T JSON                    │
    │ │  [approve with these edits]  [back to proposed]  [close]      Tab: next  │
    │ └─ nothing is sent from here; closing keeps your text ─────────────────────┘
    │ tags          ["a","b"]

     Esc back
    "#);
}

#[test]
fn the_edit_form_on_a_middle_screen_with_a_list() {
    let mut desk = mail(100, 30);
    desk.press("<Tab><Tab><Tab> ");
    insta::assert_snapshot!(desk.without_tabs(), @r#"
     placet  1 to decide   F 1 blocked                                        ● gate   kim@acme   14:22
    ▌• send_email │ Your refund                         low │ send_email · low
                                                            │ sends one mail · cannot be undone
      ┌─ Edit before approving ──────────────────────────────────────────────────────────────────────┐
      │  send_email   Your refund                                                                    │
      │    field         proposed                             yours                                  │
      │    workspace_id  acme                                 = locked                               │
      │    to            kim@acme.example                     =                                      │
      │    subject       Your refund                          Your refund! *                         │
      │    body          Dear Kim, (2 lines)                  =                                      │
      │    amount        1.10                                 =                                      │
      │  > tags          ["a","b"]                            ["b"] *                                │
      │    urgent        false                                =                                      │
      │    cc            null                                 =                                      │
      │                                                                                              │
      │  tags, a list, sent whole                                   Enter: approve with these edits  │
      │  > drop  1  a                                      Space drops or restores   Right: as JSON  │
      │    keep  2  b                                                                                │
      │                                                                                              │
      │  Edits: subject, tags                                                                        │
      │  An edited field is sent whole                                                               │
      │  Ctrl-G $EDITOR  Ctrl-R back to proposed  Ctrl-T JSON                                        │
      │  [approve with these edits]  [back to proposed]  [close]                          Tab: next  │
      └─ nothing is sent from here; closing keeps your text ─────────────────────────────────────────┘
                                                            │
                                                            │
                                                            │
                                                            │ (tabs)

     Esc back
    "#);
}

#[test]
fn the_edit_form_on_a_large_screen_with_a_text() {
    let mut desk = mail(160, 45);
    desk.press("<Tab>");
    insta::assert_snapshot!(desk.without_tabs(), @r#"
    placet  1 to decide   F 1 blocked                                                                                                    ● gate   kim@acme   14:22
    All                    1 │▌  send_email │ Your refund                                           low │ send_email · low · sends one mail · cannot be undone
                             │                                                                          │
                             │                                                                          │ Your refund
                             │                                                                          │ │ to            kim@acme.example
                             │                                                                          │ │ cc            null
                             │                                                                          │ │ subject       Your refund
                             │                                                                          │ │ Text (body)
                             │                                                                          │ │   Dear Kim,
                             │                                                                          │ │   it is on its way.
                             │                                                                          │ │ workspace_id  acme
                       ┌─ Edit before approving ──────────────────────────────────────────────────────────────────────────────────────────────┐
                       │  send_email   Your refund                                                                                            │
                       │    field         proposed                                         yours                                              │
                       │    workspace_id  acme                                             = locked                                           │
                       │    to            kim@acme.example                                 =                                                  │
                       │    subject       Your refund                                      Your refund! *                                     │
                       │  > body          Dear Kim, (2 lines)                              =                                                  │
                       │    amount        1.10                                             =                                                  │
                       │    tags          ["a","b"]                                        =                                                  │
                       │    urgent        false                                            =                                                  │
                       │    cc            null                                             =                                                  │
                       │                                                                                                                      │
                       │  body, text                                                                                         Enter: new line  │
                       │  > Dear Kim,                                                                                                         │
                       │    it is on its way.                                                                                                 │
                       │                                                                                                                      │
                       │  Edits: subject                                                                                                      │
                       │  An edited field is sent whole                                                                                       │
                       │  Ctrl-G $EDITOR  Ctrl-R back to proposed  Ctrl-T JSON                                                                │
                       │  [approve with these edits]  [back to proposed]  [close]                                                  Tab: next  │
                       └─ nothing is sent from here; closing keeps your text ─────────────────────────────────────────────────────────────────┘
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │ (tabs) read 1-14/14

    Esc back
    "#);
}

#[test]
fn the_edit_form_on_the_smallest_screen() {
    insta::assert_snapshot!(mail(40, 10).without_tabs(), @"
     p┌─ Edit before approving ──────────┐2
    ▌•│> subject     Your re…  Your re… *│w
      │  body         (2 lines)=         │
      │> Your refund!                    │
      │Edits: subject                    │
      │[approve with these edits]  [back…│
     s└─ nothing is sent from here; clo…─┘
     sends one mail · cannot be undone

     Esc back
    ");
}

#[test]
fn long_title_leaves_room_for_the_show_key() {
    let long = format!("{} and of everything that came after it", "Comment on the oldest ticket ".repeat(2));
    let mut desk =
        Desk::new(80, 24, vec![action("1 post_comment agent low 1", &long, "{}"), few(2).remove(1)]);
    desk.press("*aS");
    assert!(desk.screen().contains("(o shows)"), "{}", desk.screen());
}

#[test]
fn review_of_a_batch_names_what_is_staged_elsewhere() {
    let other = action("9 post_comment writer low 1", "Comment on a ticket", "{}");
    let mut desk = Desk::new(100, 30, vec![other, few(1).remove(0), few(2).remove(1)]);
    desk.press("*x<Esc>ggjs");
    assert!(desk.screen().contains("1 more staged in other batches · S all"), "{}", desk.screen());

    desk.press("S");

    let screen = desk.screen();
    assert!(screen.contains("post_comment") && screen.contains("Issue number 2"), "{screen}");
    assert!(!screen.contains("staged in other batches"), "{screen}");
}
