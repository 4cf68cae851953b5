//! The band of a group, and the columns below it: values that differ between its rows, and those that all share.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::contract::tool::{Cell, Totals, cells};
use crate::domain::{RawJson, Risk, Timestamp, Untrusted};
use crate::text::{self, Shown};

use super::slots::{GroupId, Slot};

/// Most rows of a group that are read for its columns and sums.
pub(crate) const READ: usize = 1_000;
/// The cells of a band without its names: fold, risk, age, number, gaps.
const AROUND: usize = 40;
const KEYS: usize = 16;
/// Most columns of a row, the widest of values and of prose, and the least room for the last one.
const COLUMNS: usize = 4;
const WIDEST: usize = 40;
const PROSE: usize = 48;
const WIDEST_KEY: usize = 24;
/// The cells of `  │` before common fields.
const GUTTER: usize = 3;
const LEAST: usize = 10;
/// A column of texts with so many blanks is prose: it comes last and takes the rest of the line.
const BLANKS: usize = 3;

#[derive(Clone, Debug, Default)]
pub(crate) struct Band {
    pub(crate) columns: Vec<Column>,
    /// Fields with one value in all rows, which the rows do not repeat.
    pub(crate) common: Vec<Cell>,
    /// The most frequent risk. A row shows another one itself.
    pub(crate) risk: Option<Risk>,
    pub(crate) agent: Option<Untrusted>,
    /// When its first and its last row were proposed.
    pub(super) proposed: Option<(Timestamp, Timestamp)>,
    /// Sums of the undecided rows, the shortest last.
    pub(crate) sums: Vec<String>,
    /// Undecided rows by risk, most harmful first, and those with a warning.
    pub(crate) risks: Vec<(Risk, usize)>,
    pub(crate) flagged: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(super) key: String,
    /// Cells before the decimal point of a number.
    pub(super) whole: usize,
    pub(super) width: usize,
    pub(super) unit: usize,
    is_prose: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Bands {
    all: HashMap<GroupId, Band>,
    /// Bands to make again, each with whether its rows changed, or only decisions.
    stale: HashMap<GroupId, (Band, bool)>,
    /// Columns keep their widths until the next reload of the list, and for one width of it.
    version: (u32, u16),
    changes: (u64, u64),
}

impl Bands {
    pub(crate) fn of(&self, group: GroupId) -> Option<&Band> {
        self.all.get(&group).or_else(|| self.stale.get(&group).map(|(band, _)| band))
    }

    pub(crate) fn missing(
        &mut self,
        groups: Vec<GroupId>,
        version: (u32, u16),
        changes: (u64, u64),
    ) -> Vec<GroupId> {
        if self.version != version {
            *self = Self { version, ..Self::default() };
        }
        if self.changes != changes {
            self.changes = changes;
            self.changed();
        }
        groups.into_iter().filter(|id| !self.all.contains_key(id)).collect()
    }

