//! The pending-actions HTTP contract of Praxiom AI, with the gate's extensions (`assets/contract/openapi.json`). Used
//! by the gate and by the source for it. Has no I/O.
//!
//! camelCase on the wire, snake_case also accepted. Payloads keep their exact bytes. Reading is tolerant, because the
//! other side may be Praxiom: a missing or null field is `None`, an unknown word is kept.

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
