//! G10: JSONTestSuite (Nicolas Seriot, MIT), if available: each file alone, as a whole list, and as an item of a list. It is
//! in the folder of `PLACET_JSON_SUITE`, or in `shared/corpus/JSONTestSuite` next to this checkout or one of its parents.
//! `own_cases_are_read_as_the_suite_demands` always runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::domain::{RawJson, json};
use crate::rounds::skipped;
use crate::sources::pending_actions::wire;

fn folder() -> Option<PathBuf> {
    let beside = |folder: &Path| folder.join("shared/corpus/JSONTestSuite");
    let named = std::env::var_os("PLACET_JSON_SUITE").map(PathBuf::from);
    named.or_else(|| {
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().skip(1).map(beside).find(|it| it.is_dir())
    })
}

/// Returns whether non-standard JSON was accepted with a flag.
fn is_flagged(text: &str) -> bool {
    let mut scanner = json::Scanner::new(text);
    let mut odd = false;
    while let Ok(Some(token)) = scanner.next_token() {
        odd |= json::ODD_WORDS.contains(&token.text);
    }
    odd
}

/// Checks a file against its name: `y_` is accepted, `n_` refused or flagged, `i_` either. Parsing must not panic.
fn judge(name: &str, bytes: &[u8]) -> &'static str {
    // The client marks invalid UTF-8 with a character that JSON does not allow, too.
    let text = String::from_utf8(bytes.to_vec())
        .unwrap_or_else(|_| String::from_utf8_lossy(bytes).replace('\u{fffd}', "\u{1a}"));
    let verdict = match RawJson::parse(text.as_str()) {
        Ok(_) if is_flagged(&text) => "flagged",
        Ok(_) => "taken",
        Err(_) => "refused",
    };
    match name.split('_').next() {
        Some("y") => assert_eq!(verdict, "taken", "{name}"),
        Some("n") => assert_ne!(verdict, "taken", "{name}"),
        _ => {}
    }
    for list in [text.clone(), format!("{{\"items\":{text}}}")] {
        let page = wire::page(&Arc::new(list), wire::row);
        assert!(page.is_none_or(|page| page.items.iter().all(Result::is_err)), "{name} became an action");
    }
    let good = r#"{"id":"g","toolName":"t","status":"pending","toolInput":{}}"#;
    let item = format!(r#"{{"id":"p","toolName":"t","status":"pending","toolInput":{text}}}"#);
    let page = format!(r#"{{"items":[{good},{item},{good}],"nextCursor":null}}"#);
    let page =
        wire::page(&Arc::new(page), wire::whole).unwrap_or_else(|| panic!("{name} took the whole list"));
    let usable = page.items.iter().filter(|item| item.is_ok()).count();
    match verdict {
        "refused" => assert!(usable == 2 || text.trim() == "null", "{name}: {usable} usable"),
        _ => assert!(usable == 3 || text.trim() == "null", "{name}: {usable} usable"),
    }
    let stand_ins = page.items.iter().filter_map(|item| item.as_ref().err());
    assert!(stand_ins.into_iter().all(|bad| bad.stand_in().input.as_str().starts_with('"')), "{name}");
    let _ = (json::pretty(&text), json::compact(&text), json::doubtful_keys(&text));
    verdict
}

#[test]
fn g10_suite_files_are_read_as_their_names_demand() {
    let Some(folder) = folder() else {
        skipped("JSONTestSuite is not available; PLACET_JSON_SUITE names its folder");
        return;
    };
    let mut told = std::collections::BTreeMap::new();
    for file in std::fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.extension().is_some_and(|it| it == "json") && name.as_bytes()[1] == b'_' {
            let verdict = judge(&name, &std::fs::read(&path).unwrap());
            *told.entry((name[..1].to_owned(), verdict)).or_insert(0) += 1;
        }
    }
    println!("{}: {told:?}", folder.display());
    assert!(told.values().sum::<i32>() >= 300, "{told:?}");
}

const YES: &[&str] = &[
    "[]",
    "{}",
    "0",
    "-0",
    "-0.0e-0",
    "1E+2",
    "1e400",
    "\"\"",
    "null",
    " [ 1 , \"a\" ] ",
    "{\"a\":{\"a\":1},\"b\":[]}",
    r#""\u0000\ud83d\ude00\/\"""#,
    "[1e-9999,18446744073709551616]",
    "{\"a\":1,\"a\":2}",
    "{\"\":0}",
    "\"\u{7f}\u{2028}\"",
];
const NO: &[&str] = &[
    "",
    "[",
    "]",
    "[1,]",
    "[,1]",
    "[1 2]",
    "{\"a\":1,}",
    "{a:1}",
    "{\"a\"}",
    "{\"a\":}",
    "{1:1}",
    "[1]]",
    "{}{}",
    "[1]x",
    "nul",
    "True",
    "01",
    "-01",
    "1.",
    ".1",
    "1e",
    "1e+",
    "+1",
    "- 1",
    "0x1",
    "1_0",
    "--1",
    "\"",
    "\"\\\"",
    "\"\\x\"",
    "\"\\u00\"",
    "\"a\tb\"",
    "\"a\nb\"",
    "'a'",
    "[1]/**/",
    "// x\n1",
    "\u{feff}1",
    "\u{a0}1",
    "[\"a\":1]",
    "{\"a\",1}",
    "a",
    "[NaN",
    "\u{1a}FF",
    "[1,\u{0}]",
    "{\"a\":1\u{c}}",
    "[\u{ff11}]",
    "*",
    "&",
    "\\",
    "1,2",
];

#[test]
fn own_cases_are_read_as_the_suite_demands() {
    let deep = "[".repeat(100_000);
    for text in YES {
        judge(&format!("y_{text}"), text.as_bytes());
    }
    for text in NO.iter().chain([&deep.as_str()]) {
        judge(&format!("n_{}", text.get(..text.len().min(20)).unwrap_or("…")), text.as_bytes());
    }
    assert_eq!(judge("n_NaN", b"[NaN,-Infinity]"), "flagged");
    assert_eq!(judge("i_half", br#"["\ud800"]"#), "taken");
    assert_eq!(judge("i_bytes", b"[\"\xff\"]"), "refused");
}
