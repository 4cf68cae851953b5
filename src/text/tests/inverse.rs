//! Tests that the display is reversible, so different texts are shown differently.

use proptest::prelude::*;

use crate::rounds::{rounds, runner};
use crate::text::inverse::{check, undone};
use crate::text::{NARROWEST, Shown, part, row, styled};

#[test]
fn g2_every_character_can_be_read_back() {
    // The short form samples similar characters: ideographs, syllables, private and unassigned planes, but not tags.
    let alike = |c: char| matches!(c, '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{f8ff}' | '\u{17000}'..='\u{1afff}' | '\u{20000}'..='\u{dffff}' | '\u{e0200}'..);
    let every = rounds(512, 1);
    for c in ('\0'..=char::MAX).filter(|c| !alike(*c) || u32::from(*c) % every < 2) {
        // Each sampled character is tested in one of three places, in turn.
        let (code, all) = (u32::from(c), every == 1 || !('\u{3400}'..'\u{e0000}').contains(&c));
        for (nth, text) in (0..).zip([c.to_string(), format!("a{c}b"), format!("\u{5d0}{c}{c}\u{301}")]) {
            if all || code % 3 == nth {
                check(&text);
            }
        }
    }
}

const PARTS: [&str; 46] = [
    "a",
    "word",
    " ",
    "  ",
    "\u{a0}",
    "\u{202f}",
    "\u{3000}",
    "\u{200b}",
    "\u{200c}",
    "\u{200d}",
    "\u{fe0f}",
    "\u{fe0e}",
    "\u{20e3}",
    "1",
    "#",
    "\u{1f469}",
    "\u{1f4bb}",
    "\u{1f3fb}",
    "\u{2764}",
    "\u{1f1e9}",
    "\u{1f3f4}",
    "\u{e0067}",
    "\u{e007f}",
    "\u{301}",
    "\u{338}",
    "\u{20dd}",
    "\u{915}",
    "\u{94d}",
    "\u{937}",
    "\u{6cc}",
    "\u{1780}",
    "\u{17d2}",
    "\u{1100}",
    "\u{1161}",
    "\u{11a8}",
    "\u{430}",
    "\u{4e16}",
    "\u{1b}",
    "\t",
    "\r",
    "⟦",
    "⟧",
    "⇥",
    "␣",
    "xn--pypal-4ve",
    "                                  ",
];

fn hostile() -> impl Strategy<Value = String> {
    let known = prop::sample::select(&PARTS[..]).prop_map(str::to_owned);
    let many = (prop::sample::select(&PARTS[..]), 2..90_usize).prop_map(|(part, n)| part.repeat(n));
    let any = any::<char>().prop_filter("lines are split before", |c| *c != '\n').prop_map(String::from);
    prop::collection::vec(prop_oneof![12 => known, 1 => many, 4 => any], 0..24)
        .prop_map(|parts| parts.concat())
}

#[test]
fn g2_hostile_text_can_be_read_back() {
    runner(2_000, 10_000_000)
        .run(&hostile(), |text| {
            check(&text);
            Ok(())
        })
        .unwrap();
}

#[test]
fn rows_lose_nothing_and_keep_tokens_whole() {
    runner(500, 300_000)
        .run(&(hostile(), NARROWEST..60), |(text, width)| {
            let rows = part(&text).wrap(width);
            prop_assert!(rows.iter().all(|row| row.width() <= width));
            prop_assert_eq!(rows.iter().map(|row| undone(&row.plain())).collect::<String>(), &text[..]);
            let mut at = 0;
            while at < text.len() {
                let end = at + row(&text, at..text.len(), width);
                prop_assert!(end > at);
                let third = at + (end - at) / 3;
                let drawn = styled(&text, at..end, &[((), at..third), ((), third..end)]);
                let drawn: Vec<Shown> = drawn.into_iter().map(|((), shown)| shown).collect();
                prop_assert!(drawn.iter().map(Shown::width).sum::<usize>() <= width, "{:?}", drawn);
                let plain: String = drawn.iter().map(Shown::plain).collect();
                prop_assert_eq!(undone(&plain), &text[at..end]);
                at = end;
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_cut_is_marked_and_keeps_tokens_whole() {
    runner(500, 300_000)
        .run(&(hostile(), 0..40_usize), |(text, width)| {
            let (whole, cut) = (part(&text), part(&text).cut(width));
            prop_assert!(cut.width() <= width);
            if whole.width() > width && width > 0 {
                let cut = cut.plain();
                let kept = cut.strip_suffix('…');
                prop_assert!(kept.is_some_and(|kept| text.starts_with(&undone(kept))), "{}", cut);
            }
            for left in [1, 3, width] {
                let rest = whole.right_of(left).plain();
                let rest = rest.trim_start_matches(['…', ' ']);
                prop_assert!(text.ends_with(&undone(rest)), "{}", rest);
            }
            Ok(())
        })
        .unwrap();
}
