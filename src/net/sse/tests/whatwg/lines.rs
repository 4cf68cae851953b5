use super::{Case, on};

pub(super) fn cases() -> Vec<Case> {
    [marks(), ends(), comments(), bursts()].concat()
}

fn marks() -> Vec<Case> {
    vec![
        on("no mark", "data: a\n\n").message("a"),
        on("one mark is dropped", "\u{feff}data: a\n\n").message("a"),
        on("a mark and nothing else", "\u{feff}"),
        on("a second mark belongs to the name", "\u{feff}\u{feff}data: a\n\ndata: b\n\n").message("b"),
        on("a mark before a later field belongs to it", "data: a\n\n\u{feff}data: b\n\n").message("a"),
        on("a mark in a value stays", "data: \u{feff}a\n\n").message("\u{feff}a"),
        on("a mark before a comment", "\u{feff}: hello\ndata: a\n\n").message("a"),
        on("a mark before empty lines", "\u{feff}\n\r\n\rdata: a\n\n").message("a"),
        on("a mark before an id", "\u{feff}id: 1\ndata: a\n\n").event("message", "a", "1"),
        on("a mark before a carriage return", "\u{feff}\rdata: a\r\r").message("a"),
        on("half a mark is no mark", b"\xEF\xBBdata: a\n\ndata: b\n\n").message("b"),
        on("a mark of UTF-16 is no mark", b"\xFF\xFEdata: a\n\ndata: b\n\n").message("b"),
        on("a mark after a line feed is none", "\n\u{feff}data: a\n\ndata: b\n\n").message("b"),
    ]
}

fn ends() -> Vec<Case> {
    vec![
        on("nothing at all", ""),
        on("line feeds", "data: a\ndata: b\n\n").message("a\nb"),
        on("carriage returns", "data: a\rdata: b\r\r").message("a\nb"),
        on("both together", "data: a\r\ndata: b\r\n\r\n").message("a\nb"),
        on("all three", "data: a\ndata: b\rdata: c\r\n\r\n").message("a\nb\nc"),
        on("a line feed, then a return", "data: a\n\rdata: b\n\r").messages(&["a", "b"]),
        on("a return, then a pair", "data: a\r\r\ndata: b\r\r\n").messages(&["a", "b"]),
        on("a pair, then a line feed", "data: a\r\n\ndata: b\r\n\n").messages(&["a", "b"]),
        on("a pair, then a return", "data: a\r\n\rdata: b\r\n\r").messages(&["a", "b"]),
        on("a line feed, then a pair", "data: a\n\r\ndata: b\n\r\n").messages(&["a", "b"]),
        on("two returns end an event without a third byte", "data: a\r\r").message("a"),
        on("empty lines before", "\n\n\r\r\n\ndata: a\n\n").message("a"),
        on("empty lines between", "data: a\n\n\n\n\n\ndata: b\n\n").messages(&["a", "b"]),
        on("only empty lines", "\n\r\n\r\n\n\r"),
        on("no end of the line", "data: a"),
        on("no end of the event", "data: a\n"),
        on("no end of the event, with a return", "data: a\r"),
        on("no end of the second", "data: a\n\ndata: b\n").message("a"),
        on("a vertical tab ends nothing", "data: a\u{b}b\n\n").message("a\u{b}b"),
        on("a form feed ends nothing", "data: a\u{c}b\n\n").message("a\u{c}b"),
        on("a next line ends nothing", "data: a\u{85}b\n\n").message("a\u{85}b"),
        on("a line separator ends nothing", "data: a\u{2028}b\u{2029}c\n\n").message("a\u{2028}b\u{2029}c"),
        on("a NUL ends nothing", "data: a\0b\n\n").message("a\0b"),
        on("an escape stays", "data: a\u{1b}[2Jb\n\n").message("a\u{1b}[2Jb"),
        on("a line of a space is no empty line", "data: a\n \ndata: b\n\n").message("a\nb"),
    ]
}

fn comments() -> Vec<Case> {
    vec![
        on("a colon", ":\n\n"),
        on("a comment", ": hello\n\n"),
        on("a comment without a space", ":hello\n\n"),
        on("two colons", "::\n\n"),
        on("a comment that looks like data", ":data: a\n\n"),
        on("a comment between lines of data", "data: a\n: x\ndata: b\n\n").message("a\nb"),
        on("a comment before the end", "data: a\n:\n\n").message("a"),
        on("a comment after an event without an empty line", "data: a\n\n:x\ndata: b\n\n")
            .messages(&["a", "b"]),
        on("a thousand comments", ":\n".repeat(1_000) + "data: a\n\n").message("a"),
        on("a long comment", format!(":{}\ndata: a\n\n", "x".repeat(3_000))).message("a"),
        on("a comment of other letters", ": héllo 😀\n\ndata: a\n\n").message("a"),
        on("a comment of bytes that are no text", b": \xFF\xC0\n\ndata: a\n\n").message("a"),
        on("a comment that never ends", "data: a\n\n: and").message("a"),
        on("a field that is called comment", "comment: x\ndata: a\n\n").message("a"),
    ]
}

fn bursts() -> Vec<Case> {
    let all = |n: usize, block: &dyn Fn(usize) -> String| (0..n).map(block).collect::<String>();
    let mut hundred = on("a hundred at once", all(100, &|n| format!("data: {n}\n\n")));
    let mut named = on("a hundred with everything", {
        all(100, &|n| format!(": {n}\r\nid: {n}\r\nevent: e{n}\r\ndata: {n}\r\ndata:\r\n\r\n"))
    });
    for n in 0..100 {
        hundred = hundred.message(&n.to_string());
        named = named.event(&format!("e{n}"), &format!("{n}\n"), &n.to_string());
    }
    let lines: Vec<String> = (0..300).map(|n| n.to_string()).collect();
    let many = format!("data: {}\n\n", lines.join("\ndata: "));
    vec![
        hundred,
        named,
        on("an event of many lines", many).message(&lines.join("\n")),
        on("an event of 4,000 bytes", format!("data:{}\n\n", "x".repeat(4_000))).message(&"x".repeat(4_000)),
        on("events of 4,000 bytes", format!("data:{}\n\n", "x".repeat(4_000)).repeat(3))
            .messages(&[&*"x".repeat(4_000); 3]),
    ]
}
