# Chores. `just check` is what CI runs.

# Everything that must be green before a commit lands.
check:
    .ci/run

# The quick loop: format, lints, quick tests.
quick:
    cargo fmt
    cargo clippy --all-targets -- -D warnings
    cargo test --lib --test fast

# The inbox on a throw-away gate.
demo:
    cargo run --release -- demo

# How long a key press and a frame take at 1,000, 10,000 and 100,000 rows.
bench:
    cargo bench --bench inbox

# What a served gate takes, in a few minutes; `cargo test --bench gate -- --quick` only sees that the bench still works.
bench-gate:
    cargo bench --bench gate

# What gates take together, and a run in which everything is killed; `-- --full --write` measures docs/scale.md anew, in two to three hours.
bench-scale:
    cargo bench --bench scale

# Licences, bans and sources of every dependency (needs cargo-deny).
deny:
    cargo deny check licenses bans sources
