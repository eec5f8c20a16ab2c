"""`python -m svc_jupyter` is the command line."""

import sys

from svc_jupyter.cli.main import main

sys.exit(main())
