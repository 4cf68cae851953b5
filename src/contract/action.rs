//! An action on the wire: Praxiom's resource with additional fields of the gate.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use super::approvals::{self, ApprovalBody, ApprovalsBody};
use super::fields::{self, Fields};
use super::time;
use super::tool;
use super::tool_result::ToolResult;
use crate::domain::{
    ActionId, BatchId, Capabilities, Digest, Edits, Effect, PendingAction, RawJson, Revision, Risk, Row,
    StandIn, Status, Timestamp, Untrusted, Via, json,
};

/// An item that cannot be read as an action. It does not prevent reading others.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an action could not be read: {what}")]
pub struct Unreadable {
    pub what: &'static str,
    /// The original text, for the Raw view.
    pub raw: Untrusted,
    /// The id, if exactly one can be read.
    pub id: Option<ActionId>,
    /// Capabilities of its placeholder row.
    pub can: Capabilities,
}

/// Prefix of a stand-in's id if the original lacks one.
const NO_ID: &str = "(no id) ";

impl Unreadable {
    /// For a list that claims more items, but gives no cursor.
    pub const CUT_OFF: &'static str = "the list says that there is more than it gave, and not where";

    /// For an item of a list of pending actions. Its stand-in counts as pending.
    pub const UNKNOWN_STATUS: &'static str = "placet does not know its status";

    /// `raw` is the text in place of an action.
    pub fn new(what: &'static str, raw: &str) -> Self {
        let fields = Fields::until_broken(raw);
        let id = fields.filter(|fields| fields.names().filter(|name| *name == "id").count() == 1);
        let id = id.and_then(|fields| fields.text("id")).filter(|id| !id.is_empty());
        Self::under(id.map(|id| ActionId::new(id.as_raw())), what, raw.into())
    }

    pub fn under(id: Option<ActionId>, what: &'static str, raw: Untrusted) -> Self {
        Self { what, raw, id, can: Capabilities::READ_ONLY }
    }

    /// Whether the id belongs to a stand-in whose original lacks one.
    pub fn stands_in_as(id: &ActionId) -> bool {
        id.as_raw().starts_with(NO_ID)
    }

    /// Returns a row to show in its place. It can be rejected if its id is known.
    pub fn stand_in(&self) -> PendingAction {
        let raw = self.raw.as_raw();
        let fields = Fields::until_broken(raw).unwrap_or_default();
        let literal = RawJson::parse(json::encode(raw)).unwrap_or_else(|_| RawJson::null());
        let id = self.id.clone().unwrap_or_else(|| {
            let digest = Digest::of_fields("unreadable", [Some(raw)]).to_string();
            ActionId::new(format!("{NO_ID}{}", digest.get(7..19).unwrap_or_default()))
        });
        let tool = fields.text("toolName").unwrap_or_else(|| "(cannot be read)".into());
        let (word, is_unknown) = (fields.text("status"), self.what == Self::UNKNOWN_STATUS);
        let known = word.as_ref().filter(|_| !is_unknown);
        let status = known.map_or(Status::Pending, |word| Status::parse(word.as_raw()));
        let title = match word.filter(|_| is_unknown) {
            Some(word) => format!("cannot be read: {}, {:?}", self.what, word.as_raw()),
            None => format!("cannot be read: {}", self.what),
        };
        let row = Row {
            risk: Risk::High,
            status,
            unreadable: Some(Box::new(StandIn { what: self.what, has_id: self.id.is_some() })),
            can: self.can,
            ..base_row(&fields, Row::new(id, tool, Untrusted::from(title)))
        };
        let action = PendingAction::new(row, literal.clone(), literal);
        // The size of the original, not of its encoding as a string.
        PendingAction { row: Row { size: raw.len() as u64, ..action.row }, ..action }
    }
}

/// The outer `None` omits the member; the inner one writes null.
type Nullable<T> = Option<Option<T>>;

