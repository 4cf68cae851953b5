#!/usr/bin/env bash
# The bridge for dendrux against the real package, an old version and a new one. Needs Python 3.11 or newer and, the first time, the
# network: each version is installed once, into FOLDER/VERSION (default: target/dendrux), where FOLDER/VERSION/bin/python runs it.
#
#   tests/bridges/dendrux.sh [--install] [FOLDER]      --install: no more than that
set -euo pipefail
cd "$(dirname "$0")/../.."

only_install=
if [ "${1:-}" = --install ]; then only_install=1; shift; fi
folder=${1:-target/dendrux}
versions=(0.4.1 0.2.0a1)
bridge=assets/bridges/dendrux/placet_dendrux.py

python=
for found in python3 python3.14 python3.13 python3.12 python3.11; do
    if command -v "$found" >/dev/null && "$found" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then python=$found; break; fi
done
[ -n "$python" ] || { echo "dendrux needs Python 3.11 or newer; install it first" >&2; exit 1; }

for version in "${versions[@]}"; do
    home=$folder/$version packages=("dendrux[http]==$version")
    [ "$version" = "${versions[0]}" ] && packages+=(mypy)
    # Written last: what was interrupted, or wants other packages, is made anew.
    [ "$(cat "$home/installed" 2>/dev/null)" = "${packages[*]}" ] && continue
    echo "installing ${packages[*]} into $home"
    "$python" -m venv --clear "$home"
    "$home/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}" ||
        { echo "cannot install ${packages[*]}: nothing of dendrux was tested" >&2; exit 1; }
    echo "${packages[*]}" >"$home/installed"
done
[ -z "$only_install" ] || exit 0

export PYTHONDONTWRITEBYTECODE=1
# Installed beside the package, which carries types; the agent's side is checked as strictly as its tests.
MYPYPATH=assets/bridges/dendrux:tests/bridges "$folder/${versions[0]}/bin/python" -m mypy --strict --cache-dir "$folder/mypy" \
    "$bridge" tests/bridges/{dendrux_agent,dendrux_plain,test_dendrux}.py
for version in "${versions[@]}"; do
    echo "dendrux $version"
    DENDRUX_VERSION=$version "$folder/$version/bin/python" tests/bridges/test_dendrux.py --buffer
done
