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
    // As a newcomer would: every key is named on the screen that it is pressed on.
    inbox.wait("a approve · x exclude · e edit. Nothing is sent yet.");
    // Read: else a count is asked for.
    inbox.wait("· low  Comment on SUP-2214");
    inbox.send("a");
    inbox.wait("staged 1 approve · s: review, then send");
    inbox.send("s");
    inbox.wait("Press y to send");
    confirm(&mut inbox);
    inbox.wait("1 approved · 0 rejected · 0 skipped   then 1 ran");
    // What a `y` too many began is left.
    inbox.send("\x1b");

    inbox.send("q");

    assert_eq!(inbox.wait_end(), 0);
    assert_eq!(
        std::fs::read_dir(home.state()).unwrap().count(),
        0,
        "the demo left something in the user's state folder"
    );
    let folder = || {
        let mut left = std::fs::read_dir(home.path()).unwrap().map(|it| it.unwrap().path());
        left.find(|path| path.file_name().unwrap().to_string_lossy().starts_with("placet-demo-"))
    };
    // What ran stays to be looked at, and nothing else.
    let folder = folder().unwrap();
    eventually("only what ran is left", || (!folder.join("state").exists()).then_some(()));
    assert_eq!(std::fs::read_dir(folder.join("executed")).unwrap().count(), 1);
}

/// The number before `to decide` in the header.
fn pending(screen: &str) -> Option<u64> {
    screen.split(" to decide").next()?.split_whitespace().last()?.parse().ok()
}
