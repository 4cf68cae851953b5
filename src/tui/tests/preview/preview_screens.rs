//! Whole screens with previews.

use crate::tui::core::msg::What;
use crate::tui::testing::{Desk, action};

use super::previews::raw;

/// Recommendations, a mail, and a refund whose preview hides the amount.
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
    placet  3 to decide   F 3 blocked   1 critical                                                                                       ● gate   kim@acme   14:22
    All                    3 │▌• save_recommendations │ Save 2 recommendations                      low │ save_recommendations · low
                             │ • send_email │ Mail to mei@example.com                              HIGH │ saves recommendations in the workspace
    Agents                   │ • refund_payment │ Refund 4980.00 EUR                               CRIT │ Save 2 recommendations
    billing                1 │                                                                          │ │ recommendations
    crm                    1 │                                                                          │     #  title                  Impact       Effort  Weeks
    roadmap                1 │                                                                          │ │   1  Streamline onboardin…  0.82 (82 %)  small   2
                             │                                                                          │ │   2  Let teams continue w…  0.9 (90 %)   medium  5
    Tools                    │                                                                          │     1 of 2
    refund_payment         1 │                                                                          │ │     title            Streamline onboarding step 3
    save_recommendations   1 │                                                                          │ │     description
    send_email             1 │                                                                          │ │       Collapse the two-screen verification.
                             │                                                                          │ │     success_metrics
                             │                                                                          │ │       ["Activation rate +10%","Drop-off <8%"]
                             │                                                                          │     2 of 2
                             │                                                                          │ │     title
                             │                                                                          │ │       Let teams continue without a verified domain
                             │                                                                          │ │     description  Ask again later.
                             │                                                                          │ │ Why in this order (prioritization_rationale)
                             │                                                                          │ │   Quick wins first.
                             │                                                                          │
                             │                                                                          │   What approving does
                             │                                                                          │     saves recommendations in the workspace
                             │                                                                          │     can be undone by hand: delete the recommendations
                             │                                                                          │     in the workspace
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │ [Rendered] Diff  Raw  Context  History  unread   1-21/21

    a approve  x exclude  e edit  Space mark  / filter  n next  F first  ] tabs                                                                         ? all keys
    "#);
}

#[test]
fn a_refund_beside_the_list() {
    let mut desk = to_decide(100, 30);
    desk.press("nn");

    insta::assert_snapshot!(desk.screen(), @"
     placet  3 to decide   F 3 blocked   1 critical                           ● gate   kim@acme   14:22
       save_recommendations │ Save 2 recommendations    low │ refund_payment · CRITICAL
       send_email │ Mail to mei@example.com            HIGH │ sends money · cannot be undone
    ▌• refund_payment │ Refund 4980.00 EUR    CRIT ! hidden │ Refund 4980.00 EUR
                                                            │   ! hidden characters: 1, shown as ⟦…⟧
                                                            │   ! look twice: bidi
                                                            │
                                                            │   + missing from the agent's preview
                                                            │ │ + amount    4980.00 EUR
                                                            │ │ + currency  EUR
                                                            │ │ + customer  Marla ⟦U+202E⟧tsiuQ
                                                            │ │   order_id  ORD-88466
                                                            │ │   reason    Duplicate charge
                                                            │
                                                            │   What approving does
                                                            │     sends money
                                                            │     cannot be undone
                                                            │
                                                            │   Agent's note (not executed)
                                                            │ │   Small routine refund; nothing to
                                                            │ │   check.
                                                            │
                                                            │     Only in the preview, not in the
                                                            │     input:
                                                            │ │     ! customer: Marla Quist   (the
                                                            │ │     input has another value)
                                                            │
                                                            │ [Rendered]  ] tabs       unread   1-22/22

     x exclude  e edit  Space mark  / filter  n next  ] tabs  z zoom  q quit                 ? all keys
    ");
}

#[test]
fn a_mail_below_the_list_and_in_full() {
    let mut desk = to_decide(80, 24);
    desk.press("n");
    insta::assert_snapshot!(desk.screen(), @"
     placet  3 to decide   F 3 blocked   1 critical       ● gate   kim@acme   14:22
       save_recommendations │ Save 2 recommendations                            low
    ▌• send_email │ Mail to mei@example.com                                    HIGH
     • refund_payment │ Refund 4980.00 EUR                            CRIT ! hidden








    ── send_email · HIGH · sends one mail · cannot be undone ───────────── 1-9/11 ──
    │ to           mei@example.com
    │ reply_to     billing@example.com
    │ subject      Your invoice
    │ Text (body)
    │   Dear Mei,
    │   the invoice is at https://example.com/i/7.
    │   Best, Kim

      What approving does

     x exclude  e edit  Space mark  / filter  n next  F first  ] tabs    ? all keys
    ");
    desk.press("z/invoice<Enter>");
    insta::assert_snapshot!(desk.screen(), @"
    placet  3 to decide   F 3 blocked   1 critical       ● gate   kim@acme   14:22
    send_email · HIGH · sends one mail · cannot be undone
    Mail to mei@example.com
    │ to           mei@example.com
    │ reply_to     billing@example.com
    │ subject      Your invoice
    │ Text (body)
    │   Dear Mei,
    │   the invoice is at https://example.com/i/7.
    │   Best, Kim

      What approving does
        sends one mail
        cannot be undone







    /invoice   match 1 of 2   n N others   Esc ends

    a approve  x exclude  e edit  n next  F first  ] tabs  z zoom       ? all keys
    ");
}

#[test]
fn raw_with_a_fold() {
    let mut desk = raw("jjj<Enter>");
    desk.say(What::Resize(100, 30));

    insta::assert_snapshot!(desk.screen(), @r#"
    placet  1 to decide   F 1 blocked                                        ● gate   kim@acme   14:22
    deploy · low · no description for this tool
    Deploy
    │ {
    │   "repo": "acme/site",
    │>  "labels": [ … 2 elements in 2 lines … ],
    │   "steps": [
    │     {
    │       "run": "deploy",
    │       "env": {
    │         "REGION": "eu",
    │         "DRY": false
    │       }
    │     },
    │     {
    │       "run": "notify",
    │       "to": [
    │         "ops",
    │         "web"
    │       ]
    │     }
    │   ],
    │   "tries": 3,
    │   "note": null
    │ }

      What approving does
     Rendered  Diff [Raw] Context  History               partly read   Enter folds   - = all   1-24/25

    x exclude  e edit  ] tabs  z zoom  q quit                                               ? all keys
    "#);
}
