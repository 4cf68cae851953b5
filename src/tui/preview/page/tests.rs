//! A page shows all of the input and stays within its width.

use proptest::prelude::*;

use crate::domain::json;
use crate::domain::json::{Scanner, TokenKind};
use crate::rounds;
use crate::tui::testing::{action, key};

use super::line::readable;
use super::made::{Cached, Made, Tab};
use super::*;

fn cached(tool: &str, input: &str, preview: Option<&str>) -> Cached {
    let mut action = action(&format!("1 {tool} agent low 1"), "x", input);
    action.preview = preview.map(|preview| crate::domain::RawJson::parse(preview.to_owned()).unwrap());
    Cached::new(action)
}

fn page(cached: &Cached, tab: Tab, width: u16) -> Page {
    let status = cached.action.row.status.clone();
    let made = Made { status, ..Made::pending(key("1"), cached.digest, tab, width) };
    let mut page = Page::new(made, cached, &cached.action.row, None, &jiff::tz::TimeZone::UTC);
    page.count(usize::MAX);
    page
}

fn rows(cached: &Cached, tab: Tab, width: u16) -> Vec<String> {
    page(cached, tab, width).lines().map(|line| line.plain().trim_end().to_owned()).collect()
}

fn text(tool: &str, input: &str, preview: Option<&str>, width: u16) -> String {
    rows(&cached(tool, input, preview), Tab::Rendered, width).join("\n")
}

