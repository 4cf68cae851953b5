#!/usr/bin/env bash
# An older inbox on this gate, and this inbox on an older gate: what both know works, and what the older one lacks is said.
#
# It needs the repository with its history, tmux and Python 3. The older version, the last one that knew neither claims nor approvals by
# two, is built into target/older the first time; target/debug/placet is this one (cargo build).
#
#   tests/reach/older.sh            prints each step; its last line is "passed"
set -euo pipefail
. "$(dirname "$0")/inboxes.bash"
commit=632fd307
if [ ! -x target/older/debug/placet ]; then
    git cat-file -e "$commit^{commit}" 2>/dev/null ||
        { echo "this clone has no commit $commit; run: git fetch --unshallow" >&2; exit 2; }
    rm -rf target/older/source
    mkdir -p target/older/source
    git archive "$commit" | tar -x -C target/older/source
    (cd target/older/source && CARGO_TARGET_DIR="$PWD/.." cargo build --locked --quiet)
fi
older=$PWD/target/older/debug/placet
people="read,decide"

step "An older inbox on this gate"
cat >"$PLACET_CONFIG" <<TOML
[gate]
[gate.tools.grant_access]
executor = "command"
argv = ["/bin/true"]
title = "{title}"
approvals = 2
TOML
serve
token kim "$people" --name "Kim Example"
token lee "$people"
token agent propose
reviewer kim "$older" "${urls[0]}"
reviewer lee "$placet" "${urls[0]}"
for who in kim lee; do waits "$who" "Nothing is pending"; done
proposes "Login page is blank"
proposes "Kai may read the ledger" grant_access
for who in kim lee; do waits "$who" "2 to decide"; done

echo "a claim of the newer inbox does not disturb the older one, which decides what is claimed"
keys lee g g C
keys kim g g a
sends kim
waits lee "1 to decide"
echo "the older inbox gives the first approval of two; the newer one gives the second"
keys kim G a
sends kim
waits lee "1 of 2"
look
keys lee G a
sends lee
for who in kim lee; do waits "$who" "executed"; done
look
echo "the older program reads lists, and decides, in the shell"
proposes "Prices are shown twice"
as_kim() { env PLACET_CONFIG="$home/kim.toml" PLACET_STATE_DIR="$home/kim-shell" HOME="$home" "$older" "$@"; }
until_true sh -c "env PLACET_CONFIG='$home/kim.toml' PLACET_STATE_DIR='$home/kim-shell' '$older' list | grep -qF 'Prices are shown twice'"
as_kim doctor || [ $? = 1 ]
audit

step "This inbox on an older gate"
tmux -S "$home/tmux" kill-server
kill "${gates[0]}"
wait "${gates[0]}" 2>/dev/null || true
gates=() urls=() reviewers=()
gate_program=$older
export PLACET_STATE_DIR=$home/older-gate
echo '[gate]' >"$PLACET_CONFIG"
rm -rf "$home/kim" "$home/lee" "$home/kim-shell"
serve
token kim "$people"
token lee "$people"
token agent propose
reviewer kim "$placet" "${urls[0]}"
reviewer lee "$older" "${urls[0]}"
for who in kim lee; do waits "$who" "Nothing is pending"; done
for title in "Login page is blank" "Export takes an hour" "Prices are shown twice"; do proposes "$title"; done
for who in kim lee; do waits "$who" "3 to decide"; done
echo "it says that this gate keeps no claims and no approvals to take back, and snoozes by itself"
keys kim g g C
sleep 1
look
keys kim g u
sleep 1
look
keys kim Z
keys kim 1 h Enter
waits kim "1 snoozed"
echo "it decides"
keys kim g g a
sends kim
waits lee "2 to decide"
keys lee G x
sends lee
look
audit

echo passed
