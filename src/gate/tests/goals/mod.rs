//! Tests that try to break the gate's trust goals. `tests/README.md` lists them, with figures and long runs. G12 in
//! storage and G22 are in `src/gate/store/sqlite/tests`.

mod approvals;
mod binding;
mod clock;
mod edits;
mod fence;
mod groups;
mod races;
mod revoking;
mod same_key;
mod stop;
mod wall;
