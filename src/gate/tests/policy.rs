//! The operator's configuration, and refusals that follow from it.

use std::collections::BTreeMap;
use std::path::Path;

use axum::response::IntoResponse as _;

use super::support::{config, plain, script, start, with_tool};
use crate::config::paths::Paths;
use crate::config::{Config, Executor, GateConfig, ToolConfig};
use crate::domain::{RawJson, Risk};
use crate::gate::judging::{LARGE_PROPOSALS, MAX_JUDGES, MAX_WAITING, PROPOSALS, SMALL};
use crate::gate::{Gate, GateError, check};

/// Returns the error of a start with this configuration, which a check must report, too.
async fn refused(folder: &Path, text: &str) -> String {
    let state = folder.to_owned();
    let paths = Paths { config: folder.join("c.toml"), config_named: true, log: state.join("log"), state };
    let config = Config::parse(text, &paths).unwrap().gate;
    let Err(GateError::Config(error)) = Gate::open(&config).await else { panic!("it started:\n{text}") };
    assert_eq!(check(&config).unwrap_err().to_string(), error.to_string());
    assert!(!config.database.exists(), "the database was touched");
    error.to_string()
}

#[tokio::test]
async fn denied_tool_is_refused_and_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let denied = ["drop_database".to_owned()].into();
    let gate = start(GateConfig { denied, ..config(folder.path()) }).await;
    let body = r#"{"toolName":"drop_database","workspaceId":"w","toolInput":{}}"#;

    let refused = gate.post_as(&gate.agent, "/api/pending-actions", body).await;

    assert_eq!(refused.code(), (403, "FORBIDDEN".to_owned()));
    assert_eq!(refused.at("/error/message"), "this tool is denied by policy");
    assert_eq!(gate.list("").await.at("/items"), "[]");
    gate.propose("drop_databases", "{}").await;
}

#[tokio::test]
async fn approved_action_of_a_denied_tool_fails() {
    let (folder, gate) = plain().await;
    let id = gate.propose("drop_database", "{}").await;
    gate.approve(&id, "").await;
    gate.stop().await;
    let denied = ["drop_database".to_owned()].into();
    let gate = start(GateConfig { denied, ..config(folder.path()) }).await;

    let ended = gate.until_final(&id).await;
    let claim = gate.post_as(&gate.agent, &format!("/api/pending-actions/{id}/claim"), "").await;

    assert_eq!(ended.at("/status"), "failed");
    assert!(ended.at("/error").contains("policy denies this tool"), "{}", ended.text);
    assert_eq!(claim.code(), (409, "INVALID_STATE".to_owned()));
}

#[tokio::test]
async fn g25_refused_callback_url_prevents_the_start() {
    let folder = tempfile::tempdir().unwrap();
    for (url, says) in [
        ("https://169.254.169.254/", "its host is not public; list it in gate.allow_targets"),
        ("http://agents.example.com/", "it is not https; list it in gate.allow_targets"),
    ] {
        let text = format!("\n[gate.callbacks.c]\nurl = \"{url}\"\nsecret_env = \"S\"");
        let said = refused(folder.path(), &text).await;
        assert!(
            said.contains("line 2, gate.callbacks.c: the url is refused") && said.contains(says),
            "{said}"
        );
    }
}

#[tokio::test]
async fn missing_program_prevents_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::write(&data, "").unwrap();
    for (argv, says) in [
        ("/no/such/program".to_owned(), "\"/no/such/program\" does not exist"),
        (data.display().to_string(), "is no program that can be run"),
        (folder.path().display().to_string(), "is no program that can be run"),
        ("no-such-program".to_owned(), "no program \"no-such-program\" that can be run is in PATH"),
        (String::new(), "no program \"\""),
    ] {
        let text = format!("[gate]\n\n[gate.tools.x]\nexecutor = \"command\"\nargv = [\"{argv}\"]\n");

        let message = refused(folder.path(), &text).await;

        assert!(message.contains("c.toml") && message.contains("line 3, gate.tools.x: "), "{message}");
        assert!(message.contains(says), "{message}");
    }
}

#[tokio::test]
async fn program_is_searched_in_the_tools_path() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("own-program");
    std::fs::copy("/bin/sh", &program).unwrap();
    let tool = |env: BTreeMap<String, String>| {
        let executor = Executor::Command { argv: vec!["own-program".to_owned()], env };
        GateConfig {
            tools: [("t".to_owned(), ToolConfig { executor, ..script("") })].into(),
            ..config(folder.path())
        }
    };

    assert!(check(&tool(BTreeMap::new())).is_err());
    let path = ("PATH".to_owned(), format!("/nowhere:{}", folder.path().display()));
    check(&tool([path].into())).unwrap();
}