    /// `has_band` is false for a group that states no fields above its rows.
    pub(crate) fn make(&mut self, group: GroupId, rows: &[BandRow<'_>], is_whole: bool, has_band: bool) {
        let stale = self.stale.remove(&group);
        let mut band = match &stale {
            Some((old, false)) => old.clone(),
            _ => Band::of(rows, is_whole, if has_band { usize::from(self.version.1) } else { 0 }),
        };
        band.count(rows, is_whole);
        let keys = |band: &Band| band.columns.iter().map(|it| it.key.clone()).collect::<Vec<_>>();
        if let Some((old, _)) = stale.filter(|(old, _)| keys(old) == keys(&band)) {
            band.columns = old.columns;
        }
        self.all.insert(group, band);
    }

    /// The decisions changed, so that sums and counts are wrong.
    pub(crate) fn decided(&mut self) {
        self.stale.extend(self.all.drain().map(|(group, band)| (group, (band, false))));
    }

    fn changed(&mut self) {
        self.decided();
        self.stale.values_mut().for_each(|(_, rows_changed)| *rows_changed = true);
    }
}

/// A row of a band: undecided ones count in its sums.
pub(crate) struct BandRow<'a> {
    pub(crate) slot: &'a Slot,
    pub(crate) brief: Option<Cow<'a, RawJson>>,
    pub(crate) is_undecided: bool,
    pub(crate) is_flagged: bool,
}

impl Band {
    /// Reads the rows of a group. `is_whole` is false if there are more; `width` is that of the list.
    fn of(rows: &[BandRow<'_>], is_whole: bool, width: usize) -> Self {
        let mut band = Self::default();
        let rows = || rows.iter().map(|it| &it.slot.entry.row);
        let mut risks = Vec::new();
        rows().for_each(|row| count(&mut risks, &row.risk));
        band.risk = risks.into_iter().max_by_key(|(risk, n)| (*n, risk.rank())).map(|(risk, _)| risk);
        let Some(first) = rows().next() else { return band };
        band.agent = first.agent.clone().filter(|_| is_whole && rows().all(|row| row.agent == first.agent));
        let times = || rows().map(|row| row.created_at);
        band.proposed = times().min().zip(times().max()).filter(|_| is_whole);
        if rows().all(|row| row.tool == first.tool) {
            let cells: Vec<_> = rows().filter_map(|row| row.brief.as_ref()).map(cells).collect();
            let is_every = is_whole && cells.len() == rows().count();
            let named = text::identifier(&first.tool).width();
            let room = if is_every { width.saturating_sub(AROUND + named) } else { 0 };
            (band.columns, band.common) = columns(&cells, room);
        }
        band
    }

    /// Counts the undecided rows and adds up their amounts. A group that is not read to its end has no sums.
    fn count(&mut self, rows: &[BandRow<'_>], is_whole: bool) {
        let mut totals = Totals::default();
        (self.risks, self.flagged) = (Vec::new(), 0);
        for BandRow { slot, is_flagged, brief, .. } in rows.iter().filter(|it| it.is_undecided) {
            let row = &slot.entry.row;
            count(&mut self.risks, &row.risk);
            self.flagged += usize::from(*is_flagged);
            if let Some(brief) = brief {
                totals.add(&row.tool, brief, None);
            }
        }
        totals.add_unread(rows.iter().filter(|it| it.is_undecided && it.brief.is_none()).count());
        self.risks.sort_by_key(|(risk, _)| std::cmp::Reverse(risk.rank()));
        self.sums = if is_whole { totals.sums() } else { Vec::new() };
    }

    pub(crate) fn common_width(&self) -> usize {
        let fields: usize = self.common.iter().map(stated).sum();
        if fields > 0 { fields + GUTTER } else { 0 }
    }
}

fn count(risks: &mut Vec<(Risk, usize)>, risk: &Risk) {
    match risks.iter_mut().find(|(it, _)| it == risk) {
        Some((_, n)) => *n += 1,
        None => risks.push((risk.clone(), 1)),
    }
}

/// Returns the cells of `  reason Charged twice`.
fn stated(cell: &Cell) -> usize {
    let unit = cell.unit.as_ref().map_or(0, |unit| width_of(unit) + 1);
    key_of(cell).width() + width_of(&cell.text) + unit + 3
}

pub(super) fn key_of(cell: &Cell) -> Shown {
    text::identifier(&Untrusted::from(cell.key.as_str())).cut(WIDEST_KEY)
}

fn width_of(text: &str) -> usize {
    text::line(&Untrusted::from(text)).in_column().width()
}

/// Returns the columns for these rows, and the fields that all of them share, as far as `room` has place for them.
fn columns(rows: &[Vec<Cell>], mut room: usize) -> (Vec<Column>, Vec<Cell>) {
    let mut keys: Vec<&str> = Vec::new();
    for cell in rows.iter().flatten() {
        if keys.len() < KEYS && !keys.contains(&cell.key.as_str()) {
            keys.push(&cell.key);
        }
    }
    let is_common = |key: &&str| {
        let all = cells_of(rows, key);
        let is_same = all.len() == rows.len() && all.iter().all(|cell| Some(cell) == all.first());
        let is_same = is_same && all.first().is_some_and(|cell| !cell.may_be_cut() && !cell.text.is_empty());
        let takes = all.first().map_or(0, |cell| stated(cell));
        let fits = is_same && takes <= room;
        room -= if fits { takes } else { 0 };
        fits
    };
    let (mut common, mut differ): (Vec<&str>, Vec<&str>) = keys.iter().copied().partition(is_common);
    if differ.is_empty() {
        (common, differ) = (Vec::new(), keys);
    }
    let columns = differ.iter().map(|key| Column::of(key, &cells_of(rows, key)));
    let common = common.iter().filter_map(|key| cells_of(rows, key).first().copied().cloned()).collect();
    (columns.collect(), common)
}

fn cells_of<'a>(rows: &'a [Vec<Cell>], key: &str) -> Vec<&'a Cell> {
    rows.iter().filter_map(|row| row.iter().find(|cell| cell.key == key)).collect()
}

impl Column {
    fn of(key: &str, cells: &[&Cell]) -> Self {
        // Nine rows in ten fit; a longer value cuts its own row only.
        let fitting = |mut widths: Vec<usize>| {
            widths.sort_unstable();
            let most = (widths.len() * 9).div_ceil(10).saturating_sub(1);
            widths.get(most).copied().unwrap_or_default()
        };
        let numbers = || cells.iter().filter(|cell| cell.is_number);
        let whole = fitting(numbers().map(|cell| point(&cell.text)).collect());
        let behind = fitting(numbers().map(|cell| cell.text.len() - point(&cell.text)).collect());
        let unit = fitting(cells.iter().filter_map(|cell| cell.unit.as_deref()).map(width_of).collect());
        let text = fitting(cells.iter().filter(|cell| !cell.is_number).map(|it| text_of(it)).collect());
        let prose = cells.iter().filter(|cell| cell.text.matches(' ').count() >= BLANKS).count();
        let unit = if unit > 0 { unit + 1 } else { 0 };
        let is_prose = prose * 3 > cells.len();
        let width = (whole + behind + unit).max(text).min(if is_prose { PROSE } else { WIDEST });
        Self { key: key.to_owned(), whole, width, unit, is_prose }
    }
}

fn text_of(cell: &Cell) -> usize {
    width_of(&cell.text) + cell.unit.as_ref().map_or(0, |unit| width_of(unit) + 1)
}

/// Returns the place of the decimal point, or the end.
pub(super) fn point(number: &str) -> usize {
    number.find('.').unwrap_or(number.len())
}

/// Returns the columns that fit into `room`, prose last. The first ones are chosen first; the last chosen may be cut.
pub(super) fn fitting(columns: &[Column], room: usize) -> Vec<&Column> {
    let mut used = 0;
    let mut chosen: Vec<&Column> = Vec::new();
    for column in columns.iter().take(COLUMNS) {
        let left = room.saturating_sub(used);
        if !chosen.is_empty() && column.width > left && left < LEAST {
            break;
        }
        used += column.width + 2;
        chosen.push(column);
    }
    chosen.sort_by_key(|column| column.is_prose);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RawJson;

    fn of(rows: &[&str]) -> (Vec<Column>, Vec<Cell>) {
        columns(&rows.iter().map(|row| cells(&RawJson::parse(*row).unwrap())).collect::<Vec<_>>(), 40)
    }

    #[test]
    fn values_that_differ_are_columns_and_the_others_are_common() {
        let (columns, common) = of(&[
            r#"{"amount":5.10,"currency":"EUR","why":"charged twice in one month","to":"ann","tag":"x"}"#,
            r#"{"amount":1188,"currency":"EUR","why":"the second parcel never came","to":"bo","tag":"x"}"#,
        ]);
        let keys: Vec<_> = columns.iter().map(|column| column.key.as_str()).collect();
        assert_eq!(keys, ["amount", "why", "to"]);
        let amount = &columns[0];
        assert_eq!((amount.whole, amount.width), (4, "1188.00 EUR".len()));
        assert_eq!(common.iter().map(|cell| cell.key.as_str()).collect::<Vec<_>>(), ["tag"]);
    }

    #[test]
    fn common_field_without_room_in_the_band_is_a_column() {
        let why = "w".repeat(60);
        let row = |n: u8| format!(r#"{{"n":{n},"why":"{why}","tag":"x"}}"#);
        let (columns, common) = of(&[&row(1), &row(2)]);
        let keys: Vec<_> = columns.iter().map(|column| column.key.as_str()).collect();
        assert_eq!((keys.as_slice(), common.len()), (["n", "why"].as_slice(), 1));
    }

    #[test]
    fn equal_rows_keep_their_columns() {
        let (columns, common) = of(&[r#"{"a":1,"b":2}"#, r#"{"a":1,"b":2}"#]);
        assert_eq!((columns.len(), common.len()), (2, 0));
    }

    #[test]
    fn one_long_value_widens_no_column() {
        let short: Vec<String> = (0..19).map(|nth| format!(r#"{{"to":"user{nth:02}","n":{nth}}}"#)).collect();
        let long = format!(r#"{{"to":"{}","n":7}}"#, "x".repeat(39));
        let all: Vec<&str> = short.iter().map(String::as_str).chain([long.as_str()]).collect();
        assert_eq!(of(&all).0[0].width, 6);
    }

    #[test]
    fn columns_that_do_not_fit_are_left_out() {
        let (columns, _) = of(&[r#"{"a":"aaaaaaaaaa","b":"bbbbbbbbbb"}"#, r#"{"a":"x","b":"y"}"#]);
        let fit = |room| fitting(&columns, room).len();
        assert_eq!([fit(3), fit(21), fit(22)], [1, 1, 2]);
        let (columns, _) = of(&[&format!(r#"{{"a":"x","b":"{}"}}"#, "y".repeat(30)), r#"{"a":"z","b":"y"}"#]);
        assert_eq!(fitting(&columns, 13).len(), 2, "the last one is cut");

        let row = |title: &str, to: &str| format!(r#"{{"title":"{title}","to":"{to}"}}"#);
        let (columns, _) =
            of(&[&row("Make domain verification optional", "bram"), &row("Count how many hit it", "oda")]);
        let fit = |room| fitting(&columns, room).iter().map(|it| it.key.as_str()).collect::<Vec<_>>();
        assert_eq!(fit(36), ["title"], "a leading text is not cut for another column");
        assert_eq!(fit(45), ["to", "title"], "prose comes last");
    }
}
