//! The mission that a call belongs to when its agent names none: the work in one folder.

use std::path::Path;

use crate::domain::Digest;

/// Hex digits of a path's hash in a mission. They tell a few folders of one name apart, and are short enough to read.
const HASH: usize = 8;

/// The mission of an agent that works in `folder`: the name of its repository, else of the folder itself, and a short hash of
/// where that is. Two folders of one name are two missions; the same folder is always the same one.
pub fn mission(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let root = folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&folder);
    let path = root.to_string_lossy();
    let name = root.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy());
    let digest = Digest::of_fields("placet-mission/v1", [Some(path.as_ref())]).to_string();
    let hash: String = digest.chars().skip_while(|c| *c != ':').skip(1).take(HASH).collect();
    format!("{name}-{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_one_repository_are_one_mission_and_of_one_name_two() {
        let root = tempfile::tempdir().unwrap();
        let (one, other) = (root.path().join("a/shop"), root.path().join("b/shop"));
        for repository in [&one, &other] {
            std::fs::create_dir_all(repository.join("src/deep")).unwrap();
            std::fs::create_dir(repository.join(".git")).unwrap();
        }

        let named = mission(&one);

        assert!(named.starts_with("shop-") && named.len() == "shop-".len() + HASH, "{named}");
        assert_eq!(mission(&one.join("src/deep")), named);
        assert_ne!(mission(&other), named);
    }

    #[test]
    fn a_folder_outside_a_repository_is_its_own_mission() {
        let root = tempfile::tempdir().unwrap();
        let plain = root.path().join("notes");
        std::fs::create_dir(&plain).unwrap();

        assert!(mission(&plain).starts_with("notes-"));
        assert_eq!(mission(&root.path().join("gone")), mission(&root.path().join("gone")));
        assert!(mission(Path::new("/")).starts_with("root-"));
    }
}
