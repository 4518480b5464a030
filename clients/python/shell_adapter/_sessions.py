"""What the client knows of the sessions that it uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping


@dataclass(frozen=True)
class SessionEnd:
    """Why a session has ended: `reason` as in the event `session_closed`, and a sentence."""

    reason: str
    detail: str


@dataclass(eq=False)
class FollowedSession:
    """A session whose events this client gets."""

    id: str
    next_seq: int | None = None
    """Number of the next event; None before the first."""
    is_reachable: bool = True
    end: SessionEnd | None = None

    def is_repeated(self, seq: int) -> bool:
        """Notes the number of an event; gives whether it came before."""
        if self.next_seq is not None and seq < self.next_seq:
            return True
        self.next_seq = seq + 1
        return False

    def skip(self, to_seq: int) -> None:
        """Notes that events up to this one are no longer there."""
        self.next_seq = max(self.next_seq or 0, to_seq + 1)

    def attach_request(self) -> Mapping[str, Any]:
        """The request that gives its events again, from the first that was missed."""
        request: dict[str, Any] = {"session_id": self.id}
        return request if self.next_seq is None else {**request, "from_seq": self.next_seq}


def end_of(details: Mapping[str, Any], message: str, has_restarted: bool) -> SessionEnd:
    """The end of a session that the daemon no longer has, from the error that says so."""
    if has_restarted:
        return SessionEnd("restarted", message)
    return SessionEnd(str(details.get("reason", "shutdown")), str(details.get("detail", message)))
