//! Previews on whole screens.

use crate::tui::core::msg::What;
use crate::tui::testing::{Desk, action};

use super::previews::raw;

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
 placet   gate   pending 3   undecided 3                                                                                               as kim@acme  LIVE  14:22
                                                                                                                                                      oldest 9m
┌─ Queues ───────────────────┐┌─ Queue ─────────────────────────────────────────────────────────────────┐┌─ Preview ───────────────────────────────────────────┐
│ gate                     3 ││> .  * Save 2 recommendations          save_recommendations  low      9m ││ save_recommendations · low                          │
│ agents blocked           3 ││  . !* Mail to mei@example.com         send_email            HIGH     8m ││ saves recommendations in the workspace              │
│                            ││  . !* Refund 4980.00 EUR              refund_payment        CRIT     7m ││ unread   roadmap   9m old                           │
│ Risk                       ││                                                                         ││ [Rendered]  Diff   Raw   Context   History          │
│   critical     1  ######## ││                                                                         ││ id 1                                                │
│   high         1  ######## ││                                                                         │││ recommendations                                    │
│   medium       0           ││                                                                         ││    #  title               Impact       Effort  Weeks│
│   low          1  ######## ││                                                                         │││   1  Streamline onboar…  0.82 (82 %)  small   2    │
│                            ││                                                                         │││   2  Let teams continu…  0.9 (90 %)   medium  5    │
│ Age                        ││                                                                         ││    1 of 2                                           │
│   < 15 m       3  ######## ││                                                                         │││     title            Streamline onboarding step 3  │
│   15-60 m      0           ││                                                                         │││     description                                    │
│   1-4 h        0           ││                                                                         │││       Collapse the two-screen verification.        │
│   > 4 h        0           ││                                                                         │││     success_metrics                                │
│                            ││                                                                         │││       ["Activation rate +10%","Drop-off <8%"]      │
│ Staged                     ││                                                                         ││    2 of 2                                           │
│   approve      0           ││                                                                         │││     title                                          │
│   edit         0           ││                                                                         │││       Let teams continue without a verified domain │
│   exclude      0           ││                                                                         │││     description  Ask again later.                  │
│                            ││                                                                         │││ Why in this order (prioritization_rationale)       │
│                            ││                                                                         │││   Quick wins first.                                │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││  Hidden characters: none.  437 bytes                │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││  What approving does                                │
│                            ││                                                                         ││    saves recommendations in the workspace           │
│                            ││                                                                         ││    can be undone by hand: delete the                │
│                            ││                                                                         ││    recommendations in the workspace                 │
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

    insta::assert_snapshot!(desk.screen(), @r"
 placet   gate   pending 3   undecided 3                                   as kim@acme  LIVE  14:22
                                                        blocked until decided: 3 agents   oldest 9m
┌─ Queue ────────────────────────────────────┐┌─ Preview ──────────────────────────────────────────┐
│  .  * Save 2 recommendations            9m ││ refund_payment · CRITICAL                          │
│  . !* Mail to mei@example.com           8m ││ sends money back to a customer · cannot be undone  │
│> . !*#Refund 4980.00 EUR                7m ││ unread   billing   7m old                          │
│                                            ││ [Rendered]  Diff   Raw   Context   History         │
│                                            ││ id 3                                               │
│                                            ││  ! hidden characters: 1, shown as ⟦…⟧              │
│                                            ││  ! look twice: bidi                                │
│                                            ││                                                    │
│                                            ││  + is not in the agent's preview                   │
│                                            │││ + amount    4980.00 EUR                           │
│                                            │││ + currency  EUR                                   │
│                                            │││ + customer  Marla ⟦U+202E⟧tsiuQ                   │
│                                            │││   order_id  ORD-88466                             │
│                                            │││   reason    Duplicate charge                      │
│                                            ││                                                    │
│                                            ││  117 bytes                                         │
│                                            ││                                                    │
│                                            ││  What approving does                               │
│                                            ││    sends money back to a customer; it cannot be    │
│                                            ││    called back                                     │
│                                            ││    cannot be undone                                │
│                                            ││                                                    │
└─ row 3 of 3 ───────────────────────────────┘└─ J/K scroll   1-17 of 22 ──────────────────────────┘
────────────────────────────────────────────────────────────────────────────────────────────────────
 nothing staged

 a approve  x exclude  e edit  u undo  Space mark  n next  s submit...  S all...  / filter   ? help
");
}

