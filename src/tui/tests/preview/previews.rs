//! Folds, search, long texts, and the place of the preview.

use crate::domain::Seen;
use crate::tui::core::msg::{Effect, What};
use crate::tui::preview::page::links::links;
use crate::tui::preview::page::made::Tab;
use crate::tui::preview::state::PreviewPlace;
use crate::tui::testing::{Desk, action, few, key};

const NESTED: &str = r#"{"repo":"acme/site","labels":["bug","web"],"steps":[{"run":"deploy","env":{"REGION":"eu","DRY":false}},{"run":"notify","to":["ops","web"]}],"tries":3,"note":null}"#;

/// Opens the Raw tab in full and presses `keys`.
pub(crate) fn raw(keys: &str) -> Desk {
    let mut desk = Desk::new(80, 24, vec![action("1 deploy agent low 1", "Deploy", NESTED)]);
    desk.press("z]]");
    desk.press(keys);
    desk
}

fn seen(desk: &Desk) -> Option<Seen> {
    desk.model.seen_of(desk.slot("1"))
}

#[test]
fn enter_toggles_the_fold_under_the_cursor() {
    let mut desk = raw("jjj<Enter>");

    desk.pictured("folded");
    desk.press("<Enter>");
    insta::assert_snapshot!(desk.preview_line(4), @r#"    "bug","#);
    desk.press("jjjjjj<Enter>");
    insta::assert_snapshot!(desk.line(10), @" │>    { … 2 members in 5 lines … },");
}

#[test]
fn fold_all_and_unfold_all() {
    let mut desk = raw("");
    assert_eq!(desk.model.preview.tab, Tab::Raw);
    desk.press("-");

    insta::assert_snapshot!(desk.preview(), @r#"
    Deploy
    {
      "repo": "acme/site",
      "labels": [ … 2 elements in 2 lines … ],
      "steps": [ … 2 elements in 14 lines … ],
      "tries": 3,
      "note": null
    }

    What approving does
      Runs with exactly this input. No description for this tool.
    "#);
    desk.press("jjj<Enter>");
    insta::assert_snapshot!(desk.preview_line(5), @"    { … 2 members in 5 lines … },");
    desk.press("=");
    insta::assert_snapshot!(desk.preview_line(11), @r#"        "REGION": "eu","#);
}

#[test]
fn folded_page_does_not_count_as_read() {
    let many = (0..60).map(|n| format!("{{\"n\":{n}}}")).collect::<Vec<_>>().join(",");
    let mut desk = Desk::new(80, 24, vec![action("1 deploy agent critical 1", "x", &format!("[{many}]"))]);
    desk.press("z]]-G");
    assert_eq!(seen(&desk), Some(Seen::Opened), "{}", desk.screen());

    desk.press("a");
    assert_eq!(desk.staged(), "");
    desk.press("=gg");
    for _ in 0..13 {
        desk.slowly(" ");
    }
    assert_eq!(seen(&desk), Some(Seen::InFull), "{}", desk.screen());
}

#[test]
fn a_search_goes_from_match_to_match_and_ends() {
    let text = (0..200).map(|n| format!("line {n} of the report")).collect::<Vec<_>>().join("\\n");
    let input = format!("{{\"content\":\"{text}\"}}");
    let mut desk = Desk::new(80, 24, vec![action("1 save_document agent low 1", "Report", &input)]);

    desk.press("z/line 19");
    insta::assert_snapshot!(desk.tabs(), @"/line 19_   match 1 of 11   Enter keeps   Esc ends");
    desk.press("<Enter>n");
    insta::assert_snapshot!(desk.preview_line(7), @"  line 190 of the report");
    insta::assert_snapshot!(desk.tabs(), @"/line 19   match 2 of 11   n N others   Esc ends");
    desk.press("NN");
    insta::assert_snapshot!(desk.tabs(), @"/line 19   match 11 of 11   n N others   Esc ends");
    desk.press("<Esc>");
    assert!(desk.model.screen.zoom && desk.model.preview.search.is_none());
    desk.press("gg/199<Esc>");
    assert_eq!(desk.model.preview.top, 0, "Esc returns to the old place");
}

#[test]
fn search_unfolds_reports_no_match_and_stages_nothing() {
    let mut desk = raw("-/a REGION");
    insta::assert_snapshot!(desk.tabs(), @"/a REGION_   no match   Enter keeps   Esc ends");
    assert_eq!(desk.staged(), "");
    for _ in 0.."a REGION".len() {
        desk.press("<Backspace>");
    }
    desk.say(What::Paste("region\nx".to_owned()));
    insta::assert_snapshot!(desk.tabs(), @"/region_   match 1 of 1   Enter keeps   Esc ends");
    desk.press("<Enter>n");
    assert_eq!(desk.here(), "1");
}

#[test]
fn ten_megabytes_are_laid_out_in_steps() {
    let text = "All work and no play makes Jack a dull boy.\\n".repeat(230_000);
    let input = format!("{{\"text\":\"{text}the very last line\"}}");
    let mut desk = Desk::new(120, 30, vec![action("1 save_document agent low 1", "Novel", &input)]);

    desk.drawn();
    insta::assert_snapshot!(desk.tabs(), @"[Rendered]  ] tabs             unread   1-23/6145+");
    assert!(desk.effects.iter().any(|effect| matches!(effect, Effect::WakeIn(1))));
    desk.counts();
    insta::assert_snapshot!(desk.tabs(), @"[Rendered]  ] tabs            unread   1-23/230007");
    desk.press("3G");
    insta::assert_snapshot!(desk.preview_line(16), @"  All work and no play makes Jack a dull boy.");
    assert_eq!(seen(&desk), Some(Seen::Opened));
}

#[test]
fn end_is_reachable_before_the_lines_are_counted() {
    let text = "x".repeat(9 << 20);
    let input = format!("{{\"text\":\"{text} the end\"}}");
    let mut desk = Desk::new(100, 30, vec![action("1 save_document agent low 1", "One line", &input)]);

    desk.press("3G");
    desk.counts();

    insta::assert_snapshot!(desk.preview_line(16), @"  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
}

#[test]
fn scrolling_cancels_a_pending_jump_to_the_end() {
    let text = "All work and no play makes Jack a dull boy.\\n".repeat(120_000);
    let input = format!("{{\"text\":\"{text}the very last line\"}}");
    let mut desk = Desk::new(120, 30, vec![action("1 save_document agent low 1", "Novel", &input)]);

    desk.press("3GK");
    desk.counts();

    assert_eq!(desk.model.preview.top, 0);
}

#[test]
fn late_page_is_not_shown_for_another_action() {
    let long = format!("{{\"text\":\"{}\"}}", "All work and no play. ".repeat(20_000));
    let actions = vec![
        action("1 save_document agent low 2", "Novel", &long),
        action("2 save_document agent low 1", "Sequel", &long),
    ];
    let mut desk = Desk::new(120, 30, actions);
    let page = desk.model.preview.page.clone().unwrap();
    desk.press("j");
    assert_eq!(desk.model.preview.page.as_ref().map(|page| page.of.key.clone()), Some(key("2")));

    desk.say(What::LaidOut(Box::new(page)));

    assert_eq!(desk.model.preview.page.as_ref().map(|page| page.of.key.clone()), Some(key("2")));
}

#[test]
fn cut_lines_do_not_count_as_read() {
    let text = format!("{} and the far end", "word ".repeat(30));
    let input = format!("{{\"text\":\"{text}\",\"n\":1}}");
    let mut desk = Desk::new(80, 24, vec![action("1 save_document agent critical 1", "Long", &input)]);
    desk.model.preview.wrap = false;
    desk.say(What::Wake);
    desk.press("z");
    insta::assert_snapshot!(desk.preview(), @"
    Long
    text
      word word word word word word word word word word word word word word wor…
    n     1

    What approving does
      saves a document in the workspace
      can be undone by hand: delete the document in the workspace
    ");

    desk.press("LLLLLLLLLL");
    insta::assert_snapshot!(desk.preview(), @"
Long

 word word word word word word word word word word word  and the far end
");
    assert_eq!(seen(&desk), Some(Seen::Opened));
    desk.press("w");
    desk.slowly("k");
    assert_eq!(seen(&desk), Some(Seen::InFull));
    assert_eq!(desk.model.preview.left, 0);
}

#[test]
fn resizing_keeps_the_place() {
    let text = (0..400).map(|n| format!("{n} {}", "words ".repeat(20))).collect::<Vec<_>>().join("\\n");
    let input = format!("{{\"content\":\"{text}\"}}");
    let mut desk = Desk::new(100, 30, vec![action("1 save_document agent low 1", "Report", &input)]);
    desk.press("z/300 words<Enter><Esc>");
    insta::assert_snapshot!(desk.preview_line(1), @"  296 words words words words words words words words words words words words words");

    desk.say(What::Resize(160, 45));

    insta::assert_snapshot!(desk.preview_line(1), @"  296 words words words words words words words words words words words words words");
    insta::assert_snapshot!(desk.preview_line(5), @"  298 words words words words words words words words words words words words words");
}

#[test]
fn the_preview_is_hidden_below_or_beside() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("p");
    assert_eq!(desk.tabs(), "");
    desk.press("p");
    insta::assert_snapshot!(desk.tabs(), @"[Rendered]  ] tabs           read   1-7/7");

    desk.press("P");
    let below = desk.screen();
    assert_eq!(desk.model.preview.place, PreviewPlace::Below);
    assert!(below.lines().any(|line| line.starts_with(" [Rendered]")), "{below}");
    desk.press("pp");
    assert_eq!(desk.model.preview.place, PreviewPlace::Below);
    desk.press("P");
    assert_eq!(desk.model.preview.place, PreviewPlace::Beside);
}

#[test]
fn hidden_preview_does_not_count_as_read() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("p");
    desk.model.reader.seen = crate::domain::SeenLog::default();

    desk.press("j");

    assert_eq!(desk.model.seen_of(desk.slot("2")), None);
}

#[test]
fn links_are_found() {
    let input = r#"{"pr":"https://example.com/pr/7","text":"see (https://example.com/a_(b)) and mailto:kim@example.com.","n":1}"#;
    let mut done = action("1 notify agent low 1", "x", input);
    done.result = Some(crate::domain::RawJson::parse(r#"{"url":"https://example.com/pr/7"}"#).unwrap());
    let desk = Desk::new(100, 30, vec![done]);

    let cached = desk.model.preview.cached(&key("1")).unwrap();
    let links: Vec<String> = links(cached).iter().map(|link| link.as_raw().to_owned()).collect();

    assert_eq!(links, ["https://example.com/pr/7", "https://example.com/a_(b)", "mailto:kim@example.com"]);
}
