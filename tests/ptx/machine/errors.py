"""What can go wrong in the PTX machine. Before: nothing. After: every module of the machine raises these."""

from __future__ import annotations


class PtxError(Exception):
    """Base of every error of the machine."""


class PtxSyntaxError(PtxError):
    """The text is not PTX that the machine can read; names the line."""

    def __init__(self, line: int, what: str):
        super().__init__(f"PTX line {line}: {what}")


class UnsupportedInstruction(PtxError):
    """An instruction, modifier, directive or operand that the machine does not know; names the line and its text."""

    def __init__(self, line: int, text: str, what: str):
        super().__init__(f"PTX line {line}: {what}: {text}")


class LaneFault(PtxError):
    """Something a thread did wrong. The run loop turns it into a PtxFault that names instruction and thread.

    lane: the machine's number of the thread; None when the whole group is meant.
    """

    def __init__(self, what: str, lane: int | None = None):
        super().__init__(what)
        self.what = what
        self.lane = lane


class PtxFault(PtxError):
    """A kernel went wrong: access outside an allocation or misaligned, trap, deadlock, too many instructions."""

    def __init__(self, what: str, line: int | None = None, text: str = "", thread: str = ""):
        place = f"PTX line {line}: {text}: " if line is not None else ""
        where = f" ({thread})" if thread else ""
        super().__init__(f"{place}{what}{where}")
        self.line = line
