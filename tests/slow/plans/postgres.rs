//! Query plans on PostgreSQL, which logs the plan of each statement. The statistics look like after a long history, because
//! they decide the choice of index. Sequential scans are made expensive, so that the planner uses one only without an index.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::drills::asked;
use super::super::support::gate::Gate;
use super::super::support::home::Home;
use super::super::support::postgres::Server;
use super::{CONFIG, every_route};

/// Autovacuum would undo the faked history, and fsync is not needed.
const SERVER: [(&str, &str); 2] = [("autovacuum", "off"), ("fsync", "off")];

/// Settings of later sessions; the first one creates the tables and may scan them.
const SETTINGS: [(&str, &str); 6] = [
    ("session_preload_libraries", "auto_explain"),
    ("auto_explain.log_min_duration", "0"),
    ("auto_explain.log_nested_statements", "on"),
    ("auto_explain.log_format", "json"),
    ("enable_seqscan", "off"),
    // Expensive plans would be JIT-compiled.
    ("jit", "off"),
];

/// Tables that may be scanned: workspaces, tokens, gates, pauses, migrations.
const SMALL: [&str; 5] = ["heads", "tokens", "gates", "pauses", "_sqlx_migrations"];

/// Fills each growing table with recent rows of 500 workspaces, most of them settled, without constraints.
const FILL: &str = "DO $$ DECLARE name text; columns text; cells text; BEGIN \
     SET LOCAL session_replication_role = replica; \
     FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'placet' AND NOT tablename = ANY ('{SMALL}') LOOP \
     SELECT string_agg(quote_ident(column_name), ', '), string_agg(CASE WHEN column_name = 'workspace' \
     THEN 'CASE g % 500 WHEN 0 THEN ''default'' ELSE ''w'' || g % 500 END' \
     WHEN column_name = 'status' THEN 'CASE g % 7 WHEN 0 THEN ''pending'' ELSE ''executed'' END' \
     WHEN column_name IN ('expires_at', 'lease_until', 'next_at', 'resolved_via') THEN 'NULL' \
     WHEN column_name LIKE '%at' THEN '(extract(epoch FROM now()) * 1000)::bigint - g' \
     WHEN data_type = 'text' THEN '''x'' || g' WHEN data_type = 'bytea' THEN 'int8send(g)' ELSE 'g' END, ', ') \
     INTO columns, cells FROM information_schema.columns WHERE table_schema = 'placet' AND table_name = name; \
     EXECUTE format('INSERT INTO placet.%I (%s) SELECT %s FROM generate_series(1::bigint, 20000) AS g ON CONFLICT DO NOTHING', \
     name, columns, cells); END LOOP; END $$";

/// Deletes the rows again. The planner keeps the statistics and the file sizes.
const EMPTY: &str = "DO $$ DECLARE name text; BEGIN SET LOCAL session_replication_role = replica; \
     FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'placet' AND NOT tablename = ANY ('{SMALL}') LOOP \
     EXECUTE format('DELETE FROM placet.%I', name); END LOOP; END $$";

const THROUGH: &str = "SELECT COUNT(*) FROM placet.actions WHERE title = 'x'";

fn plans(log: &str) -> BTreeSet<(String, String)> {
    let plan = |(at, _): (usize, &str)| {
        let begun = log[at..].find('{')? + at;
        let told: Value = serde_json::Deserializer::from_str(&log[begun..]).into_iter().next()?.ok()?;
        Some((told["Query Text"].as_str()?.to_owned(), told["Plan"].to_string()))
    };
    let told: Vec<_> = log.match_indices(" ms  plan:").collect();
    let read: Vec<_> = told.iter().filter_map(|place| plan(*place)).collect();
    assert_eq!(read.len(), told.len(), "a plan that cannot be read: {log}");
    read.into_iter().collect()
}

/// Adds the plan's steps that scan a table, or an index in full, unless it is small.
fn scans(step: &Value, found: &mut Vec<String>) {
    let text = |name: &str| step[name].as_str().unwrap_or_default();
    // A bitmap step names only its index; small tables are not read with bitmaps.
    let read = if text("Relation Name").is_empty() { text("Index Name") } else { text("Relation Name") };
    let is_through = match text("Node Type") {
        "Seq Scan" => true,
        "Index Scan" | "Index Only Scan" | "Bitmap Index Scan" => step["Index Cond"].is_null(),
        _ => false,
    };
    if is_through && !SMALL.contains(&read) && !read.starts_with("pg_") {
        found.push(format!("{} {read}", text("Node Type")));
    }
    for step in step["Plans"].as_array().into_iter().flatten() {
        scans(step, found);
    }
}

#[test]
fn no_route_scans_a_growing_table_on_postgresql() {
    let Some(programs) = asked("plans of PostgreSQL") else { return };
    let server = Server::on_a_socket(programs, &SERVER);
    let (home, database) = (Home::with_config(CONFIG), server.url());
    let args = ["--database", &database];
    Gate::serve(&home, &args).kill_9();
    let all_but_small = |sql: &str| sql.replace("SMALL", &SMALL.join(","));
    for sql in [all_but_small(FILL).as_str(), "ANALYZE", &all_but_small(EMPTY)] {
        server.sql(sql);
    }
    for (name, value) in SETTINGS {
        server.sql(&format!("ALTER DATABASE postgres SET {name} = {value}"));
    }
    let before = server.log().len();
    let mut gate = Gate::serve(&home, &args);

    every_route(&gate.address);
    gate.signal("TERM");
    gate.wait_end();
    // Proves that a scan would be found.
    server.sql(THROUGH);

    let plans = plans(&server.log()[before..]);
    assert!(plans.len() > 40, "{plans:#?}");
    let mut found = BTreeMap::new();
    for (statement, plan) in &plans {
        let mut through = Vec::new();
        scans(&serde_json::from_str(plan).unwrap(), &mut through);
        if !through.is_empty() {
            found.insert((statement.as_str(), through), plan);
        }
    }
    let seen = found.remove(&(THROUGH, vec!["Seq Scan actions".to_owned()]));
    assert!(seen.is_some(), "the deliberate scan was not found: {found:#?}");
    assert!(found.is_empty(), "{found:#?}");
}
