//! Properties that hold for any bytes: the bodies of the fuzzers in `fuzz/`. `cargo test` replays the kept corpus.

mod json;
mod merge;

/// Panics if a property does not hold.
pub type Run = fn(&[u8]);

pub const TARGETS: [(&str, Run); 5] = [
    ("display", crate::text::inverse::run),
    ("json", json::run),
    ("keys", crate::tui::testing::random_input::run),
    ("merge", merge::run),
    ("sse", crate::net::sse::stray::run),
];

/// Runs one fuzzer. Panics if it does not exist.
pub fn run(target: &str, data: &[u8]) {
    let found = TARGETS.iter().find(|(name, _)| *name == target);
    found.expect("a fuzzer of this name").1(data);
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::rounds::runner;

    /// A short run of each fuzzer.
    #[test]
    fn fuzz_properties_hold_for_random_bytes() {
        let bytes = prop::collection::vec(any::<u8>(), 0..600);
        let ran = runner(12, 2_000).run(&bytes, |data| {
            for (_, run) in TARGETS {
                run(&data);
            }
            Ok(())
        });
        ran.unwrap();
    }

    #[test]
    fn the_fuzzer_corpus_is_replayed() {
        let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
        for (name, run) in TARGETS {
            assert!(fuzz.join(format!("fuzz_targets/{name}.rs")).is_file(), "{name} has no target");
            let corpus = fuzz.join("corpus").join(name);
            let files: Vec<_> = fs::read_dir(&corpus).unwrap().map(|file| file.unwrap().path()).collect();
            assert!(!files.is_empty(), "nothing in {}", corpus.display());
            for file in files {
                run(&fs::read(&file).unwrap());
            }
        }
    }
}
