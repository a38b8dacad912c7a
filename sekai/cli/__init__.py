"""The command `sekai`: roll environments out, time and check them, and look at what there is, from a shell."""

from sekai.cli.arguments import build_parser as build_parser
from sekai.cli.command import main as main
