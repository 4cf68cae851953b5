//! Copying and opening links.

use crate::tui::core::msg::{Clip, Effect, What};
use crate::tui::preview::links_sheet::LinksSheet;
use crate::tui::testing::{Desk, action, few};

fn desk(id: &str, input: &str) -> Desk {
    Desk::new(100, 30, vec![action(&format!("{id} create_linear_issue support low 3"), "One", input)])
}

fn clip(desk: &Desk) -> Clip {
    match desk.effects.last() {
        Some(Effect::Copy(clip)) => clip.clone(),
        other => panic!("nothing is copied: {other:?}; {}", desk.message()),
    }
}

#[test]
fn menu_copies_the_named_item() {
    let mut desk = desk("pa-1", r#"{"title":"One","url":"https://x.io/1","n":1.10}"#);
    desk.press("jyi");
    assert_eq!(clip(&desk), Clip { what: "the id", text: "pa-1".to_owned() });
    desk.press("yr");
    assert_eq!(clip(&desk).text, r#"{"title":"One","url":"https://x.io/1","n":1.10}"#, "byte for byte");
    desk.press("yp");
    insta::assert_snapshot!(clip(&desk).text, @"
    title  One
    url    https://x.io/1
    n      1.10

    What approving does
      creates one issue in Linear
      can be undone by hand: cancel the
      issue in Linear
    ");
    desk.press("yu");
    assert_eq!(clip(&desk).text, "https://x.io/1");
    desk.press("yc");
    assert_eq!(clip(&desk).text, "placet show --source gate pa-1");
    assert_eq!(desk.staged(), "");
}

#[test]
fn message_says_how_it_was_copied() {
    let mut desk = desk("pa-1", "{}");
    let clip = Clip { what: "the id", text: "pa-1".to_owned() };
    desk.say(What::Copied(clip.clone(), Ok("wl-copy".to_owned())));
    assert_eq!(desk.message(), "copied the id, 4 bytes, by wl-copy");

    desk.say(What::Copied(clip.clone(), Err(Some("xclip took longer than 2 seconds".to_owned()))));
    assert_eq!(desk.effects.last(), Some(&Effect::CopyByTerminal(clip)));
    let long = Clip { what: "the input", text: "x".repeat(60_000) };
    desk.say(What::Copied(long, Err(None)));
    assert_eq!(
        desk.message(),
        "not copied: the input is 60000 bytes, and terminals take 56244; `placet show` prints it"
    );
    let hidden = Clip { what: "the input", text: "{\"a\":\"\u{200b}\"}".to_owned() };
    desk.say(What::Copied(hidden, Ok("xsel".to_owned())));
    assert_eq!(desk.message(), "copied the input, 11 bytes, by xsel; 1 hidden character in it");
}

#[test]
fn id_with_hidden_characters_is_not_copied() {
    let mut desk = desk("pa\u{202e}1", "{}");
    for keys in ["jyi", "yc"] {
        desk.press(keys);
        assert_eq!(desk.message(), "not copied: there are hidden characters in it");
    }
    assert!(!desk.effects.iter().any(|effect| matches!(effect, Effect::Copy(_))));
}

#[test]
fn a_link_is_shown_before_it_is_opened() {
    let mut desk = desk("pa-1", r#"{"a":"https://x.io/one","b":"https://y.io/two"}"#);
    desk.press("jo");
    insta::assert_snapshot!(desk.sheet(), @"
Open which link?

  > https://x.io/one
    https://y.io/two
Enter opens it in the browser   y copies it   Esc closes
");
    desk.hurry("<Enter>", 10);
    assert!(desk.model.sheet.is::<LinksSheet>(), "too soon to confirm");
    desk.wait(400);
    desk.press("j<Enter>");
    assert_eq!(desk.effects.last(), Some(&Effect::Open("https://y.io/two".to_owned())));
    assert!(desk.model.sheet.is_none());

    desk.press("o");
    desk.press("y");
    assert_eq!(clip(&desk).text, "https://x.io/one");
    desk.press("o<Esc>");
    assert!(desk.model.sheet.is_none());
}

#[test]
fn missing_links_and_displays_are_explained() {
    let mut desk = desk("pa-1", r#"{"a":"javascript:alert(1)","b":"https://good.com@evil.com/"}"#);
    desk.press("jo");
    assert_eq!(desk.message(), "there is no http or https link in this action");
    assert!(desk.model.sheet.is_none(), "{}", desk.message());
    desk.say(What::Opened(Err("there is no display here".to_owned())));
    assert_eq!(desk.message(), "not opened: there is no display here; y copies a link");
    let mut list = Desk::new(100, 30, few(2));
    list.press("kyi");
    assert_eq!(list.message(), "put the cursor on an action first");
}