/// The short form of an action, `view=row`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RowBody<'a> {
    pub id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_id: Nullable<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mission_id: Nullable<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Nullable<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_id: Nullable<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Nullable<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Nullable<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Nullable<&'a str>,
    pub tool_name: &'a str,
    pub title: &'a str,
    /// Only if it was approved with edits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited_title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brief: Option<&'a RawValue>,
    pub risk: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Nullable<&'a str>,
    pub status: &'a str,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Nullable<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_at: Nullable<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_by: Nullable<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_via: Option<&'static str>,
    pub size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Nullable<String>,
    pub revision: u64,
    /// Only if more than one person must approve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvals: Option<ApprovalsBody<'a>>,
}

/// The whole action, as in `view=full`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionBody<'a> {
    #[serde(flatten)]
    pub row: RowBody<'a>,
    pub tool_call_id: Option<&'a str>,
    pub requested_by: Option<&'a str>,
    pub summary: Option<&'a str>,
    pub tool_input: &'a RawValue,
    pub preview: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub given_approvals: Vec<ApprovalBody<'a>>,
    pub user_edits: Option<&'a RawValue>,
    pub effective_input: Option<&'a RawValue>,
    pub reason: Option<&'a str>,
    pub result: Option<&'a RawValue>,
    pub error: Option<&'a str>,
    pub executed_at: Option<String>,
    pub terms: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_result: Option<ToolResult>,
}

/// Returns the status on the wire. Clients of the original contract do not know `running`, so it is sent as approved.
pub fn wire_status(status: &Status) -> &str {
    match status {
        Status::Running => Status::Approved.as_raw(),
        other => other.as_raw(),
    }
}

impl<'a> RowBody<'a> {
    /// If `nulls` is false, omits members without a value.
    pub fn of(row: &'a Row, nulls: bool) -> Self {
        fn nullable<T>(value: Option<T>, nulls: bool) -> Nullable<T> {
            if nulls || value.is_some() { Some(value) } else { None }
        }
        let text = |field: &'a Option<Untrusted>| nullable(field.as_ref().map(Untrusted::as_raw), nulls);
        let time = |at: Option<Timestamp>| nullable(at.map(time::write), nulls);
        Self {
            id: row.id.as_raw(),
            workspace_id: text(&row.workspace),
            mission_id: text(&row.mission),
            session_id: text(&row.session),
            batch_id: nullable(row.batch.as_ref().map(BatchId::as_raw), nulls),
            checkpoint_id: text(&row.checkpoint),
            run_id: text(&row.run),
            agent: text(&row.agent),
            tool_name: row.tool.as_raw(),
            title: row.title.as_raw(),
            edited_title: row.edited.as_ref().map(Untrusted::as_raw),
            brief: row.brief.as_ref().and_then(|brief| serde_json::from_str(brief.as_str()).ok()),
            risk: row.risk.as_raw(),
            effect: nullable(row.effect.as_ref().map(Effect::as_raw), nulls),
            status: wire_status(&row.status),
            created_at: time::write(row.created_at),
            expires_at: time(row.expires_at),
            resolved_at: time(row.resolved_at),
            resolved_by: text(&row.resolved_by),
            resolved_via: row.resolved_via.map(Via::word),
            size: row.size,
            digest: nullable(row.digest.map(|digest| digest.to_string()), nulls),
            revision: row.revision.0,
            approvals: row.approvals.as_deref().map(ApprovalsBody::from),
        }
    }
}

/// Writes a whole action as JSON with unchanged payload bytes. Fails only if a stored payload is not JSON, which the
/// gate never stores.
pub fn write(action: &PendingAction) -> Result<String, serde_json::Error> {
    let mut text = Vec::new();
    write_into(&mut text, action)?;
    String::from_utf8(text).map_err(serde::ser::Error::custom)
}