const SCHEMA: &str =
    r#"{ "type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"] }"#;

#[tokio::test]
async fn input_against_the_schema_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    std::fs::write(&path, SCHEMA).unwrap();
    let (_folder, gate) = with_tool(ToolConfig { schema: Some(path), ..ToolConfig::default() }).await;
    let propose = async |input: &str| {
        let body = format!(r#"{{"toolName":"t","workspaceId":"w","toolInput":{input}}}"#);
        gate.post_as(&gate.agent, "/api/pending-actions", &body).await
    };

    let wrong = propose(r#"{"title":1}"#).await;
    let twice = propose(r#"{"title":"x","title":"y"}"#).await;
    let right = propose(r#"{"title":"x"}"#).await;

    for refused in [&wrong, &twice] {
        assert_eq!(refused.code(), (422, "INVALID".to_owned()), "{}", refused.text);
    }
    assert!(wrong.at("/error/message").contains("/title: "), "{}", wrong.text);
    assert_eq!(right.status, 202, "{}", right.text);
    gate.propose("another", r#"{"title":1}"#).await;
    assert!(gate.get("/api/tools").await.text.contains(&format!(r#""schema":{SCHEMA}"#)));
    assert_eq!(gate.gate.inner.tools.schema_text("t"), Some(SCHEMA));
}

/// A recursive filter with two overlapping branches per level.
const FILTER: &str = r##"{"properties":{"filter":{"$ref":"#/$defs/n"}},"$defs":{"n":{"anyOf":[
    {"properties":{"all":{"items":{"$ref":"#/$defs/n"}}},"required":["all"],"type":"object"},
    {"properties":{"all":{"items":{"$ref":"#/$defs/n"}},"not":{}},"required":["all"],"type":"object"},
    {"type":"string"}]}}}"##;

#[tokio::test]
async fn input_that_a_schema_cannot_judge_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    std::fs::write(&path, FILTER).unwrap();
    let tool = ToolConfig { schema: Some(path), ..ToolConfig::default() };
    let tools = [("t".to_owned(), tool.clone())].into();
    let warnings = crate::gate::warnings(&GateConfig { tools, ..config(folder.path()) });
    let (_folder, gate) = with_tool(tool).await;
    let filter =
        |inner: &str| format!(r#"{{"filter":{}{inner}{}}}"#, r#"{"all":["#.repeat(40), "]}".repeat(40));
    let says = "the schema cannot judge this input; simplify its anyOf or oneOf";

    let body = format!(r#"{{"toolName":"t","workspaceId":"w","toolInput":{}}}"#, filter("5"));
    let proposed = gate.post_as(&gate.agent, "/api/pending-actions", &body).await;
    let id = gate.propose("t", &filter(r#""x""#)).await;
    let edits = format!(r#"{{"userEdits":{}}}"#, filter("5"));
    let decided = gate.post(&format!("/api/pending-actions/{id}/approve"), &edits).await;
    let left = gate.post(&format!("/api/pending-actions/{id}/approve"), "{}").await;

    for refused in [&proposed, &decided] {
        assert_eq!(refused.code(), (422, "INVALID".to_owned()), "{}", refused.text);
        assert_eq!(refused.at("/error/message"), says);
    }
    assert_eq!(left.status, 200, "{}", left.text);
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(
        warning.starts_with("gate.tools.t: branches of the schema's /$defs/n/anyOf overlap"),
        "{warning}"
    );
}

#[tokio::test]
async fn gate_answers_others_while_inputs_wait_to_be_judged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    std::fs::write(&path, SCHEMA).unwrap();
    let (_folder, gate) = with_tool(ToolConfig { schema: Some(path), ..ToolConfig::default() }).await;
    let all = PROPOSALS.acquire_many(MAX_JUDGES as u32).await.unwrap();

    let mut proposing = Box::pin(gate.propose("t", r#"{"title":"x"}"#));
    let healthy = tokio::select! {
        biased;
        _ = &mut proposing => panic!("judged without a permit"),
        answer = gate.get("/healthz") => answer,
    };
    let decided = gate.gate.judge("t", &RawJson::parse(r#"{"title":"x"}"#).unwrap(), true).await;
    assert!(matches!(decided, Ok(Ok(()))), "a decision does not wait for proposals");
    drop(all);

    assert_eq!(healthy.status, 200);
    assert!(!proposing.await.is_empty());
}

#[tokio::test]
async fn inputs_of_one_tool_do_not_delay_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    std::fs::write(&path, SCHEMA).unwrap();
    let tool = ToolConfig { schema: Some(path), ..ToolConfig::default() };
    let served = with_tools(folder.path(), &[("slow*", tool.clone()), ("t", tool)], &[]).await;
    let gate = &served.gate;
    let [proposals, _] = gate.inner.tools.queues("slow_one").unwrap();
    let input = RawJson::parse(r#"{"title":"x"}"#).unwrap();
    let turn = proposals.lock().await;

    let mut waiting = Box::pin(gate.judge("slow_other", &input, false));
    let decided = gate.judge("slow_other", &input, true).await;
    let other = tokio::select! {
        biased;
        _ = &mut waiting => panic!("judged out of turn"),
        judged = gate.judge("t", &input, false) => judged,
    };
    drop(turn);

    assert_eq!([decided, other, waiting.await], [Ok(Ok(())), Ok(Ok(())), Ok(Ok(()))]);
}

#[tokio::test]
async fn large_inputs_do_not_delay_small_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    std::fs::write(&path, SCHEMA).unwrap();
    let tool = ToolConfig { schema: Some(path), ..ToolConfig::default() };
    let served = with_tools(folder.path(), &[("t", tool)], &[]).await;
    let gate = &served.gate;
    let small = RawJson::parse(r#"{"title":"x"}"#).unwrap();
    let large = RawJson::parse(format!(r#"{{"title":"{}"}}"#, "x".repeat(SMALL))).unwrap();
    let turn = LARGE_PROPOSALS.acquire().await.unwrap();

    let mut waiting = Box::pin(gate.judge("t", &large, false));
    let other = tokio::select! {
        biased;
        _ = &mut waiting => panic!("judged next to another large input"),
        judged = gate.judge("t", &small, false) => judged,
    };
    drop(turn);

    assert_eq!([other, waiting.await], [Ok(Ok(())), Ok(Ok(()))]);
}

#[tokio::test]
async fn inputs_beyond_the_queue_are_answered_503() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    std::fs::write(&path, SCHEMA).unwrap();
    let (_folder, gate) = with_tool(ToolConfig { schema: Some(path), ..ToolConfig::default() }).await;
    let input = RawJson::parse(r#"{"title":"x"}"#).unwrap();
    let [proposals, _] = gate.gate.inner.tools.queues("t").unwrap();

    let waiting = vec![proposals.clone(); MAX_WAITING];
    let refused = gate.gate.judge("t", &input, false).await.unwrap_err().into_response();
    drop(waiting);

    assert_eq!(refused.status(), 503);
    assert_eq!(refused.headers()["retry-after"], "5");
    assert_eq!(gate.gate.judge("t", &input, false).await, Ok(Ok(())));
}

#[tokio::test]
async fn too_large_pattern_prevents_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\n[gate.tools.x]\nschema = \"x.json\"\n";
    std::fs::write(folder.path().join("x.json"), r#"{"pattern":"^(a{1,500}){1,500}$"}"#).unwrap();

    let message = refused(folder.path(), text).await;

    assert!(message.contains("line 2, gate.tools.x: the schema "), "{message}");
    assert!(message.contains("x.json has a pattern that is too large: ^(a{1,500}){1,500}$"), "{message}");
}

#[tokio::test]
async fn missing_schema_prevents_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\n[gate.tools.x]\nschema = \"schemas/x.json\"\n";

    let missing = refused(folder.path(), text).await;
    std::fs::create_dir(folder.path().join("schemas")).unwrap();
    std::fs::write(folder.path().join("schemas/x.json"), "[]").unwrap();
    let none = refused(folder.path(), text).await;

    assert!(missing.contains("line 2, gate.tools.x: the schema ") && missing.contains("cannot be read"));
    assert!(none.contains("schemas/x.json is none"), "{none}");
}

#[tokio::test]
async fn g25_forbidden_target_prevents_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let tool = |allow: &str, url: &str| {
        format!("[gate]\nallow_targets = [{allow}]\n[gate.tools.x]\nexecutor = \"http\"\nurl = \"{url}\"\n")
    };
    for url in ["http://tickets.example.com/", "https://127.0.0.1/", "https://u:p@tickets.example.com/"] {
        let message = refused(folder.path(), &tool("\"127.0.0.1:9000\"", url)).await;
        assert!(message.contains("line 3, gate.tools.x: the url is refused"), "{message}");
        assert!(!message.contains("u:p"), "{message}");
    }
    let message = refused(folder.path(), &tool("\"http://x\"", "https://tickets.example.com/")).await;
    assert!(message.contains("gate.allow_targets: \"http://x\" is no host"), "{message}");
}

async fn with_tools(
    folder: &Path,
    tools: &[(&str, ToolConfig)],
    denied: &[&str],
) -> super::support::TestGate {
    let tools = tools.iter().map(|(name, tool)| ((*name).to_owned(), tool.clone())).collect();
    let denied = denied.iter().map(|&name| name.to_owned()).collect();
    start(GateConfig { denied, tools, ..config(folder) }).await
}

#[tokio::test]
async fn best_fitting_pattern_configures_a_tool() {
    let folder = tempfile::tempdir().unwrap();
    let high = ToolConfig { risk: Some(Risk::High), ..script("printf '\"%s\"' \"$PLACET_TOOL\"") };
    let own = ToolConfig { title: Some("Own".to_owned()), ..ToolConfig::default() };
    let long = ToolConfig { risk: Some(Risk::Critical), ..ToolConfig::default() };
    let tools = [("fs.*", high), ("fs.read_it", own), ("fs.100%_*", long)];
    let gate = with_tools(folder.path(), &tools, &["*.delete*"]).await;
    let mut ids = Vec::new();
    for (tool, risk) in [
        ("fs.write", "high"),
        ("fs.[x]?", "high"),
        ("fs.read_it", "medium"),
        ("fs.100%_x", "critical"),
        ("fs.100xyx", "high"),
        ("FS.write", "medium"),
    ] {
        let id = gate.propose(tool, "{}").await;
        assert_eq!(gate.action(&id).await.at("/risk"), risk, "{tool}");
        gate.approve(&id, "").await;
        ids.push((id, tool));
    }

    for (id, tool) in &ids {
        let claim = gate.post_as(&gate.agent, &format!("/api/pending-actions/{id}/claim"), "").await;
        if ["fs.write", "fs.[x]?", "fs.100xyx"].contains(tool) {
            let ran = gate.until_final(id).await;
            assert_eq!((ran.at("/status").as_str(), ran.at("/result").as_str()), ("executed", *tool));
            assert_eq!(claim.code(), (403, "FORBIDDEN".to_owned()));
        } else {
            assert_eq!(claim.status, 200, "{tool}: {}", claim.text);
        }
    }
    let body = r#"{"toolName":"fs.delete_all","workspaceId":"w","toolInput":{}}"#;
    assert_eq!(gate.post_as(&gate.agent, "/api/pending-actions", body).await.code().0, 403);
    gate.stop().await;
}

#[tokio::test]
async fn approval_is_bound_to_the_pattern_used() {
    let folder = tempfile::tempdir().unwrap();
    let pulled = ToolConfig::default();
    let gate = with_tools(folder.path(), &[("fs.*", pulled.clone())], &[]).await;
    let [same, other, denied] = ["fs.write", "fs.copy", "fs.rm"].map(|tool| gate.propose(tool, "{}"));
    let ids = [same.await, other.await, denied.await];
    for id in &ids {
        gate.approve(id, "").await;
    }
    gate.stop().await;
    let tools = [("fs.*", pulled), ("fs.c*", script("cat"))];
    let gate = with_tools(folder.path(), &tools, &["fs.r*"]).await;

    let claim = gate.post_as(&gate.agent, &format!("/api/pending-actions/{}/claim", ids[0]), "").await;
    let (changed, denied) = (gate.until_final(&ids[1]).await, gate.until_final(&ids[2]).await);

    assert_eq!(claim.status, 200, "{}", claim.text);
    assert!(changed.at("/error").contains("changed after the approval"), "{}", changed.text);
    assert!(denied.at("/error").contains("policy denies this tool"), "{}", denied.text);
    gate.stop().await;
}

#[tokio::test]
async fn schema_of_a_pattern_applies_to_its_tools() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("s.json");
    std::fs::write(&schema, r#"{"type":"object","required":["path"]}"#).unwrap();
    let strict = ToolConfig { schema: Some(schema), ..ToolConfig::default() };
    let gate = with_tools(folder.path(), &[("fs.*", strict)], &[]).await;

    let body = r#"{"toolName":"fs.write","workspaceId":"w","toolInput":{}}"#;
    let refused = gate.post_as(&gate.agent, "/api/pending-actions", body).await;
    gate.propose("fs.write", r#"{"path":"/a"}"#).await;
    gate.propose("other", "{}").await;

    assert_eq!(refused.code(), (422, "INVALID".to_owned()));
    assert_eq!(gate.get("/api/tools").await.at("/items/0/toolName"), "fs.*");
}
