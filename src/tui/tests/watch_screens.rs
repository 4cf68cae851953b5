//! The watch view at the sizes of the design, in four states.

use crate::config::Glyphs;
use crate::inbox::figures::Board;
use crate::tui::testing::{Desk, few};

use super::boards::{calm, down, failed, growing};

pub(crate) fn watching(width: u16, height: u16, board: Board) -> Desk {
    let mut desk = Desk::new(width, height, few(6));
    desk.press("gw");
    shows(&mut desk, board);
    desk
}

/// The board is this one, until the next look.
pub(crate) fn shows(desk: &mut Desk, mut board: Board) {
    board.at = desk.model.now;
    desk.model.dashboard.watch.board = board;
    desk.model.dashboard.watch.settle();
}

/// Keys that come before the next look.
pub(crate) fn quick(desk: &mut Desk, keys: &str) {
    desk.hurry(keys, 20);
    desk.drawn();
}

#[test]
fn a_calm_morning_on_a_wide_screen() {
    let desk = watching(160, 45, calm());

    insta::assert_snapshot!(desk.screen(), @"
 placet watch   2 sources   pending 12   high-risk 0   oldest 18m   0 over 1h                   read-only   refresh 2 s   window 60 min   data <10 s old  14:22

── Queues, most pending first ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────── 1 of 5 ──
 queue                  state         pend  high  oldest  over  in now  in 15m  out now  out 15m  clears in   pending, 60 min         source
>gate                   CLEARING         9     0     18m     0       1     0.4        0      0.6     45 min   ████████▇▇▇▇      12>9  ok
   refunds-agent        CLEARING         6     0     18m     0       1     0.2        0      0.4     30 min   ████████▇▇▇▆       9>6
   drive-sync           OK               3     0      4m     0       1     0.2        0      0.2          -   ████████████       3>3
 sagas                  OK               3     0      7m     0       1     0.2        0      0.2          -   ▆▆▆▆▆▆▆▆▆▆▆█       2>3  ok
   tool saga commit c…  OK               3     0      7m     0       1     0.2        0      0.2          -   ▆▆▆▆▆▆▆▆▆▆▆█       2>3








── By tool, 60 min ───────────────────────────────────────────── By age ─────────────────────────────────── By reviewer, 60 min ────────────────────────────────
 tool                        pend high  oldest  appr% edited%  age       pending                          Off, so that nobody is measured unasked.
 refund_payment                 6    0     18m    88%      5%  < 5 m           5  ━━━━━━━━━━━━━━━━━━━━━━  [watch] reviewers = true in the configuration
 google_drive_write             3    0      4m    83%     11%  5-15 m          4  ━━━━━━━━━━━━━━━━━━      shows who decided, where a source tells it.
 saga commit crm.*              3    0      7m    79%      0%  15-60 m         3  ━━━━━━━━━━━━━━
                                                               1-4 h           0
                                                               > 4 h           0

                                                               median 6m  p90 17m  0 over 1h

── Rates and outcomes, 60 min ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 arrivals/min  peak 3.0 at 14:18   ▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄  now    1  15m   0.6
 resolved/min  peak 2.0 at 14:18   ▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅  now    0  15m   0.8
 outcomes      approved 33 (4 edited)   excluded 7   left undecided 0   executed 33   failed after approval 0   unknown 0

── Events, newest first ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 14:22:23  decided   gate   approved by maria   refund_payment  Refund 120 EUR to alice
 14:22:00  arrived   sagas  saga commit crm.*  step 5: update the contact
 14:20:56  decided   gate   5 approved, 1 excluded by kim





────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 no alerts

 Enter open  Tab panel  gi inbox  w window  A alerts  m mute  , sort  e export                                                                       ? all keys
");
}

#[test]
fn a_queue_that_grows_on_a_wide_screen() {
    let desk = watching(160, 45, growing());

    insta::assert_snapshot!(desk.screen(), @"
 placet watch   2 sources   pending 110   high-risk 4   oldest 3h12m!   28 over 1h              read-only   refresh 2 s   window 60 min   data <10 s old  14:22

── Queues, most pending first ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────── 1 of 6 ──
 queue                  state         pend  high  oldest  over  in now  in 15m  out now  out 15m  clears in   pending, 60 min         source
>gate                   OVER TARGET     88     1   3h12m!    9       9     9.0        6      6.5          -   ▄▅▅▅▆▆▇▇▇███     31>88  ok
   weekly-digest        GROWING         58     0     22m     0       8     7.2        4      4.8          -   ▂▂▃▄▄▅▅▆▇▇██      0>58
   roadmap              GROWING         12     0     48m     0       1     0.2        0      0.0          -   ▁▂▃▃▄▄▅▆▆▇▇█      0>12
   refunds-agent        OVER TARGET      9     1   3h12m!    9       2     1.2        0      0.9          -   ▄▄▅▅▅▅▆▆▇▇██       3>9
   退款 ⟦U+202E⟧agent   CLEARING         9     0     40m     0       1     0.4        0      0.8     23 min   ███▇▇▆▆▅▅▅▄▃      33>9
 sagas                  OVER TARGET     22     3   1h05m!    9       4     3.1        2      2.0          -   ▄▅▅▆▆▆▇▇▇███      9>22  ok







── By tool, 60 min ───────────────────────────────────────────── By age ─────────────────────────────────── By reviewer, 60 min ────────────────────────────────
 tool                        pend high  oldest  appr% edited%  age       pending                          reviewer                all  appr  excl  edit  median
 refund_payment                 6    0     18m    88%      5%  < 5 m          24  ━━━━━━━━━━━━━━━         kim                     113   101    12     5    14 s
 google_drive_write             3    0      4m    83%     11%  5-15 m         37  ━━━━━━━━━━━━━━━━━━━━━━  maria                    74    60    14     0    22 s
 saga commit crm.*              3    0      7m    79%      0%  15-60 m        21  ━━━━━━━━━━━━━           lee                      41    41     0     -      3m
                                                               1-4 h          28  ━━━━━━━━━━━━━━━━━
                                                               > 4 h           0

                                                               median 19m  p90 1h10m  28 over 1h

── Rates and outcomes, 60 min ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 arrivals/min  peak 3.0 at 14:18   ▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄  now   13  15m  12.1
 resolved/min  peak 2.0 at 14:18   ▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅  now    8  15m   8.5
 outcomes      approved 33 (4 edited)   excluded 7   left undecided 0   executed 33   failed after approval 0   unknown 0

── Events, newest first ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 14:22:23  decided   gate   approved by maria   refund_payment  Refund 120 EUR to alice
 14:22:00  arrived   sagas  saga commit crm.*  step 5: update the contact
 14:20:56  decided   gate   5 approved, 1 excluded by kim





────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 ALERTS   sagas high-risk waiting over 15m: 3   over 1h: 28   gate growing for 22 min   gate missions blocked: 3

 Enter open  Tab panel  gi inbox  w window  A alerts  m mute  , sort  e export                                                                       ? all keys
");
}

#[test]
fn a_source_that_is_down_on_a_wide_screen() {
    let desk = watching(160, 45, down());

    insta::assert_snapshot!(desk.screen(), @"
 placet watch   2/3 sources ok   pending 31?   high-risk 0   oldest 55m   0 over 1h  read-only   refresh 2 s   window 60 min   data 70 s old (woo-store)  14:22

── Queues, most pending first ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────── 1 of 7 ──
 queue                  state         pend  high  oldest  over  in now  in 15m  out now  out 15m  clears in   pending, 60 min         source
>woo-store              STARTING?       19?    0?    55m?    0?      ?     1.0?       ?      0.4?         -   ▅▅▆▆▆▇▇████?      8>17  RETRY 12 s, data 71 s old
   shop-agent           STARTING?       19?    0?    55m?    0?      ?     1.0?       ?      0.4?         -   ▅▅▆▆▆▇▇████?      8>17
 gate                   CLEARING         9     0     18m     0       1     0.4        0      0.6     45 min   ████████▇▇▇▇      12>9  ok
   refunds-agent        CLEARING         6     0     18m     0       1     0.2        0      0.4     30 min   ████████▇▇▇▆       9>6
   drive-sync           OK               3     0      4m     0       1     0.2        0      0.2          -   ████████████       3>3
 sagas                  OK               3     0      7m     0       1     0.2        0      0.2          -   ▆▆▆▆▆▆▆▆▆▆▆█       2>3  ok
   tool saga commit c…  OK               3     0      7m     0       1     0.2        0      0.2          -   ▆▆▆▆▆▆▆▆▆▆▆█       2>3






── By tool, 60 min ───────────────────────────────────────────── By age ─────────────────────────────────── By reviewer, 60 min ────────────────────────────────
 tool                        pend high  oldest  appr% edited%  age       pending                          Off, so that nobody is measured unasked.
 refund_payment                 6    0     18m    88%      5%  < 5 m           5  ━━━━━━━━━━━━━━━━━━━━━━  [watch] reviewers = true in the configuration
 google_drive_write             3    0      4m    83%     11%  5-15 m          4  ━━━━━━━━━━━━━━━━━━      shows who decided, where a source tells it.
 saga commit crm.*              3    0      7m    79%      0%  15-60 m         3  ━━━━━━━━━━━━━━
                                                               1-4 h           0
                                                               > 4 h           0

                                                               median 6m  p90 17m  0 over 1h

── Rates and outcomes, 60 min ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 arrivals/min  peak 3.0 at 14:18   ▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄  now    2  15m   1.6
 resolved/min  peak 2.0 at 14:18   ▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅  now    1  15m   1.2
 outcomes      approved 33 (4 edited)   excluded 7   left undecided 0   executed 33   failed after approval 0   unknown 0

── Events, newest first ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 14:22:29  SOURCE    woo-store  connection lost, tried again: connection refused⟦ESC⟧[2J
 14:22:23  decided   gate       approved by maria   refund_payment  Refund 120 EUR to alice
 14:22:00  arrived   sagas      saga commit crm.*  step 5: update the contact
 14:20:56  decided   gate       5 approved, 1 excluded by kim




────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 ALERTS   woo-store down for 1 min

 Enter open  Tab panel  gi inbox  w window  A alerts  m mute  , sort  e export                                                                       ? all keys
");
}

#[test]
fn a_failure_after_approval_on_a_wide_screen() {
    let desk = watching(160, 45, failed());

    insta::assert_snapshot!(desk.screen(), @"
 placet watch   2 sources   pending 12   high-risk 0   1 UNKNOWN   oldest 18m   0 over 1h       read-only   refresh 2 s   window 60 min   data <10 s old  14:22

── Queues, most pending first ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────── 1 of 5 ──
 queue                  state         pend  high  oldest  over  in now  in 15m  out now  out 15m  clears in   pending, 60 min         source
>gate                   CLEARING         9     0     18m     0       1     0.4        0      0.6     45 min   ████████▇▇▇▇      12>9  ok
   refunds-agent        CLEARING         6     0     18m     0       1     0.2        0      0.4     30 min   ████████▇▇▇▆       9>6
   drive-sync           OK               3     0      4m     0       1     0.2        0      0.2          -   ████████████       3>3
 sagas                  OK               3     0      7m     0       1     0.2        0      0.2          -   ▆▆▆▆▆▆▆▆▆▆▆█       2>3  ok
   tool saga commit c…  OK               3     0      7m     0       1     0.2        0      0.2          -   ▆▆▆▆▆▆▆▆▆▆▆█       2>3








── By tool, 60 min ───────────────────────────────────────────── By age ─────────────────────────────────── By reviewer, 60 min ────────────────────────────────
 tool                        pend high  oldest  appr% edited%  age       pending                          Off, so that nobody is measured unasked.
 refund_payment                 6    0     18m    88%      5%  < 5 m           5  ━━━━━━━━━━━━━━━━━━━━━━  [watch] reviewers = true in the configuration
 google_drive_write             3    0      4m    83%     11%  5-15 m          4  ━━━━━━━━━━━━━━━━━━      shows who decided, where a source tells it.
 saga commit crm.*              3    0      7m    79%      0%  15-60 m         3  ━━━━━━━━━━━━━━
                                                               1-4 h           0
                                                               > 4 h           0

                                                               median 6m  p90 17m  0 over 1h

── Rates and outcomes, 60 min ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 arrivals/min  peak 3.0 at 14:18   ▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄▆▆█▁▁▄▄  now    1  15m   0.6
 resolved/min  peak 2.0 at 14:18   ▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅▅▅█▁▁▁▅  now    0  15m   0.8
 outcomes      approved 33 (4 edited)   excluded 7   left undecided 0   executed 33   failed after approval 3!   unknown 1!

── Events, newest first ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 14:22:31  FAILED    gate   after approval: google_drive_write  Overwrite Q3 plan.docx
 14:22:30  UNKNOWN   gate   after approval: HIGH refund_payment  Refund 1.10 EUR to ⟦U+202E⟧yrollam
 14:22:23  decided   gate   approved by maria   refund_payment  Refund 120 EUR to alice
 14:22:00  arrived   sagas  saga commit crm.*  step 5: update the contact
 14:20:56  decided   gate   5 approved, 1 excluded by kim



────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 ALERTS   gate failed after approval: 3   gate outcome unknown: 1

 Enter open  Tab panel  gi inbox  w window  A alerts  m mute  , sort  e export                                                                       ? all keys
");
}

#[test]
fn only_ascii_is_drawn_where_borders_are() {
    for (width, height) in [(160, 45), (100, 30), (80, 24)] {
        let mut desk = watching(width, height, calm());
        desk.model.settings.glyphs = Glyphs::Ascii;
        for keys in ["", "<Tab>", "<Tab>", "<Tab>", "<Tab>", "<Tab>", "A"] {
            quick(&mut desk, keys);
            // What is cut says so everywhere alike.
            assert!(desk.screen().replace('…', "").is_ascii(), "{}", desk.screen());
        }
        if width == 160 {
            assert!(desk.model.dashboard.watch.alerts_only);
            quick(&mut desk, "A");
            assert!(desk.screen().contains("999999998887"), "{}", desk.screen());
        }
    }
}
