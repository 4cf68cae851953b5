//! The watch view on smaller screens, in the same four states: the queues beside one panel, and one table.

use super::boards::{calm, down, failed, growing};
use super::watch_screens::{quick, watching};

#[test]
fn a_calm_morning_beside_one_panel() {
    let desk = watching(100, 30, calm());

    insta::assert_snapshot!(desk.screen(), @"
 placet watch   2 sources   pending 12   high 0   oldest 18m   0 over 1h                      14:22
 read-only   refresh 2 s   window 60 min   data <10 s old
── Queues, most pending first ─────────────────────────────────────────── 1 of 5   Tab next panel ──
 queue                state         pend  high  oldest  in now  in 15m  out now  out 15m  clears in
>gate                 CLEARING         9     0     18m       1     0.4        0      0.6     45 min
   refunds-agent      CLEARING         6     0     18m       1     0.2        0      0.4     30 min
   drive-sync         OK               3     0      4m       1     0.2        0      0.2          -
 sagas                OK               3     0      7m       1     0.2        0      0.2          -
   tool saga commit…  OK               3     0      7m       1     0.2        0      0.2          -





── By age ──────────────────────────────────────────────────────────────────────────────────────────
 age       pending
 < 5 m           5  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
 5-15 m          4  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
 15-60 m         3  ━━━━━━━━━━━━━━━━━━━━━━━━
 1-4 h           0
 > 4 h           0

 median 6m  p90 17m  0 over 1h



────────────────────────────────────────────────────────────────────────────────────────────────────
 no alerts

 Enter open  Tab panel  gi inbox  w window  A alerts  m mute  , sort  e export           ? all keys
");
}

#[test]
fn a_queue_that_grows_beside_one_panel() {
    let mut desk = watching(100, 30, growing());
    quick(&mut desk, "<Tab><Tab><Tab>");

    insta::assert_snapshot!(desk.screen(), @"
 placet watch   2 sources   pending 110   high 4   oldest 3h12m!   28 over 1h                 14:22
 read-only   refresh 2 s   window 60 min   data <10 s old
── Queues, most pending first ──────────────────────────────────────────────────────────────────────
 queue                state         pend  high  oldest  in now  in 15m  out now  out 15m  clears in
 gate                 OVER TARGET     88     1   3h12m!      9     9.0        6      6.5          -
   weekly-digest      GROWING         58     0     22m       8     7.2        4      4.8          -
   roadmap            GROWING         12     0     48m       1     0.2        0      0.0          -
   refunds-agent      OVER TARGET      9     1   3h12m!      2     1.2        0      0.9          -
   退款 ⟦U+202E⟧age…  CLEARING         9     0     40m       1     0.4        0      0.8     23 min
 sagas                OVER TARGET     22     3   1h05m!      4     3.1        2      2.0          -




── By reviewer, 60 min ────────────────────────────────────────────────── 1 of 3   Tab next panel ──
 reviewer                                  all  appr  excl  edit  median
>kim                                       113   101    12     5    14 s
 maria                                      74    60    14     0    22 s
 lee                                        41    41     0     -      3m







────────────────────────────────────────────────────────────────────────────────────────────────────
 ALERTS   sagas high-risk waiting over 15m: 3   over 1h: 28   gate growing for 22 min
          gate missions blocked: 3
 Enter open  Tab panel  gi inbox  w window  A alerts  m mute  , sort  e export           ? all keys
");
}

#[test]
fn a_source_that_is_down_beside_one_panel() {
    let mut desk = watching(100, 30, down());
    quick(&mut desk, "j");

    insta::assert_snapshot!(desk.screen(), @"
 placet watch   2/3 sources ok   pending 31?   high 0   oldest 55m   0 over 1h                14:22
 read-only   refresh 2 s   window 60 min   data 70 s old (woo-store)
── Queues, most pending first ─────────────────────────────────────────── 2 of 7   Tab next panel ──
 queue                state         pend  high  oldest  in now  in 15m  out now  out 15m  clears in
 woo-store            RETRY 12 s      19?    0?    55m?      ?     1.0?       ?      0.4?         -
>  shop-agent         STARTING?       19?    0?    55m?      ?     1.0?       ?      0.4?         -
 gate                 CLEARING         9     0     18m       1     0.4        0      0.6     45 min
   refunds-agent      CLEARING         6     0     18m       1     0.2        0      0.4     30 min
   drive-sync         OK               3     0      4m       1     0.2        0      0.2          -
 sagas                OK               3     0      7m       1     0.2        0      0.2          -
   tool saga commit…  OK               3     0      7m       1     0.2        0      0.2          -



── By age ──────────────────────────────────────────────────────────────────────────────────────────
 age       pending
 < 5 m           5  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
 5-15 m          4  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
 15-60 m         3  ━━━━━━━━━━━━━━━━━━━━━━━━
 1-4 h           0
 > 4 h           0

 median 6m  p90 17m  0 over 1h



────────────────────────────────────────────────────────────────────────────────────────────────────
 ALERTS   woo-store down for 1 min

 Enter open  Tab panel  gi inbox  w window  A alerts  m mute  , sort  e export           ? all keys
");
}

#[test]
fn a_failure_after_approval_beside_one_panel() {
    let mut desk = watching(100, 30, failed());
    quick(&mut desk, "<BackTab>j");

    insta::assert_snapshot!(desk.screen(), @"
 placet watch   2 sources   pending 12   high 0   1 UNKNOWN   oldest 18m   0 over 1h          14:22
 read-only   refresh 2 s   window 60 min   data <10 s old
── Queues, most pending first ──────────────────────────────────────────────────────────────────────
 queue                state         pend  high  oldest  in now  in 15m  out now  out 15m  clears in
 gate                 CLEARING         9     0     18m       1     0.4        0      0.6     45 min
   refunds-agent      CLEARING         6     0     18m       1     0.2        0      0.4     30 min
   drive-sync         OK               3     0      4m       1     0.2        0      0.2          -
 sagas                OK               3     0      7m       1     0.2        0      0.2          -
   tool saga commit…  OK               3     0      7m       1     0.2        0      0.2          -





── Events, newest first ───────────────────────────────────────────────── 2 of 5   Tab next panel ──
 14:22:31  FAILED    gate   after approval: google_drive_write  Overwrite Q3 plan.docx
>14:22:30  UNKNOWN   gate   after approval: HIGH refund_payment  Refund 1.10 EUR to ⟦U+202E⟧yrollam
 14:22:23  decided   gate   approved by maria   refund_payment  Refund 120 EUR to alice
 14:22:00  arrived   sagas  saga commit crm.*  step 5: update the contact
 14:20:56  decided   gate   5 approved, 1 excluded by kim






────────────────────────────────────────────────────────────────────────────────────────────────────
 ALERTS   gate failed after approval: 3   gate outcome unknown: 1

 Enter open  Tab panel  gi inbox  w window  A alerts  m mute  , sort  e export           ? all keys
");
}

#[test]
fn a_calm_morning_in_one_table() {
    let desk = watching(80, 24, calm());

    insta::assert_snapshot!(desk.screen(), @r"
 placet watch  12 pending  0 high  oldest 18m  0 over 1h          60 min  14:22
── Queues, most pending first ─────────────────────── 1 of 5   Tab next panel ──
 queue                  state         pend  high  oldest  clears in   source
>gate                   CLEARING         9     0     18m     45 min   ok
   refunds-agent        CLEARING         6     0     18m     30 min
   drive-sync           OK               3     0      4m          -
 sagas                  OK               3     0      7m          -   ok
   tool saga commit c…  OK               3     0      7m          -













────────────────────────────────────────────────────────────────────────────────
 no alerts
 Enter open  Tab panel  gi inbox  w window  A alerts  m mute         ? all keys
");
}

#[test]
fn a_queue_that_grows_in_one_table() {
    let mut desk = watching(80, 24, growing());
    quick(&mut desk, "<Tab><Tab><Tab>");

    insta::assert_snapshot!(desk.screen(), @r"
 placet watch  110 pending  4 high  oldest 3h12m!  28 over 1h     60 min  14:22
── By reviewer, 60 min ────────────────────────────── 1 of 3   Tab next panel ──
 reviewer                                  all  appr  excl  edit  median
>kim                                       113   101    12     5    14 s
 maria                                      74    60    14     0    22 s
 lee                                        41    41     0     -      3m















────────────────────────────────────────────────────────────────────────────────
 ALERTS   sagas high-risk waiting over 15m: 3   over 1h: 28  +2 (A)
 Enter open  Tab panel  gi inbox  w window  A alerts  m mute         ? all keys
");
}

#[test]
fn a_source_that_is_down_in_one_table() {
    let mut desk = watching(80, 24, down());
    quick(&mut desk, "j");

    insta::assert_snapshot!(desk.screen(), @r"
 placet watch  31? pending  0 high  oldest 55m  0 over 1h  data 70 s old  14:22
── Queues, most pending first ─────────────────────── 2 of 7   Tab next panel ──
 queue                  state         pend  high  oldest  clears in   source
 woo-store              STARTING?       19?    0?    55m?         -   RETRY 12 s
>  shop-agent           STARTING?       19?    0?    55m?         -
 gate                   CLEARING         9     0     18m     45 min   ok
   refunds-agent        CLEARING         6     0     18m     30 min
   drive-sync           OK               3     0      4m          -
 sagas                  OK               3     0      7m          -   ok
   tool saga commit c…  OK               3     0      7m          -











────────────────────────────────────────────────────────────────────────────────
 ALERTS   woo-store down for 1 min
 Enter open  Tab panel  gi inbox  w window  A alerts  m mute         ? all keys
");
}

#[test]
fn a_failure_after_approval_in_one_table() {
    let mut desk = watching(80, 24, failed());
    quick(&mut desk, "<BackTab>j");

    insta::assert_snapshot!(desk.screen(), @r"
 placet watch  12 pending  0 high  1 UNKNOWN  oldest 18m          60 min  14:22
── Events, newest first ───────────────────────────── 2 of 5   Tab next panel ──
 14:22:31  FAILED    gate   after approval: google_drive_write  Overwrite Q3 pl…
>14:22:30  UNKNOWN   gate   after approval: HIGH refund_payment  Refund 1.10 EU…
 14:22:23  decided   gate   approved by maria   refund_payment  Refund 120 EUR …
 14:22:00  arrived   sagas  saga commit crm.*  step 5: update the contact
 14:20:56  decided   gate   5 approved, 1 excluded by kim














────────────────────────────────────────────────────────────────────────────────
 ALERTS   gate failed after approval: 3   gate outcome unknown: 1
 Enter open  Tab panel  gi inbox  w window  A alerts  m mute         ? all keys
");
}
