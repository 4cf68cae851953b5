//! Finds the reviewer's editor, and runs it over a private file.

use std::io;
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::Instant;

use crate::program;
use crate::tui::app::words;

/// An editor that ends sooner and leaves its file unchanged may have opened a window and not waited for it.
const AT_ONCE: Duration = Duration::from_secs(2);

/// Programs, the flag that makes them wait until the file is closed, and its other form.
type WindowEditors = (&'static [&'static str], &'static str, &'static str);

#[rustfmt::skip]
const WINDOW_EDITORS: [WindowEditors; 8] = [
    (&[
        "atom", "bbedit", "code", "code-insiders", "code-oss", "codium", "cursor", "gedit", "lapce", "mate", "nova", "pluma",
        "positron", "subl", "sublime_text", "vscodium", "windsurf", "xed", "zed", "zeditor",
    ], "--wait", "-w"),
    (&["clion", "goland", "idea", "phpstorm", "pycharm", "rider", "rubymine", "rustrover", "webstorm"], "--wait", "--wait"),
    (&["gvim", "gview", "mvim", "mview"], "-f", "--nofork"),
    (&["kate"], "-b", "--block"),
    (&["neovide"], "--no-fork", "--no-fork"),
    (&["nvim-qt"], "--nofork", "--nofork"),
    (&["gnome-text-editor"], "--standalone", "-s"),
    (&["open"], "-W", "--wait-apps"),
];

/// The editor's command, run without a shell.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Editor {
    /// Added to its environment.
    variables: Vec<(String, String)>,
    argv: Vec<String>,
}

/// Returns the command of `$VISUAL`, or else of `$EDITOR`, or else vi or nano.
pub(crate) fn find() -> Result<Editor, String> {
    let variable = |name: &str| std::env::var(name).ok();
    for name in ["VISUAL", "EDITOR"] {
        let Some(line) = variable(name).filter(|line| !line.trim().is_empty()) else { continue };
        return Editor::parse(&line, variable).map_err(|why| words::not_a_command(name, &line, &why));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |editor: &&&str| std::env::split_paths(&path).any(|folder| folder.join(editor).is_file());
    let editor = ["vi", "nano"].iter().find(has).map(|editor| vec![(*editor).to_owned()]);
    editor.map(|argv| Editor { argv, ..Editor::default() }).ok_or_else(|| words::NO_EDITOR_FOUND.to_owned())
}

impl Editor {
    /// Splits the line into words and expands `~`, `$NAME` and leading `NAME=value`. Other shell syntax is plain text.
    /// Adds the waiting flag of a window editor.
    fn parse(line: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let mut all = shell_words::split(&expand(line, variable)?).map_err(|error| error.to_string())?;
        let assigned = all.iter().map_while(|word| word.split_once('=').filter(|(name, _)| is_name(name)));
        let variables: Vec<_> = assigned.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let mut argv = all.split_off(variables.len());
        let name = argv.first().ok_or(words::THERE_IS_NO_EDITOR)?;
        let name = Path::new(name).file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let known = WINDOW_EDITORS.iter().find(|(names, ..)| names.contains(&name));
        if let Some((_, flag, other)) = known
            && !argv.iter().any(|word| word == flag || word == other)
        {
            argv.insert(1, (*flag).to_owned());
        }
        Ok(Self { variables, argv })
    }

    /// Runs the editor over the text, and returns the edited text. The file is in a private folder, so that the
    /// editor's backup and swap files are private, too, and are removed with it.
    pub(crate) async fn edit(&self, text: &str) -> Result<String, String> {
        let [name, arguments @ ..] = self.argv.as_slice() else {
            return Err(words::THERE_IS_NO_EDITOR.to_owned());
        };
        let failed = |what: &str, error: &io::Error| words::editing_failed(what, &error);
        let only_ours = std::fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix("placet-").permissions(only_ours).tempdir();
        let folder = folder.map_err(|error| failed(words::NO_FILE_MADE, &error))?;
        let file = folder.path().join("input.json");
        // Editors complain about a missing final line break.
        let given = format!("{text}\n").into_bytes();
        write_private(&file, &given).map_err(|error| failed(words::FILE_NOT_WRITTEN, &error))?;
        let mut command = Command::new(name);
        command.args(arguments).arg(&file);
        program::without_secrets(command.as_std_mut());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let started = Instant::now();
        let ended = command.status().await;
        let ended = ended.map_err(|error| failed(&words::editor_did_not_start(name), &error))?;
        if !ended.success() {
            return Err(words::editor_ended(name, &ended));
        }
        let read = std::fs::read(&file);
        let bytes = read.map_err(|error| failed(words::TEXT_NOT_READ, &error))?;
        if bytes == given && started.elapsed() < AT_ONCE {
            let file = folder.keep().join("input.json");
            return Err(words::returned_at_once(name, &file.display()));
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| words::NOT_UTF8)?;
        Ok(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned())
    }
}

/// Replaces `$NAME`, `${NAME}` and `~` like a shell, and quotes the value, so that a path with blanks stays one word.
/// Only a variable that is a whole word may contain several words.
fn expand(line: &str, variable: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let value = |name: &str| variable(name).ok_or_else(|| words::not_set(name));
    let (mut out, mut chars, mut quote, mut starts) = (String::new(), line.chars(), None, true);
    while let Some(c) = chars.next() {
        let starts_here = std::mem::take(&mut starts);
        let rest = chars.as_str();
        match (c, quote) {
            ('\\', None | Some('"')) => {
                out.push(c);
                out.extend(chars.next());
                continue;
            }
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('$', None | Some('"')) => {
                if let Some((name, rest)) = variable_name(rest) {
                    let value = value(name)?;
                    let is_word = starts_here && !out.ends_with('=') && ends_word(rest);
                    match quote {
                        None if is_word => out.push_str(&value),
                        None => out.push_str(&shell_words::quote(&value)),
                        Some(_) => out.extend(["\"", shell_words::quote(&value).as_ref(), "\""]),
                    }
                    chars = rest.chars();
                    continue;
                }
            }
            ('~', None) if starts_here && (ends_word(rest) || rest.starts_with('/')) => {
                out.push_str(&shell_words::quote(&value("HOME")?));
                continue;
            }
            _ => starts = quote.is_none() && (c.is_whitespace() || c == '='),
        }
        out.push(c);
    }
    Ok(out)
}

fn ends_word(rest: &str) -> bool {
    rest.chars().next().is_none_or(char::is_whitespace)
}

/// Splits off the name after a `$`; `None` without a name.
fn variable_name(after: &str) -> Option<(&str, &str)> {
    let braced = after.strip_prefix('{').and_then(|inside| inside.split_once('}'));
    let bare = || after.split_at_checked(after.find(|c: char| !is_of_name(c)).unwrap_or(after.len()));
    braced.or_else(bare).filter(|(name, _)| is_name(name))
}

fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit()) && !text.is_empty() && text.chars().all(is_of_name)
}

const fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn write_private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an editor that runs this script.
    fn editor(script: &str) -> Editor {
        Editor { argv: ["sh", "-c", script, "editor"].map(str::to_owned).to_vec(), ..Editor::default() }
    }

    #[tokio::test]
    async fn edited_text_comes_back_from_a_private_file() {
        let script = r#"ls -ld "$(dirname "$1")" "$1" | cut -c1-10 | tr '\n' ' ' > "$1.swap"; cat "$1" >> "$1.swap"; mv "$1.swap" "$1""#;

        let back = editor(script).edit("{}").await.unwrap();

        assert!(back.contains("drwx------"), "{back}");
        assert!(back.contains("-rw-------") && back.contains("{}"), "{back}");
    }

    #[tokio::test]
    async fn failing_or_missing_editor_changes_nothing() {
        let failed = editor("echo x > \"$1\"; exit 3").edit("{}").await.unwrap_err();
        let missing = Editor { argv: vec!["/no/such/editor".to_owned()], ..Editor::default() };
        let missing = missing.edit("{}").await.unwrap_err();

        assert!(failed.contains("exit status: 3; nothing was changed"), "{failed}");
        assert!(missing.contains("did not start"), "{missing}");
    }

    #[tokio::test]
    async fn byte_order_mark_of_the_editor_is_dropped() {
        let bom = editor(r#"printf '\357\273\277{"a": 1}\n' > "$1""#).edit("{}").await.unwrap();
        let inside = editor(r#"printf '{"a": "\357\273\277"}' > "$1""#).edit("{}").await.unwrap();

        assert_eq!(bom, "{\"a\": 1}\n");
        assert_eq!(inside, "{\"a\": \"\u{feff}\"}", "only a leading one is the editor's");
    }

    /// Time is paused, so every editor ends at once.
    #[tokio::test(start_paused = true)]
    async fn editor_that_returns_at_once_leaves_its_file() {
        let said = editor("exit 0").edit("{\"a\": 1}").await.unwrap_err();

        let (hint, path) = said.split_once("File kept: ").unwrap();
        assert!(hint.contains("--wait"), "{said}");
        assert_eq!(std::fs::read_to_string(path).unwrap(), "{\"a\": 1}\n");
        std::fs::remove_dir_all(Path::new(path).parent().unwrap()).unwrap();
        assert_eq!(editor("echo {} > \"$1\"").edit("").await.as_deref(), Ok("{}\n"), "a quick change counts");
    }

    fn parsed(line: &str) -> Result<Editor, String> {
        let variables =
            [("HOME", "/home/jo doe"), ("ED", "emacs -nw"), ("DIR", "/opt/my tools"), ("NONE", "")];
        let value = |name: &str| variables.iter().find(|(other, _)| *other == name).map(|it| it.1.to_owned());
        Editor::parse(line, value)
    }

    #[test]
    fn home_and_variables_are_expanded_as_a_shell_does() {
        for (line, argv) in [
            ("~/bin/ed -w", &["/home/jo doe/bin/ed", "-w"][..]),
            ("$HOME/ed", &["/home/jo doe/ed"]),
            ("${HOME}/ed", &["/home/jo doe/ed"]),
            ("\"$DIR/ed\" x", &["/opt/my tools/ed", "x"]),
            ("\"a $DIR\"b", &["a /opt/my toolsb"]),
            ("$ED", &["emacs", "-nw"]),
            ("nice $ED", &["nice", "emacs", "-nw"]),
            ("\"$ED\"", &["emacs -nw"]),
            ("$NONE vi", &["vi"]),
            ("vi ~", &["vi", "/home/jo doe"]),
            ("'~/ed' '$HOME'", &["~/ed", "$HOME"]),
            ("\\~/ed \\$HOME \"\\$HOME\"", &["~/ed", "$HOME", "$HOME"]),
            ("vi a~ ~jo $ $1 $(x) \"~\"", &["vi", "a~", "~jo", "$", "$1", "$(x)", "~"]),
        ] {
            assert_eq!(parsed(line).unwrap().argv, argv, "{line}");
        }
        for wrong in ["$UNSET/ed", "vi 'open", "A=1", "$NONE"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parsed("$UNSET/ed").unwrap_err(), "$UNSET is not set");
    }

    #[test]
    fn leading_assignments_go_to_the_environment() {
        let editor = parsed("A=1 B_2='x y' C=~/c D=$DIR vi E=5").unwrap();

        let variables = [("A", "1"), ("B_2", "x y"), ("C", "/home/jo doe/c"), ("D", "/opt/my tools")];
        assert_eq!(editor.variables, variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(editor.argv, ["vi", "E=5"]);
        assert_eq!(parsed("/a=b/vi").unwrap().argv, ["/a=b/vi"]);
    }

    #[tokio::test]
    async fn editor_finds_the_assigned_variables() {
        let editor = Editor::parse("NAME=value sh -c 'echo \"$NAME\" > \"$1\"' x", |_| None).unwrap();

        assert_eq!(editor.edit("{}").await.as_deref(), Ok("value\n"));
    }

    #[test]
    fn window_editors_get_their_waiting_flag_once() {
        for (line, argv) in [
            ("code", "code --wait"),
            ("/usr/bin/code-insiders -n", "/usr/bin/code-insiders --wait -n"),
            ("code --wait", "code --wait"),
            ("code -n -w", "code -n -w"),
            ("subl", "subl --wait"),
            ("subl -w", "subl -w"),
            ("mate", "mate --wait"),
            ("atom", "atom --wait"),
            ("zed", "zed --wait"),
            ("zeditor", "zeditor --wait"),
            ("gedit", "gedit --wait"),
            ("gvim -p", "gvim -f -p"),
            ("gvim --nofork", "gvim --nofork"),
            ("mvim", "mvim -f"),
            ("kate", "kate -b"),
            ("kate --block", "kate --block"),
            ("idea.sh", "idea.sh --wait"),
            ("X=1 code", "code --wait"),
            ("vim", "vim"),
            ("nano -w", "nano -w"),
            ("emacsclient -c", "emacsclient -c"),
            ("vim code", "vim code"),
        ] {
            assert_eq!(parsed(line).unwrap().argv.join(" "), argv);
        }
    }
}
