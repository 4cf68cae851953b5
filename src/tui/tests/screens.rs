//! Whole screens, at the sizes of the design.

use ratatui::buffer::Buffer;
use ratatui::layout::Size;

use crate::domain::{PendingAction, Status};
use crate::rounds::rounds;
use crate::tui::core::msg::What;
use crate::tui::testing::{Desk, action, decided};

/// A morning's queue: four tools, three agents, all risks, and titles that would like to be something else.
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

/// Some of it decided: approved, edited, excluded, and one settled by somebody else.
pub(crate) fn at_work(width: u16, height: u16) -> Desk {
    let mut desk = Desk::new(width, height, queue());
    desk.press("ae<C-t><Down>");
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
 placet   gate   pending 8   undecided 5   staged 3 (a1 e1 x1)                                                                         as kim@acme  LIVE  14:22
                                                                                                                                                     oldest 44m
┌─ Queues ───────────────────┐┌─ Queue ─────────────────────────────────────────────────────────────────┐┌─ Preview ───────────────────────────────────────────┐
│ gate                     8 ││  v create_linear_issue  refunds-agent                  1 of 3 undecided ││ create_linear_issue · medium                        │
│ agents blocked           3 ││   A    Refund double-charge INV-8841                        med     44m ││ creates one issue in Linear                         │
│                            ││>  E    Escalate: EU outage → [now] Escalate: EU outa…       med     32m ││ read   refunds-agent   32m old                      │
│ Risk                       ││   .    退款申请 世界 [] 客户 needs a long answer in the ti… low     31m ││ (tabs)                                              │
│   critical     1  ###      ││  v update_linear_issue  refunds-agent                        all staged ││ id pa-3f9c                                          │
│   high         2  ######   ││   X    Close stale ticket #1182                             low     30m ││  your edits replace: title (the Diff tab shows them)│
│   medium       3  ######## ││   ~    Reopen LIN-399                                 rejected by maria ││                                                     │
│   low          2  ######   ││  . !*#Refund 1.10 EUR to ⟦ESC⟧[2J…    refund_payment        CRIT    28m │││ title        Escalate: EU outage                   │
│                            ││  v google_drive_write  drive-sync                      3 of 3 undecided │││ team         SUP                                   │
│ Age                        ││   .  * Overwrite Q3 plan.docx                               med     22m │││ priority     3                                     │
│   < 15 m       2  ###      ││   . !* Create Meeting notes 11-20                           spi…    12m │││ assignee     null                                  │
│   15-60 m      6  ######## ││   . !* Create Meeting notes 11-20                           spi…    12m │││ labels       ["outage","eu"]                       │
│   1-4 h        0           ││                                                                         │││ description                                        │
│   > 4 h        0           ││                                                                         │││   Three enterprise clients in eu-west-1 report     │
│                            ││                                                                         │││   502s since 13:40 UTC.                            │
│ Staged                     ││                                                                         │││   Attached: status page link, 2 transcripts.       │
│   approve      1  ######## ││                                                                         ││                                                     │
│   edit         1  ######## ││                                                                         ││  Hidden characters: none.  225 bytes                │
│   exclude      1  ######## ││                                                                         ││                                                     │
│                            ││                                                                         ││  What approving does                                │
│                            ││                                                                         ││    creates one issue in Linear                      │
│                            ││                                                                         ││    can be undone by hand: cancel the issue in Linear│
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
└────────────────────────────┘└─ row 3 of 12 ───────────────────────────────────────────────────────────┘└─ J/K scroll   1-17 of 17 ───────────────────────────┘
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 STAGED  1 approve  1 approve+edit  1 exclude   saved 14:22:38                                                                             unopened approvals 0

 a approve  x exclude  e edit  u undo  Space mark  n next  s submit...  S all...  / filter  ] tabs  z zoom  q quit                                       ? help
"#);
}

