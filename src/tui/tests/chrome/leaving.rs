//! Quitting, going back, and the questions asked before.

use crate::journal::Write;
use crate::tui::core::command;
use crate::tui::core::msg::{Effect, What};
use crate::tui::core::router::end;
use crate::tui::core::settings::GatePlace;
use crate::tui::edit::form::EditForm;
use crate::tui::submit::state::ReviewSheet;
use crate::tui::testing::{Desk, few};

fn quits(desk: &Desk) -> bool {
    desk.effects.contains(&Effect::Quit)
}

#[test]
fn q_asks_only_when_something_is_staged() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("aq");
    insta::assert_snapshot!(desk.sheet(), @"
Quit?

  1 decision staged and not sent; kept for next time.

  Enter keep and quit   r review   D discard   Esc stay
");
    assert!(!quits(&desk));

    desk.press("<Esc>");
    assert!(!quits(&desk));
    desk.press("q<Enter>");
    assert!(quits(&desk));

    let mut desk = Desk::new(100, 30, few(2));
    desk.press("q");
    assert!(quits(&desk));
}

#[test]
fn leaving_can_review_instead() {
    let mut desk = Desk::new(100, 30, few(2));

    desk.press("aqr");

    assert!(!quits(&desk) && desk.model.sheet.is::<ReviewSheet>());
    assert_eq!(desk.staged(), "1A");
}

#[test]
fn discarding_on_quit_needs_the_count_and_is_undoable() {
    let mut desk = Desk::new(80, 24, few(3));
    desk.press("axqD<Enter>");
    assert_eq!(desk.message(), "that is not 2; nothing was discarded");
    assert!(!quits(&desk));
    desk.press("3<Enter>");
    assert!(!quits(&desk));
    assert_eq!(desk.staged(), "1A 2X");
    desk.press("<Esc>qD2");
    insta::assert_snapshot!(desk.sheet(), @"
Quit?

  2 decisions staged and not sent; kept for next time.

  type 2 and Enter to discard and quit: 2_   Esc stay
");
    assert_eq!(desk.staged(), "1A 2X");

    desk.press("<Enter>");

    assert!(quits(&desk) && desk.staged().is_empty());
    let Some(Write::Step { step, .. }) = desk.saved.last() else { panic!("{:?}", desk.saved) };
    assert_eq!(step.changes.len(), 2);
    desk.model.decide.draft.undo();
    assert_eq!(desk.staged(), "1A 2X");
}

#[test]
fn decisions_being_sent_are_not_discarded() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("as");
    desk.wait(500);
    desk.press("yaqD1<Enter>");

    assert!(quits(&desk));
    assert_eq!(desk.staged(), "1A");
}

#[test]
fn quit_question_warns_that_the_embedded_gate_stops() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.model.settings.place.gate = Some(GatePlace {
        url: "http://127.0.0.1:7878".to_owned(),
        serving: true,
        agent_token: "/state/agent.token".into(),
        database: "/state/gate.db".into(),
        other_port: None,
    });

    desk.press("aq");

    insta::assert_snapshot!(desk.sheet(), @"
Quit?

  1 decision staged and not sent; kept for next time.
  The gate at http://127.0.0.1:7878 stops:
  agents cannot propose over HTTP until placet runs again.

  Enter keep and quit   r review   D discard   Esc stay
");
}

#[test]
fn leaving_a_demo_offers_to_keep_nothing() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.model.settings.place.demo = Some("/tmp/placet-demo/executed".into());
    desk.model.settings.place.gate = Some(GatePlace {
        url: "http://127.0.0.1:7878".to_owned(),
        serving: true,
        agent_token: "/state/agent.token".into(),
        database: "/state/gate.db".into(),
        other_port: None,
    });

    desk.press("aq");

    insta::assert_snapshot!(desk.sheet(), @"
    Quit?

      1 decision staged and not sent; gone with the demo.
      The gate at http://127.0.0.1:7878 stops:
      the demo is thrown away.

      Enter quit   r review   Esc stay
    ");
    desk.press("D2<Enter>");
    assert!(quits(&desk), "Enter quits, and no count is asked for");
    assert_eq!(desk.staged(), "1A");
    let mut desk = Desk::new(100, 30, few(2));
    desk.model.settings.place.demo = Some("/tmp/placet-demo/executed".into());
    desk.press("<C-c>");
    assert_eq!(desk.message(), "Ctrl-C again quits; the demo keeps nothing");
}

