//! Key presses per job, as in the table of docs/keys.md. A typed text (a title, a reason, a count) counts as one key.

use crate::domain::PendingAction;
use crate::tui::core::msg::What;
use crate::tui::testing::{Desk, action, few};

/// A job and its keys; `{...}` is typed as one text.
struct Job {
    what: &'static str,
    keys: &'static str,
    count: usize,
    /// Maximum number of keys besides the texts; `None` for no limit.
    most: Option<usize>,
    sent: usize,
    desk: fn() -> Desk,
}

#[rustfmt::skip]
const JOBS: [Job; 5] = [
    Job { what: "approve 10 plain actions of one batch, all read before", keys: "Asy", count: 3, most: None, sent: 10, desk: read },
    Job { what: "approve 10 plain actions of one batch, none opened", keys: "*as{10}<Enter>", count: 5, most: None, sent: 10, desk: fresh },
    Job { what: "approve 8, edit the title of one, exclude one with a reason", keys: "aaaaaaaae{ (EU)}<Enter>X{a duplicate}<Enter>sy", count: 16, most: Some(14), sent: 10, desk: fresh },
    Job { what: "the same edit on 12 actions", keys: " e<C-u>{Outage in EU}<Enter><Enter>s{12}<Enter>", count: 9, most: Some(10), sent: 12, desk: twelve },
    Job { what: "find one action among 10,000 by words, and exclude it", keys: "/{rotate leaked}<Enter>xsy", count: 6, most: Some(7), sent: 1, desk: haystack },
];

fn fresh() -> Desk {
    Desk::new(100, 30, few(10))
}

fn read() -> Desk {
    let mut desk = fresh();
    desk.press("jjjjjjjjj");
    desk
}

fn twelve() -> Desk {
    let mut desk = Desk::new(100, 30, few(12));
    desk.press("gg");
    desk
}

fn haystack() -> Desk {
    let one = |n: usize| -> PendingAction {
        let title = if n == 7_345 {
            "Rotate the leaked key of acme".to_owned()
        } else {
            format!("Sync calendar {n}")
        };
        action(
            &format!("{n} create_linear_issue agent{} low 30", n % 50),
            &title,
            &format!("{{\"title\":\"{title}\"}}"),
        )
    };
    Desk::new(100, 30, (1..=10_000).map(one).collect())
}

/// Returns the number of keys, and how many of those are texts.
fn count(keys: &str) -> (usize, usize) {
    let (mut n, mut rest) = (0, keys);
    while let Some(c) = rest.chars().next() {
        let end = match c {
            '<' => rest.find('>'),
            '{' => rest.find('}'),
            _ => None,
        };
        rest = &rest[end.unwrap_or(0) + 1..];
        n += 1;
    }
    (n, keys.matches('{').count())
}

fn does(job: &Job) {
    let (all, words) = count(job.keys);
    assert_eq!(all, job.count, "{}", job.what);
    assert!(
        job.most.is_none_or(|most| all - words <= most),
        "{}: {} keys beyond the words",
        job.what,
        all - words
    );
    let mut desk = (job.desk)();
    for (nth, part) in job.keys.replace('}', "{").split('{').enumerate() {
        // Text between braces is not split. A sheet ignores keys in its first moments.
        for piece in part.split_inclusive(|c| nth % 2 == 0 && "s>".contains(c)) {
            desk.press(piece);
            desk.wait(500);
        }
    }
    desk.wait(5_000);
    desk.say(What::Tick);
    let sent = desk.submitted.last().map(crate::domain::Submission::len);
    assert_eq!(sent, Some(job.sent), "{}:\n{}", job.what, desk.screen());
}

#[test]
fn approve_ten_read() {
    does(&JOBS[0]);
}

#[test]
fn approve_ten_unread() {
    does(&JOBS[1]);
}

#[test]
fn approve_eight_edit_one_exclude_one() {
    does(&JOBS[2]);
}

#[test]
fn edit_twelve_alike() {
    does(&JOBS[3]);
}

#[test]
fn exclude_one_of_ten_thousand() {
    does(&JOBS[4]);
}

/// Returns the keys as docs/keys.md writes them: `a`, `Enter`, texts as they are.
fn written(keys: &str) -> String {
    let mut out = Vec::new();
    let mut rest = keys;
    while let Some(c) = rest.chars().next() {
        let (token, after) = match c {
            '<' => rest[1..].split_once('>').unwrap(),
            '{' => rest[1..].split_once('}').unwrap(),
            _ => rest.split_at(c.len_utf8()),
        };
        out.push(match (c, token) {
            ('{', words) => words.trim().to_owned(),
            ('<', "C-u") => "`Ctrl-U`".to_owned(),
            (_, " ") => "`Space`".to_owned(),
            (_, key) => format!("`{key}`"),
        });
        rest = after;
    }
    out.join(" ")
}

#[test]
fn keys_page_has_this_table() {
    let page = include_str!("../../../docs/keys.md");
    for job in &JOBS {
        let (all, words) = count(job.keys);
        let row = format!("| {} | {} | {} |", job.what, written(job.keys), all - words);
        assert!(page.contains(&row), "docs/keys.md lacks: {row}");
    }
}
