//! The list: arrivals, orders, groups, filters, marks.

pub(crate) mod arriving;
mod columns;
mod elsewhere;
pub(crate) mod expiring;
pub(crate) mod groups;
mod roomy;
pub(crate) mod screens;
mod settled;
pub(crate) mod together;
pub(crate) mod triage;
