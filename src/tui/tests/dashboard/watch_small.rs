//! The watch view on smaller screens, in the same four states: beside one panel, and as one table.

use super::boards::{calm, down, failed, growing};
use super::watch_screens::{quick, watching};

#[test]
fn calm_board_beside_one_panel() {
    let desk = watching(100, 30, calm());

    insta::assert_snapshot!(desk.screen(), @"
 placet watch  12 pending · oldest 18 m                                                       14:22

── Queues, most pending first ─────────────────────────────────────────── 1 of 5   Tab next panel ──
 queue             state        pending  high  oldest  in now  in 15m  out now  out 15m  clears in
▌gate              CLEARING           9     0    18 m       1     0.4        0      0.6     45 min
   refunds-agent   CLEARING           6     0    18 m       1     0.2        0      0.4     30 min
   drive-sync      OK                 3     0     4 m       1     0.2        0      0.2          -
 sagas             OK                 3     0     7 m       1     0.2        0      0.2          -
   tool saga com…  OK                 3     0     7 m       1     0.2        0      0.2          -






── gate, 60 min ────────────────────────────────────────────────────────────────────────────────────
 pending 9   from 12, most 12                     ⠤ in 1 now · 0.4 mean   • out 0 now · 0.6 mean
 12  │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣧⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⡀                1.0/min│   ••   ••   ••   •   ••   ••   ••   •
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣷⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⡄          │
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿          │
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿          │
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿          │
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿          │
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿          │
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿          │
 0   │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿   0      │••••⣀•••⣀••••⣀••••⣀••••⣀•••⣀••••⣀••••⣀•••
     └─────────────────────────────────────────          └─────────────────────────────────────────
 13:22                 13:52              14:22      13:22                 13:52              14:22
 Last 60 min: 33 approved (4 edited) · 7 excluded · 33 ran
 Enter open  Tab panel  gi inbox  w window  A alerts  , sort  e export  q quit           ? all keys
");
}

#[test]
fn growing_queue_beside_one_panel() {
    let mut desk = watching(100, 30, growing());
    quick(&mut desk, "<Tab><Tab><Tab>");

    insta::assert_snapshot!(desk.screen(), @"
     placet watch  110 pending · 4 high · 28 over 1 h · oldest 3 h 12                             14:22
     ! sagas: 3 high over 15 m  ! 28 over 1 h  ! gate: growing for 22 min  ! gate: 3 missions blocked
    ── Queues, most pending first ──────────────────────────────────────────────────────────────────────
     queue             state        pending  high  oldest  in now  in 15m  out now  out 15m  clears in
    ▌gate              OVER TARGET       88     1  3 h 12!      9     9.0        6      6.5          -
       weekly-digest   GROWING           58     0    22 m       8     7.2        4      4.8          -
       roadmap         GROWING           12     0    48 m       1     0.2        0      0.0          -
       refunds-agent   OVER TARGET        9     1  3 h 12!      2     1.2        0      0.9          -
       退款 ⟦U+202E⟧…  CLEARING           9     0    40 m       1     0.4        0      0.8     23 min
     sagas             OVER TARGET       22     3  1 h 05!      4     3.1        2      2.0          -





    ── By age ──────────────────────────────────────────────────────────────────────── Tab next panel ──
     age       pending
     < 5 m          24  ━━━━━━━━━━━━━━━━━━━━━━━━━━
     5-15 m         37  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
     15-60 m        21  ━━━━━━━━━━━━━━━━━━━━━━━
     1-4 h          28  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
     > 4 h           0

     median 19 m  p90 1 h 10  28 over 1 h




     Last 60 min: 33 approved (4 edited) · 7 excluded · 33 ran
     Tab panel  gi inbox  w window  A alerts  m mute  , sort  e export  K seen               ? all keys
    ");
}

#[test]
fn source_down_beside_one_panel() {
    let mut desk = watching(100, 30, down());
    quick(&mut desk, "j");

    insta::assert_snapshot!(desk.screen(), @"
 placet watch  31? pending · oldest 55 m        2 of 3 sources ok · woo-store data 70 s old   14:22
 ! woo-store: down for 1 min
── Queues, most pending first ─────────────────────────────────────────── 2 of 7   Tab next panel ──
 queue             state        pending  high  oldest  in now  in 15m  out now  out 15m  clears in
 woo-store         RETRY 12 s        19?    0?   55 m?      ?     1.0?       ?      0.4?         -
▌  shop-agent      STARTING?         19?    0?   55 m?      ?     1.0?       ?      0.4?         -
 gate              CLEARING           9     0    18 m       1     0.4        0      0.6     45 min
   refunds-agent   CLEARING           6     0    18 m       1     0.2        0      0.4     30 min
   drive-sync      OK                 3     0     4 m       1     0.2        0      0.2          -
 sagas             OK                 3     0     7 m       1     0.2        0      0.2          -
   tool saga com…  OK                 3     0     7 m       1     0.2        0      0.2          -




── shop-agent, 60 min ──────────────────────────────────────────────────────────────────────────────
 pending 19?   from 8, most 17                    ⠤ in ? now · 1.0 mean   • out ? now · 0.4 mean
 17  │                             ⢠⣤⣤⣤⣼⣿⡇        2.0/min│    ⡇    ⡇   ⢸    ⢸    ⢸    ⡇    ⡇    ⡇
     │                      ⢠⣤⣤⣤⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇               │    ⡇   ⢰⡇   ⢸    ⢸    ⣾    ⡇    ⡇   ⢰⡇
     │               ⣤⣤⣤⣼⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇               │   ⢠⢳   ⢸⡇   ⡜⡆   ⣼    ⣿   ⢠⢳   ⢠⡇   ⢸⡇
     │       ⢠⣤⣤⣤⣼⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇               │   ⢸⢸   ⡜⡇   ⡇⡇   ⣿   ⢠⢻   ⢸⢸   ⢸⡇   ⡜⡇
     │⣀⣀⣀⣠⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇               │  ⡤⠼⢸  ⡤⠇⢣ ⢠⠤⠇⡇ ⢠⠤⠟⡄ ⢠⠼⠘⡄ ⡤⠼⢸  ⡤⠼⢣ ⢠⠤⠇⢣ ⢠
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇               │  ⡇ ⢸ ⢀⠇ ⢸ ⢸  ⡇ ⢸  ⡇ ⡸  ⡇ ⡇ ⢸ ⢀⠇ ⢸ ⢸  ⢸ ⢸
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇               │ ⢀⠇ ⠸⡀⢸  ⢸ ⡸  ⢇ ⡸  ⡇ ⡇  ⡇⢀⠇ ⠸⡀⢸  ⢸ ⡸  ⢸ ⡸
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇               │ ⢸   ⡇⡸  ⢸ ⡇  ⢸ ⡇  ⡇⢀⠇  ⡇⢸   ⡇⡸  ⢸ ⡇  ⢸ ⡇
 0   │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇        0      │•••••••••••••••••••••••••••••••••••••••••
     └─────────────────────────────────────────          └─────────────────────────────────────────
 13:22                 13:52              14:22      13:22                 13:52              14:22
 Last 60 min: 33 approved (4 edited) · 7 excluded · 33 ran
 Enter open  Tab panel  gi inbox  w window  A alerts  m mute  , sort  e export           ? all keys
");
}

#[test]
fn failure_after_approval_beside_one_panel() {
    let mut desk = watching(100, 30, failed());
    quick(&mut desk, "<BackTab>j");

    insta::assert_snapshot!(desk.screen(), @"
 placet watch  12 pending · 1 with unknown outcome · oldest 18 m                              14:22
 ! gate: 3 failed after approval  ! gate: 1 with unknown outcome
── Queues, most pending first ──────────────────────────────────────────────────────────────────────
 queue             state        pending  high  oldest  in now  in 15m  out now  out 15m  clears in
▌gate              CLEARING           9     0    18 m       1     0.4        0      0.6     45 min
   refunds-agent   CLEARING           6     0    18 m       1     0.2        0      0.4     30 min
   drive-sync      OK                 3     0     4 m       1     0.2        0      0.2          -
 sagas             OK                 3     0     7 m       1     0.2        0      0.2          -
   tool saga com…  OK                 3     0     7 m       1     0.2        0      0.2          -






── Events, newest first ───────────────────────────────────────────────── 2 of 5   Tab next panel ──
 14:22:31  FAILED    gate   after approval: google_drive_write  Overwrite Q3 plan.docx
▌14:22:30  UNKNOWN   gate   after approval: HIGH refund_payment  Refund 1.10 EUR to ⟦U+202E⟧yrollam
 14:22:23  decided   gate   approved by maria   refund_payment  Refund 120 EUR to alice
 14:22:00  arrived   sagas  saga commit crm.*  step 5: update the contact
 14:20:56  decided   gate   5 approved, 1 excluded by kim







 Last 60 min: 3 failed after approval · 1 with unknown outcome · 33 approved (4 edited) · 7 excluded
 Enter open  Tab panel  gi inbox  w window  A alerts  m mute  , sort  e export           ? all keys
");
}

#[test]
fn calm_board_in_one_table() {
    let desk = watching(80, 24, calm());

    insta::assert_snapshot!(desk.screen(), @"
 placet watch  12 pending · oldest 18 m                                   14:22

── Queues, most pending first ─────────────────────── 1 of 5   Tab next panel ──
 queue                      state        pending  high  oldest  over  clears in
▌gate                       CLEARING           9     0    18 m     0     45 min
   refunds-agent            CLEARING           6     0    18 m     0     30 min
   drive-sync               OK                 3     0     4 m     0          -
 sagas                      OK                 3     0     7 m     0          -
   tool saga commit crm.*   OK                 3     0     7 m     0          -













 Last 60 min: 33 approved (4 edited) · 7 excluded · 33 ran
 Enter open  Tab panel  gi inbox  w window  A alerts  , sort         ? all keys
");
}

#[test]
fn growing_queue_in_one_table() {
    let mut desk = watching(80, 24, growing());
    quick(&mut desk, "<Tab><Tab><Tab>");

    insta::assert_snapshot!(desk.screen(), @"
     placet watch  110 pending · 4 high · 28 over 1 h · oldest 3 h 12         14:22
     ! sagas: 3 high over 15 m  ! 28 over 1 h  ! gate: growing for 22 min  +1 (A)
    ── By age ──────────────────────────────────────────────────── Tab next panel ──
     age       pending
     < 5 m          24  ━━━━━━━━━━━━━━━━━━━━━━━━━━
     5-15 m         37  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
     15-60 m        21  ━━━━━━━━━━━━━━━━━━━━━━━
     1-4 h          28  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
     > 4 h           0

     median 19 m  p90 1 h 10  28 over 1 h











     Last 60 min: 33 approved (4 edited) · 7 excluded · 33 ran
     Tab panel  gi inbox  w window  A alerts  m mute  , sort  e export   ? all keys
    ");
}

#[test]
fn source_down_in_one_table() {
    let mut desk = watching(80, 24, down());
    quick(&mut desk, "j");

    insta::assert_snapshot!(desk.screen(), @"
 placet watch  31? pending  2 of 3 sources ok · woo-store data 70 s old   14:22
 ! woo-store: down for 1 min
── Queues, most pending first ─────────────────────── 2 of 7   Tab next panel ──
 queue                      state        pending  high  oldest  over  clears in
 woo-store                  RETRY 12 s        19?    0?   55 m?    0?         -
▌  shop-agent               STARTING?         19?    0?   55 m?    0?         -
 gate                       CLEARING           9     0    18 m     0     45 min
   refunds-agent            CLEARING           6     0    18 m     0     30 min
   drive-sync               OK                 3     0     4 m     0          -
 sagas                      OK                 3     0     7 m     0          -
   tool saga commit crm.*   OK                 3     0     7 m     0          -











 Last 60 min: 33 approved (4 edited) · 7 excluded · 33 ran
 Enter open  Tab panel  gi inbox  w window  A alerts  m mute         ? all keys
");
}

#[test]
fn failure_after_approval_in_one_table() {
    let mut desk = watching(80, 24, failed());
    quick(&mut desk, "<BackTab>j");

    insta::assert_snapshot!(desk.screen(), @"
 placet watch  12 pending · 1 with unknown outcome · oldest 18 m          14:22
 ! gate: 3 failed after approval  ! gate: 1 with unknown outcome
── Events, newest first ───────────────────────────── 2 of 5   Tab next panel ──
 14:22:31  FAILED    gate   after approval: google_drive_write  Overwrite Q3 pl…
▌14:22:30  UNKNOWN   gate   after approval: HIGH refund_payment  Refund 1.10 EU…
 14:22:23  decided   gate   approved by maria   refund_payment  Refund 120 EUR …
 14:22:00  arrived   sagas  saga commit crm.*  step 5: update the contact
 14:20:56  decided   gate   5 approved, 1 excluded by kim














 Last 60 min: 3 failed after approval · 1 with unknown outcome · 7 excluded
 Enter open  Tab panel  gi inbox  w window  A alerts  m mute         ? all keys
");
}
