//! Praxiom AI's specification of pending actions, sentence by sentence: what it promises of a server, and the test that shows it.
//!
//! This gate began with that specification, so names of tests call it "the seed". It is not in this repository; the table has its
//! sentences in its own order.
//!
//! Names without a path are in this folder; `gate::` is short for `src/gate/tests/`.
//!
//! | the specification says | shown by |
//! |---|---|
//! | instead of running, the tool records its intent | `gate::deciding::only_what_was_approved_runs` |
//! | a row with the exact tool input and a render-ready preview | `the_example_payload_reads_as_in_the_seed`, `gate::reading::a_row_is_light_and_the_whole_is_whole` |
//! | there is no bypass: approval is always required | `gate::proposing::nothing_in_a_proposal_approves_it` |
//! | `@gated`: identity, preview, intent, queued signal, `__original__` | `tests/bridges/test_gated.py` |
//! | identity out of the tool input | `gate::deciding::the_agent_gets_the_queued_signal` |
//! | `workspace_id` is required; the others are optional | `workspace_id_is_required_the_others_are_optional` |
//! | previews must not raise | `gate::proposing::a_bad_preview_never_stops_the_recording` |
//! | recorded with status pending | `gate::deciding::the_agent_gets_the_queued_signal` |
//! | the queued signal and its four fields | `the_queued_signal_has_the_seeds_fields_and_no_others` |
//! | the table of gated tools | `every_tool_of_the_seeds_table_waits_for_a_human` |
//! | read-only tools are not gated | `gate::refusing::reads_are_not_gated` |
//! | the five states; result and error are populated | `every_row_moves_through_the_five_words_of_the_lifecycle` |
//! | only pending rows can be approved or rejected; 409 | `only_pending_rows_can_be_approved_or_rejected`, `gate::deciding::what_is_settled_cannot_be_decided_again` |
//! | approve commits, then schedules; nobody waits for the call | `gate::running::an_approval_is_answered_before_it_has_run` |
//! | `user_edits` is shallow-merged at execution time | `user_edits_are_shallow_merged_when_it_runs`, `gate::deciding::edits_are_merged_into_the_bytes_that_run` |
//! | `batch_id` is `{mission_id}:{tool_name}` | `a_batch_is_named_by_its_mission_and_tool` |
//! | listed: approved; `exclude`: rejected | `gate::batches::listed_is_approved_excluded_is_rejected_unlisted_is_left` |
//! | not listed at all: left pending | `not_listed_at_all_is_left_pending` |
//! | the response summarises counts | `the_response_summarises_counts` |
//! | skipped counts rows another session resolved | `skipped_counts_rows_another_session_resolved` |
//! | partial progress is preserved | `gate::batches::each_item_fails_alone_and_says_why` |
//! | a rejected handler is never invoked; `resolved_at` | `rejected_is_final`, `rejected_rows_stay_as_an_audit_trail` |
//! | rejected rows stay as an audit trail | `rejected_rows_stay_as_an_audit_trail` |
//! | any member of the owning workspace may approve | `any_member_of_the_owning_workspace_may_decide` |
//! | a non-member hitting a valid id gets 403 | `gate::refusing::a_stranger_with_a_valid_id_is_forbidden`, and every route in `gate::goals::wall` |
//! | pending actions do not expire by themselves | `pending_actions_do_not_expire_unless_asked` |
//! | orphaned approvals are re-enqueued | `gate::durability::what_was_approved_and_never_ran_runs_at_the_next_start` |
//! | an exception is recorded as failed and crashes nothing | `the_handler_that_raises_is_recorded_as_failed_and_crashes_nothing` |
//! | the briefing counts what waits | `gate::streaming::a_briefing_comes_on_connect_and_on_change`, `gate::streaming::a_session_sees_its_own_counts` |
//! | a checkpoint cascades across batches in one decision | `a_checkpoint_is_decided_in_one_cascade_over_the_rows_that_were_on_screen`, `a_checkpoint_is_rejected_in_one_cascade_too` |
//! | the example payload | `the_example_payload_reads_as_in_the_seed` |
//! | same input, same handler | `gate::running::a_command_gets_the_exact_bytes_and_no_more_of_the_environment_than_it_needs` |
//! | cross-workspace batches are rejected | `cross_workspace_batches_are_rejected`, `gate::batches::a_batch_belongs_to_one_workspace` |
//! | rejected is final | `rejected_is_final` |
//!
//! What it leaves to the future, and dendrux, agents-api or confused-ai have:
//!
//! | | shown by |
//! |---|---|
//! | a time to live: expired, never approved, never run | `what_expires_is_never_approved_and_never_run`, `gate::goals::clock` |
//! | a reason; who and when | `approve_and_reject_keep_a_reason_and_who_and_when` |
//! | single use | `gate::durability::only_one_of_many_deciders_wins`, `gate::goals::races` |
//! | effect and risk are only raised | `gate::proposing::a_proposal_is_titled_and_weighed_by_its_tool` |
//! | run, tool call, requester | `what_an_agent_says_of_itself_is_kept` |
//! | a canonical tool result, allowed and denied | `gate::running::an_agent_can_append_what_it_is_told`, `a_denied_call_has_a_result_an_agent_can_append` |
//! | the timeline | `gate::reading::the_timeline_tells_what_happened_and_by_whom`, `rejected_rows_stay_as_an_audit_trail` |
//! | withdraw, supersede | `gate::deciding::a_proposal_can_be_withdrawn_or_superseded_by_its_proposer_only` |
//! | list by run, agent, session, risk | `gate::reading::filters_find_what_they_name` |
//! | the end of what nobody knows | `a_human_says_what_became_of_an_unknown_run`, `a_retried_run_runs_under_a_new_fence_and_the_same_key`, `only_what_is_unknown_is_settled_and_nobody_settles_their_own` |
//! | the stop button | `nothing_is_run_between_pause_and_resume`, `a_pause_from_the_machine_itself_holds_for_one_workspace_or_for_all`, `gate::goals::stop` |

mod deciding;
mod groups;
mod later;
mod recording;
