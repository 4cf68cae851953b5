//! The pending-actions HTTP contract, as Praxiom AI documents it and our gate extends it (`assets/contract/openapi.json`). The gate
//! speaks it, and so does the source that talks to the gate.
//!
//! camelCase on the wire, snake_case accepted on input. Payloads travel as the exact bytes they came in. Reading is
//! tolerant, because the other end may be Praxiom: a missing field is `None`, a null is a missing field,
//! an unknown word is kept. Nothing here opens a socket.

pub mod absent;
pub mod action;
pub mod approvals;
pub mod audit;
pub mod batch;
pub mod briefing;
pub mod callback;
pub mod changes;
pub mod checkpoint;
pub mod claim;
pub mod error;
pub mod fields;
pub mod flows;
pub mod pointer;
pub mod propose;
pub mod prune;
pub mod settle;
mod show;
pub mod time;
pub mod tool;
pub mod tool_result;
pub mod traceparent;
pub mod whole;
