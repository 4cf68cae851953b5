use proptest::prelude::*;

use crate::rounds;

use super::*;

const ALL: [Language; 8] = [
    Language::Json,
    Language::Diff,
    Language::Markdown,
    Language::Yaml,
    Language::Sql,
    Language::Shell,
    Language::Python,
    Language::Code,
];

/// The hue of each byte, where every row of so many bytes is painted on its own.
fn hues(language: Language, text: &str, row: usize) -> Vec<Kind> {
    let (mut hues, mut state, mut at) = (Vec::new(), Lex::default(), 0);
    for line in text.split('\n') {
        let end = at + line.len();
        while at < end {
            let to = (at + row).min(end);
            let mut next = at;
            state = lex(language, state, text, at..to, &mut |kind, range| {
                assert!(
                    range.start == next && range.end > next && range.end <= to,
                    "{range:?} of {at}..{to}"
                );
                hues.extend(range.clone().map(|_| kind));
                next = range.end;
            });
            assert_eq!(next, to, "all of a row is told");
            at = to;
        }
        state = state.next_line();
        hues.push(Kind::Plain);
        at += 1;
    }
    hues
}

/// With `«` and `»` around names, `‹` and `›` around values.
fn painted_text(language: Language, text: &str) -> String {
    let (mut out, mut last) = (String::new(), Kind::Plain);
    let hues = hues(language, text, usize::MAX / 2);
    let end = |kind| match kind {
        Kind::Name => "»",
        Kind::Value => "›",
        _ => "",
    };
    for (at, c) in text.char_indices() {
        let kind = hues[at];
        if kind != last {
            out.push_str(end(last));
            out.push_str(match kind {
                Kind::Name => "«",
                Kind::Value => "‹",
                _ => "",
            });
            last = kind;
        }
        out.push(c);
    }
    out.push_str(end(last));
    out
}

