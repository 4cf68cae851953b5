//! A gate that runs nothing until somebody resumes it.

use crate::domain::{Briefing, Followed, Revision, Status, Timestamp};
use crate::inbox::{Event, EventKind};
use crate::tui::core::msg::{Effect, What};
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

fn header(desk: &Desk) -> String {
    desk.screen().lines().next().unwrap_or_default().to_owned()
}

#[test]
fn the_header_says_so_for_as_long_as_it_is_so() {
    for (width, height) in [(80, 24), (100, 30), (160, 45)] {
        let mut desk = Desk::new(width, height, few(3));
        desk.effects.clear();
        desk.model.screen.dirty = false;

        briefed(&mut desk, Some(NOW - 3_600_000));

        assert!(header(&desk).contains("PAUSED since 13:22 · "), "{}", header(&desk));
        assert!(header(&desk).contains("live") && header(&desk).contains(" 3"), "{}", header(&desk));
        assert!(desk.model.screen.dirty, "it is drawn");
        assert!(
            !desk.effects.iter().any(|effect| matches!(effect, Effect::Sync { .. })),
            "nothing else changed"
        );
        briefed(&mut desk, Some(NOW - 86_400_000));
        assert!(header(&desk).contains("PAUSED since Nov 20 14:22 · "), "{}", header(&desk));
        briefed(&mut desk, None);
        assert!(!header(&desk).contains("PAUSED"), "{}", header(&desk));
    }
    let mut desk = Desk::new(50, 20, few(3));
    briefed(&mut desk, Some(NOW));
    assert!(header(&desk).starts_with(" placet  PAUSED · 3 to decide"), "{}", header(&desk));
}

#[test]
fn what_was_approved_waits_and_is_not_stuck() {
    let mut desk = Desk::new(100, 30, few(2));
    briefed(&mut desk, Some(NOW));
    desk.press("aas");
    desk.wait(500);
    desk.press("y");
    desk.accepts();

    let line = "2 approved · 0 rejected · 0 skipped   PAUSED: nothing runs until someone resumes   gr report";
    assert!(desk.screen().contains(line), "{}", desk.screen());
    desk.press("gr");
    assert!(desk.screen().contains("PAUSED: 2 wait until someone resumes the gate"));
    desk.say(followed("1", Status::Executed));
    assert!(desk.screen().contains("PAUSED: 1 waits until"), "{}", desk.screen());
    desk.press("<Enter>");
    desk.changes(vec![decided(few(2).remove(1), Status::Approved, "kim")]);
    desk.say(followed("2", Status::Approved));
    desk.press("G");
    assert!(desk.screen().contains("the gate is paused: it runs after a"), "{}", desk.screen());
    briefed(&mut desk, None);
    assert!(desk.screen().contains("Waiting for the agent"), "{}", desk.screen());
    desk.press("gr");
    assert!(
        desk.screen().contains("1 not finished") && !desk.screen().contains("waits until"),
        "{}",
        desk.screen()
    );
}