/// Without white space, which wrapping moves.
fn dense(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Returns all keys and values of an input, decoded as they are shown.
fn parts(input: &str) -> Vec<String> {
    let mut scanner = Scanner::new(input);
    let mut parts = Vec::new();
    while let Ok(Some(token)) = scanner.next_token() {
        match token.kind {
            TokenKind::Key | TokenKind::String => {
                let meaning = json::decode(token.text).text;
                parts.extend(text::lines(&meaning).iter().map(|line| dense(&line.plain())));
            }
            TokenKind::Scalar => parts.push(dense(token.text)),
            _ => {}
        }
    }
    parts
}

/// As a source lists it, with this title before its input.
fn listed(title: &str, input: &str) -> Cached {
    let text =
        format!(r#"{{"id":"1","title":"{title}","toolName":"t","status":"pending","toolInput":{input}}}"#);
    Cached::new(crate::contract::action::read(&text).unwrap())
}

#[test]
fn a_text_is_shown_and_found_alike_wherever_it_stands() {
    let body = "A word, and a wide 世界 word. ".repeat(20);
    let input = format!(r#"{{"note":"{body}.","b":"word"}}"#);
    let needle = Needle::new("word").unwrap();
    let seen = |cached: &Cached| {
        let mut page = page(cached, Tab::Rendered, 40);
        let hits = page.find(&needle);
        let rows_of_hits: Vec<_> = hits.iter().map(|hit| page.row_of(hit)).collect();
        let window = Window { left: 0, width: 40 };
        let found = Found { hits: &hits, at: 1 };
        let drawn: Vec<_> = (0..page.len()).map(|nth| page.row(nth, window, found)).collect();
        let anchors: Vec<_> = (0..page.len()).map(|nth| page.anchor(nth)).collect();
        (hits, rows_of_hits, drawn, anchors)
    };

    let alone = Cached::new(action("1 t agent low 1", "x", &input));
    assert!(alone.action.input.place_of(&alone.action.input.as_str()[9..20]).is_some());
    for title in ["x", "a much longer title than the other one"] {
        assert_eq!(seen(&listed(title, &input)), seen(&alone), "{title}");
    }
    assert!(seen(&alone).0.len() > 20);
}

#[test]
fn what_was_seen_keeps_no_text_around_it() {
    let long = "x".repeat(10_000);
    let cached = listed(&long, r#"{"a":1}"#);

    let kept = made::Content::of(&cached).input.unwrap();

    assert_eq!(kept, cached.action.input);
    let (text, part) = kept.place_of(kept.as_str()).unwrap();
    assert_eq!(part, 0..text.len());
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("1.10".to_owned()),
        Just("18446744073709551616".to_owned()),
        "[a-z]{1,9}( [a-z\u{e9}世\u{202e}\u{200b}]{1,9}){0,12}".prop_map(|text| format!("\"{text}\"")),
        Just(r#""a\nb \u0007 c""#.to_owned()),
        Just("\"https://a@b.example/x\"".to_owned()),
    ];
    let name = || prop::sample::select(vec!["title", "n", "k\u{202e}", "a longer key than others have"]);
    leaf.prop_recursive(5, 40, 6, move |inner| {
        let members = prop::collection::vec((name(), inner.clone()), 0..6).prop_map(|members| {
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
            format!("{{{}}}", members.join(","))
        });
        prop_oneof![
            members,
            prop::collection::vec(inner, 0..6).prop_map(|elements| format!("[{}]", elements.join(","))),
        ]
    })
}

proptest! {
    #![proptest_config(rounds::config(100, 2_000))]

    /// Reading a page in full unlocks approving: so nothing may be missing in it, and nothing beyond its edge.
    #[test]
    fn every_key_and_value_fits_on_the_page(
        members in prop::collection::vec((prop::sample::select(vec!["title", "recommendations", "amount", "x"]), value()), 0..5),
        tool in prop::sample::select(vec!["save_recommendations", "refund_payment", "unknown"]),
        width in 38_u16..120,
    ) {
        let members: Vec<String> = members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        let input = format!("{{{}}}", members.join(","));
        let cached = cached(tool, &input, None);

        for tab in [Tab::Rendered, Tab::Raw] {
            let rows = rows(&cached, tab, width);
            // Escapes are not decoded where JSON is shown as it is.
            let page = dense(&rows.concat()).replace("\\n", "");
            for part in parts(&input) {
                let escaped = dense(&part).replace("⟦BEL⟧", "\\u0007");
                prop_assert!(page.contains(&part) || page.contains(&escaped), "{part:?} is missing:\n{}", rows.join("\n"));
            }
            for row in rows {
                prop_assert!(text::part(&row).width() >= row.chars().filter(|c| *c == '⟦').count());
                prop_assert!(unicode_width::UnicodeWidthStr::width(row.as_str()) <= usize::from(width), "{row}");
            }
        }
    }
}

#[test]
fn hostile_shapes_neither_break_out_nor_get_lost() {
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(500), "]".repeat(500));
    let key = "k".repeat(5_000);
    let long = format!("{{\"{key}\":\"value of the long key\",\"\":1}}");
    let twice = r#"{"rows":[{"a":"first","a":"second"},{"a":"third"}],"rows":"again"}"#;
    for (input, wanted) in [
        (deep.as_str(), vec!["1"]),
        (long.as_str(), vec![key.as_str(), "valueofthelongkey"]),
        (twice, vec!["first", "second", "third", "again"]),
        (r#"{"x":"\u001b[2J\u202eyrollam"}"#, vec!["⟦ESC⟧[2J⟦U+202E⟧yrollam"]),
        ("{}", vec!["(nofields)"]),
        ("[[],{}]", vec!["-[]-{}"]),
        ("\"only a text\"", vec!["onlyatext"]),
    ] {
        let rows = rows(&cached("unknown", input, None), Tab::Rendered, 50);
        let page = dense(&rows.concat());
        for part in wanted {
            assert!(page.contains(part), "{part} is missing:\n{}", rows.join("\n"));
        }
        assert!(rows.iter().all(|row| unicode_width::UnicodeWidthStr::width(row.as_str()) <= 50));
        assert!(rows.iter().all(|row| !row.contains(['\u{1b}', '\u{202e}'])));
    }
}

#[test]
fn input_comes_first_and_agent_claims_are_labelled() {
    let input = r#"{"amount":4980.00,"currency":"EUR","customer":"Marla \u202etsiuQ","order_id":"ORD-1"}"#;
    let preview = r#"{"customer":"Marla Quist","order_id":"ORD-1","note":"routine","currency":"EUR"}"#;

    insta::assert_snapshot!(text("refund_payment", input, Some(preview), 60), @"
    ! hidden characters: 1, shown as ⟦…⟧
    ! look twice: bidi

    + missing from the agent's preview
    + amount    4980.00 EUR
      currency  EUR
    + customer  Marla ⟦U+202E⟧tsiuQ
      order_id  ORD-1

    What approving does
      sends money
      cannot be undone

    Agent's note (not executed)
      Only in the preview, not in the input:
        ! customer: Marla Quist   (the input has another value)
        note: routine
    ");
}

#[test]
fn a_preview_that_adds_nothing_takes_one_line() {
    let all = r#"{"currency":"EUR","amount":1.10}"#;

    let page = text("refund_payment", r#"{"amount":1.10,"currency":"EUR"}"#, Some(all), 60);

    assert!(page.contains("Preview matches the input"), "{page}");
    assert!(!page.contains("+ missing from"), "{page}");
    let gates = r#"{"count":1,"note":"","items":[{"title":"x","rationale":""}]}"#;
    let page = text("save_recommendations", r#"{"recommendations":[{"title":"x"}]}"#, Some(gates), 60);
    assert!(page.contains("Preview matches the input"), "{page}");
}

#[test]
fn preview_in_another_arrangement_is_a_warning() {
    let page = |input: &str, preview: &str| text("t", input, Some(preview), 80);
    let warns = |input: &str, preview: &str| {
        page(input, preview).contains("! The preview has the same values in another")
    };
    let transfers = r#"{"transfers":[{"account":"DE1","amount":5},{"account":"DE2","amount":90000}]}"#;
    let swapped = r#"{"transfers":[{"account":"DE1","amount":90000},{"account":"DE2","amount":5}]}"#;
    let people = r#"{"payer":{"name":"A"},"payee":{"name":"B"}}"#;

    for (input, preview) in [
        (transfers, swapped),
        (transfers, &swapped.replace("transfers", "items")),
        (transfers, &swapped.replace("]}", r#"],"note":"x"}"#)),
        (transfers, r#"{"transfers":[{"account":"DE1","amount":90000}]}"#),
        (people, r#"{"payer":{"name":"B"},"payee":{"name":"A"}}"#),
        (people, r#"{"from":{"name":"B"},"to":{"name":"A"}}"#),
        (r#"{"to":["a","b"]}"#, r#"{"to":["b","a"]}"#),
    ] {
        assert!(warns(input, preview), "{preview}:\n{}", page(input, preview));
        assert!(!page(input, preview).contains("matches the input"));
    }
    for (input, preview) in [
        (transfers, transfers),
        (transfers, &transfers.replace("transfers", "items")),
        (people, r#"{"payee":{"name":"B"},"payer":{"name":"A"}}"#),
        (&format!(r#"{{"order":{people}}}"#), people),
        (r#"{"a":{"x":1},"b":{"y":2}}"#, r#"{"y":2,"x":1}"#),
    ] {
        assert!(page(input, preview).contains("Preview matches the input"), "{preview}");
    }
}

#[test]
fn preview_is_on_the_page_to_its_last_difference() {
    let fields = (0..200).map(|n| format!(r#""k{n}":{n},"#)).collect::<Vec<_>>().concat();
    let page = text("t", r#"{"n":1}"#, Some(&format!(r#"{{{fields}"n":999}}"#)), 60);
    let (other, only) = (page.find("! n: 999"), page.find("k0: 0"));
    assert!(other.is_some() && other < only && page.contains("k199: 199"), "{page}");

    let long = format!(r#"{{"a":"{}","last":"end"}}"#, "x ".repeat(600_000));
    let page = text("t", r#"{"n":1}"#, Some(&long), 60);
    assert!(page.lines().rev().take(3).any(|line| line.contains("end")), "{}", page.len());
}

#[test]
fn recommendations_are_a_table_with_impact_and_effort() {
    let input = r#"{"recommendations":[
        {"title":"Streamline onboarding step 3","description":"Collapse the two-screen verification into one screen, and keep what was typed.","effort_estimate":"small","effort_weeks":2,"impact_score":0.82,"addresses_insight_ids":["ins-1","ins-2"]},
        {"title":"Let teams continue without a verified domain, and ask again after the first week","description":"Optional.","effort_estimate":"medium","effort_weeks":5,"impact_score":0.9}],
        "prioritization_rationale":"Quick wins first."}"#;

    insta::assert_snapshot!(text("save_recommendations", input, None, 76), @r#"
    recommendations
      #  title                                     Impact       Effort  Weeks
      1  Streamline onboarding step 3              0.82 (82 %)  small   2
      2  Let teams continue without a verified d…  0.9 (90 %)   medium  5
      1 of 2
        description
          Collapse the two-screen verification into one screen, and keep what
          was typed.
        addresses_insight_ids  ["ins-1","ins-2"]
      2 of 2
        title
          Let teams continue without a verified domain, and ask again after the
          first week
        description  Optional.
    Why in this order (prioritization_rationale)
      Quick wins first.

    What approving does
      saves recommendations in the workspace
      can be undone by hand: delete the recommendations in the workspace
    "#);
    insta::assert_snapshot!(text("save_recommendations", input, None, 46), @r#"
    recommendations
      #  title           Impact       Effort
      1  Streamline on…  0.82 (82 %)  small
      2  Let teams con…  0.9 (90 %)   medium
      1 of 2
        title        Streamline onboarding step 3
        Weeks (effort_weeks)  2 weeks
        description
          Collapse the two-screen verification
          into one screen, and keep what was
          typed.
        addresses_insight_ids  ["ins-1","ins-2"]
      2 of 2
        title
          Let teams continue without a verified
          domain, and ask again after the first
          week
        Weeks (effort_weeks)  5 weeks
        description  Optional.
    Why in this order (prioritization_rationale)
      Quick wins first.

    What approving does
      saves recommendations in the workspace
      can be undone by hand: delete the
      recommendations in the workspace
    "#);
}

#[test]
fn a_tool_that_nobody_knows_is_readable_too() {
    let input = r#"{"cluster":"eu-1","steps":[{"run":"migrate","wait":30},{"run":"deploy","wait":0}],"env":{"REGION":"eu-west-1","FLAGS":["dry-run-off-because-of-the-release","b"],"LIMITS":{"cpu":"2","memory":"4Gi","comment":"as before the sale"}},"url":"https://github.com@evil.example/login","docs":"https://example.com/runbook"}"#;

    insta::assert_snapshot!(text("deploy", input, None, 60), @r#"
    ! leads to evil.example

    cluster  eu-1
    steps
      #  run      wait
      1  migrate  30
      2  deploy   0
    env
      REGION  eu-west-1
      FLAGS
        - dry-run-off-because-of-the-release
        - b
      LIMITS
        cpu      "2"
        memory   4Gi
        comment  as before the sale
    url
      https://github.com@evil.example/login
      ! leads to evil.example
    docs     https://example.com/runbook

    What approving does
      Runs with exactly this input. No description for this
      tool.
    "#);
}

#[test]
fn escapes_are_written_out_in_lists_and_tables() {
    assert_eq!(readable(r#"["Caf\u00e9","https:\/\/a.example"]"#), r#"["Café","https://a.example"]"#);
    assert_eq!(readable(r#"" Caf\u00e9 ""#), r#"" Café ""#, "quotes tell where it ends");
    let rows =
        r#"{"rows":[{"name":"Caf\u00e9","n":1},{"name":"Z\u00fcrich","n":2}],"tags":["\u65e5\u672c"]}"#;
    let shown = text("unknown_tool", rows, None, 60);
    for word in ["Café", "Zürich", "日本"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
}

#[test]
fn diff_tab_shows_the_target_and_says_it_is_unchecked() {
    let input = r#"{"id":"B-1","state":"Todo","points":5,"text":"one\ntwo\nthree"}"#;
    let mut cached = cached("update", input, None);
    let bare = rows(&cached, Tab::Diff, 60).join("\n");
    let before = r#"{"state":"Canceled","points":5,"text":"one\n2\nthree","owner":"Ann"}"#;
    cached.action.before = Some(crate::domain::RawJson::parse(before.to_owned()).unwrap());
    let rendered = rows(&cached, Tab::Rendered, 60).join("\n");
    let whole = |before: &str, cached: &Cached| {
        let mut cached = cached.clone();
        cached.action.before = Some(crate::domain::RawJson::parse(before.to_owned()).unwrap());
        rows(&cached, Tab::Diff, 60).join("\n")
    };

    insta::assert_snapshot!(bare, @"
    No edits: it runs as proposed.

    The agent did not report the state before.
    ");
    insta::assert_snapshot!(rows(&cached, Tab::Diff, 60).join("\n"), @"
    Before (-), as the agent reports it (not checked), and
    after (+)
    reported 2026-11-21 14:21:31 UTC
    state
    -   Canceled
    +   Todo
    text
        one
    -   2
    +   two
        three
    1 key the same before and after
    not reported: id
    owner  (before only)
      Ann

    Your edits
    No edits: it runs as proposed.
    ");
    assert!(rendered.contains("Before and after: the Diff tab"), "{rendered}");
    insta::assert_snapshot!(whole(r#""gone""#, &cached), @r#"
    Before (-), as the agent reports it (not checked), and
    after (+)
    reported 2026-11-21 14:21:31 UTC
    -   "gone"
    +   {
    +     "id": "B-1",
    +     "state": "Todo",
    +     "points": 5,
    +     "text": "one\ntwo\nthree"
    +   }

    Your edits
    No edits: it runs as proposed.
    "#);
}
