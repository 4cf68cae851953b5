//! Praxiom AI's specification of pending actions: each of its sentences about a server, and the test for it.
//!
//! The gate is based on that specification, so tests call it "the seed". It is not in this repository.
//!
//! Tests without a path are in this folder; `gate::` stands for `src/gate/tests/`.
//!
//! | the specification says | shown by |
//! |---|---|
//! | instead of running, the tool records its intent | `gate::deciding::only_approved_actions_run` |
//! | a row with the exact tool input and a render-ready preview | `example_payload_reads_as_specified`, `gate::reading::rows_omit_the_input_and_full_actions_hold_it` |
//! | there is no bypass: approval is always required | `gate::proposing::proposal_cannot_approve_itself` |
//! | `@gated`: identity, preview, intent, queued signal, `__original__` | `tests/bridges/test_gated.py` |
//! | identity out of the tool input | `gate::deciding::agent_gets_the_queued_signal` |
//! | `workspace_id` is required; the others are optional | `only_workspace_id_is_required` |
//! | previews must not raise | `gate::proposing::unusable_preview_does_not_prevent_the_proposal` |
//! | recorded with status pending | `gate::deciding::agent_gets_the_queued_signal` |
//! | the queued signal and its four fields | `queued_signal_has_exactly_the_specified_fields` |
//! | the table of gated tools | `every_tool_of_the_specification_is_gated` |
//! | read-only tools are not gated | `gate::refusing::reads_are_not_gated` |
//! | the five states; result and error are populated | `action_passes_through_the_five_statuses` |
//! | only pending rows can be approved or rejected; 409 | `only_pending_actions_can_be_decided`, `gate::deciding::decided_action_cannot_be_decided_again` |
//! | approve commits, then schedules; the caller does not wait | `gate::running::approval_is_answered_before_the_run_ends` |
//! | `user_edits` is shallow-merged at execution time | `user_edits_are_shallow_merged`, `gate::deciding::edits_are_merged_into_the_bytes_that_run` |
//! | `batch_id` is `{mission_id}:{tool_name}` | `batch_is_named_by_mission_and_tool` |
//! | listed: approved; `exclude`: rejected | `gate::batches::unlisted_item_stays_pending` |
//! | not listed at all: left pending | `unlisted_action_is_left_pending` |
//! | the response summarises counts | `batch_reply_has_the_specified_counts` |
//! | skipped counts rows another session resolved | `skipped_counts_actions_decided_by_others` |
//! | partial progress is preserved | `gate::batches::failed_item_does_not_affect_others` |
//! | a rejected handler is never invoked; `resolved_at` | `rejection_is_final`, `rejected_actions_stay_listed` |
//! | rejected rows stay as an audit trail | `rejected_actions_stay_listed` |
//! | any member of the owning workspace may approve | `any_member_of_the_workspace_may_decide` |
//! | a non-member hitting a valid id gets 403 | `gate::refusing::stranger_with_a_valid_id_is_forbidden`, and every route in `gate::goals::wall` |
//! | pending actions do not expire by themselves | `pending_actions_do_not_expire_unless_asked` |
//! | orphaned approvals are re-enqueued | `gate::durability::approved_action_runs_at_the_next_start` |
//! | an exception is recorded as failed and crashes nothing | `raising_handler_fails_its_action_only` |
//! | the briefing counts what waits | `gate::streaming::briefing_comes_on_connect_and_on_change`, `gate::streaming::session_sees_its_own_counts` |
//! | a checkpoint cascades across batches in one decision | `checkpoint_approval_decides_all_its_batches`, `checkpoint_rejection_decides_all_its_batches` |
//! | the example payload | `example_payload_reads_as_specified` |
//! | same input, same handler | `gate::running::command_gets_the_exact_input_and_a_minimal_environment` |
//! | cross-workspace batches are rejected | `cross_workspace_batch_is_refused`, `gate::batches::batch_belongs_to_one_workspace` |
//! | rejected is final | `rejection_is_final` |
//!
//! Features that it leaves to the future, and dendrux, agents-api or confused-ai have:
//!
//! | | shown by |
//! |---|---|
//! | a time to live: expired, never approved, never run | `expired_action_is_never_approved_or_run`, `gate::goals::clock` |
//! | a reason; who and when | `decision_keeps_reason_decider_and_time` |
//! | single use | `gate::durability::one_of_many_deciders_wins`, `gate::goals::races` |
//! | effect and risk are only raised | `gate::proposing::tool_determines_title_risk_and_effect` |
//! | run, tool call, requester | `agents_description_of_itself_is_kept` |
//! | a canonical tool result, allowed and denied | `gate::running::tool_result_can_be_appended_by_the_agent`, `denied_call_has_a_tool_result` |
//! | the timeline | `gate::reading::timeline_lists_events_and_people`, `rejected_actions_stay_listed` |
//! | withdraw, supersede | `gate::deciding::only_the_proposer_withdraws_or_supersedes` |
//! | list by run, agent, session, risk | `gate::reading::filters_find_matching_actions_only` |
//! | resolving an unknown outcome | `unknown_run_is_resolved_by_a_human`, `retried_run_has_a_new_fence_and_the_same_key`, `only_unknown_actions_of_others_can_be_settled` |
//! | the stop button | `paused_gate_runs_no_action`, `local_pause_covers_one_or_all_workspaces`, `gate::goals::stop` |

mod deciding;
mod groups;
mod later;
mod recording;
