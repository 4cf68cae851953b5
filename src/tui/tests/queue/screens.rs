//! Whole screens at the sizes of the design.

use ratatui::buffer::Buffer;
use ratatui::layout::Size;

use crate::domain::{PendingAction, Status};
use crate::rounds::rounds;
use crate::tui::core::msg::What;
use crate::tui::testing::{Desk, action, decided};

/// A morning's queue: four tools, three agents, all risks, and hostile titles.
pub(crate) fn queue() -> Vec<PendingAction> {
    let outage = "Three enterprise clients in eu-west-1 report 502s since 13:40 UTC.\\nAttached: status page link, 2 transcripts.";
    let outage = format!(
        r#"{{"title":"Escalate: EU outage","priority":3,"team":"SUP","labels":["outage","eu"],"assignee":null,"description":"{outage}"}}"#
    );
    vec![
        action(
            "pa-8841 create_linear_issue refunds-agent medium 44",
            "Refund double-charge INV-8841",
            r#"{"title":"Refund double-charge INV-8841","team":"SUP"}"#,
        ),
        action("pa-3f9c create_linear_issue refunds-agent medium 32", "Escalate: EU outage", &outage),
        action(
            "pa-77aa create_linear_issue refunds-agent low 31",
            "退款申请 世界 👩‍💻 客户 needs a long answer in the ticket today",
            r#"{"title":"退款申请 世界 👩‍💻"}"#,
        ),
        action(
            "pa-1182 update_linear_issue refunds-agent low 30",
            "Close stale ticket #1182",
            r#"{"id":"1182","state":"closed"}"#,
        ),
        action(
            "pa-1183 update_linear_issue refunds-agent low 29",
            "Reopen LIN-399",
            r#"{"id":"399","state":"open"}"#,
        ),
        action(
            "pa-0214 refund_payment billing-agent critical 28",
            "Refund 1.10 EUR to \u{1b}[2J\u{202e}yrollam",
            r#"{"amount":1.10,"currency":"EUR","to":"\u202eyrollam","t\u006f":"alice"}"#,
        ),
        action(
            "pa-0090 google_drive_write drive-sync medium 22",
            "Overwrite Q3 plan.docx",
            r#"{"path":"Q3 plan.docx","content":"x"}"#,
        ),
        action(
            "pa-0091 google_drive_write drive-sync spicy 12",
            "Create Meeting notes 11-20",
            r#"{"path":"Meeting notes 11-20.docx","content":"y"}"#,
        ),
    ]
}

/// The queue, partly decided: approved, edited, excluded, and one settled by another reviewer.
pub(crate) fn at_work(width: u16, height: u16) -> Desk {
    let mut desk = Desk::new(width, height, queue());
    desk.press("a");
    for _ in 0..4 {
        desk.slowly("<PageDown>");
    }
    desk.press("e<C-t><Down>");
    for _ in 0..12 {
        desk.press("<Right>");
    }
    desk.say(What::Paste("[now] ".to_owned()));
    desk.press("<Tab><Enter>jjx");
    desk.changes(vec![decided(queue().remove(4), Status::Rejected, "maria")]);
    let mut late = queue().remove(7);
    late.row.id = crate::domain::ActionId::new("pa-0092");
    desk.changes(vec![late]);
    desk.press("ggjj");
    desk
}

