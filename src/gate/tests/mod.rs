//! The gate over HTTP, as agents and reviewers meet it: a served gate on a free port, real requests, a database on disk.

mod batches;
mod deciding;
mod durability;
mod reading;
mod refusing;
mod running;
mod streaming;
mod support;
