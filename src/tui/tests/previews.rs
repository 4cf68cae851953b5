//! Reading an action: folds, search, long texts, and where the preview stands.

use crate::domain::Seen;
use crate::tui::model::{PreviewPlace, Tab};
use crate::tui::msg::{Effect, What};

use super::desk::{Desk, action, few};

const NESTED: &str = r#"{"repo":"acme/site","labels":["bug","web"],"steps":[{"run":"deploy","env":{"REGION":"eu","DRY":false}},{"run":"notify","to":["ops","web"]}],"tries":3,"note":null}"#;

/// Raw, in full, with these keys pressed.
fn raw(keys: &str) -> Desk {
    let mut desk = Desk::new(80, 24, vec![action("1 deploy agent low 1", "Deploy", NESTED)]);
    desk.press("z]]");
    desk.press(keys);
    desk
}

fn seen(desk: &Desk) -> Option<Seen> {
    desk.model.seen_of(desk.slot("1"))
}

#[test]
fn enter_folds_what_the_cursor_is_in_and_unfolds_it() {
    let mut desk = raw("jjj<Enter>");

    assert!(desk.screen().contains(r#">  "labels": [ … 2 elements in 2 lines … ],"#), "{}", desk.screen());
    assert!(!desk.screen().contains("\"bug\""));
    desk.press("<Enter>");
    assert!(desk.screen().contains("\"bug\""), "{}", desk.screen());
    desk.press("jjjjjj<Enter>");
    assert!(desk.screen().contains(">    { … 2 members in 5 lines … },"), "{}", desk.screen());
}

#[test]
fn all_folds_at_once_and_what_is_folded_is_not_read() {
    let mut desk = raw("");
    assert_eq!(desk.model.preview.tab, Tab::Raw);
    desk.press("-");

    assert!(desk.screen().contains(r#""steps": [ … 2 elements in 14 lines … ],"#), "{}", desk.screen());
    desk.press("jjj<Enter>");
    assert!(desk.screen().contains("{ … 2 members in 5 lines … },"), "{}", desk.screen());
    desk.press("=");
    assert!(desk.screen().contains("\"REGION\""), "{}", desk.screen());
}

#[test]
fn a_folded_page_is_not_reading_in_full() {
    let many = (0..60).map(|n| format!("{{\"n\":{n}}}")).collect::<Vec<_>>().join(",");
    let mut desk = Desk::new(80, 24, vec![action("1 deploy agent critical 1", "x", &format!("[{many}]"))]);
    desk.press("z]]-G");
    assert_eq!(seen(&desk), Some(Seen::Opened), "{}", desk.screen());

    desk.press("a");
    assert_eq!(desk.staged(), "");
    desk.press("=gg");
    for _ in 0..12 {
        desk.press(" ");
    }
    assert_eq!(seen(&desk), Some(Seen::InFull));
}

#[test]
fn a_search_goes_from_match_to_match_and_ends() {
    let text = (0..200).map(|n| format!("line {n} of the report")).collect::<Vec<_>>().join("\\n");
    let input = format!("{{\"content\":\"{text}\"}}");
    let mut desk = Desk::new(80, 24, vec![action("1 save_document agent low 1", "Report", &input)]);

    desk.press("z/line 19");
    assert!(desk.screen().contains("/line 19_   match 1 of 11"), "{}", desk.screen());
    desk.press("<Enter>n");
    assert!(desk.screen().contains("match 2 of 11"), "{}", desk.screen());
    assert!(desk.screen().contains("line 190 of the report"), "{}", desk.screen());
    desk.press("NN");
    assert!(desk.screen().contains("match 11 of 11"), "{}", desk.screen());
    desk.press("<Esc>");
    assert!(desk.model.zoom && desk.model.preview.search.is_none());
    desk.press("gg/199<Esc>");
    assert_eq!(desk.model.preview.top, 0, "given up, it goes back");
}

#[test]
fn a_search_unfolds_says_when_there_is_nothing_and_decides_nothing() {
    let mut desk = raw("-/a REGION");
    assert!(desk.screen().contains("no match"), "{}", desk.screen());
    assert_eq!(desk.staged(), "");
    for _ in 0.."a REGION".len() {
        desk.press("<Backspace>");
    }
    desk.say(What::Paste("region\nx".to_owned()));
    assert!(desk.screen().contains("match 1 of 1"), "{}", desk.screen());
    desk.press("<Enter>n");
    assert_eq!(desk.here(), "1");
}

#[test]
fn ten_megabytes_are_read_to_their_last_line_a_little_at_a_time() {
    let text = "All work and no play makes Jack a dull boy.\\n".repeat(230_000);
    let input = format!("{{\"text\":\"{text}the very last line\"}}");
    let mut desk = Desk::new(100, 30, vec![action("1 save_document agent low 1", "Novel", &input)]);

    desk.drawn();
    assert!(desk.screen().contains("more than"), "{}", desk.screen());
    assert!(desk.effects.iter().any(|effect| matches!(effect, Effect::WakeIn(1))));
    for _ in 0..4 {
        desk.say(What::Wake);
    }
    assert!(desk.screen().contains(" of 2300") && !desk.screen().contains("more"), "{}", desk.screen());
    desk.press("3G");
    assert!(desk.screen().contains("the very last line"), "{}", desk.screen());
    assert_eq!(seen(&desk), Some(Seen::Opened));
}

#[test]
fn the_end_is_reached_before_everything_is_counted() {
    let text = "x".repeat(9 << 20);
    let input = format!("{{\"text\":\"{text} the end\"}}");
    let mut desk = Desk::new(100, 30, vec![action("1 save_document agent low 1", "One line", &input)]);

    desk.press("3G");

    assert!(desk.screen().contains("the end"), "{}", desk.screen());
}

#[test]
fn lines_that_go_on_to_the_right_are_not_read_until_they_wrap() {
    let text = format!("{} and the far end", "word ".repeat(30));
    let input = format!("{{\"text\":\"{text}\",\"n\":1}}");
    let mut desk = Desk::new(80, 24, vec![action("1 save_document agent critical 1", "Long", &input)]);
    desk.model.preview.wrap = false;
    desk.say(What::Wake);
    desk.press("z");
    assert!(!desk.screen().contains("the far end"), "{}", desk.screen());

    desk.press("LLLLLLLLLL");
    assert!(desk.screen().contains("the far end"), "{}", desk.screen());
    assert_eq!(seen(&desk), Some(Seen::Opened));
    desk.press("w");
    assert_eq!(seen(&desk), Some(Seen::InFull));
    assert_eq!(desk.model.preview.left, 0);
}

#[test]
fn another_width_keeps_the_place() {
    let text = (0..400).map(|n| format!("{n} {}", "words ".repeat(20))).collect::<Vec<_>>().join("\\n");
    let input = format!("{{\"content\":\"{text}\"}}");
    let mut desk = Desk::new(100, 30, vec![action("1 save_document agent low 1", "Report", &input)]);
    desk.press("z/300 words<Enter><Esc>");
    let top = desk.screen();
    let first = top.lines().find(|line| line.contains(" words words")).unwrap().to_owned();

    desk.say(What::Resize(160, 45));

    let number = first.split_whitespace().find(|word| word.parse::<u32>().is_ok());
    if let Some(number) = number {
        assert!(desk.screen().contains(&format!("{number} words")), "{first}\n{}", desk.screen());
    }
    assert!(desk.screen().contains("300 words"), "{}", desk.screen());
}

#[test]
fn the_preview_is_hidden_below_or_beside() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("p");
    assert!(!desk.screen().contains("Preview"), "{}", desk.screen());
    desk.press("p");
    assert!(desk.screen().contains("Preview"));

    desk.press("P");
    let below = desk.screen();
    assert_eq!(desk.model.preview.place, PreviewPlace::Below);
    assert!(below.lines().any(|line| line.starts_with("┌─ Preview")), "{below}");
    desk.press("pp");
    assert_eq!(desk.model.preview.place, PreviewPlace::Below);
    desk.press("P");
    assert_eq!(desk.model.preview.place, PreviewPlace::Beside);
}

#[test]
fn a_hidden_preview_is_not_reading() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("p");
    desk.model.seen = crate::domain::SeenLog::default();

    desk.press("j");

    assert_eq!(desk.model.seen_of(desk.slot("2")), None);
}

#[test]
fn links_are_told_for_who_opens_them() {
    let input = r#"{"pr":"https://example.com/pr/7","text":"see (https://example.com/a_(b)) and mailto:kim@example.com.","n":1}"#;
    let mut done = action("1 notify agent low 1", "x", input);
    done.result = Some(crate::domain::RawJson::parse(r#"{"url":"https://example.com/pr/7"}"#).unwrap());
    let desk = Desk::new(100, 30, vec![done]);

    let links: Vec<String> = desk.model.links().iter().map(|link| link.as_raw().to_owned()).collect();

    assert_eq!(links, ["https://example.com/pr/7", "https://example.com/a_(b)", "mailto:kim@example.com"]);
}

/// Recommendations, a mail, and a refund that its agent makes look smaller than it is.
fn to_decide(width: u16, height: u16) -> Desk {
    let recommendations = r#"{"recommendations":[{"title":"Streamline onboarding step 3","description":"Collapse the two-screen verification.","effort_estimate":"small","effort_weeks":2,"impact_score":0.82,"success_metrics":["Activation rate +10%","Drop-off <8%"]},{"title":"Let teams continue without a verified domain","description":"Ask again later.","effort_estimate":"medium","effort_weeks":5,"impact_score":0.9}],"prioritization_rationale":"Quick wins first."}"#;
    let mail = r#"{"to":"mei@example.com","subject":"Your invoice","body":"Dear Mei,\nthe invoice is at https://example.com/i/7.\nBest, Kim","reply_to":"billing@example.com"}"#;
    let refund = r#"{"amount":4980.00,"currency":"EUR","customer":"Marla \u202etsiuQ","order_id":"ORD-88466","reason":"Duplicate charge"}"#;
    let mut refund = action("3 refund_payment billing critical 7", "Refund 4980.00 EUR", refund);
    refund.summary = Some("Small routine refund; nothing to check.".into());
    let preview = r#"{"customer":"Marla Quist","order_id":"ORD-88466","reason":"Duplicate charge"}"#;
    refund.preview = Some(crate::domain::RawJson::parse(preview).unwrap());
    Desk::new(
        width,
        height,
        vec![
            action("1 save_recommendations roadmap low 9", "Save 2 recommendations", recommendations),
            action("2 send_email crm high 8", "Mail to mei@example.com", mail),
            refund,
        ],
    )
}

#[test]
fn recommendations_side_by_side_on_a_large_screen() {
    insta::assert_snapshot!(to_decide(160, 45).screen(), @r#"
 placet   gate   pending 3   undecided 3                                                                                                            LIVE  14:22
 nothing held back                                                                                                                                    oldest 9m
┌─ Queues ───────────────────┐┌─ Queue ─────────────────────────────────────────────────────────────────┐┌─ Preview ───────────────────────────────────────────┐
│ gate                     3 ││> .  * Save 2 recommendations          save_recommendations  low      9m ││ save_recommendations   roadmap                      │
│                            ││  . !* Mail to mei@example.com         send_email            HIGH     8m ││ risk low   seen no   9m old                         │
│ Risk                       ││  . !* Refund 4980.00 EUR              refund_payment        CRIT     7m ││ id 1                                                │
│   critical     1  ######## ││                                                                         ││ [Rendered]  Diff   Raw   Context                    │
│   high         1  ######## ││                                                                         ││                                                     │
│   medium       0           ││                                                                         ││ recommendations                                     │
│   low          1  ######## ││                                                                         ││   #  title               Impact       Effort  Weeks │
│                            ││                                                                         ││   1  Streamline onboar…  0.82 (82 %)  small   2     │
│ Age                        ││                                                                         ││   2  Let teams continu…  0.9 (90 %)   medium  5     │
│   < 15 m       3  ######## ││                                                                         ││   1 of 2                                            │
│   15-60 m      0           ││                                                                         ││     title            Streamline onboarding step 3   │
│   1-4 h        0           ││                                                                         ││     description                                     │
│   > 4 h        0           ││                                                                         ││       Collapse the two-screen verification.         │
│                            ││                                                                         ││     success_metrics                                 │
│ Staged                     ││                                                                         ││       ["Activation rate +10%","Drop-off <8%"]       │
│   approve      0           ││                                                                         ││   2 of 2                                            │
│   edit         0           ││                                                                         ││     title                                           │
│   exclude      0           ││                                                                         ││       Let teams continue without a verified domain  │
│                            ││                                                                         ││     description  Ask again later.                   │
│                            ││                                                                         ││ Why in this order (prioritization_rationale)        │
│                            ││                                                                         ││   Quick wins first.                                 │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││ Hidden characters: none.  437 bytes                 │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││ What approving does                                 │
│                            ││                                                                         ││   saves recommendations in the workspace            │
│                            ││                                                                         ││   can be undone by hand: delete the                 │
│                            ││                                                                         ││   recommendations in the workspace                  │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
└────────────────────────────┘└─ row 1 of 3 ────────────────────────────────────────────────────────────┘└─ J/K scroll   1-23 of 23 ───────────────────────────┘
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 nothing staged

 a approve  x exclude  e edit  u undo  Space mark  n next  s submit...  S all...  / filter  ] tabs  z zoom  q quit                                       ? help
"#);
}

#[test]
fn a_refund_beside_the_list() {
    let mut desk = to_decide(100, 30);
    desk.press("nn");

    insta::assert_snapshot!(desk.screen(), @r#"
 placet   gate   pending 3   undecided 3                                                LIVE  14:22
 nothing held back                                                                        oldest 9m
┌─ Queue ────────────────────────────────────┐┌─ Preview ──────────────────────────────────────────┐
│  .    Save 2 recommendations            9m ││ refund_payment   billing                           │
│  . !  Mail to mei@example.com           8m ││ risk CRITICAL   seen in full   7m old              │
│> . !  Refund 4980.00 EUR                7m ││ id 3                                               │
│                                            ││ [Rendered]  Diff   Raw   Context                   │
│                                            ││                                                    │
│                                            ││ ! hidden characters: 1, shown as ⟦…⟧               │
│                                            ││                                                    │
│                                            ││ + is not in the agent's preview                    │
│                                            ││ + amount    4980.00 EUR                            │
│                                            ││ + currency  EUR                                    │
│                                            ││ + customer  Marla ⟦U+202E⟧tsiuQ                    │
│                                            ││   order_id  ORD-88466                              │
│                                            ││   reason    Duplicate charge                       │
│                                            ││                                                    │
│                                            ││ 117 bytes                                          │
│                                            ││                                                    │
│                                            ││ What approving does                                │
│                                            ││   sends money back to a customer; it cannot be     │
│                                            ││   called back                                      │
│                                            ││   cannot be undone                                 │
│                                            ││                                                    │
│                                            ││ The agent says (these words do not run)            │
└─ row 3 of 3 ───────────────────────────────┘└─ J/K scroll   1-17 of 21 ──────────────────────────┘
────────────────────────────────────────────────────────────────────────────────────────────────────
 nothing staged   saved 14:22:31

 a approve  x exclude  e edit  u undo  Space mark  n next  s submit...  S all...  / filter   ? help
"#);
}

#[test]
fn a_mail_below_the_list_and_in_full() {
    let mut desk = to_decide(80, 24);
    desk.press("n");
    insta::assert_snapshot!(desk.screen(), @r#"
 placet  3 pending  3 undecided                                 LIVE  oldest 9m
────────────────────────────────────────────────────────────────────────────────
  .    Save 2 recommendations                 save_recommendations  low      9m
> . !  Mail to mei@example.com                send_email            HIGH     8m
  . !* Refund 4980.00 EUR                     refund_payment        CRIT     7m







── [Rendered]  Diff   Raw   Context   2 ─────────────────────────── 1-7 of 13 ──
 to           mei@example.com
 reply_to     billing@example.com
 subject      Your invoice
 Text (body)
   Dear Mei,
   the invoice is at https://example.com/i/7.
   Best, Kim
────────────────────────────────────────────────────────────────────────────────
 nothing staged   saved 14:22:31

 a approve  x exclude  e edit  u undo  Space mark  n next  s submit...   ? help
"#);
    desk.press("z/invoice<Enter>");
    insta::assert_snapshot!(desk.screen(), @r#"
 placet  3 pending  3 undecided                                 LIVE  oldest 9m
── [Rendered]  Diff   Raw   Context   2 ───────────── /invoice   match 1 of 2 ──
 Mail to mei@example.com
 to           mei@example.com
 reply_to     billing@example.com
 subject      Your invoice
 Text (body)
   Dear Mei,
   the invoice is at https://example.com/i/7.
   Best, Kim

 Hidden characters: none.  156 bytes

 What approving does
   sends one mail; it cannot be called back
   cannot be undone




────────────────────────────────────────────────────────────────────────────────
 nothing staged   saved 14:22:31

 a approve  x exclude  e edit  u undo  Space mark  n next  s submit...   ? help
"#);
}

#[test]
fn raw_with_a_fold() {
    let mut desk = raw("jjj<Enter>");
    desk.say(What::Resize(100, 30));

    insta::assert_snapshot!(desk.screen(), @r#"
 placet   gate   pending 1   undecided 1                                                LIVE  14:22
 nothing held back                                                                        oldest 1m
┌─ Preview ────────────────────────────────────────────────────────────────────────────────────────┐
│ deploy   agent                                                                                   │
│ risk low   seen in full   1m old                                                                 │
│ id 1                                                                                             │
│  Rendered   Diff  [Raw]  Context                                                                 │
│                                                                                                  │
│ {                                                                                                │
│   "repo": "acme/site",                                                                           │
│>  "labels": [ … 2 elements in 2 lines … ],                                                       │
│   "steps": [                                                                                     │
│     {                                                                                            │
│       "run": "deploy",                                                                           │
│       "env": {                                                                                   │
│         "REGION": "eu",                                                                          │
│         "DRY": false                                                                             │
│       }                                                                                          │
│     },                                                                                           │
│     {                                                                                            │
│       "run": "notify",                                                                           │
│       "to": [                                                                                    │
│         "ops",                                                                                   │
│         "web"                                                                                    │
│       ]                                                                                          │
└─ Enter folds   - = all   1-17 of 22 ─────────────────────────────────────────────────────────────┘
────────────────────────────────────────────────────────────────────────────────────────────────────
 nothing staged   saved 14:22:31

 a approve  x exclude  e edit  u undo  Space mark  n next  s submit...  S all...  / filter   ? help
"#);
}