#[test]
fn a_mail_below_the_list_and_in_full() {
    let mut desk = to_decide(80, 24);
    desk.press("n");
    insta::assert_snapshot!(desk.screen(), @r"
 placet  3 pending  3 undecided                    as kim@acme  LIVE  oldest 9m
────────────────────────────────────────────────────────────────────────────────
  .    Save 2 recommendations                 save_recommendations  low      9m
> . !* Mail to mei@example.com                send_email            HIGH     8m
  . !* Refund 4980.00 EUR                     refund_payment        CRIT     7m







── [Rendered]  Diff   Raw   Context   History   2 ───────────────── 1-6 of 13 ──
send_email · HIGH · sends one mail · cannot be undone
│ to           mei@example.com
│ reply_to     billing@example.com
│ subject      Your invoice
│ Text (body)
│   Dear Mei,
│   the invoice is at https://example.com/i/7.
────────────────────────────────────────────────────────────────────────────────
 nothing staged   saved 14:22:31

 a approve  x exclude  e edit  u undo  Space mark  n next  s submit...   ? help
");
    desk.press("z/invoice<Enter>");
    insta::assert_snapshot!(desk.screen(), @r"
 placet  3 pending  3 undecided                    as kim@acme  LIVE  oldest 9m
send_email · HIGH · sends one mail · cannot be undone
── [Rendered]  Diff   Raw   Context   History   2 ─── /invoice   match 1 of 2 ──
 Mail to mei@example.com
│ to           mei@example.com
│ reply_to     billing@example.com
│ subject      Your invoice
│ Text (body)
│   Dear Mei,
│   the invoice is at https://example.com/i/7.
│   Best, Kim

  Hidden characters: none.  156 bytes

  What approving does
    sends one mail; it cannot be called back
    cannot be undone



────────────────────────────────────────────────────────────────────────────────
 nothing staged   saved 14:22:32

 a approve  x exclude  e edit  u undo  n next  s submit...  S all...     ? help
");
}

#[test]
fn raw_with_a_fold() {
    let mut desk = raw("jjj<Enter>");
    desk.say(What::Resize(100, 30));

    insta::assert_snapshot!(desk.screen(), @r#"
 placet   gate   pending 1   undecided 1                                   as kim@acme  LIVE  14:22
                                                         blocked until decided: 1 agent   oldest 1m
┌─ Preview ────────────────────────────────────────────────────────────────────────────────────────┐
│ deploy · low · no description for this tool                                                      │
│ partly read   agent   1m old                                                                     │
│  Rendered   Diff  [Raw]  Context   History                                                       │
│ id 1                                                                                             │
││ {                                                                                               │
││   "repo": "acme/site",                                                                          │
││>  "labels": [ … 2 elements in 2 lines … ],                                                      │
││   "steps": [                                                                                    │
││     {                                                                                           │
││       "run": "deploy",                                                                          │
││       "env": {                                                                                  │
││         "REGION": "eu",                                                                         │
││         "DRY": false                                                                            │
││       }                                                                                         │
││     },                                                                                          │
││     {                                                                                           │
││       "run": "notify",                                                                          │
││       "to": [                                                                                   │
││         "ops",                                                                                  │
││         "web"                                                                                   │
││       ]                                                                                         │
││     }                                                                                           │
└─ Enter folds   - = all   1-18 of 22 ─────────────────────────────────────────────────────────────┘
────────────────────────────────────────────────────────────────────────────────────────────────────
 nothing staged   saved 14:22:31

 a approve  x exclude  e edit  u undo  n next  s submit...  S all...  ] tabs  z zoom         ? help
"#);
}
