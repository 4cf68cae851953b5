//! Finds a path of placet's program that survives upgrades.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Parts of paths that a package manager empties or renames, and how to get a permanent path.
const PASSING: [(&str, &str); 9] = [
    ("/archive-v", "run `uv tool install placet`"),
    ("/_npx/", "run `npm install -g placet`"),
    ("/dlx-", "run `npm install -g placet`"),
    ("/bunx-", "run `npm install -g placet`"),
    ("/pipx/.cache/", "run `pipx install placet`"),
    ("/.cache/", "install placet"),
    ("/Library/Caches/", "install placet"),
    ("/Cellar/", "put Homebrew's `bin` folder into PATH"),
    ("/nix/store/", "put the `bin` folder of your profile into PATH"),
];

/// Returns the advice for a program whose path is temporary, `None` if it is permanent.
pub fn passing(program: &Path) -> Option<&'static str> {
    let path = program.to_string_lossy();
    PASSING.iter().find(|(part, _)| path.contains(part)).map(|(_, instead)| *instead)
}

/// Returns a permanent path of `program`, preferring a link in `search` (a PATH). Fails if an upgrade or a cleaned
/// cache would remove every path, because a missing hook blocks every call.
pub fn lasting(program: &Path, search: &OsStr) -> Result<PathBuf, String> {
    let real =
        program.canonicalize().map_err(|error| format!("{} cannot be used: {error}", program.display()))?;
    let names = std::env::split_paths(search).filter(|folder| folder.is_absolute());
    let mut names = names.map(|folder| folder.join(real.file_name().unwrap_or_default()));
    let found = names.find(|name| passing(name).is_none() && name.canonicalize().is_ok_and(|it| it == real));
    match (found, passing(&real)) {
        (Some(name), _) => Ok(name),
        (None, None) => Ok(real),
        (None, Some(instead)) => {
            let shown = real.display();
            Err(format!(
                "{shown} does not last: upgrades or a cleaned cache remove it; {instead}, and repeat this with that placet"
            ))
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn installed(below: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let (folder, bin) = (root.path().join(below), root.path().join("bin"));
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir(&bin).unwrap();
        let program = folder.join("placet");
        fs::write(&program, "").unwrap();
        symlink(&program, bin.join("placet")).unwrap();
        (root, program, bin)
    }

    #[test]
    fn name_in_path_is_written_instead_of_its_target() {
        for below in ["Cellar/placet/1.0/bin", "opt/placet", "cache/uv/archive-v0/x/bin"] {
            let (_root, program, bin) = installed(below);
            let own = program.parent().unwrap();
            let search = std::env::join_paths([own, Path::new("relative"), &bin]).unwrap();
            let expected = if below == "opt/placet" { program.clone() } else { bin.join("placet") };

            assert_eq!(lasting(&program, &search), Ok(expected), "{below}");
            assert_eq!(lasting(&program, bin.as_os_str()), Ok(bin.join("placet")), "{below}");
        }
    }

    #[test]
    fn program_in_a_cache_is_refused_with_advice() {
        for (below, instead) in [
            ("u/archive-v0/Ab/bin", "uv tool install placet"),
            (".npm/_npx/1f/node_modules/placet", "npm install -g placet"),
            (".local/share/pipx/.cache/d/bin", "pipx install placet"),
            ("Cellar/placet/1.0/bin", "Homebrew"),
            (".cache/some/bin", "install placet"),
        ] {
            let (_root, program, _) = installed(below);
            let own = program.parent().unwrap();

            let refused = lasting(&program, own.as_os_str()).unwrap_err();

            assert!(refused.contains(instead) && refused.contains("does not last"), "{refused}");
            assert!(passing(&program).is_some());
        }
    }

    #[test]
    fn program_outside_path_keeps_its_own_path() {
        let (_root, program, _) = installed("opt/placet");
        let (_other_root, _, other) = installed("opt/placet");

        assert_eq!(lasting(&program, other.as_os_str()), Ok(program.canonicalize().unwrap()));
        assert!(lasting(Path::new("/gone/placet (deleted)"), OsStr::new("")).is_err());
    }
}
