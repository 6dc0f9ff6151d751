"""`python -m survey_export` runs the command."""

import sys

from ._cli import main

sys.exit(main())
