"""`python -m sekai` is the command `sekai`."""

import sys

from sekai.cli import main

sys.exit(main())
