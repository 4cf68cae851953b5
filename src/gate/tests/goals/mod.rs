//! The goals of trust that a gate can be held to, each as a test that tries to break it. `tests/README.md` has the list, the
//! figures, and how to run the long forms; G12 in storage and G22 are in `src/gate/store/sqlite/tests`.

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
