//! What a key and a frame cost at 160x45: neither may grow with the queue.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use divan::{Bencher, black_box};
use placet::config::Borders;
use placet::domain::{
    ActionId, ActionKey, BatchId, Binding, Capabilities, Entry, ReasonRule, Revision, Risk, Row, SourceName,
    Timestamp,
};
use placet::inbox::figures::Ask;
use placet::inbox::{Rows, Synced};
use placet::tui::Place;
use placet::tui::keymap::Keymap;
use placet::tui::model::{Model, Settings};
use placet::tui::msg::{Msg, What};
use placet::tui::theme::Depth;
use placet::tui::update::update;
use placet::tui::view::view;
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const CAN: Capabilities = Capabilities {
    edit: true,
    reason: ReasonRule::Optional,
    comment: false,
    retry: false,
    settle: false,
    binding: Binding::Source,
    ..Capabilities::PLAIN
};

fn main() {
    divan::main();
}

/// A list that was synced, and its reviewer in the middle of it.
fn model(rows: usize) -> Model {
    let settings = Settings {
        keymap: Keymap::new(&placet::config::Keys::default()).unwrap(),
        borders: Borders::Line,
        zone: jiff::tz::TimeZone::UTC,
        stale_after: std::time::Duration::from_secs(40),
        targets: placet::config::Targets::default(),
        queue_targets: std::collections::BTreeMap::default(),
        reviewers: false,
        opens: placet::tui::model::Opens::Inbox,
        rules: Vec::new(),
        poll: std::time::Duration::from_secs(10),
        reasons: Vec::new(),
        hold: std::time::Duration::ZERO,
        place: Place::default(),
        triage: placet::tui::model::Triage::default(),
        depth: Depth::Full,
        hints: false,
        read_first: placet::domain::ReadFirst::Risky,
        reduced_motion: false,
    };
    let source = SourceName::new("gate");
    let mut model = Model::new(settings, vec![source.clone()], Size::new(160, 45), Timestamp::default());
    // Nothing can be staged before the journal was read.
    update(&mut model, Msg { at: Timestamp::default(), what: What::Restored(Ok(Box::default())) });
    synced(&mut model, &source, rows);
    for key in ['j', 'G', 'k', 'n'] {
        press(&mut model, key, 1_000);
    }
    model
}

fn synced(model: &mut Model, source: &SourceName, rows: usize) {
    let entries = (0..rows).map(|nth| entry(source, nth)).collect();
    let synced = Synced {
        subject: None,
        source: source.clone(),
        rows: Rows::All(entries),
        revision: Some(Revision(1)),
        unreadable: Vec::new(),
        at: Timestamp::default(),
    };
    update(model, Msg { at: Timestamp::default(), what: What::Synced(source.clone(), Ok(synced)) });
}

fn entry(source: &SourceName, nth: usize) -> Entry {
    let id = ActionId::new(format!("pa-{nth:06}"));
    let title = format!("Escalate outage number {nth} in the EU region");
    let row = Row {
        batch: Some(BatchId::new(format!("batch-{}", nth / 20))),
        workspace: Some("acme".into()),
        agent: Some("support-agent".into()),
        risk: if nth.is_multiple_of(50) { Risk::High } else { Risk::Low },
        created_at: Timestamp::from_millis(nth as i64),
        size: 400,
        revision: Revision(1),
        ..Row::new(id.clone(), "create_linear_issue".into(), title.into())
    };
    Entry { key: ActionKey { source: source.clone(), id }, row, can: CAN }
}

fn press(model: &mut Model, key: char, after: i64) {
    let at = model.now.plus_millis(after);
    black_box(update(model, Msg { at, what: What::typed(key) }));
}

/// Down and up again.
#[divan::bench(args = SIZES)]
fn move_the_cursor(bencher: Bencher<'_, '_>, rows: usize) {
    let mut model = model(rows);
    bencher.bench_local(|| {
        press(&mut model, 'j', 200);
        press(&mut model, 'k', 200);
    });
}

/// Exclude, and undo: staging, counting, moving on.
#[divan::bench(args = SIZES)]
fn decide_and_undo(bencher: Bencher<'_, '_>, rows: usize) {
    let mut model = model(rows);
    bencher.bench_local(|| {
        press(&mut model, 'x', 200);
        assert_eq!(model.draft.len(), 1, "nothing was staged");
        press(&mut model, 'u', 200);
    });
}

