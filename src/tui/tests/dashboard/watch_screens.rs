//! The watch view on wide screens, in four states.

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

/// Shows `board` until the next evaluation.
pub(crate) fn shows(desk: &mut Desk, mut board: Board) {
    board.at = desk.model.now;
    desk.model.dashboard.watch.board = board;
    desk.model.dashboard.watch.settle();
}

/// Presses `keys` before the next evaluation.
pub(crate) fn quick(desk: &mut Desk, keys: &str) {
    desk.hurry(keys, 20);
    desk.drawn();
}

#[test]
fn calm_board_on_a_wide_screen() {
    let desk = watching(160, 45, calm());

    insta::assert_snapshot!(desk.screen(), @"
 placet watch  12 pending · oldest 18 m                                                                                                                   14:22

── Queues, most pending first ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────── 1 of 5 ──
 queue                               state        pending  high  oldest  over  in now  in 15m  out now  out 15m  clears in   pending, 60 min         source
▌gate                                CLEARING           9     0    18 m     0       1     0.4        0      0.6     45 min   ████████▇▇▇▇      12>9  ok
   refunds-agent                     CLEARING           6     0    18 m     0       1     0.2        0      0.4     30 min   ████████▇▇▇▆       9>6
   drive-sync                        OK                 3     0     4 m     0       1     0.2        0      0.2          -   ████████████       3>3
 sagas                               OK                 3     0     7 m     0       1     0.2        0      0.2          -   ▆▆▆▆▆▆▆▆▆▆▆█       2>3  ok
   tool saga commit crm.*            OK                 3     0     7 m     0       1     0.2        0      0.2          -   ▆▆▆▆▆▆▆▆▆▆▆█       2>3







── gate, 60 min ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 pending 9   from 12, most 12                                                   ⠤ in 1 now · 0.4 mean   • out 0 now · 0.6 mean
 12  │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣶⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣀                          1.0/min│      ••      ••       ••      ••      ••      • •      ••      ••
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣦          │
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿          │
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿          │
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿          │
 0   │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿   0      │•••⣀••⣀⣀••⣀•••⣀⣀⣀•••••⣀⣀⣀••••⣀•⣀⣀••⣀•••⣀⣀⣀•••••⣀⣀⣀••••⣀•⣀⣀••⣀•••⣀⣀•⣀•••
     └───────────────────────────────────────────────────────────────────────          └───────────────────────────────────────────────────────────────────────
 13:22                                13:52                             14:22      13:22                                13:52                             14:22
── By tool, 60 min ─────────────────────────────────────────────────────────────── By age ──────────────────────────────────────────────────────────────────────
 tool                                       pending high  oldest  appr% edited%  age       pending
 refund_payment                                   6    0    18 m    88%      5%  < 5 m           5  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
 google_drive_write                               3    0     4 m    83%     11%  5-15 m          4  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
 saga commit crm.*                                3    0     7 m    79%      0%  15-60 m         3  ━━━━━━━━━━━━━━━━━━━━━━━━
                                                                                 1-4 h           0
                                                                                 > 4 h           0

                                                                                 median 6 m  p90 17 m
── Events, newest first ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 14:22:23  decided   gate   approved by maria   refund_payment  Refund 120 EUR to alice
 14:22:00  arrived   sagas  saga commit crm.*  step 5: update the contact
 14:20:56  decided   gate   5 approved, 1 excluded by kim




 Last 60 min: 33 approved (4 edited) · 7 excluded · 33 ran
 Enter open  Tab panel  gi inbox  w window  A alerts  , sort  e export  q quit                                                                       ? all keys
");
}

#[test]
fn growing_queue_on_a_wide_screen() {
    let desk = watching(160, 45, growing());

    insta::assert_snapshot!(desk.screen(), @"
     placet watch  110 pending · 4 high · 28 over 1 h · oldest 3 h 12                                                                                         14:22
     ! sagas: 3 high over 15 m  ! 28 over 1 h  ! gate: growing for 22 min  ! gate: 3 missions blocked
    ── Queues, most pending first ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────── 1 of 6 ──
     queue                               state        pending  high  oldest  over  in now  in 15m  out now  out 15m  clears in   pending, 60 min         source
    ▌gate                                OVER TARGET       88     1  3 h 12!    9       9     9.0        6      6.5          -   ▄▅▅▅▆▆▇▇▇███     31>88  ok
       weekly-digest                     GROWING           58     0    22 m     0       8     7.2        4      4.8          -   ▂▂▃▄▄▅▅▆▇▇██      0>58
       roadmap                           GROWING           12     0    48 m     0       1     0.2        0      0.0          -   ▁▂▃▃▄▄▅▆▆▇▇█      0>12
       refunds-agent                     OVER TARGET        9     1  3 h 12!    9       2     1.2        0      0.9          -   ▄▄▅▅▅▅▆▆▇▇██       3>9
       退款 ⟦U+202E⟧agent                CLEARING           9     0    40 m     0       1     0.4        0      0.8     23 min   ███▇▇▆▆▅▅▅▄▃      33>9
     sagas                               OVER TARGET       22     3  1 h 05!    9       4     3.1        2      2.0          -   ▄▅▅▆▆▆▇▇▇███      9>22  ok






    ── gate, 60 min ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
     pending 88   from 31, most 88   9 over 1 h                                     ⠤ in 9 now · 9.0 mean   • out 6 now · 6.5 mean
     88  │                                                       ⣀⣀⣀⣀⣠⣤⣤⣤⣤⣴⣶⣶⣶⣶⣿⣿   18.0/min│      ⢠⡇      ⢀⢾       ⣼       ⡰⡇      ⢠⡇      ⢀⢾       ⣼       ⡰⡇
         │                                     ⣀⣀⣀⣀⣠⣤⣤⣤⣶⣶⣶⣶⣶⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿           │     ⡰⠁•     ⢠⠃•⡄    ⢀⠎•⡄     ⡜ •     ⡰⠁•     ⢠⠃•⡄    ⢀⠎•⡄     ⡜•⢣
         │                 ⢀⣀⣀⣀⣠⣤⣤⣤⣤⣶⣶⣶⣶⣶⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿           │    ⡜ •⢸    ⢠⠃• ⡇   ⢠⠃• ⡇    ⡜• ⢸    ⡜ •⢸    ⢠⠃• ⡇   ⢠⠃• ⡇    ⡜• ⢸
         │⣀⣀⣀⣠⣤⣤⣤⣤⣶⣶⣶⣶⣶⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿           │  ⢀⠎•• ⢸  ⢀⠔••  ⡇  ⡰••  ⡇  ⡠••  ⢸  ⢀••  ⢸  ⢀•⠁•  ⡇  ⡰••  ⡇  ⡠••  ⢸  ⢀•
         │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿           │ ••    ⠘⡄•⠎•    ⢣⢀••    ⢣ ••    ⠘⡄••    ⠘⡄••     ⢣••     ⢣•⡰•    ⠘⡄••
     0   │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿   0       │•⠁      •⠃      •⠎      ⢸•       •⠁      •⠃      •⠎      •⠜      •⡷⠁
         └───────────────────────────────────────────────────────────────────────           └──────────────────────────────────────────────────────────────────────
     13:22                                13:52                             14:22       13:22                                13:52                            14:22
    ── By tool, 60 min ───────────────────────────────────────────── By age ─────────────────────────────────── By reviewer, 60 min ────────────────────────────────
     tool                     pending high  oldest  appr% edited%  age       pending                          decided by              all  appr  excl  edit  median
     refund_payment                 6    0    18 m    88%      5%  < 5 m          24  ━━━━━━━━━━━━━━━         group support           187   161    26     5    18 s
     google_drive_write             3    0     4 m    83%     11%  5-15 m         37  ━━━━━━━━━━━━━━━━━━━━━━  kim                     113   101    12     5    14 s
     saga commit crm.*              3    0     7 m    79%      0%  15-60 m        21  ━━━━━━━━━━━━━           maria                    74    60    14     0    22 s
                                                                   1-4 h          28  ━━━━━━━━━━━━━━━━━       lee                      41    41     0     -     3 m
                                                                   > 4 h           0

                                                                   median 19 m  p90 1 h 10  28 over 1 h
    ── Events, newest first ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
     14:22:23  decided   gate   approved by maria   refund_payment  Refund 120 EUR to alice
     14:22:00  arrived   sagas  saga commit crm.*  step 5: update the contact
     14:20:56  decided   gate   5 approved, 1 excluded by kim




     Last 60 min: 33 approved (4 edited) · 7 excluded · 33 ran
     Enter open  Tab panel  gi inbox  w window  A alerts  m mute  , sort  e export                                                                       ? all keys
    ");
}

#[test]
fn source_down_on_a_wide_screen() {
    let desk = watching(160, 45, down());

    insta::assert_snapshot!(desk.screen(), @"
 placet watch  31? pending · oldest 55 m                                                                    2 of 3 sources ok · woo-store data 70 s old   14:22
 ! woo-store: down for 1 min
── Queues, most pending first ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────── 1 of 7 ──
 queue                               state        pending  high  oldest  over  in now  in 15m  out now  out 15m  clears in   pending, 60 min         source
▌woo-store                           STARTING?         19?    0?   55 m?    0?      ?     1.0?       ?      0.4?         -   ▅▅▆▆▆▇▇████?      8>17  RETRY 12 s
   shop-agent                        STARTING?         19?    0?   55 m?    0?      ?     1.0?       ?      0.4?         -   ▅▅▆▆▆▇▇████?      8>17
 gate                                CLEARING           9     0    18 m     0       1     0.4        0      0.6     45 min   ████████▇▇▇▇      12>9  ok
   refunds-agent                     CLEARING           6     0    18 m     0       1     0.2        0      0.4     30 min   ████████▇▇▇▆       9>6
   drive-sync                        OK                 3     0     4 m     0       1     0.2        0      0.2          -   ████████████       3>3
 sagas                               OK                 3     0     7 m     0       1     0.2        0      0.2          -   ▆▆▆▆▆▆▆▆▆▆▆█       2>3  ok
   tool saga commit crm.*            OK                 3     0     7 m     0       1     0.2        0      0.2          -   ▆▆▆▆▆▆▆▆▆▆▆█       2>3





── woo-store, 60 min ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 pending 19?   from 8, most 17                                                  ⠤ in ? now · 1.0 mean   • out ? now · 0.4 mean
 17  │                                             ⣀⣀⣀⣀⣀⣠⣴⣶⣶⣶⣶⣶⣶⣾⣿⣿⡇            2.0/min│       ⡇       ⢸       ⢀⡇       ⣸       ⢸        ⡇       ⣸       ⢸
     │                          ⣀⣀⣀⣀⣀⣠⣴⣶⣶⣶⣶⣶⣶⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇                   │      ⢸⢸       ⡟⡄      ⡸⢣      ⢀⠟⡄      ⡇⡇      ⢸⢣      ⢀⠟⡄      ⡇⡇
     │       ⣀⣀⣀⣀⣀⣠⣶⣶⣶⣶⣶⣶⣶⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇                   │      ⡜⢸      ⢠⠃⡇     ⢀⠇⢸      ⡸ ⡇     ⢠⠃⡇      ⡜⢸      ⡸ ⡇     ⢠⠃⡇
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇                   │   ⡸⠉⠉⠁ ⡇  ⢀⠏⠉⠉ ⡇   ⡜⠉⠉ ⢸   ⡸⠉⠉⠁ ⡇  ⢀⠏⠉⠉ ⢸   ⡜⠉⠉⠁⢸   ⢠⠋⠉⠁ ⡇  ⢀⠏⠉⠉ ⢸   ⡸
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇                   │   ⡇    ⡇  ⢸    ⢣  ⢠⠃   ⠘⡄  ⡇    ⢣  ⢸    ⢸  ⢠⠃   ⠘⡄  ⡜    ⢣  ⢸    ⢸   ⡇
 0   │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇            0      │•••⠁••••••⣀•••••⢸••••• •••••• •••••⣀••••• •••••• ••••• •••••⣀••••••⣇•••
     └───────────────────────────────────────────────────────────────────────          └───────────────────────────────────────────────────────────────────────
 13:22                                13:52                             14:22      13:22                                13:52                             14:22
── By tool, 60 min ─────────────────────────────────────────────────────────────── By age ──────────────────────────────────────────────────────────────────────
 tool                                       pending high  oldest  appr% edited%  age       pending
 refund_payment                                   6    0    18 m    88%      5%  < 5 m           5  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
 google_drive_write                               3    0     4 m    83%     11%  5-15 m          4  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
 saga commit crm.*                                3    0     7 m    79%      0%  15-60 m         3  ━━━━━━━━━━━━━━━━━━━━━━━━
                                                                                 1-4 h           0
                                                                                 > 4 h           0

                                                                                 median 6 m  p90 17 m
── Events, newest first ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 14:22:29  SOURCE    woo-store  connection lost, tried again: connection refused⟦ESC⟧[2J
 14:22:23  decided   gate       approved by maria   refund_payment  Refund 120 EUR to alice
 14:22:00  arrived   sagas      saga commit crm.*  step 5: update the contact
 14:20:56  decided   gate       5 approved, 1 excluded by kim



 Last 60 min: 33 approved (4 edited) · 7 excluded · 33 ran
 Enter open  Tab panel  gi inbox  w window  A alerts  m mute  , sort  e export                                                                       ? all keys
");
}

#[test]
fn failure_after_approval_on_a_wide_screen() {
    let desk = watching(160, 45, failed());

    insta::assert_snapshot!(desk.screen(), @"
 placet watch  12 pending · 1 with unknown outcome · oldest 18 m                                                                                          14:22
 ! gate: 3 failed after approval  ! gate: 1 with unknown outcome
── Queues, most pending first ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────── 1 of 5 ──
 queue                               state        pending  high  oldest  over  in now  in 15m  out now  out 15m  clears in   pending, 60 min         source
▌gate                                CLEARING           9     0    18 m     0       1     0.4        0      0.6     45 min   ████████▇▇▇▇      12>9  ok
   refunds-agent                     CLEARING           6     0    18 m     0       1     0.2        0      0.4     30 min   ████████▇▇▇▆       9>6
   drive-sync                        OK                 3     0     4 m     0       1     0.2        0      0.2          -   ████████████       3>3
 sagas                               OK                 3     0     7 m     0       1     0.2        0      0.2          -   ▆▆▆▆▆▆▆▆▆▆▆█       2>3  ok
   tool saga commit crm.*            OK                 3     0     7 m     0       1     0.2        0      0.2          -   ▆▆▆▆▆▆▆▆▆▆▆█       2>3







── gate, 60 min ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 pending 9   from 12, most 12                                                   ⠤ in 1 now · 0.4 mean   • out 0 now · 0.6 mean
 12  │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣶⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣀                          1.0/min│      ••      ••       ••      ••      ••      • •      ••      ••
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣦          │
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿          │
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿          │
     │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿          │
 0   │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿   0      │•••⣀••⣀⣀••⣀•••⣀⣀⣀•••••⣀⣀⣀••••⣀•⣀⣀••⣀•••⣀⣀⣀•••••⣀⣀⣀••••⣀•⣀⣀••⣀•••⣀⣀•⣀•••
     └───────────────────────────────────────────────────────────────────────          └───────────────────────────────────────────────────────────────────────
 13:22                                13:52                             14:22      13:22                                13:52                             14:22
── By tool, 60 min ─────────────────────────────────────────────────────────────── By age ──────────────────────────────────────────────────────────────────────
 tool                                       pending high  oldest  appr% edited%  age       pending
 refund_payment                                   6    0    18 m    88%      5%  < 5 m           5  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
 google_drive_write                               3    0     4 m    83%     11%  5-15 m          4  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
 saga commit crm.*                                3    0     7 m    79%      0%  15-60 m         3  ━━━━━━━━━━━━━━━━━━━━━━━━
                                                                                 1-4 h           0
                                                                                 > 4 h           0

                                                                                 median 6 m  p90 17 m
── Events, newest first ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 14:22:31  FAILED    gate   after approval: google_drive_write  Overwrite Q3 plan.docx
 14:22:30  UNKNOWN   gate   after approval: HIGH refund_payment  Refund 1.10 EUR to ⟦U+202E⟧yrollam
 14:22:23  decided   gate   approved by maria   refund_payment  Refund 120 EUR to alice
 14:22:00  arrived   sagas  saga commit crm.*  step 5: update the contact
 14:20:56  decided   gate   5 approved, 1 excluded by kim


 Last 60 min: 3 failed after approval · 1 with unknown outcome · 33 approved (4 edited) · 7 excluded · 33 ran
 Enter open  Tab panel  gi inbox  w window  A alerts  m mute  , sort  e export                                                                       ? all keys
");
}

#[test]
fn ascii_glyphs_draw_only_ascii() {
    for (width, height) in [(160, 45), (100, 30), (80, 24)] {
        let mut desk = watching(width, height, calm());
        desk.model.settings.glyphs = Glyphs::Ascii;
        for keys in ["", "<Tab>", "<Tab>", "<Tab>", "<Tab>", "<Tab>", "A"] {
            quick(&mut desk, keys);
            // Cut text ends in an ellipsis in both glyph sets.
            assert!(desk.screen().replace('…', "").is_ascii(), "{}", desk.screen());
        }
        if width == 160 {
            assert!(desk.model.dashboard.watch.alerts_only);
            quick(&mut desk, "A");
            insta::assert_snapshot!(desk.line(4), @">gate                                CLEARING           9     0    18 m     0       1     0.4        0      0.6     45 min   999999998887      12>9  ok");
        }
    }
}
