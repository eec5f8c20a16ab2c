#!/usr/bin/env bash
# From a fresh clone to a notebook that has run on real data: needs Python >= 3.11 and bash, nothing else.
#
#   bash quickstart.sh             environment, data, the notebook executed and printed, then JupyterLab on it
#   bash quickstart.sh --no-lab    the same without JupyterLab
#
# Everything it makes lies in .venv and work (both ignored by git) and in the data folder: SVC_DATA_DIR, or the
# platform's folder for user data.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=scripts/environment.sh
. scripts/environment.sh

lab=yes
for argument in "$@"; do
  case $argument in
    --no-lab) lab=no ;;
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit ;;
    *) die "unknown option $argument; there is only --no-lab" ;;
  esac
done
# The quick start is about the service of this machine, whatever other one is configured.
unset SVC_BASE_URL SVC_API_TOKEN SVC_PROFILE

make_environment .venv demo

say "service and data"
.venv/bin/python -m svc_jupyter init --demo ||
  die "what is missing is told by: .venv/bin/python -m svc_jupyter doctor"

say "notebooks/quickstart.ipynb"
.venv/bin/python -m svc_jupyter run-notebook notebooks/quickstart.ipynb --output work/quickstart.ipynb ||
  die "the notebook did not run to its end. What is missing is told by: .venv/bin/python -m svc_jupyter doctor"

if [ "$lab" = no ]; then
  say "done. The notebook in JupyterLab: .venv/bin/python -m svc_jupyter lab work/quickstart.ipynb"
  exit
fi
say "JupyterLab (its address follows; Ctrl-C ends it)"
exec .venv/bin/python -m svc_jupyter lab work/quickstart.ipynb
