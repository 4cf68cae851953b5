//! Writes CSV records without formulas. The cells are already safe to show. Lines end with LF, because shell tools keep the CR of RFC 4180.

pub fn record(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
    format!("{}\n", cells.join(","))
}

/// Returns a cell of foreign text. Write numbers directly: `-1` would be escaped as a formula.
pub fn cell(text: &str) -> String {
    quoted(&harmless(text))
}

/// Puts an apostrophe before what a spreadsheet would run as a formula, also with a fullwidth sign or after spaces.
fn harmless(cell: &str) -> String {
    const BEGINS: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'];
    let starts = cell.starts_with(BEGINS) || cell.trim_start().starts_with(BEGINS);
    if starts { format!("'{cell}") } else { cell.to_owned() }
}

fn quoted(cell: &str) -> String {
    if cell.contains(['"', ',', '\r', '\n']) || cell.starts_with(' ') || cell.ends_with(' ') {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cells: &[&str]) -> String {
        record(&cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn cells_with_special_characters_are_quoted() {
        assert_eq!(of(&["a", "b,c", "say \"no\"", "x\ny", ""]), "a,\"b,c\",\"say \"\"no\"\"\",\"x\ny\",\n");
    }

    #[test]
    fn no_cell_is_a_formula() {
        for begins in ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\r=1", "＝1", "  =1"] {
            let record = of(&[begins, "b"]);
            let cell = record.trim_start_matches('"');
            assert!(cell.starts_with('\''), "{record:?}");
        }
        assert_eq!(of(&["a=b", "1-2"]), "a=b,1-2\n");
    }
}
