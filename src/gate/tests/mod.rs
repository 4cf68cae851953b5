//! The gate over HTTP, as agents and reviewers meet it: a served gate on a free port, real requests, a database on disk.

mod deciding;
mod support;