/// Like [`write()`], but appends to `text`.
pub fn write_into(text: &mut Vec<u8>, action: &PendingAction) -> Result<(), serde_json::Error> {
    fn raw(json: &RawJson) -> Result<&RawValue, serde_json::Error> {
        serde_json::from_str(json.as_str())
    }
    fn said(field: Option<&Untrusted>) -> Option<&str> {
        field.map(Untrusted::as_raw)
    }
    // Reserves space, to avoid copies while growing.
    let payloads = [&action.preview, &action.before, &action.effective_input, &action.result];
    let payloads = payloads.into_iter().flatten().chain([&action.input]);
    text.reserve(payloads.map(|json| json.as_str().len()).sum::<usize>() + AROUND);
    let body = ActionBody {
        row: RowBody::of(&action.row, true),
        tool_call_id: said(action.tool_call.as_ref()),
        requested_by: said(action.requested_by.as_ref()),
        summary: said(action.summary.as_ref()),
        tool_input: raw(&action.input)?,
        preview: action.preview.as_ref().map(raw).transpose()?,
        before: action.before.as_ref().map(raw).transpose()?,
        given_approvals: action.approvals.iter().map(ApprovalBody::of).collect::<Result<_, _>>()?,
        user_edits: action.user_edits.as_ref().map(Edits::as_json).map(raw).transpose()?,
        effective_input: action.effective_input.as_ref().map(raw).transpose()?,
        reason: said(action.reason.as_ref()),
        result: action.result.as_ref().map(raw).transpose()?,
        error: said(action.error.as_ref()),
        executed_at: action.executed_at.map(time::write),
        terms: action.terms.map(|terms| terms.to_string()),
        tool_result: ToolResult::of(action),
    };
    serde_json::to_writer(text, &body)
}

/// Estimated bytes of an action without its payloads.
const AROUND: usize = 1_024;

/// Reads a row, or a whole action as a row.
pub fn read_row(text: &str) -> Result<Row, Unreadable> {
    read_row_with(text, None)
}

/// Like [`read_row`], with members that are already parsed.
pub fn read_row_with(text: &str, fields: Option<Fields<'_>>) -> Result<Row, Unreadable> {
    row_of(&fields.map_or_else(|| object(text), Ok)?, text)
}

fn row_of(fields: &Fields<'_>, text: &str) -> Result<Row, Unreadable> {
    let unreadable = |what| Unreadable::new(what, text);
    let id = fields.text("id").filter(|id| !id.is_empty()).ok_or_else(|| unreadable("it has no id"))?;
    let tool = fields.text("toolName").ok_or_else(|| unreadable("it has no toolName"))?;
    let status = fields.meaning("status").ok_or_else(|| unreadable("it has no status"))?;
    let input = fields.raw("toolInput");
    let known = tool::definition(tool.as_raw());
    let made = |input: &str| {
        let title = known.title(tool.as_raw(), input);
        Untrusted::from(known.with_preview(title, input, fields.raw("preview")))
    };
    let title = fields.text("title").or_else(|| input.map(made)).unwrap_or_else(|| tool.clone());
    let status = Status::parse(&status);
    let edited = |title: &Untrusted| {
        let edits = fields.json("userEdits").filter(|_| !status.is_pending())?;
        Some(known.edited(&tool, title, &fields.json("toolInput")?, &Edits::new(edits).ok()?))
    };
    Ok(Row {
        edited: fields.text("editedTitle").or_else(|| edited(&title)),
        brief: match input {
            Some(input) => known.brief(tool.as_raw(), title.as_raw(), input),
            None => fields.json("brief").and_then(|brief| tool::limited_brief(&brief)),
        },
        risk: fields.meaning("risk").map_or_else(|| known.risk.clone(), |word| Risk::parse(&word)),
        effect: fields.meaning("effect").map(|word| Effect::parse(&word)).or_else(|| known.effect.clone()),
        status,
        resolved_via: fields.meaning("resolvedVia").and_then(|word| Via::parse(&word)),
        size: fields.number("size").unwrap_or_else(|| input.map_or(0, |input| input.len() as u64)),
        digest: fields.meaning("digest").and_then(|text| Digest::parse(&text)),
        revision: Revision(fields.number("revision").unwrap_or_default()),
        approvals: approvals::of_row(fields),
        can: Capabilities::READ_ONLY,
        ..base_row(fields, Row::new(ActionId::from(id), tool, title))
    })
}

