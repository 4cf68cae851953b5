//! Measures keys and frames at 160x45. Neither may grow with the queue.
#![allow(clippy::print_stdout, reason = "it prints what it measured")]

use crossterm::event::KeyCode;
use divan::{Bencher, black_box};
use placet::for_tests::{Language, List, Pages, lines, paint};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

fn main() {
    for rows in SIZES.into_iter().skip(1) {
        memory(rows);
    }
    divan::main();
}

/// Prints the resident bytes per row. Linux only.
fn memory(rows: usize) {
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().trim_end_matches(" kB").parse::<usize>().ok()
    };
    let before = resident();
    let list = List::of(rows).unwrap();
    if let (Some(before), Some(now)) = (before, resident()) {
        println!("{rows} rows: {} bytes a row", now.saturating_sub(before) * 1_024 / rows);
    }
    drop(list);
}

/// Reads all pages and draws a frame for each.
#[divan::bench(args = SIZES, sample_count = 10)]
fn start(bencher: Bencher<'_, '_>, rows: usize) {
    bencher.with_inputs(|| (List::empty().unwrap(), Pages::of(rows))).bench_local_values(
        |(mut list, pages)| {
            list.read_pages(pages);
            list
        },
    );
}

#[divan::bench(args = SIZES)]
fn an_arrival(bencher: Bencher<'_, '_>, rows: usize) {
    let mut list = List::of(rows).unwrap();
    bencher.bench_local(|| list.arrive());
}

/// `R` after one arrival.
#[divan::bench(args = SIZES)]
fn reload(bencher: Bencher<'_, '_>, rows: usize) {
    let list = std::cell::RefCell::new(List::of(rows).unwrap());
    bencher.with_inputs(|| list.borrow_mut().arrive()).bench_local_values(|()| {
        let mut list = list.borrow_mut();
        list.press('R', 200);
        list.frame();
    });
}

#[divan::bench(args = SIZES)]
fn to_the_end_and_the_top(bencher: Bencher<'_, '_>, rows: usize) {
    let mut list = List::of(rows).unwrap();
    bencher.bench_local(|| {
        for key in ['G', 'g', 'g'] {
            list.press(key, 200);
            list.frame();
        }
    });
}

/// Marks all, stages all, undoes and unmarks, each until its work is done.
#[divan::bench(args = SIZES, sample_count = 10)]
fn stage_all(bencher: Bencher<'_, '_>, rows: usize) {
    let mut list = List::of(rows).unwrap();
    bencher.bench_local(|| {
        for (key, staged) in [('*', 0), ('x', rows), ('u', 0), ('*', 0), ('*', 0)] {
            list.press(key, 200);
            list.frame();
            list.finish();
            assert_eq!(list.staged(), staged, "after {key}");
        }
    });
}

/// The delay of the next key by one of these keys, with its frame.
#[divan::bench(args = ['*', 'x', 'u'], sample_count = 10)]
fn mark_stage_or_undo_all(bencher: Bencher<'_, '_>, key: char) {
    let list = std::cell::RefCell::new(List::of(100_000).unwrap());
    let ready = || {
        let mut list = list.borrow_mut();
        for before in "*xu".chars().take_while(|before| *before != key) {
            list.press(before, 200);
            list.finish();
        }
    };
    bencher.with_inputs(ready).bench_local_values(|()| {
        let mut list = list.borrow_mut();
        list.press(key, 200);
        list.frame();
    });
}

/// The delay of a key by one chunk of the work.
#[divan::bench(args = ['a', 'x', 'u'], sample_count = 10)]
fn a_stretch_of_stage_or_undo_all(bencher: Bencher<'_, '_>, key: char) {
    let list = std::cell::RefCell::new(List::of(100_000).unwrap());
    let ready = || {
        let mut list = list.borrow_mut();
        list.finish();
        for before in "*x".chars().take(if key == 'u' { 2 } else { 1 }) {
            list.press(before, 200);
            list.finish();
        }
        list.press(key, 200);
        list.stretch();
    };
    bencher.with_inputs(ready).bench_local_values(|()| list.borrow_mut().stretch());
}

#[divan::bench(args = SIZES)]
fn move_the_cursor(bencher: Bencher<'_, '_>, rows: usize) {
    let mut list = List::of(rows).unwrap();
    bencher.bench_local(|| {
        list.press('j', 200);
        list.press('k', 200);
    });
}

#[divan::bench(args = SIZES)]
fn decide_and_undo(bencher: Bencher<'_, '_>, rows: usize) {
    let mut list = List::of(rows).unwrap();
    bencher.bench_local(|| {
        list.press('x', 200);
        assert_eq!(list.staged(), 1, "nothing was staged");
        list.press('u', 200);
    });
}

#[divan::bench(args = SIZES)]
fn draw_a_frame(bencher: Bencher<'_, '_>, rows: usize) {
    let list = List::of(rows).unwrap();
    let area = Rect::new(0, 0, 160, 45);
    let mut buffer = Buffer::empty(area);
    bencher.bench_local(|| {
        buffer.reset();
        list.draw(area, &mut buffer);
    });
}