#[divan::bench(args = SIZES)]
fn draw_a_frame(bencher: Bencher<'_, '_>, rows: usize) {
    let model = model(rows);
    let area = Rect::new(0, 0, 160, 45);
    let mut buffer = Buffer::empty(area);
    bencher.bench_local(|| {
        buffer.reset();
        view(&model, area, &mut buffer);
    });
}

/// The whole list anew: what a reconnect costs.
#[divan::bench(args = SIZES, sample_count = 10)]
fn sync_everything(bencher: Bencher<'_, '_>, rows: usize) {
    let source = SourceName::new("gate");
    bencher.with_inputs(|| model(rows)).bench_local_values(|mut model| synced(&mut model, &source, rows));
}

/// Every figure of the watch view.
#[divan::bench(args = SIZES)]
fn put_the_figures_together(bencher: Bencher<'_, '_>, rows: usize) {
    let model = model(rows);
    let now = model.now.plus_millis(60_000);
    bencher.bench_local(|| black_box(model.figures.board(Ask { window: 1_440, columns: 60 }, now)));
}

/// What one changed action costs the figures, among so many.
#[divan::bench(args = SIZES)]
fn count_one_change(bencher: Bencher<'_, '_>, rows: usize) {
    let mut model = model(rows);
    let source = SourceName::new("gate");
    let mut at = Timestamp::from_millis(1_000_000);
    bencher.bench_local(|| {
        at = at.plus_millis(250);
        let synced = Synced {
            subject: None,
            source: source.clone(),
            rows: Rows::Changes { entries: vec![entry(&source, 1)], gone: Vec::new() },
            revision: Some(Revision(2)),
            unreadable: Vec::new(),
            at,
        };
        model.figures.listed(&synced, at);
    });
}

/// One more letter of a filter, and one less: the first looks at what is shown, the other at everything.
#[divan::bench(args = SIZES)]
fn type_a_filter(bencher: Bencher<'_, '_>, rows: usize) {
    let mut model = model(rows);
    for key in ['/', 'o', 'u', 't', 'a', 'g', 'e', ' ', '9'] {
        type_key(&mut model, KeyCode::Char(key));
    }
    bencher.bench_local(|| {
        type_key(&mut model, KeyCode::Char('9'));
        type_key(&mut model, KeyCode::Backspace);
    });
}

/// The longest that a key of a filter holds up the next one.
#[divan::bench(args = SIZES)]
fn one_stretch_of_a_filter(bencher: Bencher<'_, '_>, rows: usize) {
    let mut model = model(rows);
    type_key(&mut model, KeyCode::Char('/'));
    bencher.bench_local(|| {
        for key in [KeyCode::Char('9'), KeyCode::Backspace] {
            let at = model.now.plus_millis(200);
            black_box(update(
                &mut model,
                Msg { at, what: What::Key(KeyEvent::new(key, KeyModifiers::NONE)) },
            ));
        }
    });
}

/// A key of the filter line, until the rows are those it asks for.
fn type_key(model: &mut Model, key: KeyCode) {
    let at = model.now.plus_millis(200);
    update(model, Msg { at, what: What::Key(KeyEvent::new(key, KeyModifiers::NONE)) });
    while model.filtering.scan.is_some() {
        update(model, Msg { at, what: What::Wake });
    }
}

/// By risk, and by age again.
#[divan::bench(args = SIZES)]
fn sort(bencher: Bencher<'_, '_>, rows: usize) {
    let mut model = model(rows);
    bencher.bench_local(|| [',', 'r', ',', 'a'].map(|key| press(&mut model, key, 200)));
}

/// By shape, and by batch again.
#[divan::bench(args = SIZES)]
fn group(bencher: Bencher<'_, '_>, rows: usize) {
    let mut model = model(rows);
    bencher.bench_local(|| [',', 'x', ',', 'b'].map(|key| press(&mut model, key, 200)));
}

/// A mebibyte through the door: what a key in a long text waits for, were all of it made.
#[divan::bench(args = ["plain", "mixed"])]
fn display(bencher: Bencher<'_, '_>, kind: &str) {
    let line = match kind {
        "plain" => "{\"title\":\"Three clients report errors after the upgrade\",\"n\":1.10}\n",
        _ => "Grüße, 世界 – naïve e\u{301} \u{1f469}\u{200d}\u{1f4bb} Привет \u{202e}x\u{a0}y ⟦\n",
    };
    let text = line.repeat((1 << 20) / line.len());
    bencher
        .counter(divan::counter::BytesCount::of_str(&text))
        .bench(|| placet::text::lines(black_box(&text)));
}
