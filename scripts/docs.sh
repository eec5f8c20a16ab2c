#!/usr/bin/env bash
# Builds the documentation site, from a fresh clone: needs Python >= 3.11 and bash.
#
#   bash scripts/docs.sh [OUT]     into the folder OUT, by default build/docs; open its index.html
#
# It fails for a dead link, a missing anchor and a page that the navigation does not name.
set -euo pipefail
out=${1:-}
case $out in '' | /*) ;; *) out=$PWD/$out ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/environment.sh
. scripts/environment.sh

make_environment .venv-test test
exec .venv-test/bin/python -m scripts.make_docs ${out:+"$out"}
