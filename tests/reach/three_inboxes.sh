#!/usr/bin/env bash
# Two, then three inboxes on one gate: claims, an action that two people must approve, a snooze, and two decisions at once.
#
# Needs target/debug/placet (cargo build), tmux and Python 3, and no network. Prints the terminals step by step; its recording is
# docs/screens/three-inboxes.txt:
#
#   tests/reach/three_inboxes.sh > docs/screens/three-inboxes.txt
set -euo pipefail
. "$(dirname "$0")/inboxes.bash"
size=(-x 100 -y 18)

cat >"$PLACET_CONFIG" <<TOML
[gate]
[gate.tools.grant_access]
executor = "command"
argv = ["/bin/true"]
risk = "medium"
title = "{title}"
approvals = 2
TOML
serve
token kim read,decide --name "Kim Example" --groups support
token lee read,decide --name "Lee Example" --groups support
token ana read,decide --name "Ana Example" --groups nights
token agent propose

reviewer kim "$placet" "${urls[@]}"
reviewer lee "$placet" "${urls[@]}"
for who in kim lee; do waits "$who" "Nothing is pending"; done

step "An agent proposes three issues and an access that two people must approve; two reviewers see them"
for title in "Checkout fails for some customers" "Export takes an hour" "Login page is blank"; do proposes "$title"; done
proposes "Kai may read the ledger" grant_access
for who in kim lee; do waits "$who" "4 to decide"; done
look

step "Kim says to be on the first issue (C); n leads Lee past it"
keys kim g g C
waits lee "· 1 min"
keys lee g g n
look

step "Kim decides it, which ends the claim"
keys kim a
sends kim
waits lee "3 to decide"
look

step "Kim approves the access: it still waits, and Lee sees whose approval is there"
keys kim G a
sends kim
waits lee "1 of 2"
look

step "Kim takes it back (g u), thinks again, and approves once more"
keys kim G g u
until_true gone lee "1 of 2"
keys kim G a
sends kim
waits lee "1 of 2"

step "Lee approves, too: now it runs"
keys lee G a
sends lee
for who in kim lee; do waits "$who" "2 to decide"; done
look

step "Ana begins, and snoozes an issue for an hour (Z); the others still see it"
reviewer ana "$placet" "${urls[@]}"
waits ana "2 to decide"
keys ana g g Z
keys ana 1 h Enter
waits ana "1 snoozed"
look

step "Lee and Ana decide the same action at the same time: one of them decided, the other one learns who"
keys ana g g a s
keys lee g g n n x s
for who in ana lee; do waits "$who" "Press y to send"; done
sleep 1.2
tmux -S "$home/tmux" send-keys -t ana y \; send-keys -t lee y
for who in ana lee; do until_true gone "$who" "Press y to send"; done
look

step "What the audit says, and what happened to each"
audit