/// Sets the members that are read alike for a row and for its stand-in.
fn base_row(fields: &Fields<'_>, row: Row) -> Row {
    Row {
        batch: fields.text("batchId").filter(|batch| !batch.is_empty()).map(BatchId::from),
        checkpoint: fields.text("checkpointId"),
        workspace: fields.text("workspaceId"),
        mission: fields.text("missionId"),
        session: fields.text("sessionId"),
        run: fields.text("runId"),
        agent: fields.text("agent"),
        created_at: fields.time("createdAt").unwrap_or_default(),
        expires_at: fields.expiry("expiresAt"),
        resolved_at: fields.time("resolvedAt"),
        resolved_by: fields.text("resolvedBy"),
        ..row
    }
}

/// Returns the members that this version does not know or cannot understand, such as an invalid time.
pub fn beside(raw: &RawJson) -> Vec<json::Member<'_>> {
    const NAMES: [&str; 39] = [
        "id",
        "workspaceId",
        "missionId",
        "sessionId",
        "batchId",
        "checkpointId",
        "runId",
        "agent",
        "toolName",
        "title",
        "editedTitle",
        "brief",
        "risk",
        "effect",
        "status",
        "createdAt",
        "expiresAt",
        "resolvedAt",
        "resolvedBy",
        "resolvedVia",
        "size",
        "digest",
        "revision",
        "approvals",
        "givenApprovals",
        "toolCallId",
        "requestedBy",
        "summary",
        "toolInput",
        "preview",
        "before",
        "userEdits",
        "effectiveInput",
        "reason",
        "result",
        "error",
        "executedAt",
        "terms",
        "toolResult",
    ];
    const TIMES: [&str; 4] = ["createdAt", "expiresAt", "resolvedAt", "executedAt"];
    let members = raw.members().unwrap_or_default();
    let known = |member: &json::Member<'_>| {
        let is = |name: &&str| fields::is(name, &member.key.text);
        let time = || time::read(&json::decode(member.value).text).is_some();
        NAMES.iter().any(&is) && (!TIMES.iter().any(is) || member.value == "null" || time())
    };
    members.into_iter().filter(|member| !known(member)).collect()
}

fn object(text: &str) -> Result<Fields<'_>, Unreadable> {
    Fields::of(text).ok_or_else(|| {
        let broken = text.trim_start().starts_with('{');
        Unreadable::new(if broken { "it is no valid JSON" } else { "it is no object" }, text)
    })
}

pub fn read(text: &str) -> Result<PendingAction, Unreadable> {
    read_with(text, None, None)
}

