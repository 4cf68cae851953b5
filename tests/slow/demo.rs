//! The demo: a realistic queue, real files from real executors, and nothing of the user's touched.

use super::job::confirm;
use super::support::eventually;
use super::support::home::Home;
use super::support::pty::Pty;

#[test]
fn the_demo_shows_a_queue_and_runs_what_is_approved() {
    let home = Home::with_config("this is no configuration");
    let mut inbox = Pty::start(&home, (160, 45), &["demo"]);
    inbox.wait_for("the whole queue", |screen| pending(screen).is_some_and(|pending| pending >= 60));
    inbox.send("R");
    inbox.wait("refund_payment");
    inbox.send("n");
    inbox.wait("  read   1-");
    inbox.send("x");
    inbox.wait("staged 1");
    inbox.send("s");
    inbox.wait("─ Send ");
    confirm(&mut inbox);
    inbox.wait("0 approved · 1 rejected · 0 skipped");
    // What a `y` too many began is left.
    inbox.send("\x1b");

    inbox.send("q");

    assert_eq!(inbox.wait_end(), 0);
    assert_eq!(
        std::fs::read_dir(home.state()).unwrap().count(),
        0,
        "the demo left something in the user's state folder"
    );
    eventually("the demo's folder is gone", || {
        let left = std::fs::read_dir(home.path()).unwrap();
        left.into_iter()
            .all(|it| !it.unwrap().file_name().to_string_lossy().starts_with("placet-demo-"))
            .then_some(())
    });
}

/// The number before `to decide` in the header.
fn pending(screen: &str) -> Option<u64> {
    screen.split(" to decide").next()?.split_whitespace().last()?.parse().ok()
}
