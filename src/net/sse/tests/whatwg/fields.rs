use super::{Case, on};

pub(super) fn cases() -> Vec<Case> {
    [data(), names(), others(), texts()].concat()
}

fn data() -> Vec<Case> {
    vec![
        on("no space after the colon", "data:a\n\n").message("a"),
        on("one space is dropped", "data: a\n\n").message("a"),
        on("of two spaces one stays", "data:  a\n\n").message(" a"),
        on("a tab stays", "data:\ta\n\n").message("\ta"),
        on("a no-break space stays", "data:\u{a0}a\n\n").message("\u{a0}a"),
        on("spaces at the end stay", "data: a  \n\n").message("a  "),
        on("colons in the value stay", "data: a:b: c\n\n").message("a:b: c"),
        on("a value of one colon", "data::\n\n").message(":"),
        on("a field without a colon is empty", "data\n\n").message(""),
        on("an empty value", "data:\n\n").message(""),
        on("a value of one space", "data: \n\n").message(""),
        on("a value of two spaces", "data:  \n\n").message(" "),
        on("two empty lines of data", "data\ndata\n\n").message("\n"),
        on("three empty lines of data", "data:\ndata\ndata: \n\n").message("\n\n"),
        on("an empty line of data in the middle", "data: a\ndata\ndata: b\n\n").message("a\n\nb"),
        on("an empty line of data first", "data\ndata: a\n\n").message("\na"),
        on("an empty line of data last", "data: a\ndata\n\n").message("a\n"),
        on("nothing of an unfinished event comes later", "data: a\n\ndata: b\n").message("a"),
        on("JSON", "data: {\"a\": [1, 2]}\n\n").message("{\"a\": [1, 2]}"),
        on("a mouthful of fields", "data: a\nid\nevent: x\nretry\ndata: b\n\n").event("x", "a\nb", ""),
    ]
}

fn names() -> Vec<Case> {
    vec![
        on("a name", "event: tick\ndata: 1\n\n").event("tick", "1", ""),
        on("a name after the data", "data: 1\nevent: tick\n\n").event("tick", "1", ""),
        on("of two names the last", "event: a\nevent: b\ndata: 1\n\n").event("b", "1", ""),
        on("an empty name is message", "event: a\nevent:\ndata: 1\n\n").message("1"),
        on("a name without a colon is message", "event\ndata: 1\n\n").message("1"),
        on("message by name", "event: message\ndata: 1\n\n").message("1"),
        on("a name counts once", "event: a\ndata: 1\n\ndata: 2\n\n").event("a", "1", "").message("2"),
        on("a name without data is forgotten", "event: a\n\ndata: 1\n\n").message("1"),
        on("a name with empty data", "event: a\ndata\n\n").event("a", "", ""),
        on("spaces in a name", "event:  a b \ndata: 1\n\n").event(" a b ", "1", ""),
        on("a name of other letters", "event: größe😀\ndata: 1\n\n").event("größe😀", "1", ""),
        on("a name of control characters", "event: a\u{1b}]0;x\u{7}\ndata: 1\n\n").event(
            "a\u{1b}]0;x\u{7}",
            "1",
            "",
        ),
        on("a name with a colon", "event: a:b\ndata: 1\n\n").event("a:b", "1", ""),
        on("a long name", format!("event: {}\ndata: 1\n\n", "n".repeat(2_000))).event(
            &"n".repeat(2_000),
            "1",
            "",
        ),
    ]
}

fn others() -> Vec<Case> {
    vec![
        on("another field alone", "foo: bar\n\ndata: a\n\n").message("a"),
        on("another field without a colon", "foo\n\ndata: a\n\n").message("a"),
        on("another field between", "data: a\nfoo: x\ndata: b\n\n").message("a\nb"),
        on("data with a letter more", "datas: x\ndata: a\n\n").message("a"),
        on("data with a letter less", "dat: x\ndata: a\n\n").message("a"),
        on("DATA is another field", "DATA: x\nData: y\ndata: a\n\n").message("a"),
        on("a space before the name", " data: x\ndata: a\n\n").message("a"),
        on("a space after the name", "data : x\ndata: a\n\n").message("a"),
        on("a tab before the name", "\tdata: x\n\ndata: a\n\n").message("a"),
        on("a page", "<html><body>log in</body></html>\n\ndata: a\n\n").message("a"),
        on("a line of JSON", "{\"data\": 1}\n\ndata: a\n\n").message("a"),
        on("a name of NUL", "\0: x\n\ndata: a\n\n").message("a"),
        on("a name that is no text", b"\xFF\xFE: x\n\ndata: a\n\n").message("a"),
    ]
}

fn texts() -> Vec<Case> {
    vec![
        on("letters of two bytes", "data: äöü\n\n").message("äöü"),
        on("letters of three bytes", "data: 退款\n\n").message("退款"),
        on("letters of four bytes", "data: 😀🏴\n\n").message("😀🏴"),
        on("letters that combine", "data: e\u{301}\n\n").message("e\u{301}"),
        on("a byte that never begins a letter", b"data: a\xFFb\n\n").message("a\u{fffd}b"),
        on("a byte that only goes on", b"data: a\x80b\n\n").message("a\u{fffd}b"),
        on("a letter cut by a letter", b"data: \xC3(\n\n").message("\u{fffd}("),
        on("a letter cut by the end of the line", b"data: \xE9\x80\n\n").message("\u{fffd}"),
        on("a letter written too long", b"data: \xC0\xAF\n\n").message("\u{fffd}\u{fffd}"),
        on("half a surrogate pair", b"data: \xED\xA0\x80\n\n").message("\u{fffd}\u{fffd}\u{fffd}"),
        on("a letter beyond the last", b"data: \xF4\x90\x80\x80\n\n")
            .message("\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
        on("a bad byte costs one letter, not the stream", b"data: 1\n\ndata: \xFF\n\ndata: 3\n\n")
            .messages(&["1", "\u{fffd}", "3"]),
        on("Latin-1", b"data: caf\xE9\n\n").message("caf\u{fffd}"),
        on("a replacement character stays one", "data: \u{fffd}\n\n").message("\u{fffd}"),
        on("nothing of a letter that never ends", b"data: a\n\ndata: \xF0\x9F").message("a"),
    ]
}
