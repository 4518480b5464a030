"""The client for asyncio."""

from __future__ import annotations

import asyncio
import inspect
import uuid
from typing import Any, AsyncIterator, Awaitable, Callable, Mapping, Sequence, cast

from ._connection import Connection
from ._errors import AdapterError, ConfirmationRequired
from ._requests import AsyncRequests
from ._results import Output, Result, StreamName
from ._streams import OutputStream

Confirm = Callable[[Mapping[str, Any]], "str | None | Awaitable[str | None]"]
"""Gets the terms of a command that this client has to confirm; gives the justification, or None to refuse it."""

Listener = Callable[[str, Any], None]
RECONNECT_TIMEOUT = 30.0


class AsyncClient:
    """A client of a daemon, for asyncio. `connect_async` makes one; `async with` closes it."""

    def __init__(
        self, url: str, token: str | None = None, confirm: Confirm | None = None, reconnect_timeout: float = RECONNECT_TIMEOUT
    ) -> None:
        self._confirm = confirm
        self._listeners: list[Listener] = []
        self._streams: dict[str, OutputStream] = {}
        self._sessions: set[str] = set()
        self._connection = Connection(
            url,
            token,
            on_event=self._take,
            on_restored=self._attach_again,
            reconnect_timeout=reconnect_timeout,
        )
        self.requests = AsyncRequests(self.request)
        """Every request of the protocol, with types: `await client.requests.list_sessions()`."""

    async def request(self, name: str, payload: Mapping[str, Any] | None = None) -> Any:
        """Makes a request of the protocol; gives its answer. Raises AdapterError."""
        return await self._connection.request(name, payload or {})

    async def run(self, command: str, args: Sequence[str] | None = None, **fields: Any) -> Result:
        """Runs a command and gives its result.

        `fields` are those of `models.ExecuteCommandRequest`: `cwd`, `env`, `stdin`, `timeout_ms` and others.
        Raises ConfirmationRequired when it has to be confirmed, and `confirm` does not.
        """
        payload = _command(command, args, fields)
        return await self._confirmed(await self.request("execute_command", payload))

    async def stream(self, command: str, args: Sequence[str] | None = None, **fields: Any) -> AsyncIterator[Output | Result]:
        """Runs a command; gives its output while it runs, byte for byte, and its Result at the end."""
        payload = {**_command(command, args, fields), "stream": True}
        command_id = payload["command_id"]

        async def read(stream: StreamName, offset: int) -> bytes:
            asked = {"command_id": command_id, "stream": stream, "offset": offset, "length": 262_144}
            return bytes((await self.request("read_output", asked))["data"])

        output = self._streams[command_id] = OutputStream(read)
        running = asyncio.ensure_future(self._run_streamed(payload))
        running.add_done_callback(lambda _: output.wake())
        try:
            while pieces := await output.next(running.done):
                for piece in pieces:
                    yield piece
            result = await running
            for stream in ("stdout", "stderr"):
                for piece in await output.rest(stream, result.fields[f"{stream}_bytes"]):  # type: ignore[literal-required]
                    yield piece
            yield result
        finally:
            del self._streams[command_id]
            if not running.done():
                running.cancel()
                await self._stop(command_id)

    async def open_session(self, **fields: Any) -> AsyncSession:
        """Opens a session; `fields` are those of `models.OpenSessionRequest`: `cwd`, `env`, `shell`, `label` and others."""
        answer = await self.request("open_session", fields)
        return self._session(answer["session_id"])

    async def attach_session(self, session_id: str) -> AsyncSession:
        """Uses a session that is open already."""
        await self.request("attach_session", {"session_id": session_id})
        return self._session(session_id)

    async def confirm(self, terms: Mapping[str, Any], justification: str) -> Result:
        """Confirms what `ConfirmationRequired.terms` describes; gives the result of the command."""
        answer = await self.request(
            "confirm_command",
            {
                "confirmation_id": terms["confirmation_id"],
                "decision": "approve",
                "command_sha256": terms["command_sha256"],
                "justification": justification,
            },
        )
        return Result.of(answer)

    def on_event(self, listener: Listener) -> Callable[[], None]:
        """Calls a listener with name and payload of each event; gives a function that ends this."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def close(self) -> None:
        """Ends the connection. Sessions that are open wait for their client for a while, then end."""
        await self._connection.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _open(self) -> AsyncClient:
        await self._connection.open()
        return self

    def _session(self, session_id: str) -> AsyncSession:
        self._sessions.add(session_id)
        return AsyncSession(self, session_id)

    def _forget(self, session_id: str) -> None:
        self._sessions.discard(session_id)

    async def _run_streamed(self, payload: Mapping[str, Any]) -> Result:
        return await self._confirmed(await self.request("execute_command", payload))

    async def _stop(self, command_id: str) -> None:
        try:
            await self.request("signal_command", {"command_id": command_id, "signal": "SIGTERM"})
        except AdapterError:
            # It has ended, or has never begun.
            pass

    async def _confirmed(self, answer: Any) -> Result:
        if answer["status"] != "confirmation_required":
            return Result.of(answer)
        justification = await self._ask(answer) if self._confirm and answer.get("requires") == "self" else None
        if justification is None:
            raise ConfirmationRequired(answer)
        return await self.confirm(answer, justification)

    async def _ask(self, terms: Mapping[str, Any]) -> str | None:
        assert self._confirm
        if inspect.iscoroutinefunction(self._confirm):
            return cast("str | None", await self._confirm(terms))
        # A person may take long to answer: the heartbeat goes on.
        decide = cast("Callable[[Mapping[str, Any]], str | None]", self._confirm)
        return await asyncio.get_running_loop().run_in_executor(None, decide, terms)

    def _take(self, name: str, payload: Any) -> None:
        if name == "command_output" and (stream := self._streams.get(payload["command_id"])):
            stream.take(payload)
        if name == "session_closed":
            self._forget(payload["session_id"])
        for listener in list(self._listeners):
            listener(name, payload)

    async def _attach_again(self) -> None:
        for session_id in list(self._sessions):
            try:
                await self._connection.request_at_once("attach_session", {"session_id": session_id})
            except AdapterError as error:
                if error.code != "SESSION_NOT_FOUND":
                    raise
                closed = {"session_id": session_id, "reason": "restarted", "detail": error.message}
                self._take("session_closed", closed)


class AsyncSession:
    """A persistent shell session: directory, variables and jobs stay from one command to the next."""

    def __init__(self, client: AsyncClient, session_id: str) -> None:
        self._client = client
        self.id = session_id

    async def run(self, command: str, args: Sequence[str] | None = None, **fields: Any) -> Result:
        """Runs a command in this session, as `AsyncClient.run`."""
        return await self._client.run(command, args, session_id=self.id, **fields)

    def stream(self, command: str, args: Sequence[str] | None = None, **fields: Any) -> AsyncIterator[Output | Result]:
        """Runs a command in this session, as `AsyncClient.stream`."""
        return self._client.stream(command, args, session_id=self.id, **fields)

    async def send_input(self, data: str, eof: bool = False) -> None:
        """Types into the terminal of the command that runs."""
        await self._client.request("send_input", {"session_id": self.id, "data": data, "eof": eof})

    async def signal(self, name: str = "SIGINT") -> None:
        """Signals the command that runs; SIGINT is Ctrl-C."""
        await self._client.request("signal_command", {"session_id": self.id, "signal": name})

    async def close(self) -> None:
        """Ends the session and every process in it; harmless when it has ended."""
        self._client._forget(self.id)
        try:
            await self._client.request("close_session", {"session_id": self.id})
        except AdapterError as error:
            if error.code != "SESSION_NOT_FOUND":
                raise

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _command(command: str, args: Sequence[str] | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    # With an id of its own, a command can be asked for again when the connection was lost.
    payload = {"command_id": f"python_{uuid.uuid4().hex}", **fields, "command": command}
    return payload if args is None else {**payload, "args": list(args)}


async def connect_async(
    url: str = "http://127.0.0.1:8087",
    token: str | None = None,
    *,
    confirm: Confirm | None = None,
    reconnect_timeout: float = RECONNECT_TIMEOUT,
) -> AsyncClient:
    """Connects to a daemon, from asyncio.

    `token` is not needed by programs of the daemon's own user. `confirm` gets the terms of each command that this client
    has to confirm, and gives the justification, or None to refuse it. After `reconnect_timeout` seconds without a daemon,
    the client gives up.
    """
    return await AsyncClient(url, token, confirm, reconnect_timeout)._open()
