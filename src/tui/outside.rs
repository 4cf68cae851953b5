//! The reviewer's own editor: finds it, gives it a file that nobody else can read, and takes back what it left there.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tokio::process::Command;

/// The editor as it is asked for: `$VISUAL`, else `$EDITOR`, split by the shell's rules; else what every system has.
pub(super) fn found() -> Result<Vec<String>, String> {
    for name in ["VISUAL", "EDITOR"] {
        let Some(line) = std::env::var(name).ok().filter(|line| !line.trim().is_empty()) else { continue };
        return match shell_words::split(&line) {
            Ok(words) if !words.is_empty() => Ok(words),
            _ => Err(format!("${name} cannot be read as a command: {line}")),
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |editor: &&&str| std::env::split_paths(&path).any(|folder| folder.join(editor).is_file());
    let editor = ["vi", "nano"].iter().find(has).map(|editor| vec![(*editor).to_owned()]);
    editor.ok_or_else(|| "no editor was found: set $VISUAL or $EDITOR to yours".to_owned())
}

/// Runs the editor over the text, and returns what is in the file when it has ended. The file is in a folder of its own that
/// only its owner can enter, so that an editor's backups and swap files are there, too, and go with it.
pub(super) async fn edit(editor: &[String], text: &str) -> Result<String, String> {
    let [program, arguments @ ..] = editor else { return Err("there is no editor".to_owned()) };
    let failed = |what: &str, error: &std::io::Error| format!("{what}: {error}; nothing was changed");
    let only_ours = std::fs::Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new().prefix("placet-").permissions(only_ours).tempdir();
    let folder = folder.map_err(|error| failed("no file for the editor could be made", &error))?;
    let file = folder.path().join("input.json");
    write(&file, text).map_err(|error| failed("the file for the editor could not be written", &error))?;
    let ended = Command::new(program).args(arguments).arg(&file).status().await;
    let ended = ended.map_err(|error| failed(&format!("the editor {program} did not start"), &error))?;
    if !ended.success() {
        return Err(format!("the editor {program} ended with {ended}; nothing was changed"));
    }
    let read = std::fs::read(&file);
    let bytes = read.map_err(|error| failed("what the editor left cannot be read", &error))?;
    String::from_utf8(bytes).map_err(|_| "what the editor left is no UTF-8; nothing was changed".to_owned())
}

fn write(file: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    file.write_all(text.as_bytes())?;
    // Editors complain about a last line without an end.
    file.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A script that is run as an editor.
    fn editor(script: &str) -> Vec<String> {
        ["sh", "-c", script, "editor"].map(str::to_owned).to_vec()
    }

    #[tokio::test]
    async fn what_the_editor_leaves_comes_back_and_nobody_else_could_read_it() {
        let script = r#"ls -ld "$(dirname "$1")" "$1" | cut -c1-10 | tr '\n' ' ' > "$1.swap"; cat "$1" >> "$1.swap"; mv "$1.swap" "$1""#;

        let back = edit(&editor(script), "{}").await.unwrap();

        assert!(back.contains("drwx------"), "{back}");
        assert!(back.contains("-rw-------") && back.contains("{}"), "{back}");
    }

    #[tokio::test]
    async fn an_editor_that_fails_or_does_not_start_changes_nothing() {
        let failed = edit(&editor("echo x > \"$1\"; exit 3"), "{}").await.unwrap_err();
        let missing = edit(&["/no/such/editor".to_owned()], "{}").await.unwrap_err();

        assert!(failed.contains("exit status: 3; nothing was changed"), "{failed}");
        assert!(missing.contains("did not start"), "{missing}");
    }
}
