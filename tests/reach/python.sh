#!/usr/bin/env bash
# The Python package in real agents of two frameworks, or of all four with --all, against a real gate (target/debug/placet) and a scripted
# model. Has the needs of tests/reach/install.sh. Builds the package as a wheel and installs it with each framework.
set -euo pipefail
cd "$(dirname "$0")/../.."

frameworks=(openai-agents pydantic-ai)
if [ "${1:-}" = --all ]; then
    frameworks+=(langchain agent-framework)
else
    echo "left out without --all: langchain, agent-framework" >&2
fi
[ -x target/debug/placet ] || cargo build --locked --bin placet
tests/reach/install.sh "${frameworks[@]}"

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1 PYTHONDONTWRITEBYTECODE=1
wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
cp -r assets/bridges/python "$wheels/source" # building leaves folders in the source
for framework in "${frameworks[@]}"; do
    python="$PWD/target/reach/$framework/bin/python"
    [ -e "$wheels"/placet-*.whl ] || "$python" -m pip wheel --no-deps --wheel-dir "$wheels" "$wheels/source"
    "$python" -m pip install --no-deps --force-reinstall "$wheels"/placet-*.whl
    "$python" -c 'import mypy' 2>/dev/null || "$python" -m pip install mypy==2.4.1
    module=${framework//-/_}
    # As for users: the installed package, with its types, and no other framework.
    (cd "$wheels" && "$python" -m mypy --strict --cache-dir "$wheels/mypy-$framework" -p placet.gate -p "placet.$module")
    echo "$framework" >&2
    "$python" -W error::ResourceWarning tests/reach/python.py "$framework"
done
