"""The line on a terminal that shows what a program is doing."""

from __future__ import annotations

import re
import sys
from collections.abc import Generator
from contextlib import contextmanager

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters but tab and line feed, line separators, and marks of the writing direction."""


def printable(text: str) -> str:
    """Replace what a terminal would obey in the texts of others."""
    return _CONTROLS.sub("\ufffd", text)


class Line:
    """A line on stderr that each text replaces, if stderr is a terminal."""

    def __init__(self) -> None:
        # A Windows program without a console has no stderr.
        self._is_shown = bool(sys.stderr and sys.stderr.isatty())
        self._text = ""

    def show(self, text: str) -> None:
        """Replace what the line has."""
        text = printable(text)
        if self._is_shown and text != self._text:
            rest = " " * (len(self._text) - len(text))
            self._text = text  # first, since an interrupt can come while it is printed
            print(f"\r{text}{rest}", end="" if text else "\r", file=sys.stderr, flush=True)

    @contextmanager
    def used(self, is_shown: bool | None = None) -> Generator[None]:
        """Leave the last text there in the end, and begin another line.

        The line is shown if stderr is a terminal, or as `is_shown` decides.
        """
        before = self._is_shown
        self._is_shown = before if is_shown is None else is_shown
        try:
            yield
        finally:
            if self._text:
                print(file=sys.stderr)
            self._text = ""
            self._is_shown = before