#[test]
fn three_panes() {
    let desk = at_work(160, 45);

    insta::assert_snapshot!(desk.without_tabs(), @r#"
    placet  5 to decide   F 3 blocked   1 critical                                                                                       ● gate   kim@acme   14:22
    All                    8 │ ▾ create_linear_issue  med  refunds-agent                         1 left │ create_linear_issue · medium
                             │ ✓ │ Refund double-charge INV-8841                                   44 m │ creates one issue in Linear
    Agents                   │▌✎ │ Escalate: EU outage → [now] Escalate: EU outa…                  32 m │ Escalate: EU outage → [now] Escalate: EU outa…
    billing-agent          1 │   │ 退款申请 世界 [] 客户 needs a long answer in the ticket to… low 31 m │   your edits replace: title (the Diff tab shows them)
    drive-sync             3 │ ▾ update_linear_issue  low  refunds-agent                    all decided │
    refunds-agent          4 │ ✗ │ Close stale ticket #1182                                        30 m │ │ title
                             │   │ Reopen LIN-399                                     rejected by maria │ │   Escalate: EU outage →
    Tools                    │ • refund_payment │ Refund 1.10 EUR to ⟦ESC⟧[2J⟦U+202E⟧yro… CRIT ! hidden │ │   [now] Escalate: EU outage
    create_linear_issue    3 │ ▾ google_drive_write  spicy  drive-sync                           3 left │ │ team         SUP
    google_drive_write     3 │ • │ Overwrite Q3 plan.docx                                      med 22 m │ │ priority     3
    refund_payment         1 │ • │ Create Meeting notes 11-20                         ▲ same as another │ │ assignee     null
    update_linear_issue    1 │ • │ Create Meeting notes 11-20                         ▲ same as another │ │ labels       ["outage","eu"]
                             │                                                                          │ │ description
                             │                                                                          │ │   Three enterprise clients in eu-west-1 report 502s
                             │                                                                          │ │   since 13:40 UTC.
                             │                                                                          │ │   Attached: status page link, 2 transcripts.
                             │                                                                          │
                             │                                                                          │   What approving does
                             │                                                                          │     creates one issue in Linear
                             │                                                                          │     can be undone by hand: cancel the issue in Linear
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
                             │                                                                          │
                             │                                                                          │ (tabs) read 1-17/17
    staged 1 approve · 1 edit · 1 exclude                                                                                                                    saved
    a approve  x exclude  e edit  Space mark  s send  / filter  u undo  S send all                                                                      ? all keys
    "#);
}

#[test]
fn two_panes() {
    let mut desk = at_work(100, 30);

    desk.press("d");

    insta::assert_snapshot!(desk.without_tabs(), @"
     placet  5 to decide   F 3 blocked   1 critical                           ● gate   kim@acme   14:22
     ▾ create_linear_issue  med  refunds-agent       1 left │ create_linear_issue · medium
     ✓ │ Refund double-charge INV-8841                 44 m │ creates one issue in Linear
    ▌✎ │ Escalate: EU outage → [now] Escalate: EU out… 32 m │ Escalate: EU outage → [now] Escalate: EU…
       │ 退款申请 世界 [] 客户 needs a long answe… low 31 m │ │ title
     ▾ update_linear_issue  low                 all decided │ │ -   Escalate: EU outage
     ✗ │ Close stale ticket #1182                      30 m │ │ +   [now] Escalate: EU outage
       │ Reopen LIN-399                   rejected by maria │
     • refund_payment │ Refund 1.10 EUR to …  CRIT ! hidden │   5 other fields unchanged
     ▾ google_drive_write  spicy  drive-sync         3 left │
     • │ Overwrite Q3 plan.docx                    med 22 m │   The agent did not report the state
     • │ Create Meeting notes 11-20       ▲ same as another │   before.
     • │ Create Meeting notes 11-20       ▲ same as another │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │ [Diff 1]  ] tabs             read   1-8/8
     staged 1 approve · 1 edit · 1 exclude                                                        saved
     a approve  x exclude  e edit  Space mark  s send  / filter  u undo  S send all          ? all keys
    ");
}

#[test]
fn list_above_preview() {
    let mut desk = at_work(80, 24);

    desk.press("nn");

    insta::assert_snapshot!(desk.without_tabs(), @"
     placet  5 to decide   F 3 blocked   1 critical       ● gate   kim@acme   14:22
     ▾ create_linear_issue  med  refunds-agent                               1 left
     ✓ │ Refund double-charge INV-8841                                         44 m
     ✎ │ Escalate: EU outage → [now] Escalate: EU outa…                        32 m
       │ 退款申请 世界 [] 客户 needs a long answer in the ticket today     low 31 m
     ▾ update_linear_issue  low  refunds-agent                          all decided
     ✗ │ Close stale ticket #1182                                              30 m
       │ Reopen LIN-399                                           rejected by maria
    ▌• refund_payment │ Refund 1.10 EUR to ⟦ESC⟧[2J⟦U+202E⟧yrollam    CRIT ! hidden
     ▾ google_drive_write  spicy  drive-sync                                 3 left
     • │ Overwrite Q3 plan.docx                                            med 22 m
     • │ Create Meeting notes 11-20                               ▲ same as another
    ── refund_payment · CRITICAL · sends money · cannot be undone ──────── 1-9/12 ──
      ! hidden characters: 1, shown as ⟦…⟧
    │ ! duplicate keys: to; executors differ in which one they take
      ! look twice: control, bidi, duplicate-key

    │ amount    1.10 EUR
    │ currency  EUR
    │ to        ⟦U+202E⟧yrollam
    │ to        alice

     staged 1 approve · 1 edit · 1 exclude                                    saved
     x exclude  e edit  Space mark  s send  / filter  u undo             ? all keys
    ");
}

#[test]
fn the_smallest_list() {
    insta::assert_snapshot!(at_work(40, 10).without_tabs(), @"
     placet  5 to decide     ● gate   14:22
     ▾ create_linear_issue  med      1 left
     ✓ │ Refund double-cha… approved unread
    ▌✎ │ Escalate: EU outa… approved unread
     • │ 退款申请 世界 [] 客户 ne… low 31 m
     ▾ update_linear_issue  …   all decided
     create_linear_issue · medium
     creates one issue in Linear
     staged 1 approve · 1 edit · 1 ex…saved
     a approve  x exclude        ? all keys
    ");
}

#[test]
fn too_small_for_a_list() {
    insta::assert_snapshot!(at_work(30, 7).without_tabs(), @"
    8 pending
    8 undecided
    0 staged
    2 high-risk, 1 critical
    LIVE
    too small to decide:
    enlarge to 40x10
    ");
}

#[test]
fn cursor_row_and_hidden_characters_are_styled() {
    let mut desk = at_work(80, 24);
    desk.press("nn");
    let buffer = desk.buffer();
    let row = (0..24).find(|y| buffer[(0, *y)].symbol() == "▌").unwrap();

    insta::assert_snapshot!(styled(&buffer, row), @"
    [▌•] Reset REVERSED
    [ ] Reset BOLD | REVERSED
    [refund_payment │ ] Reset REVERSED
    [Refund 1.10 EUR to ⟦ESC⟧[2J⟦U+202E⟧yrollam] Reset BOLD | REVERSED
    [    ] Reset REVERSED
    [CRIT] Reset BOLD | REVERSED
    [ ! hidden ] Reset REVERSED
    ");
}

fn styled(buffer: &Buffer, y: u16) -> String {
    let mut runs: Vec<(String, String)> = Vec::new();
    for x in 0..buffer.area.width {
        let cell = &buffer[(x, y)];
        let style = format!("{:?} {:?}", cell.fg, cell.modifier);
        match runs.last_mut() {
            Some((text, last)) if *last == style => text.push_str(cell.symbol()),
            _ => runs.push((cell.symbol().to_owned(), style)),
        }
    }
    runs.iter().map(|(text, style)| format!("[{text}] {style}")).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_size_and_every_sheet_can_be_drawn() {
    // The short form draws a third of the sheets at each size, in turn.
    let (mut nth, every) = (0, rounds(3, 1));
    let mut desk = at_work(160, 45);
    for keys in ["", "z", "<Esc>?", "<Esc>S", "<Esc>e", "<Esc>X", "<Esc>q", "<Esc>h"] {
        desk.press(keys);
        nth += 1;
        for width in (1..=200).step_by(23).chain([39, 40, 89, 90, 139, 140]) {
            for height in (1..=60).step_by(11).chain([9, 10, 15, 16, 23, 24, 27, 28]) {
                nth += 1;
                if nth % every != 0 {
                    continue;
                }
                desk.model.screen.size = Size::new(width, height);
                desk.say(What::Resize(width, height));
                desk.drawn();
                assert_eq!(desk.buffer().area.width, width, "{keys:?} at {width}x{height}");
            }
        }
        desk.say(What::Resize(160, 45));
    }
}
