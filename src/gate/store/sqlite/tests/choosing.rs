//! Database and code match the same tools.

use super::*;
use crate::gate::store::columns::Columns as _;
use crate::gate::store::sql::{Sql, Statement, which};
use crate::gate::which::{Rule, Which};
use crate::rounds::{Random, rounds};

const PARTS: [&str; 14] = ["a", "A", "ab", "fs", ".", "*", "%", "_", "[", "]", "?", "^", "'", "ä"];

fn text(random: &mut Random) -> String {
    (0..=random.below(4)).map(|_| PARTS[random.below(PARTS.len())]).collect()
}

#[tokio::test]
async fn rules_match_the_same_tools_in_database_and_code() {
    let (shelf, mut random) = (shelf().await, Random::seeded());
    let mut names: Vec<String> = (0..200).map(|_| text(&mut random)).collect();
    names.extend(["fs.100%", "fs_write", "fs[a]", "fsa", "", "*"].map(str::to_owned));
    for (n, tool) in names.iter().enumerate() {
        let new = action_with(&format!("a{n}"), |it| it.row.tool = tool.as_str().into());
        shelf.store.record(new, 1_000, None).await.unwrap();
    }
    let mut fits = [0, 0];
    for _ in 0..rounds(60, 2_000) {
        let rules = (0..random.below(5)).map(|_| {
            let rule = match random.below(3) {
                0 => Rule::OneOf((0..=random.below(3)).map(|_| text(&mut random)).collect()),
                _ => Rule::Like(text(&mut random)),
            };
            (rule, random.below(2) == 0)
        });
        let which = Which { rules: rules.collect(), others: random.below(2) == 0 };
        let mut query = Statement::new("SELECT a.tool FROM actions a WHERE ");
        which::push::<SqliteConnection>(&mut query, &which);
        query.push(" ORDER BY a.seq");

        let mut conn = shelf.store.reader().acquire().await.unwrap();
        let rows = Sql::fetch_all(&mut *conn, query).await.unwrap();
        let found: Vec<_> = rows.iter().map(|row| row.text("tool").unwrap()).collect();

        let want: Vec<_> = names.iter().filter(|name| which.has(name)).cloned().collect();
        assert_eq!(found, want, "{which:?}");
        fits[0] += want.len();
        fits[1] += names.len() - want.len();
    }
    assert!(fits.iter().all(|&count| count > 500), "both happen: {fits:?}");
}
