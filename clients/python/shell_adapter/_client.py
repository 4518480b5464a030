"""The client for asyncio."""

from __future__ import annotations

import asyncio
import inspect
import uuid
from typing import Any, AsyncIterator, Awaitable, Callable, Mapping, Sequence, TypeVar, cast

from ._connection import Connection, State
from ._errors import AdapterError, ConfirmationRequired
from ._requests import AsyncRequests
from ._results import Output, Result, StreamName
from ._sessions import FollowedSession, SessionEnd, end_of
from ._streams import OutputStream

Confirm = Callable[[Mapping[str, Any]], "str | None | Awaitable[str | None]"]
"""Gets the terms of a command that this client has to confirm; gives the justification, or None to refuse it."""

T = TypeVar("T")
Listener = Callable[[str, Any], None]
StateListener = Callable[[State], None]

RESTARTED = "the daemon was restarted, and everything of its earlier run has ended"
UNKNOWN = frozenset({"SESSION_NOT_FOUND", "COMMAND_NOT_FOUND", "CONFIRMATION_NOT_FOUND"})
LOST = frozenset({"CONNECTION_FAILED", "CONNECTION_LOST", "CLIENT_CLOSED"})
DETACHED = frozenset({"NODE_LOST", "NODE_UNREACHABLE"})
RECONNECT_TIMEOUT = 30.0
STOP_PATIENCE = 3.0
"""How long a caller that leaves a command waits until its signal is sent, in seconds: without a connection it takes longer."""


