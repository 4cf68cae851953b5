//! Snoozing: hidden until a time, counted separately, never for staged actions.

use crate::domain::{Digest, Risk, Timestamp};
use crate::inbox::{Connection, Event, EventKind};
use crate::journal::{Restored, Write};
use crate::tui::core::msg::{Effect, What};
use crate::tui::testing::{Desk, NOW, few, key, source};

const HOUR: i64 = 3_600_000;

fn snooze(desk: &mut Desk, until: &str) {
    desk.press("Z");
    for c in until.chars() {
        desk.press(c.encode_utf8(&mut [0; 4]));
    }
    desk.press("<Enter>");
}

fn shown(desk: &Desk) -> String {
    let ids = ["1", "2", "3", "4"];
    ids.into_iter().filter(|id| desk.model.queue.is_shown(&key(id))).collect::<Vec<_>>().join(" ")
}

/// Takes the snoozes saved so far: `1 until +3600000`, `1 back`.
fn saved(desk: &mut Desk) -> Vec<String> {
    let saved = desk.saved.iter().filter_map(|write| match write {
        Write::Snooze { key, snooze: Some(it) } => {
            Some(format!("{} until +{}", key.id.as_raw(), (it.until.as_millis() - NOW) / HOUR))
        }
        Write::Snooze { key, snooze: None } => Some(format!("{} back", key.id.as_raw())),
        _ => None,
    });
    let saved = saved.collect();
    desk.saved.clear();
    saved
}

#[test]
fn snoozed_action_is_hidden_and_counted_until_its_time() {
    let mut desk = Desk::new(100, 30, few(4));

    snooze(&mut desk, "1h");
    assert_eq!(shown(&desk), "2 3 4");
    assert_eq!(desk.here(), "2");
    assert!(desk.header().contains("3 to decide   1 snoozed"), "{}", desk.header());
    assert!(desk.status_line().contains("1 action snoozed until"), "{}", desk.status_line());
    assert_eq!(saved(&mut desk), ["1 until +1"]);
    desk.wait(HOUR - 30_000);
    desk.say(What::Tick);
    assert_eq!(shown(&desk), "2 3 4");
    desk.wait(60_000);
    desk.say(What::Tick);

    assert_eq!(shown(&desk), "1 2 3 4");
    assert!(!desk.header().contains("snoozed"), "{}", desk.header());
    assert_eq!(desk.here(), "2", "the cursor stays");
    assert_eq!(saved(&mut desk), ["1 back"]);
}

#[test]
fn marked_actions_snooze_together_staged_ones_cannot() {
    let mut desk = Desk::new(100, 30, few(4));

    desk.press("a");
    desk.press("k");
    desk.press("Z");
    assert!(desk.status_line().contains("staged"), "{}", desk.status_line());
    assert!(desk.model.screen.overlay.is_none());
    desk.press("u");
    desk.press("  ");
    snooze(&mut desk, "tomorrow 9:00");
    assert_eq!(desk.model.queue.n_shown(), 2);
    assert!(desk.header().contains("2 snoozed"), "{}", desk.header());
}

#[test]
fn snooze_ends_when_content_risk_or_terms_change() {
    for change in 0..3 {
        let mut desk = Desk::new(100, 30, few(4));
        snooze(&mut desk, "mon");
        desk.lists(few(4));
        assert_eq!(shown(&desk), "2 3 4", "the same row keeps the snooze");

        let mut changed = few(1).remove(0);
        match change {
            0 => changed.row.risk = Risk::High,
            1 => changed.row.expires_at = Some(Timestamp::from_millis(NOW + 40 * HOUR)),
            _ => changed.row.title = "Another title".into(),
        }
        desk.changes(vec![changed]);

        assert_eq!(shown(&desk), "1 2 3 4", "{change}");
        assert!(desk.status_line().contains("changed while snoozed"), "{}", desk.status_line());
    }
}

#[test]
fn snooze_ends_before_expiry() {
    let mut actions = few(4);
    actions[0].row.expires_at = Some(Timestamp::from_millis(NOW + 2 * HOUR));
    actions[1].row.expires_at = Some(Timestamp::from_millis(NOW + 5 * 60_000));
    let mut desk = Desk::new(100, 30, actions);

    snooze(&mut desk, "1d");
    assert!(desk.status_line().contains("before it expires"), "{}", desk.status_line());
    assert_eq!(desk.here(), "2");
    snooze(&mut desk, "1h");
    assert!(desk.status_line().contains("too soon"), "{}", desk.status_line());
    assert_eq!(shown(&desk), "2 3 4");
    desk.wait(2 * HOUR - 9 * 60_000);
    desk.say(What::Tick);

    assert!(shown(&desk).contains('1'), "{}", shown(&desk));
}

