//! The demo: a realistic queue, real executors, no change to the user's files.

use super::job::confirm;
use super::support::eventually;
use super::support::home::Home;
use super::support::pty::Pty;

#[test]
fn demo_shows_a_queue_and_runs_approved_actions() {
    let home = Home::with_config("this is no configuration");
    let mut inbox = Pty::start(&home, (160, 45), &["demo"]);
    inbox.wait_for("the whole queue", |screen| pending(screen).is_some_and(|pending| pending >= 60));
    // Only keys named on the screen, like a newcomer.
    inbox.wait("a approve · x exclude · e edit. Nothing is sent yet.");
    inbox.wait("▌  │ SUP-2214");
    inbox.send("a");
    inbox.wait("staged 1 approve · s: review, then send");
    inbox.send("s");
    inbox.wait("Press y to send");
    confirm(&mut inbox);
    inbox.wait("1 approved · 0 rejected · 0 skipped   then 1 ran");
    // An extra `y` of `confirm` may have opened the copy menu.
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
    // Only the executors' output remains.
    let folder = folder().unwrap();
    eventually("only the executors' output is left", || (!folder.join("state").exists()).then_some(()));
    assert_eq!(std::fs::read_dir(folder.join("executed")).unwrap().count(), 1);
}

fn pending(screen: &str) -> Option<u64> {
    screen.split(" to decide").next()?.split_whitespace().last()?.parse().ok()
}
