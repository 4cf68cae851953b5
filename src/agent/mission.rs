//! Derives the mission of a call whose agent names none, from its working folder.

use std::path::Path;

use crate::domain::Digest;

/// Hex digits of the path's hash in a mission name.
const HASH: usize = 8;

/// Returns the name of the repository around `folder`, or of `folder` itself, with a short hash of its path. The hash
/// tells folders of the same name apart.
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
    fn folders_of_one_repository_share_a_mission() {
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
    fn folder_outside_a_repository_is_its_own_mission() {
        let root = tempfile::tempdir().unwrap();
        let plain = root.path().join("notes");
        std::fs::create_dir(&plain).unwrap();

        assert!(mission(&plain).starts_with("notes-"));
        assert_eq!(mission(&root.path().join("gone")), mission(&root.path().join("gone")));
        assert!(mission(Path::new("/")).starts_with("root-"));
    }
}