/// Like [`read`], with members that are already parsed. An action that is most of a reply shares its memory.
pub fn read_with(
    text: &str,
    fields: Option<Fields<'_>>,
    reply: Option<&Arc<String>>,
) -> Result<PendingAction, Unreadable> {
    let unreadable = |what| Unreadable::new(what, text);
    let fields = fields.map_or_else(|| object(text), Ok)?;
    let row = row_of(&fields, text)?;
    let raw = match reply.filter(|reply| reply.len() < text.len() * 2) {
        Some(reply) => RawJson::scanned_in(reply, text),
        None => RawJson::scanned(text),
    };
    let json = |name| fields.raw(name).map(|value| raw.part(text, value));
    Ok(PendingAction {
        input: json("toolInput").ok_or_else(|| unreadable("it has no toolInput"))?,
        preview: json("preview"),
        before: json("before"),
        summary: fields.text("summary"),
        requested_by: fields.text("requestedBy"),
        tool_call: fields.text("toolCallId"),
        approvals: approvals::given(&fields),
        user_edits: fields.json("userEdits").and_then(|edits| Edits::new(edits).ok()),
        effective_input: json("effectiveInput"),
        reason: fields.text("reason"),
        result: json("result"),
        error: fields.text_or_json("error"),
        executed_at: fields.time("executedAt"),
        goes_on: false,
        terms: fields.text("terms").and_then(|text| Digest::parse(text.as_raw())),
        row,
        raw,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACTION: &str = r#"{"id":"pa-1","workspaceId":"w","missionId":"m","sessionId":null,"batchId":"m:refund",
        "toolName":"refund","toolInput":{"amount":1.10,"n":18446744073709551616,"a":1,"a":2},"preview":null,
        "status":"pending","userEdits":null,"result":null,"error":null,"createdAt":"2026-04-21T18:02:11.420Z",
        "resolvedAt":null,"executedAt":null}"#;

    #[test]
    fn an_action_is_read_with_its_exact_bytes() {
        let action = read(ACTION).unwrap();

        assert_eq!(action.input.as_str(), r#"{"amount":1.10,"n":18446744073709551616,"a":1,"a":2}"#);
        assert_eq!(action.row.batch, Some(BatchId::new("m:refund")));
        assert_eq!(action.row.session, None);
        assert_eq!(action.row.size, 52);
    }

    #[test]
    fn an_action_that_dominates_a_reply_shares_its_memory() {
        let alone = Arc::new(format!("[{ACTION}]"));
        let among = Arc::new(format!("[{ACTION},{ACTION},{ACTION}]"));
        let is_part = |reply: &Arc<String>| {
            let text = reply.get(1..=ACTION.len()).unwrap();
            let action = read_with(text, None, Some(reply)).unwrap();
            assert_eq!(action, read(ACTION).unwrap());
            [&action.raw, &action.input]
                .map(|json| reply.as_bytes().as_ptr_range().contains(&json.as_str().as_ptr()))
        };

        assert_eq!(is_part(&alone), [true, true]);
        assert_eq!(is_part(&among), [false, false], "one of many does not retain the reply");
    }

    #[test]
    fn a_written_action_is_read_back() {
        let mut action = read(ACTION).unwrap();
        action.row.digest = Some(action.digest());

        let wire = write(&action).unwrap();
        let mut again = read(&wire).unwrap();

        assert!(wire.contains(r#""toolInput":{"amount":1.10,"n":18446744073709551616,"a":1,"a":2}"#));
        again.raw = action.raw.clone();
        assert_eq!(again, action);
    }

    #[test]
    fn approved_action_is_titled_with_the_edits_that_ran() {
        let input =
            r#""toolName":"refund_payment","toolInput":{"amount":129.90,"currency":"EUR","customer":"pim"}"#;
        let edited = |more: &str| {
            let row = read_row(&format!(r#"{{"id":"1",{input},{more}}}"#)).unwrap();
            row.edited.map(|title| title.as_raw().to_owned())
        };
        let ran = Some("Refund 129.90 → 129.00 EUR to pim".to_owned());

        assert_eq!(edited(r#""status":"executed","userEdits":{"amount":129.00}"#), ran);
        assert_eq!(edited(r#""status":"executed","editedTitle":"X""#).as_deref(), Some("X"));
        assert_eq!(edited(r#""status":"pending","userEdits":{"amount":129.00}"#), None);
        assert_eq!(edited(r#""status":"executed","userEdits":null"#), None);
    }

    #[test]
    fn a_stand_in_keeps_id_and_bytes() {
        let stand_in = |raw: &str| read(raw).unwrap_err().stand_in();

        let broken = stand_in(r#"{"id":"pa-1","toolName":"t","toolInput":{"a":1,},"status":"pending"}"#);
        assert_eq!(broken.row.id, ActionId::new("pa-1"));
        assert!(broken.row.unreadable.unwrap().has_id);
        assert_eq!(
            broken.input.as_str(),
            r#""{\"id\":\"pa-1\",\"toolName\":\"t\",\"toolInput\":{\"a\":1,},\"status\":\"pending\"}""#
        );
        for nameless in [
            "17",
            "",
            "<html>",
            r#"{"toolName":x,"id":"late"}"#,
            r#"{"id":"1","id":"2","status":"pending"}"#,
            r#"{"id":""}"#,
        ] {
            let row = stand_in(nameless).row;
            assert!(!row.unreadable.unwrap().has_id, "{nameless}: {:?}", row.id);
            assert_ne!(row.id, stand_in("18").row.id);
        }
    }

    #[test]
    fn a_bad_item_has_a_reason() {
        assert_eq!(read("[]").unwrap_err().what, "it is no object");
        assert_eq!(read(r#"{"id":"x"}"#).unwrap_err().what, "it has no toolName");
    }
}