class AsyncClient:
    """A client of a daemon, for asyncio. `connect_async` makes one; `async with` closes it."""

    def __init__(
        self, url: str, token: str | None = None, confirm: Confirm | None = None, reconnect_timeout: float = RECONNECT_TIMEOUT
    ) -> None:
        self._confirm = confirm
        self._listeners: list[Listener] = []
        self._streams: dict[str, OutputStream] = {}
        self._state_listeners: list[StateListener] = []
        self._sessions: dict[str, FollowedSession] = {}
        self._subscription: Mapping[str, Any] | None = None
        # The event loop itself keeps no tasks alive.
        self._stops: set[asyncio.Task[None]] = set()
        self._connection = Connection(
            url,
            token,
            on_event=self._take,
            on_restored=self._restore,
            on_state=self._tell_state,
            reconnect_timeout=reconnect_timeout,
        )
        self.requests = AsyncRequests(self.request)
        """Every request of the protocol, with types: `await client.requests.list_sessions()`."""

    async def request(self, name: str, payload: Mapping[str, Any] | None = None) -> Any:
        """Makes a request of the protocol; gives its answer. Raises AdapterError."""
        try:
            answer = await self._connection.request(name, payload or {})
        except AdapterError as error:
            if error.code not in UNKNOWN or not self._connection.has_restarted:
                raise
            details = {**error.details, "restarted": True}
            raise AdapterError(error.code, f"{error.message}: {RESTARTED}", details) from error
        if name == "subscribe" and payload:
            self._subscription = payload if payload.get("topics") else None
        return answer

    async def run(self, command: str, args: Sequence[str] | None = None, **fields: Any) -> Result:
        """Runs a command and gives its result.

        `fields` are those of `models.ExecuteCommandRequest`: `cwd`, `env`, `stdin`, `timeout_ms` and others.
        Raises ConfirmationRequired when it has to be confirmed, and `confirm` does not. When the caller is cancelled, the
        command is ended.
        """
        payload = _command(command, args, fields)
        return await self._or_stop(payload["command_id"], self._execute(payload))

    async def stream(self, command: str, args: Sequence[str] | None = None, **fields: Any) -> AsyncIterator[Output | Result]:
        """Runs a command; gives its output while it runs, byte for byte, and its Result at the end."""
        payload = {**_command(command, args, fields), "stream": True}
        command_id = payload["command_id"]

        async def read(stream: StreamName, offset: int) -> bytes:
            asked = {"command_id": command_id, "stream": stream, "offset": offset, "length": 262_144}
            return bytes((await self.request("read_output", asked))["data"])

        output = self._streams[command_id] = OutputStream(read, payload.get("session_id"))
        running = asyncio.ensure_future(self._execute(payload))
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
        answer = await self.request("attach_session", {"session_id": session_id})
        session = self._session(session_id)
        session._followed.skip(answer["next_seq"] - 1)
        return session

    async def confirm(self, terms: Mapping[str, Any], justification: str) -> Result:
        """Confirms what `ConfirmationRequired.terms` describes; gives the result of the command."""
        decision = {
            "confirmation_id": terms["confirmation_id"],
            "decision": "approve",
            "command_sha256": terms["command_sha256"],
            "justification": justification,
        }
        return Result.of(await self._or_stop(terms.get("command_id"), self.request("confirm_command", decision)))

    def on_event(self, listener: Listener) -> Callable[[], None]:
        """Calls a listener with name and payload of each event; gives a function that ends this.

        It is called in the event loop, and must not wait: `asyncio.ensure_future` starts what takes longer.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def on_connection(self, listener: StateListener) -> Callable[[], None]:
        """Calls a listener with each state of the connection: `lost`, `connected`, `restarted`, `closed`."""
        self._state_listeners.append(listener)
        return lambda: self._state_listeners.remove(listener)

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
        return AsyncSession(self, self._sessions.setdefault(session_id, FollowedSession(session_id)))

    def _forget(self, session_id: str) -> None:
        self._sessions.pop(session_id, None)

    async def _execute(self, payload: Mapping[str, Any]) -> Result:
        return await self._confirmed(await self.request("execute_command", payload))

    async def _or_stop(self, command_id: str | None, work: Awaitable[T]) -> T:
        """Waits for a command; ends it when the caller no longer waits."""
        try:
            return await work
        except asyncio.CancelledError:
            if command_id is not None:
                await self._stop(command_id)
            raise

    async def _stop(self, command_id: str) -> None:
        stop = asyncio.ensure_future(self._send_stop(command_id))
        self._stops.add(stop)
        stop.add_done_callback(self._stops.discard)
        await asyncio.wait({stop}, timeout=STOP_PATIENCE)

    async def _send_stop(self, command_id: str) -> None:
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
        session_id = payload.get("session_id") if isinstance(payload, dict) else None
        followed = self._sessions.get(session_id) if session_id else None
        if name == "command_output":
            if followed and followed.is_repeated(payload["seq"]):
                return
            if stream := self._streams.get(payload["command_id"]):
                stream.take(payload)
        elif name == "output_gap":
            self._note_gap(session_id, payload["to_seq"])
        elif followed:
            self._note_change(followed, name, payload)
        for listener in list(self._listeners):
            _call(listener, name, payload)

    def _note_change(self, followed: FollowedSession, name: str, payload: Mapping[str, Any]) -> None:
        if name == "session_closed":
            followed.end = SessionEnd(payload["reason"], payload["detail"])
            self._forget(followed.id)
        elif name == "session_detached":
            followed.is_reachable = False
        elif name == "session_reattached":
            followed.is_reachable = True
            if gap := payload.get("gap"):
                self._note_gap(followed.id, gap["to_seq"])

    def _note_gap(self, session_id: str | None, to_seq: int) -> None:
        if session_id and (followed := self._sessions.get(session_id)):
            followed.skip(to_seq)
        for stream in self._streams.values():
            if stream.session_id == session_id:
                stream.note_gap()

    def _tell_state(self, state: State) -> None:
        for listener in list(self._state_listeners):
            _call(listener, state)

    async def _restore(self) -> None:
        """Gives a new connection what the one before had: the subscription, and the events of sessions."""
        if self._subscription:
            try:
                await self._connection.request_at_once("subscribe", self._subscription)
            except AdapterError as error:
                if error.code in LOST:
                    raise
        for followed in list(self._sessions.values()):
            await self._attach_again(followed)

    async def _attach_again(self, followed: FollowedSession) -> None:
        try:
            answer = await self._connection.request_at_once("attach_session", followed.attach_request())
        except AdapterError as error:
            if error.code in LOST:
                raise
            if error.code in DETACHED:
                followed.is_reachable = False
            if error.code == "SESSION_NOT_FOUND":
                has_restarted = self._connection.has_restarted
                end = end_of(error.details, RESTARTED if has_restarted else error.message, has_restarted)
                self._take("session_closed", {"session_id": followed.id, "reason": end.reason, "detail": end.detail})
            return
        followed.is_reachable = True
        if gap := answer.get("gap"):
            self._note_gap(followed.id, gap["to_seq"])
        followed.skip(answer["next_seq"] - 1)


class AsyncSession:
    """A persistent shell session: directory, variables and jobs stay from one command to the next.

    It may outlive its client, and with `adapter.detach` the daemon: `attach_session` comes back to it.
    """

    def __init__(self, client: AsyncClient, followed: FollowedSession) -> None:
        self._client = client
        self._followed = followed
        self._is_detached = False
        self.id = followed.id

    @property
    def end(self) -> SessionEnd | None:
        """Why it has ended; None while it is open."""
        return self._followed.end

    @property
    def is_reachable(self) -> bool:
        """Whether the daemon reaches it.

        False after its end, and between `session_detached` and `session_reattached`, while a gateway has lost its node:
        requests wait meanwhile, or fail with NODE_LOST or NODE_UNREACHABLE.
        """
        return self._followed.end is None and self._followed.is_reachable

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

    async def detach(self) -> None:
        """Leaves the session open: its events come no more, and the end of a `with` does not close it."""
        self._is_detached = True
        self._client._forget(self.id)
        try:
            await self._client.request("detach_session", {"session_id": self.id})
        except AdapterError as error:
            # Without a connection nothing is followed, and an ended session has nothing to follow.
            if error.code not in LOST and error.code != "SESSION_NOT_FOUND":
                raise

    async def close(self) -> None:
        """Ends the session and every process in it; harmless when it has ended."""
        self._client._forget(self.id)
        try:
            await self._client.request("close_session", {"session_id": self.id})
        except AdapterError as error:
            if error.code != "SESSION_NOT_FOUND":
                raise
        self._followed.end = self._followed.end or SessionEnd("client", "this client closed it")

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        if self._is_detached:
            return
        try:
            await self.close()
        except AdapterError as error:
            # Without a connection, the daemon ends a session that no client comes back to. An error of the body says more.
            if kind is None and error.code not in LOST and error.code != "SHUTTING_DOWN":
                raise


def _call(listener: Callable[..., None], *arguments: Any) -> None:
    """Calls a listener. Its failure is a bug of the calling program, and does not concern the client."""
    try:
        listener(*arguments)
    except Exception as error:
        asyncio.get_running_loop().call_exception_handler({"message": "a listener has failed", "exception": error})


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