#[test]
fn quit_question_ignores_a_gate_served_by_another_placet() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.model.settings.place.gate = Some(GatePlace {
        url: "http://127.0.0.1:7878".to_owned(),
        serving: false,
        agent_token: "/state/agent.token".into(),
        database: "/state/gate.db".into(),
        other_port: None,
    });

    desk.press("aq");

    insta::assert_snapshot!(desk.sheet(), @"
Quit?

  1 decision staged and not sent; kept for next time.

  Enter keep and quit   r review   D discard   Esc stay
");
}

#[test]
fn esc_never_quits_and_never_decides() {
    let mut desk = Desk::new(100, 30, few(2));

    desk.press("a<Esc><Esc><Esc><Esc>");

    assert!(!quits(&desk));
    assert_eq!(desk.staged(), "1A");
}

#[test]
fn an_interrupt_closes_and_the_second_one_quits() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("as<C-c>");
    assert!(desk.model.sheet.is_none() && !quits(&desk));
    desk.wait(2_000);
    desk.press("<C-c>");
    assert!(!quits(&desk), "the first one has expired");

    desk.press("<C-c>");

    assert!(quits(&desk));
    assert_eq!(desk.staged(), "1A");
}

#[test]
fn q_closes_what_is_open_first() {
    let mut desk = Desk::new(100, 30, few(2));

    desk.press("zq");
    assert!(!quits(&desk) && !desk.model.screen.zoom);
    desk.press("?q");

    assert!(!quits(&desk) && desk.model.sheet.is_none());
}

#[test]
fn quitting_from_a_form_keeps_its_text() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("e<Right>");
    desk.say(What::Paste("\"new\":1,".to_owned()));

    desk.press("<C-c>");
    assert!(!desk.model.sheet.is::<EditForm>());
    desk.press("<C-c>");

    assert!(quits(&desk));
    assert_eq!(desk.model.edit.texts.len(), 1);
}

#[test]
fn help_lists_every_command() {
    let mut desk = Desk::new(160, 200, few(2));

    desk.press("?");

    let screen = desk.screen();
    for spec in command::COMMANDS {
        assert!(screen.contains(spec.name), "{} is not on the screen:\n{screen}", spec.name);
    }
}

#[test]
fn the_empty_screen_says_how_to_send_the_first_proposal() {
    let mut desk = Desk::new(120, 30, Vec::new());
    desk.model.settings.place.gate = Some(GatePlace {
        url: "http://127.0.0.1:7878".to_owned(),
        serving: true,
        agent_token: "/state/agent.token".into(),
        database: "/state/gate.db".into(),
        other_port: None,
    });

    desk.pictured("empty_with_a_gate");
}

#[test]
fn decisions_being_sent_are_not_counted_as_unsent() {
    let mut desk = Desk::new(100, 30, few(4));
    desk.press("aas");
    desk.wait(500);
    desk.press("y");
    desk.press("xq");

    assert_eq!((desk.model.unsent(), desk.model.under_way()), (1, 2));
    insta::assert_snapshot!(desk.sheet(), @"
Quit?

  1 decision staged and not sent; kept for next time.
  A submission is being sent; quitting waits a few seconds …

  Enter keep and quit   r review   D discard   Esc stay
");
    desk.accepts();
    assert_eq!((desk.model.unsent(), desk.model.under_way()), (1, 0));
}

#[test]
fn signal_saves_text_typed_just_before() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("e<Right>");
    desk.say(What::Paste("\"new\":1,".to_owned()));
    desk.saved.clear();

    let effects = end(&mut desk.model);

    let [Effect::Save(writes), Effect::Save(looked)] = effects.as_slice() else { panic!("{effects:?}") };
    assert!(looked.iter().all(Write::is_about_looking));
    assert!(
        matches!(writes.as_slice(), [Write::EditText { text: Some(text), .. }] if text.text.contains("new"))
    );
    assert!(end(&mut desk.model).is_empty(), "once");
}

#[test]
fn empty_demo_names_no_command_that_finds_another_gate() {
    let mut desk = Desk::new(120, 30, Vec::new());
    desk.model.settings.place.demo = Some("/tmp/placet-demo/executed".into());
    desk.model.settings.place.gate = Some(GatePlace {
        url: "http://127.0.0.1:7878".to_owned(),
        serving: true,
        agent_token: "/state/agent.token".into(),
        database: "/state/gate.db".into(),
        other_port: None,
    });

    let screen = desk.screen();

    assert!(screen.contains("write their files to /tmp/placet-demo/executed"), "{screen}");
    assert!(!screen.contains("placet propose") && !screen.contains("Everything is kept"), "{screen}");
}
