//! The list of pending actions: rows, order, groups, filter, counts, and the changes that sources report.
//!
//! How it works: `slots` holds the rows and finds them by id and by key. `Queue::order` has the ids of all rows in list
//! order. `groups` has the groups, each with the ids of its visible rows, its fold and its counts. `Queue::lines` is what
//! the screen shows: headers and rows. `arrange` makes groups and lines again after a change, in one pass over the order.
//! - `incoming` merges what a source reports. A known row changes in place, a new one waits in `held` until it moves
//!   nothing between the top of the screen and the cursor, and a settled one stays for a minute or until a reload.
//! - A sort, a grouping and a filter are jobs (`core::job`). The list keeps its rows until all of them are read.
//! - `bands` reads the groups on screen: sums, common fields, columns. `columns` draws them. `first` visits what comes first.
//! - `tally` counts rows as they come, change and leave. `counts` adds the arrivals, and the staged decisions.
//! - Cursor, marks and folds belong to keys of actions and groups, so they survive any new order.
//! - `sync` and `update` are the entrances: what a source sends, and what a key does.
//!
//! Also tried: counting and sorting again after each arrival, which held up keys at 100,000 rows; the work of a
//! sort in one piece, which took 20 to 50 ms; a second copy of all keys to find rows, which took 5 MB; rows that get new
//! numbers when one leaves, which every other table had to follow.
//!
//! Weaknesses: a decision adds up each band on screen again, up to 1,000 rows of each, and looks up all staged rows. An
//! arrival that is listed costs a pass over all rows. A row that changed its batch or its place keeps the old one until
//! the next reload. Groups and batches of rows that left are kept until most of them are empty.

pub(crate) mod arrange;
pub(crate) mod bands;
pub(crate) mod columns;
pub(crate) mod counts;
pub(crate) mod elsewhere;
pub(crate) mod filter;
pub(crate) mod filter_state;
pub(crate) mod first;
pub(crate) mod group_view;
pub(crate) mod groups;
pub(crate) mod incoming;
pub(crate) mod list;
pub(crate) mod marks;
pub(crate) mod places;
pub(crate) mod same;
pub(crate) mod saved_filters;
pub(crate) mod shape;
pub(crate) mod slots;
pub(crate) mod sort;
pub(crate) mod state;
pub(crate) mod sync;
pub(crate) mod tally;
pub(crate) mod update;
pub(crate) mod view;
pub(crate) mod words;
