//! G10 and G11 on screen: inputs show as written, unreadable ones too.

use crate::contract::action::Unreadable;
use crate::domain::{Binding, PendingAction, Seen};
use crate::rounds::{Random, rounds};
use crate::tui::core::msg::What;
use crate::tui::preview::page::line::PageLine;
use crate::tui::preview::page::made::Tab;
use crate::tui::testing;
use crate::tui::testing::{CAN, Desk, action};

/// Returns a JSON number in an unusual spelling.
fn literal(random: &mut Random) -> String {
    let mut digits = |most: usize| -> String {
        (0..=random.below(most)).map(|_| char::from(b'0' + random.below(10) as u8)).collect()
    };
    let (whole, fraction, power) = (digits(30), digits(25), digits(4));
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let sign = ["", "-"][random.below(2)];
    let fraction = if random.below(2) == 0 { format!(".{fraction}") } else { String::new() };
    let power = match random.below(3) {
        0 => format!("{}{}{power}", ["e", "E"][random.below(2)], ["", "+", "-"][random.below(3)]),
        _ => String::new(),
    };
    format!("{sign}{whole}{fraction}{power}")
}

fn words(desk: &mut Desk, tab: Tab) -> Vec<String> {
    desk.model.preview.tab = tab;
    desk.say(What::Wake);
    let page = desk.model.preview.page.as_mut().unwrap();
    assert_eq!(page.of.tab, tab);
    let lines: Vec<PageLine> = page.lines().collect();
    let text: Vec<String> = lines.iter().map(PageLine::plain).collect();
    text.join("\n").split_whitespace().map(|word| word.trim_end_matches(',').to_owned()).collect()
}

#[test]
fn g10_numbers_show_as_sent() {
    let mut random = Random::seeded();
    for _ in 0..rounds(10, 500) {
        let numbers: Vec<String> = (0..200).map(|_| literal(&mut random)).collect();
        let members: Vec<String> =
            numbers.iter().enumerate().map(|(n, it)| format!("\"k{n}\":{it}")).collect();
        let input = format!("{{{}}}", members.join(","));
        let mut desk = Desk::new(160, 45, vec![action("1 t agent low 1", "Numbers", &input)]);
        desk.press("z");
        for tab in [Tab::Rendered, Tab::Raw] {
            let words = words(&mut desk, tab);
            for (n, number) in numbers.iter().enumerate() {
                let key = [format!("k{n}"), format!("\"k{n}\":")];
                let at = words
                    .iter()
                    .position(|word| key.contains(word))
                    .unwrap_or_else(|| panic!("{key:?} {words:?}"));
                assert_eq!(words.get(at + 1), Some(number), "{tab:?}");
            }
        }
    }
}

#[test]
fn g10_duplicate_keys_show_with_a_warning_to_depth_64() {
    for depth in 1..=64 {
        let (mut input, mut end) = (String::new(), String::new());
        for level in 1..depth {
            let (open, close) = if level % 2 == 0 { ("[", "]") } else { ("{\"in\":", "}") };
            input.push_str(open);
            end.insert_str(0, close);
        }
        let (one, other) = (format!("first{depth}"), format!("second{depth}"));
        let input = format!("{input}{{\"to\":\"{one}\",\"t\\u006f\":\"{other}\"}}{end}");
        let mut desk = Desk::new(140, 30, vec![action("1 t agent low 1", "Twice", &input)]);

        for tab in [Tab::Rendered, Tab::Raw] {
            let text = words(&mut desk, tab).join(" ");
            assert!(text.contains("! duplicate keys:"), "{tab:?} {depth}: {text}");
            assert!(text.contains(&one) && text.contains(&other), "{tab:?} {depth}: {text}");
        }
        assert!(desk.model.preview.page.as_ref().is_some());
        let flags = &desk.model.preview.cached(&testing::key("1")).unwrap().flags;
        assert!(flags.any() && flags.duplicates.len() == 1, "{depth}: {flags:?}");
    }
}

#[test]
fn g10_invalid_json_and_characters_are_flagged() {
    let input = r#"{"score":NaN,"t":"half \ud800 pair","Amount":1,"amount":900}"#;
    let mut desk = Desk::new(88, 50, vec![action("1 t agent low 1", "Odd", input)]);

    insta::assert_snapshot!(desk.preview(), @r#"
    ! look-alike keys: amount
    ! invalid JSON: 1 of NaN, Infinity, -Infinity in place of a value
    ! strings that do not decode: 1 (see Raw)
    ! look twice: broken-string

    score   NaN
    t       "half \ud800 pair"
    Amount  1
    amount  900

    What approving does
      Runs with exactly this input. No description for this tool.
    "#);
    desk.press("a");
    assert_eq!(desk.staged(), "1A", "it was fully on screen: {}", desk.message());
}

fn broken(raw: &str) -> PendingAction {
    Unreadable::new("it is no valid JSON", raw).stand_in()
}

#[test]
fn g11_unreadable_action_can_only_be_rejected() {
    let raw = "{\"id\":\"p\",\"toolName\":\"pay\",\"toolInput\":{\"n\":007,\"t\":\"\u{1b}[2J\"},\"status\":\"pending\"}";
    let mut desk = Desk::new(100, 30, vec![broken(raw), action("2 t agent low 1", "Good", "{}")]);

    desk.wait(1_000);
    desk.drawn();
    let screen = desk.screen();
    insta::assert_snapshot!(desk.preview_line(0), @"cannot be read: it is no valid JSON");
    insta::assert_snapshot!(desk.preview_line(10), @r#"{"n":007,"t":"⟦ESC⟧[2J"},"status":"pend"#);
    assert!(desk.model.seen_of(desk.slot("p")) == Some(Seen::InFull), "{screen}");
    desk.press("a");
    assert_eq!(desk.staged(), "");
    assert_eq!(desk.message(), "it cannot be read, so it cannot be approved; x rejects it");
    desk.press("xs");
    assert_eq!(desk.staged(), "pX");
    desk.wait(500);
    desk.press("y");
    assert!(desk.submitted[0].batches()[0].items()[0].unreadable);
}

#[test]
fn g11_action_without_an_id_is_read_only() {
    let can = crate::domain::Capabilities { binding: Binding::ReadOnly, ..CAN };
    let mut desk = Desk::with(80, 24, vec![broken("<b>approve</b>")], can);
    desk.press("z");

    insta::assert_snapshot!(desk.preview(), @"
    cannot be read: it is no valid JSON
    ! this cannot be read: it is no valid JSON
    The raw item is below. It has no id, so it cannot be decided here.

    <b>approve</b>
    ");
    desk.press("axA");
    assert_eq!(desk.staged(), "");
}

#[test]
fn unknown_fields_are_in_raw() {
    let mut unknown = action("1 t agent high 1", "Future", r#"{"a":1}"#);
    let raw =
        r#"{"id":"1","toolInput":{"a":1},"danger_level":"extreme","expiresAt":"tomorrow","expires_at":null}"#;
    unknown.raw = crate::domain::RawJson::parse(raw).unwrap();
    let mut desk = Desk::new(140, 30, vec![unknown]);
    desk.press("]]");

    insta::assert_snapshot!(desk.preview(), @r#"
    Future
    {
      "a": 1
    }

    What approving does
      Runs with exactly this input. No
      description for this tool.

    Other fields, unknown to this version
      danger_level
        "extreme"
      expiresAt
        "tomorrow"
    "#);
    assert_eq!(desk.model.seen_of(desk.slot("1")), Some(Seen::InFull));
}
