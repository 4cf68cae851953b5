//! A paused gate.

use crate::domain::{Briefing, Followed, Revision, Status, Timestamp};
use crate::inbox::{Event, EventKind};
use crate::tui::core::msg::{Effect, What};
use crate::tui::core::settings::GatePlace;
use crate::tui::testing::{Desk, NOW, decided, few, key, source};

fn briefed(desk: &mut Desk, paused: Option<i64>) {
    let briefing = Briefing {
        revision: Some(Revision(7)),
        paused: paused.map(Timestamp::from_millis),
        ..Briefing::default()
    };
    desk.say(What::Source(Event { source: source(), kind: EventKind::Briefing(briefing) }));
}

fn followed(id: &str, status: Status) -> What {
    let (key, title) = (key(id), format!("Issue number {id}").as_str().into());
    What::Followed(Followed {
        key,
        title,
        status,
        result: None,
        error: None,
        outcome: None,
        at: Timestamp::default(),
    })
}

#[test]
fn header_says_paused_until_the_gate_resumes() {
    let mut said = Vec::new();
    for (width, height) in [(80, 24), (100, 30), (160, 45)] {
        let mut desk = Desk::new(width, height, few(3));
        desk.effects.clear();
        desk.model.screen.dirty = false;

        briefed(&mut desk, Some(NOW - 3_600_000));

        said.push(desk.header());
        assert!(desk.model.screen.dirty, "it is drawn");
        assert!(
            !desk.effects.iter().any(|effect| matches!(effect, Effect::Sync { .. })),
            "nothing else changed"
        );
        briefed(&mut desk, Some(NOW - 86_400_000));
        said.push(desk.header());
        briefed(&mut desk, None);
        said.push(desk.header());
    }
    insta::assert_snapshot!(said.join("\n"), @"
    placet  PAUSED since 13:22   3 to decide             ● gate   kim@acme   14:22
    placet  PAUSED since Nov 20 14:22   3 to decide      ● gate   kim@acme   14:22
    placet  3 to decide   F 1 blocked                    ● gate   kim@acme   14:22
    placet  PAUSED since 13:22   3 to decide   F 1 blocked                   ● gate   kim@acme   14:22
    placet  PAUSED since Nov 20 14:22   3 to decide   F 1 blocked            ● gate   kim@acme   14:22
    placet  3 to decide   F 1 blocked                                        ● gate   kim@acme   14:22
    placet  PAUSED since 13:22   3 to decide   F 1 blocked                                                                               ● gate   kim@acme   14:22
    placet  PAUSED since Nov 20 14:22   3 to decide   F 1 blocked                                                                        ● gate   kim@acme   14:22
    placet  3 to decide   F 1 blocked                                                                                                    ● gate   kim@acme   14:22
    ");
    let mut desk = Desk::new(50, 20, few(3));
    briefed(&mut desk, Some(NOW));
    insta::assert_snapshot!(desk.header(), @" placet  PAUSED   3 to decide      ● gate   14:22");
}

#[test]
fn approved_actions_wait_while_the_gate_is_paused() {
    let mut desk = Desk::new(100, 30, few(2));
    briefed(&mut desk, Some(NOW));
    desk.press("aas");
    desk.wait(500);
    desk.press("y");
    desk.accepts();

    insta::assert_snapshot!(desk.status_line(), @" 2 approved · 0 rejected · 0 skipped   PAUSED: nothing runs until someone resumes   gr report");
    desk.press("gr");
    insta::assert_snapshot!(desk.sheet_line(6), @"  PAUSED: 2 wait until someone resumes the gate");
    desk.say(followed("1", Status::Executed));
    insta::assert_snapshot!(desk.sheet_line(6), @"  PAUSED: 1 waits until someone resumes the gate");
    desk.press("<Enter>");
    desk.changes(vec![decided(few(2).remove(1), Status::Approved, "kim")]);
    desk.say(followed("2", Status::Approved));
    desk.press("G");
    insta::assert_snapshot!(desk.preview_line(2), @"  the gate is paused: it runs after");
    briefed(&mut desk, None);
    insta::assert_snapshot!(desk.preview_line(2), @"  Waiting for the agent or the");
    desk.press("gr");
    insta::assert_snapshot!(desk.sheet_line(5), @"  ✓ Issue number 2  approved");
    insta::assert_snapshot!(desk.sheet(), @"
Sent: 2 decisions  14:22
  batch                                     approved  rejected   skipped
  support:create_linear_issue                      2         0         0

  ✓ Issue number 1  ran
  ✓ Issue number 2  approved

  Enter closes   w writes a file   y copies
also in placet log
");
}

#[test]
fn header_names_a_port_that_is_not_the_configured_one() {
    let mut said = Vec::new();
    for width in [80, 50, 40] {
        let mut desk = Desk::new(width, 24, few(3));
        desk.model.settings.place.gate = Some(GatePlace {
            url: "http://127.0.0.1:7879".to_owned(),
            serving: true,
            agent_token: "/state/agent.token".into(),
            database: "/state/gate.db".into(),
            other_port: Some(7879),
        });
        said.push(desk.header());
    }
    insta::assert_snapshot!(said.join("\n"), @"
    placet  3 to decide   F 1 blocked         ● gate, port 7879   kim@acme   14:22
    placet  3 to decide    ● gate, port 7879   14:22
    placet  3 to decide  ● gate, port 7879
    ");
}
