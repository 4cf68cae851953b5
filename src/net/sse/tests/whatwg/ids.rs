//! Cases for `id`, with the id of the next request, and `retry`.

use super::{ASKED, Case, on};

pub(super) fn cases() -> Vec<Case> {
    [ids(), odd_ids(), waits()].concat()
}

fn ids() -> Vec<Case> {
    vec![
        on("an id", "id: 1\ndata: a\n\n").event("message", "a", "1"),
        on("an id after the data", "data: a\nid: 1\n\n").event("message", "a", "1"),
        on("an id goes on to the next event", "id: 1\ndata: a\n\ndata: b\n\n")
            .event("message", "a", "1")
            .event("message", "b", "1"),
        on("of two ids the last", "id: 1\nid: 2\ndata: a\n\n").event("message", "a", "2"),
        on("a new id", "id: 1\ndata: a\n\nid: 2\ndata: b\n\n")
            .event("message", "a", "1")
            .event("message", "b", "2"),
        on("an empty id is none", "id: 1\ndata: a\n\nid:\ndata: b\n\n")
            .event("message", "a", "1")
            .message("b"),
        on("an id without a colon is none", "id: 1\ndata: a\n\nid\ndata: b\n\n")
            .event("message", "a", "1")
            .message("b"),
        on("an id of a block without data", "id: 7\n\n").resumes("7"),
        on("an id of a block of which nothing else is known", "foo: x\nid: 7\n\n").resumes("7"),
        on("an id of a named block without data", "event: tick\nid: 7\n\n").resumes("7"),
        on("an id without data goes on to the next event", "id: 7\n\ndata: a\n\n").event("message", "a", "7"),
        on("an empty id without data", "id: 1\ndata: a\n\nid\n\n").event("message", "a", "1").resumes(""),
        on("an id of an unfinished event", "id: 1\ndata: a\n\nid: 2\ndata: b\n")
            .event("message", "a", "1")
            .resumes("1"),
        on("an id of an unfinished line", "id: 1\n\nid: 2").resumes("1"),
        on("ids with returns", "id: 1\rdata: a\r\rid: 2\r\n\r\n").event("message", "a", "1").resumes("2"),
        on("a comment does not end the block of an id", "id: 3\n: x\n\n").resumes("3"),
        on("ID is another field", "ID: 1\nId: 2\ndata: a\n\n").message("a"),
        on("ids is another field", "ids: 1\nid : 2\n id: 3\ndata: a\n\n").message("a"),
    ]
}

fn odd_ids() -> Vec<Case> {
    let (long, longer) = ("9".repeat(1_024), "9".repeat(1_025));
    vec![
        on("an id of other letters", "id: é😀\ndata: a\n\n").event("message", "a", "é😀"),
        on("an id with a space within", "id: a b\ndata: a\n\n").event("message", "a", "a b"),
        on("an id with a colon", "id: a:b\ndata: a\n\n").event("message", "a", "a:b"),
        on("an id of nought", "id: 0\ndata: a\n\n").event("message", "a", "0"),
        on("an id with a NUL is no id", "id: 1\0\ndata: a\n\n").message("a"),
        on("an id with a NUL leaves the one before", "id: 1\ndata: a\n\nid: \x002\ndata: b\n\n")
            .event("message", "a", "1")
            .event("message", "b", "1"),
        on("an id of control characters is not sent", "id: a\u{1}b\u{1b}[0m\ndata: a\n\n")
            .event("message", "a", "a\u{1}b\u{1b}[0m")
            .resumes(""),
        on("an id with a colon and no space", "id:5\ndata: a\n\n").event("message", "a", "5"),
        on("an id that is no text", b"id: \xFF\ndata: a\n\n").event("message", "a", "\u{fffd}"),
        on("a long id", format!("id: {long}\ndata: a\n\n")).event("message", "a", &long),
        on("an id that is too long is not sent", format!("id: {longer}\ndata: a\n\n"))
            .event("message", "a", &longer)
            .resumes(""),
        on("an id that is much too long is not sent", format!("id: 1\n\nid:{}\n\n", "x".repeat(3_000)))
            .resumes(""),
    ]
}

fn waits() -> Vec<Case> {
    let retry = |value: &str| format!("retry: {value}\ndata: a\n\n");
    vec![
        on("a wait", retry(ASKED)).message("a").asks(),
        on("a wait without a space", format!("retry:{ASKED}\n\n")).asks(),
        on("a wait in a block without data", format!("retry: {ASKED}\n\n")).asks(),
        on("a wait counts at the end of its line", format!("retry: {ASKED}\n")).asks(),
        on("a wait that is not finished", format!("retry: {ASKED}")),
        on("of two waits the last", format!("retry: 1\nretry: {ASKED}\n\n")).asks(),
        on("a wait that is none leaves the one before", format!("retry: {ASKED}\nretry: x\n\n")).asks(),
        on("a wait with noughts before", retry("00030")).message("a").asks(),
        on("a wait beyond all numbers is the longest", retry("99999999999999999999999")).message("a").asks(),
        on("a wait of the largest number", retry("18446744073709551615")).message("a").asks(),
        on("no wait at all is the shortest", retry("0")).message("a"),
        on("a negative wait", retry("-30")).message("a"),
        on("a wait with a plus", retry("+30")).message("a"),
        on("a wait with a point", retry("30.0")).message("a"),
        on("a wait with an exponent", retry("3e1")).message("a"),
        on("a wait in hexadecimal", retry("0x1E")).message("a"),
        on("a wait with a space before", retry(" 30")).message("a"),
        on("a wait with a space behind", retry("30 ")).message("a"),
        on("a wait in other digits", retry("३०")).message("a"),
        on("an empty wait", retry("")).message("a"),
        on("a wait without a colon", "retry\ndata: a\n\n").message("a"),
        on("RETRY is another field", format!("RETRY: {ASKED}\ndata: a\n\n")).message("a"),
    ]
}
