"""What commands give."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .models import CommandResult

StreamName = Literal["stdout", "stderr"]


@dataclass(frozen=True)
class Result:
    """The result of a command; `fields` has everything that the daemon says of it."""

    stdout: str
    stderr: str
    exit_code: int | None
    """128+n for signal n, 124 for a time-out; None while it runs."""
    status: str
    command_id: str
    fields: CommandResult = field(repr=False)

    @property
    def ok(self) -> bool:
        """Whether the exit code is 0."""
        return self.exit_code == 0

    @classmethod
    def of(cls, fields: CommandResult) -> Result:
        """The result in an answer."""
        return cls(
            fields["stdout"],
            fields["stderr"],
            fields["exit_code"],
            fields["status"],
            fields["command_id"],
            fields,
        )


@dataclass(frozen=True)
class Output:
    """A piece of what a running command prints: exact bytes, and their text."""

    stream: StreamName
    offset: int
    """Position of the first byte in the stream."""
    data: bytes
    text: str
    """Characters that these bytes complete; what is not UTF-8 shows as U+FFFD."""
