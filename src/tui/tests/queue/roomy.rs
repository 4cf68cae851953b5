//! Large screens: Context next to the preview, and two lines per action.

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Size;

use crate::config::Density;
use crate::domain::PendingAction;
use crate::inbox::Question;
use crate::tui::core::msg::{Effect, What};
use crate::tui::testing::{Desk, action, key};

fn with_summaries() -> Vec<PendingAction> {
    let one = |nth: usize, summary: Option<&str>| {
        let mut action =
            action(&format!("{nth} send_email mailer low {nth}"), &format!("Mail {nth}"), r#"{"to":"ada"}"#);
        action.summary = summary.map(Into::into);
        action
    };
    vec![one(1, Some("Ada asked for it.\nTwice.")), one(2, None), one(3, Some("So that \u{202e}she knows"))]
}

fn click(desk: &mut Desk, row: u16) {
    desk.model.screen.window.mouse = true;
    let kind = MouseEventKind::Down(MouseButton::Left);
    desk.say(What::Mouse(MouseEvent { kind, column: 20, row, modifiers: KeyModifiers::NONE }));
}

fn comfortable(width: u16, height: u16) -> Desk {
    let mut desk = Desk::new(width, height, with_summaries());
    desk.model.settings.density = Density::Comfortable;
    desk.press("jk");
    desk
}

#[test]
fn context_pane_appears_from_200_columns() {
    let desk = Desk::new(200, 20, with_summaries());
    insta::assert_snapshot!(desk.screen(), @"
    placet  3 to decide   F 1 blocked                                                                                                                                            ● gate   kim@acme   14:22
    All                    3 │ ▾ send_email  low  mailer                                   3 left │ send_email · low                                    │   Context
                             │▌• │ Mail 3                                                ! hidden │ sends one mail · cannot be undone                   │
                             │ • │ Mail 2                                                         │ Mail 3                                              │ │ id          3
                             │ • │ Mail 1                                                         │   ! look twice: bidi                                │ │ source      gate
                             │                                                                    │                                                     │ │ tool        send_email
                             │                                                                    │ │ to  ada                                           │ │ batch       mailer:send_email
                             │                                                                    │                                                     │ │ workspace   acme
                             │                                                                    │   What approving does                               │ │ agent       mailer
                             │                                                                    │     sends one mail                                  │ │ risk        low
                             │                                                                    │     cannot be undone                                │ │ status      pending
                             │                                                                    │                                                     │   created     2026-11-21 14:19:31 UTC
                             │                                                                    │   Agent's note (not executed)                       │   size        12 bytes
                             │                                                                    │ │   So that ⟦U+202E⟧she knows                       │   digest      sha256:a1e1cf235bbb94f114080c340de
                             │                                                                    │                                                     │               df1e9f8f75f1a8a968bfa2219dc718f75e
                             │                                                                    │                                                     │               b7c
                             │                                                                    │                                                     │
                             │                                                                    │ [Rendered]  ] tabs                 unread   1-10/10 │   Agent's note (not executed)    +1: Context tab

    x exclude  e edit  Space mark  / filter  n next  ] tabs  z zoom  q quit                                                                                                                     ? all keys
    ");
    let asked = |desk: &Desk| {
        let context = |it: &&Effect| matches!(it, Effect::Ask { asked: (_, Question::Context), .. });
        desk.effects.iter().filter(context).count()
    };
    assert_eq!(asked(&desk), 1, "the context is requested");

    let mut desk = Desk::new(199, 20, with_summaries());
    assert_eq!(asked(&desk), 0);
    assert!(desk.model.layout().context.is_empty());
    desk.model.screen.size = Size::new(200, 20);
    assert!(!desk.model.layout().context.is_empty());
    desk.press("]]]");
    assert!(desk.model.layout().context.is_empty(), "the tab replaces the pane");
}

#[test]
fn second_line_shows_the_summary() {
    let mut desk = comfortable(100, 20);
    insta::assert_snapshot!(desk.screen(), @"
     placet  3 to decide   F 1 blocked                                        ● gate   kim@acme   14:22
     ▾ send_email  low  mailer                       3 left │ send_email · low
    ▌  │ Mail 3                                    ! hidden │ sends one mail · cannot be undone
    ▌  │ So that ⟦U+202E⟧she knows                          │ Mail 3
       │ Mail 2                                             │   ! look twice: bidi
       │ from mailer                                        │
     • │ Mail 1                                             │ │ to  ada
       │ Ada asked for it.⟦LF⟧Twice.                        │
                                                            │   What approving does
                                                            │     sends one mail
                                                            │     cannot be undone
                                                            │
                                                            │   Agent's note (not executed)
                                                            │ │   So that ⟦U+202E⟧she knows
                                                            │
                                                            │
                                                            │
                                                            │ [Rendered]  ] tabs         read   1-10/10

     a approve  x exclude  e edit  Space mark  / filter  n next  ] tabs  z zoom              ? all keys
    ");

    desk.press("j");
    assert_eq!((desk.here().as_str(), desk.cursor()), ("2", Some((0, 4))));
    desk.press("k");
    click(&mut desk, 6);
    assert_eq!(desk.here(), "1", "its first line");
    click(&mut desk, 5);
    assert_eq!(desk.here(), "2", "its second line");
    click(&mut desk, 9);
    assert_eq!(desk.here(), "2", "below the last");
}

#[test]
fn two_line_row_under_the_cursor_is_fully_visible() {
    for height in 12..20 {
        let mut desk = comfortable(80, height);
        for keys in ["j", "j", "j", "k", "k", "k", "G", "gg"] {
            desk.press(keys);
            let rows = desk.model.layout().rows;
            let placed: Vec<_> = desk.model.queue.placed(rows.height, Density::Comfortable).collect();
            let here = placed.iter().find(|placed| placed.at == desk.model.queue.at);
            let here = here.unwrap_or_else(|| panic!("{height}: {keys}\n{}", desk.screen()));
            assert!(here.row + here.height <= rows.height, "{height}: {keys}\n{}", desk.screen());
        }
    }
}

#[test]
fn visible_rows_are_loaded_for_their_summary_unless_long() {
    let mut actions = with_summaries();
    // Far enough from the cursor not to be prefetched as a neighbour.
    actions.push(action("0 send_email mailer low 0", "Mail 0", r#"{"to":"ada"}"#));
    actions[3].row.size = 1 << 20;
    let mut desk = Desk::new(100, 20, Vec::new());
    desk.model.settings.density = Density::Comfortable;
    desk.answers = false;
    desk.lists(actions);
    desk.press("jk");
    let asked = desk.effects.iter().filter_map(|it| match it {
        Effect::Load(keys) => Some(keys.clone()),
        _ => None,
    });
    let asked: Vec<_> = asked.flatten().collect();
    assert_eq!(asked, ["3", "2", "1"].map(key));
}
