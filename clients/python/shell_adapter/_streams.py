"""Output of running commands, exact and in order, whatever happens to the connection."""

from __future__ import annotations

import asyncio
import codecs
from collections import deque
from typing import Any, Awaitable, Callable, Mapping

from ._results import Output, StreamName

MOST_WAITING = 8 * 1024 * 1024
"""Bytes that wait for a slow reader. What comes on top is read from the daemon later."""

ReadOutput = Callable[[StreamName, int], Awaitable[bytes]]

EVERYTHING = 1 << 62
"""A position behind any output."""


class OutputStream:
    """Puts the output of one command together: events, and bytes that the daemon is asked for where events are missing."""

    def __init__(self, read: ReadOutput, session_id: str | None = None) -> None:
        self._read = read
        self.session_id = session_id
        self._has_missed = False
        self._events: deque[tuple[StreamName, int, bytes]] = deque()
        self._waiting = 0
        self._arrived = asyncio.Event()
        self._offsets: dict[StreamName, int] = {"stdout": 0, "stderr": 0}
        self._decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in self._offsets}

    def take(self, event: Mapping[str, Any]) -> None:
        """Takes an event `command_output`."""
        data = event["data"]
        raw = data.encode() if isinstance(data, str) else bytes(data)
        if self._waiting + len(raw) > MOST_WAITING:
            return
        self._waiting += len(raw)
        self._events.append((event["stream"], event["offset"], raw))
        self._arrived.set()

    def note_gap(self) -> None:
        """Notes that events were dropped: what they had is read from the daemon."""
        self._has_missed = True
        self._arrived.set()

    def wake(self) -> None:
        """Has a reader that waits look again."""
        self._arrived.set()

    async def next(self, is_over: Callable[[], bool]) -> list[Output]:
        """The next output; nothing when the command has ended and all events were read."""
        while not self._events:
            if is_over():
                return []
            if self._has_missed:
                self._has_missed = False
                names: tuple[StreamName, ...] = ("stdout", "stderr")
                if missed := [piece for name in names for piece in await self.rest(name, EVERYTHING)]:
                    return missed
                continue
            await self._arrived.wait()
            self._arrived.clear()
        stream, offset, raw = self._events.popleft()
        self._waiting -= len(raw)
        missing = await self.rest(stream, offset)
        fresh = raw[self._offsets[stream] - offset :]
        return [*missing, self._output(stream, fresh)] if fresh else missing

    async def rest(self, stream: StreamName, up_to: int) -> list[Output]:
        """The output before a position that no event has brought."""
        outputs = []
        while self._offsets[stream] < up_to:
            raw = await self._read(stream, self._offsets[stream])
            if not raw:
                break
            outputs.append(self._output(stream, raw[: up_to - self._offsets[stream]]))
        return outputs

    def _output(self, stream: StreamName, raw: bytes) -> Output:
        offset = self._offsets[stream]
        self._offsets[stream] = offset + len(raw)
        return Output(stream, offset, raw, self._decoders[stream].decode(raw))