#[test]
fn filter_shows_snoozed_and_the_key_ends_the_snooze() {
    let mut desk = Desk::new(100, 30, few(4));
    snooze(&mut desk, "17:00");
    desk.press("/");
    for c in "is:snoozed".chars() {
        desk.press(&c.to_string());
    }
    desk.press("<Enter>");

    assert_eq!(shown(&desk), "1");
    assert!(desk.screen().contains("snoozed until"), "{}", desk.screen());
    desk.press("Z");
    desk.press("<Esc>");
    assert_eq!(shown(&desk), "1 2 3 4");
}

#[test]
fn snooze_rejects_a_bad_time_and_off_ends_all() {
    let mut desk = Desk::new(100, 30, few(4));

    snooze(&mut desk, "soon");
    assert!(desk.screen().contains("snooze takes a time"), "{}", desk.screen());
    desk.press("<Esc>");
    snooze(&mut desk, "1h");
    snooze(&mut desk, "2h");
    assert_eq!(shown(&desk), "3 4");
    snooze(&mut desk, "off");
    assert_eq!(shown(&desk), "1 2 3 4");
}

#[test]
fn snooze_survives_restart_unless_the_action_changed() {
    let mut desk = Desk::new(100, 30, few(4));
    snooze(&mut desk, "1h");
    snooze(&mut desk, "1h");
    let snoozes = desk.saved.iter().filter_map(|write| match write {
        Write::Snooze { key, snooze } => Some((key.clone(), (*snooze)?)),
        _ => None,
    });
    let restored = Restored { snoozes: snoozes.collect(), ..Restored::default() };
    let mut changed = few(4);
    changed[1].row.risk = Risk::Critical;

    let mut again = Desk::new(100, 30, Vec::new());
    again.restored(restored);
    again.lists(changed);

    assert_eq!(shown(&again), "2 3 4");
    assert!(again.header().contains("1 snoozed"), "{}", again.header());
}

#[test]
fn snooze_of_a_settled_action_is_deleted() {
    let mut desk = Desk::new(100, 30, few(4));
    snooze(&mut desk, "1h");
    desk.saved.clear();

    desk.lists(few(4).split_off(1));

    assert_eq!(saved(&mut desk), ["1 back"]);
    assert!(!desk.header().contains("snoozed"), "{}", desk.header());
}

fn read_again(desk: &mut Desk) -> Vec<String> {
    let asked = desk.effects.iter().filter_map(|effect| match effect {
        Effect::Load(keys) => Some(keys.iter().map(|key| key.id.as_raw().to_owned()).collect::<Vec<_>>()),
        _ => None,
    });
    let asked = asked.collect::<Vec<_>>().concat();
    desk.effects.clear();
    asked
}

#[test]
fn changed_terms_in_the_configuration_end_the_snooze() {
    let terms = |word: &str| Some(Digest::of_fields("terms", [Some(word)]));
    let mut actions = few(4);
    for action in &mut actions {
        action.terms = terms("then");
    }
    let mut desk = Desk::new(100, 30, actions.clone());
    desk.drawn();
    let connects = |desk: &mut Desk| {
        for connection in [Connection::Connecting, Connection::Live] {
            let kind = EventKind::Connection(connection);
            desk.say(What::Source(Event { source: source(), kind }));
        }
    };
    snooze(&mut desk, "1h");
    desk.answers = false;
    desk.effects.clear();

    connects(&mut desk);
    assert_eq!(read_again(&mut desk), ["1"], "the gate's configuration may have changed");
    desk.say(What::Loaded(vec![(key("1"), Ok(actions[0].clone()))]));
    assert_eq!(shown(&desk), "2 3 4", "the same terms keep the snooze");
    actions[0].terms = terms("now");
    desk.say(What::Loaded(vec![(key("1"), Ok(actions[0].clone()))]));

    assert_eq!(shown(&desk), "1 2 3 4");
    assert!(desk.status_line().contains("changed while snoozed"), "{}", desk.status_line());
    connects(&mut desk);
    assert_eq!(read_again(&mut desk), Vec::<String>::new());
}
