//! The script for nushell: static completions, and calls of `placet complete`.

const ASKING: &str = r#"
  def "nu-complete placet sources" [] { ^placet complete sources | lines }
  def "nu-complete placet filters" [] { ^placet complete filters | lines }
  def "nu-complete placet ids" [] { ^placet complete ids | lines }
"#;

/// Arguments as generated, with the values that complete them.
const ASKED: [(&str, &str); 5] = [
    ("--source: string", "sources"),
    ("--filter: string", "filters"),
    ("--approve: string", "ids"),
    ("--reject: string", "ids"),
    ("...id: string", "ids"),
];

/// Beginnings of the parts about the hidden `placet complete`.
const HIDDEN: [&str; 2] = ["extern \"placet complete\"", "def \"nu-complete placet complete "];

pub(super) fn script(mut command: clap::Command) -> anyhow::Result<String> {
    let mut script = Vec::new();
    clap_complete::generate(clap_complete_nushell::Nushell, &mut command, "placet", &mut script);
    let script = String::from_utf8(script)?;
    let (head, body) = script.split_once('\n').unwrap_or((&script, ""));
    // The generator also includes hidden commands.
    let shown = |part: &&str| !HIDDEN.iter().any(|hidden| part.contains(hidden));
    let mut body = body.split("\n\n").filter(shown).collect::<Vec<_>>().join("\n\n");
    for (arg, of) in ASKED {
        body = body.replace(arg, &format!("{arg}@\"nu-complete placet {of}\""));
    }
    Ok(format!("{head}{ASKING}{body}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Args;
    use clap::CommandFactory as _;

    #[test]
    fn the_script_calls_placet_for_dynamic_values() {
        let script = script(Args::command()).unwrap();

        for (arg, of) in ASKED {
            assert!(script.contains(&format!("{arg}@\"nu-complete placet {of}\"")), "{arg}: {script}");
        }
        assert!(script.starts_with("module completions {"), "{script}");
        for hidden in HIDDEN {
            assert!(!script.contains(hidden), "{hidden}: hidden commands are not offered");
        }
        assert!(script.trim_end().ends_with("export use completions *"), "the rest is kept: {script}");
    }
}