#[test]
fn two_panes() {
    let mut desk = at_work(100, 30);

    desk.press("d");

    insta::assert_snapshot!(desk.without_tabs(), @r"
 placet   gate   pending 8   undecided 5   staged 3 (a1 e1 x1)             as kim@acme  LIVE  14:22
                                                       blocked until decided: 3 agents   oldest 44m
┌─ Queue ────────────────────────────────────┐┌─ Preview ──────────────────────────────────────────┐
│  v create_linear_issue  refunds-agent  1/3 ││ create_linear_issue · medium                       │
│   A    Refund double-charge INV-88…    44m ││ creates one issue in Linear                        │
│>  E    Escalate: EU outage → [now]…    32m ││ read   refunds-agent   32m old                     │
│   .    退款申请 世界 [] 客户 needs…    31m ││ (tabs)                                             │
│  v update_linear_issue  refunds-agent  0/1 ││ id pa-3f9c                                         │
│   X    Close stale ticket #1182        30m │││ title                                             │
│   ~    Reopen LIN-399    rejected by maria │││ -   Escalate: EU outage                           │
│  . !*#Refund 1.10 EUR to ⟦ESC⟧[2J…     28m │││ +   [now] Escalate: EU outage                     │
│  v google_drive_write  drive-sync      3/3 ││                                                    │
│   .  * Overwrite Q3 plan.docx          22m ││  5 other keys stay as proposed; a changed key is   │
│   . !* Create Meeting notes 11-20      12m ││  replaced as a whole                               │
│   . !* Create Meeting notes 11-20      12m ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
└─ row 3 of 12 ──────────────────────────────┘└─ J/K scroll   1-6 of 6 ────────────────────────────┘
────────────────────────────────────────────────────────────────────────────────────────────────────
 STAGED  1 approve  1 approve+edit  1 exclude   saved 14:22:38                 unopened approvals 0

 a approve  x exclude  e edit  u undo  Space mark  n next  s submit...  S all...  / filter   ? help
");
}

#[test]
fn list_above_preview() {
    let mut desk = at_work(80, 24);

    desk.press("nn");

    insta::assert_snapshot!(desk.without_tabs(), @r"
 placet  8 pending  5 undecided  3 staged         as kim@acme  LIVE  oldest 44m
────────────────────────────────────────────────────────────────────────────────
  v create_linear_issue  refunds-agent                         1 of 3 undecided
   A    Refund double-charge INV-8841                               med     44m
   E    Escalate: EU outage → [now] Escalate: EU outa…              med     32m
   .    退款申请 世界 [] 客户 needs a long answer in the ticket to… low     31m
  v update_linear_issue  refunds-agent                               all staged
   X    Close stale ticket #1182                                    low     30m
   ~    Reopen LIN-399                                        rejected by maria
> . !*#Refund 1.10 EUR to ⟦ESC⟧[2J⟦U+202E⟧yr… refund_payment        CRIT    28m
  v google_drive_write  drive-sync                             3 of 3 undecided
   .  * Overwrite Q3 plan.docx                                      med     22m
── (tabs) pa-0214 1-6 of 14
refund_payment · CRITICAL · sends money back to a customer · cannot be undone
  ! hidden characters: 1, shown as ⟦…⟧
│ ! duplicate keys: to; executors differ in which one they take
  ! look twice: control, bidi, duplicate-key

│ amount    1.10 EUR
│ currency  EUR
────────────────────────────────────────────────────────────────────────────────
 STAGED a1 e1 x1   saved 14:22:38                          unopened approvals 0

 a approve  x exclude  e edit  u undo  Space mark  n next  s submit...   ? help
");
}

#[test]
fn the_smallest_list() {
    insta::assert_snapshot!(at_work(40, 10).without_tabs(), @r"
 placet  8 pending     LIVE  oldest 44m
  v create_linear_issue  refunds-a… 1/3
   A  * Refund double-charge IN…    44m
>  E  * Escalate: EU outage → […    32m
   .  * 退款申请 世界 [] 客户 n…    31m
  v update_linear_issue  refunds-a… 0/1
create_linear_issue · medium
creates one issue in Linear
 STAGED a1 e1 x1   saved 14:22:38
 a approve  x exclude  e edit    ? help
");
}

#[test]
fn too_small_for_a_list() {
    insta::assert_snapshot!(at_work(30, 7).without_tabs(), @r"
8 pending
8 undecided
0 staged
3 high-risk
LIVE
too small to decide:
enlarge to 40x10
");
}

/// What a text snapshot cannot see: the cursor's row is reversed, a token inside it stands out.
#[test]
fn the_cursor_and_hidden_characters_can_be_seen() {
    let mut desk = at_work(80, 24);
    desk.press("nn");
    let buffer = desk.buffer();
    let row = (0..24).find(|y| buffer[(0, *y)].symbol() == "▌").unwrap();

    insta::assert_snapshot!(styled(&buffer, row), @r"
[>] Reset BOLD | REVERSED
[ ] Cyan BOLD | REVERSED
[.] Reset DIM | REVERSED
[ ] Reset REVERSED
[!] Yellow BOLD | REVERSED
[*] Cyan REVERSED
[#] Yellow BOLD | REVERSED
[Refund 1.10 EUR to ] Reset REVERSED
[⟦ESC⟧] Magenta BOLD | REVERSED
[[2J] Reset REVERSED
[⟦U+202E⟧] Magenta BOLD | REVERSED
[yr… ] Reset REVERSED
[refund_payment] Reset DIM | REVERSED
[        ] Reset REVERSED
[CRIT] Red BOLD | REVERSED
[    28m ] Reset REVERSED
");
}

/// One line a run of equal style.
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
    // The short form draws one sheet in three at each size, in turn.
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