#[test]
fn json_has_keys_and_values_that_are_no_strings() {
    let shown = |text| painted_text(Language::Json, text);

    assert_eq!(shown(r#"{"a\"b": "c: \\","#), r#"{«"a\"b"»: "c: \\","#);
    assert_eq!(
        shown(r#"  "n" : -1.10e+4, "x": [true,null]"#),
        r#"  «"n"» : ‹-1.10e+4›, «"x"»: [‹true›,‹null›]"#
    );
    assert_eq!(shown("\"never ends: 1\n\"k\": 2"), "\"never ends: 1\n«\"k\"»: ‹2›");
    assert_eq!(shown(r#"{"a":1,"a":{"a":NaN}}"#), r#"{«"a"»:‹1›,«"a"»:{«"a"»:‹NaN›}}"#);
}

#[test]
fn diffs_have_lines_that_go_and_lines_that_come() {
    assert_eq!(
        painted_text(Language::Diff, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n same\n-old\n+new"),
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n same\n«-old»\n‹+new›"
    );
}

#[test]
fn markdown_has_headings_marks_and_code() {
    let shown = |text| painted_text(Language::Markdown, text);

    assert_eq!(
        shown("# One\n#hash\ntext `code` and ``a`b`` end"),
        "«# One»\n#hash\ntext ‹`code`› and ‹``a`b``› end"
    );
    assert_eq!(shown("- item\n 2. two\n> said\n---"), "«-» item\n« 2.» two\n«>» said\n---");
    assert_eq!(
        shown("```json\n{\n\n# no heading\n```\n# yes"),
        "‹```json›\n‹{›\n\n‹# no heading›\n‹```›\n«# yes»"
    );
    assert_eq!(shown("- ```sh\n  x\n  ```\n*a*"), "«-»‹ ```sh›\n‹  x›\n‹  ```›\n*a*");
    assert_eq!(shown("an open ` and more\n`` ` ``"), "an open ` and more\n‹`` ` ``›");
}

#[test]
fn yaml_has_keys_numbers_and_words() {
    assert_eq!(
        painted_text(
            Language::Yaml,
            "a: 1.5\nb-c:\n  - d: true\n  - text: x\nurl: http://a.example # no\n# k: 1"
        ),
        "«a»: ‹1.5›\n«b-c»:\n«  - d»: ‹true›\n«  - text»: x\n«url»: http://a.example # no\n# k: 1"
    );
}

#[test]
fn programs_have_comments_strings_and_numbers() {
    assert_eq!(
        painted_text(Language::Sql, "SELECT t1.a, 'it''s', 12 -- why\n/* long\nnote */ FROM b"),
        "SELECT t1.a, ‹'it''s'›, ‹12› «-- why»\n«/* long»\n«note */» FROM b"
    );
    assert_eq!(
        painted_text(Language::Shell, "# all\nrm \"$HOME/a\" 'b' a#b $1 # why"),
        "«# all»\nrm ‹\"$HOME/a\"› ‹'b'› a#b $‹1› «# why»"
    );
    assert_eq!(painted_text(Language::Python, "x = f('a', 0x1f) # why"), "x = f(‹'a'›, ‹0x1f›) «# why»");
    assert_eq!(painted_text(Language::Code, "let x = \"a//b\"; // why"), "let x = ‹\"a//b\"›; «// why»");
}

/// Each holds `evil`, which runs somewhere, behind what another reader takes for a comment.
#[test]
fn what_runs_does_not_look_like_a_comment() {
    for (language, text) in [
        (Language::Sql, "/*! evil */"),
        (Language::Sql, "SELECT 'a\\' -- ', evil"),
        (Language::Sql, "SELECT [a -- b], evil"),
        (Language::Sql, "SELECT $$ -- $$, evil"),
        (Language::Sql, "SELECT '''a' -- ''', evil"),
        (Language::Sql, "SELECT `a -- b`, evil"),
        (Language::Sql, "SELECT 1--evil"),
        (Language::Sql, "SELECT 'x\n -- ' , evil"),
        (Language::Sql, "/* /* */ evil */"),
        (Language::Shell, "echo 'x\n # ' ; evil"),
        (Language::Shell, "echo ${x:- # } ; evil"),
        (Language::Shell, "echo \"${x:-\" # \"}\" ; evil"),
        (Language::Shell, "echo a\\\n#; evil"),
        (Language::Shell, "cat <<END\n # $(evil)\nEND"),
        (Language::Shell, "(( 1 # 2 )); evil"),
        (Language::Python, "f'{' # '}'; evil"),
        (Language::Python, "'''\n # '''; evil"),
        (Language::Code, "x = / [//] /; evil"),
        (Language::Code, "x = `\n// ${evil}`"),
        (Language::Code, "r#\"a\" // \"#; evil"),
        (Language::Code, "fn f<'a>() { \"x' // y\"; evil }"),
        (Language::Code, "g('a, \"x' // y\", evil"),
        (Language::Code, "<p>text // text</p>{evil}"),
        (Language::Code, "http://a.example/evil"),
    ] {
        let hues = hues(language, text, 1_000);
        let at = text.find("evil").unwrap();
        assert_ne!(hues[at], Kind::Name, "{}", painted_text(language, text));
    }
}

#[test]
fn after_its_first_64_kib_a_text_is_plain() {
    for language in ALL {
        let text = "a: 1\n- `b` 'c' # \"d\": 2\n".repeat(5_000);
        let all = hues(language, &text, 80);
        assert!(all[..PAINTED].iter().any(|kind| *kind != Kind::Plain), "{language:?}");
        assert!(all[PAINTED..].iter().all(|kind| *kind == Kind::Plain), "{language:?}");
        // In the middle of a part, and of a character, too.
        for before in [PAINTED - 1, PAINTED - 2] {
            let text = format!("{}\"é12345 `é` é", "1".repeat(before));
            assert!(hues(language, &text, 7)[PAINTED..].iter().all(|kind| *kind == Kind::Plain));
        }
    }
}

#[test]
fn words_that_are_ready_stay_what_they_are() {
    for language in ALL {
        let shown = crate::text::part("{\"a\u{202e}\u{200b}\": 1.10, 'é' # 世 ⟦x⟧");
        let parts = painted(language, shown.clone());
        let again = parts.into_iter().map(|(_, part)| part).reduce(Shown::followed_by).unwrap();
        assert_eq!((again.plain(), again.is_foreign()), (shown.plain(), true), "{language:?}");
        let tokens = |shown: &Shown| {
            let pieces = shown.pieces().iter().map(|piece| (piece.look, piece.text.clone()));
            pieces.filter(|(look, _)| *look == PieceKind::Token).collect::<Vec<_>>()
        };
        assert_eq!(tokens(&again), tokens(&shown), "{language:?}");
    }
}

proptest! {
    #![proptest_config(rounds::config(400, 20_000))]

    /// Every byte of a text has one hue, independent of where its rows begin.
    #[test]
    fn a_row_may_begin_anywhere(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "\"", "'", "`", "```", "~~~", "\\", "#", "# ", "## ", "- ", "--", "-- ", "/*", "*/", "//", ": ", ":", "> ", "1. ",
                "{", "}", "[", "$", "$$", "<<", "a", "key", "true", "1.10", "-", "+", "@@", "\n", "\r\n", "\n\n", " ", "\t", "é", "世",
                "\u{202e}", "\u{200b}", "\u{0}", "\u{1b}[31m",
            ]),
            0..60,
        ),
        row in 1_usize..20,
    ) {
        let text = words.concat();
        for language in ALL {
            prop_assert_eq!(hues(language, &text, row), hues(language, &text, 10_000), "{:?} {:?}", language, text);
        }
    }
}