/// Draws the full preview of 64 KiB of JSON, with and without syntax highlighting.
#[divan::bench(args = [true, false])]
fn draw_a_source(bencher: Bencher<'_, '_>, highlight: bool) {
    let mut list = List::of(1_000).unwrap();
    list.read(&format!("[{}]", source("json").replace('\n', "").trim_end_matches(',')), highlight);
    let area = Rect::new(0, 0, 160, 45);
    let mut buffer = Buffer::empty(area);
    bencher.bench_local(|| {
        buffer.reset();
        list.draw(area, &mut buffer);
    });
}

/// Highlights 64 KiB, the longest text that is highlighted.
#[divan::bench(args = ["json", "json in one line", "markdown", "backticks", "yaml", "sql", "shell"])]
fn paint_a_source(bencher: Bencher<'_, '_>, kind: &str) {
    let text = source(kind);
    let language = match kind {
        "markdown" | "backticks" => Language::Markdown,
        "yaml" => Language::Yaml,
        "sql" => Language::Sql,
        "shell" => Language::Shell,
        _ => Language::Json,
    };
    let bytes = divan::counter::BytesCount::of_str(&text);
    bencher.counter(bytes).bench(|| paint(language, black_box(&text)));
}

fn source(kind: &str) -> String {
    let part = match kind {
        "markdown" => "# Heading\n\nText with `code` and **more**.\n\n- one\n- two\n\n```sh\nls -l\n```\n",
        "backticks" => "` `` ``` a `b",
        "yaml" => "name: placet\nsteps:\n  - run: true\n    after: 1.5 # why\n",
        "sql" => "SELECT a, 'b''c', 12 FROM t -- note\nWHERE x = 3 /* c */;\n",
        "shell" => "# all\nfor f in 'a' \"b\"; do echo \"$f\" 12; done # why\n",
        "json in one line" => r#"{"title":"Three clients \"report\"","n":1.10,"on":[true,null]},"#,
        _ => "{\"title\":\"Three clients report\",\n\"n\":1.10,\n\"on\":[true,null]},\n",
    };
    part.repeat((64 << 10) / part.len())
}

/// A full sync, as after a reconnect.
#[divan::bench(args = SIZES, sample_count = 10)]
fn sync_everything(bencher: Bencher<'_, '_>, rows: usize) {
    bencher.with_inputs(|| List::of(rows).unwrap()).bench_local_values(|mut list| list.sync(rows));
}

#[divan::bench(args = SIZES)]
fn put_the_figures_together(bencher: Bencher<'_, '_>, rows: usize) {
    let list = List::of(rows).unwrap();
    bencher.bench_local(|| list.board());
}

#[divan::bench(args = SIZES)]
fn count_one_change(bencher: Bencher<'_, '_>, rows: usize) {
    let mut list = List::of(rows).unwrap();
    let mut at = 1_000_000;
    bencher.bench_local(|| {
        at += 250;
        list.count_one_change(at);
    });
}

/// Adds a letter to a filter, which searches the shown rows, and removes it, which searches all rows.
#[divan::bench(args = SIZES)]
fn type_a_filter(bencher: Bencher<'_, '_>, rows: usize) {
    let mut list = List::of(rows).unwrap();
    for key in ['/', 'o', 'u', 't', 'a', 'g', 'e', ' ', '9'] {
        type_key(&mut list, KeyCode::Char(key));
    }
    bencher.bench_local(|| {
        type_key(&mut list, KeyCode::Char('9'));
        type_key(&mut list, KeyCode::Backspace);
    });
}

/// The delay of the next key by a key of a filter.
#[divan::bench(args = SIZES)]
fn one_stretch_of_a_filter(bencher: Bencher<'_, '_>, rows: usize) {
    let mut list = List::of(rows).unwrap();
    type_key(&mut list, KeyCode::Char('/'));
    bencher.bench_local(|| {
        list.key(KeyCode::Char('9'), 200);
        list.key(KeyCode::Backspace, 200);
    });
}

fn type_key(list: &mut List, key: KeyCode) {
    list.key(key, 200);
    list.finish();
}

#[divan::bench(args = SIZES)]
fn sort(bencher: Bencher<'_, '_>, rows: usize) {
    let mut list = List::of(rows).unwrap();
    bencher.bench_local(|| [',', 'r', ',', 'a'].map(|key| list.press(key, 200)));
}

#[divan::bench(args = SIZES)]
fn group(bencher: Bencher<'_, '_>, rows: usize) {
    let mut list = List::of(rows).unwrap();
    bencher.bench_local(|| {
        for key in ['x', 'b'] {
            list.press(',', 200);
            list.press(key, 200);
            list.finish();
        }
    });
}

/// Sanitizes a mebibyte of text.
#[divan::bench(args = ["plain", "mixed"])]
fn display(bencher: Bencher<'_, '_>, kind: &str) {
    let line = match kind {
        "plain" => "{\"title\":\"Three clients report errors after the upgrade\",\"n\":1.10}\n",
        _ => "Grüße, 世界 – naïve e\u{301} \u{1f469}\u{200d}\u{1f4bb} Привет \u{202e}x\u{a0}y ⟦\n",
    };
    let text = line.repeat((1 << 20) / line.len());
    bencher.counter(divan::counter::BytesCount::of_str(&text)).bench(|| lines(black_box(&text)));
}
