"""The connection to a daemon: requests and answers, and what happens when it breaks."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Literal, Mapping

try:
    import aiohttp  # noqa: F401 -- python-socketio connects with it, and without it says nothing for ten seconds
    import socketio
except ImportError as error:
    if error.name not in ("aiohttp", "socketio"):
        raise
    package = {"socketio": "python-socketio"}.get(error.name, error.name)
    hint = f"pip install {package}, or apt install python3-{error.name}"
    raise ImportError(f"shell_adapter needs {package}: {hint}", name=error.name) from error

from ._errors import AdapterError
from .models import REPEATABLE

Payload = Mapping[str, Any]
Listener = Callable[[str, Any], None]

FIRST_DELAY = 0.1
LONGEST_DELAY = 3.0
CONNECT_TIMEOUT = 10
REFUSALS = frozenset({"UNAUTHORIZED", "FORBIDDEN"})

State = Literal["connected", "lost", "restarted", "closed"]
"""`restarted` comes with another run of the daemon: the sessions and commands of the one before are gone."""


@dataclass(eq=False)
class _Pending:
    name: str
    payload: Payload
    answer: asyncio.Future[Any]

    @property
    def may_repeat(self) -> bool:
        """Whether the daemon does nothing twice when it gets this a second time."""
        if self.name == "execute_command":
            return "command_id" in self.payload
        if self.name == "send_input":
            return "offset" in self.payload
        return self.name in REPEATABLE


class Connection:
    """Sends requests; connects again by itself, and repeats what may be repeated."""

    def __init__(
        self,
        url: str,
        token: str | None,
        *,
        on_event: Listener,
        on_restored: Callable[[], Awaitable[None]],
        on_state: Callable[[State], None],
        reconnect_timeout: float,
    ) -> None:
        self._url = url
        self._auth = {} if token is None else {"token": token}
        self._on_event = on_event
        self._on_restored = on_restored
        self._on_state = on_state
        self.has_restarted = False
        """Whether another run of the daemon has answered since the first connection."""
        self._reconnect_timeout = reconnect_timeout
        self._pending: list[_Pending] = []
        self._ready = asyncio.Event()
        self._identity: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._instance_id: str | None = None
        self._refusal: AdapterError | None = None
        self._closed: AdapterError | None = None
        self._recovery: asyncio.Task[None] | None = None
        self._sio: socketio.AsyncClient | None = None
        # The event loop itself keeps no tasks alive.
        self._sending: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Connects. Raises AdapterError with the reason of the daemon, or CONNECTION_FAILED."""
        await self._connect()
        self._ready.set()

    async def request(self, name: str, payload: Payload) -> Any:
        """Makes a request; gives its answer. Raises AdapterError."""
        await self._until_ready()
        pending = self._add(name, payload)
        try:
            await self._send(pending)
            return await pending.answer
        finally:
            self._drop(pending)

    async def request_at_once(self, name: str, payload: Payload) -> Any:
        """Makes a request while the connection is being restored, and may be lost again without notice."""
        pending = self._add(name, payload)
        try:
            await self._send(pending)
            return await asyncio.wait_for(pending.answer, CONNECT_TIMEOUT)
        except asyncio.TimeoutError as error:
            raise AdapterError("CONNECTION_FAILED", f"{name} was not answered") from error
        finally:
            self._drop(pending)

    async def close(self) -> None:
        """Ends the connection; harmless when it has ended."""
        self._end(AdapterError("CLIENT_CLOSED", "the client was closed"))
        if self._recovery and self._recovery is not asyncio.current_task():
            self._recovery.cancel()
            await asyncio.wait({self._recovery})
        await self._discard()

    async def _connect(self) -> None:
        self._refusal = None
        self._identity = asyncio.get_running_loop().create_future()
        # Its own reconnects know neither of sessions nor of requests under way.
        sio = socketio.AsyncClient(reconnection=False)
        sio.on("*", self._take_event)
        sio.on("connect_error", self._take_refusal)
        sio.on("disconnect", lambda *_: self._lose(sio))
        await self._discard()
        self._sio = sio
        try:
            connecting = sio.connect(self._url, auth=self._auth, transports=["websocket"], wait=False)
            await asyncio.wait_for(connecting, CONNECT_TIMEOUT)
            # By the first event of every connection.
            instance_id = await asyncio.wait_for(self._identity, CONNECT_TIMEOUT)
        except AdapterError:
            await self._discard()
            raise
        except (socketio.exceptions.ConnectionError, asyncio.TimeoutError) as error:
            await self._discard()
            raise AdapterError("CONNECTION_FAILED", f"no daemon answers at {self._url}: {_reason(error)}") from error
        is_new = self._instance_id not in (None, instance_id)
        self._instance_id = instance_id
        if is_new:
            # Another run of the daemon knows nothing of what was asked before.
            self.has_restarted = True
            self._fail(lambda _: True, "the daemon was restarted", details={"restarted": True})
            self._on_state("restarted")

    async def _discard(self) -> None:
        """Closes the connection before, and what is left of it."""
        sio, self._sio = self._sio, None
        if not sio:
            return
        await sio.disconnect()
        if sio.eio.http and not sio.eio.http.closed:
            await sio.eio.http.close()

    async def _until_ready(self) -> None:
        await self._ready.wait()
        if self._closed:
            raise self._closed

    def _add(self, name: str, payload: Payload) -> _Pending:
        pending = _Pending(name, payload, asyncio.get_running_loop().create_future())
        self._pending.append(pending)
        return pending

    def _drop(self, pending: _Pending) -> None:
        if pending in self._pending:
            self._pending.remove(pending)

    async def _send(self, pending: _Pending) -> None:
        def take(reply: Any = None, *_: Any) -> None:
            if pending.answer.done():
                return
            if isinstance(reply, dict) and "error" in reply:
                error = AdapterError.of(reply["error"])
                if error.code == "NODE_LOST" and error.details.get("retry_safe") is True and pending.may_repeat:
                    self._send_again(pending)
                else:
                    pending.answer.set_exception(error)
            else:
                pending.answer.set_result(reply)

        sio = self._sio
        try:
            if sio:
                await sio.emit(pending.name, dict(pending.payload), callback=take)
        except socketio.exceptions.SocketIOError:
            # It is repeated, or has failed, when the loss of the connection is noticed.
            self._lose(sio)

    def _send_again(self, pending: _Pending) -> None:
        """Repeats what a node of a cluster has not done; what is not ready is sent after the next connection."""
        if self._ready.is_set():
            task = asyncio.ensure_future(self._send(pending))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    def _take_event(self, name: str, payload: Any = None) -> None:
        if name == "daemon_info" and not self._identity.done():
            self._identity.set_result(str(payload.get("instance_id")))
        if name == "access_ended":
            self._refusal = AdapterError("UNAUTHORIZED", str(payload.get("message")))
        self._on_event(name, payload)

    def _take_refusal(self, error: Any = None) -> None:
        body = error.get("data") if isinstance(error, dict) else None
        if isinstance(body, dict) and not self._identity.done():
            self._identity.set_exception(AdapterError.of(body))

    def _lose(self, sio: socketio.AsyncClient | None) -> None:
        if self._closed or not self._ready.is_set() or sio is not self._sio:
            return
        self._ready.clear()
        self._fail(lambda pending: not pending.may_repeat, "the connection was lost; it may have been carried out")
        self._on_state("lost")
        self._recovery = asyncio.ensure_future(self._recover())

    async def _recover(self) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._reconnect_timeout
        delay = FIRST_DELAY
        while True:
            try:
                if self._refusal and self._refusal.code in REFUSALS:
                    raise self._refusal
                await self._connect()
                await self._on_restored()
                break
            except AdapterError as error:
                if error.code in REFUSALS or loop.time() + delay > deadline:
                    self._end(error)
                    return
            except Exception as error:
                self._end(AdapterError("CONNECTION_FAILED", _reason(error)))
                raise
            await asyncio.sleep(delay)
            delay = min(delay * 2, LONGEST_DELAY)
        self._ready.set()
        if not (self._sio and self._sio.connected):
            self._lose(self._sio)
            return
        self._on_state("connected")
        for pending in list(self._pending):
            await self._send(pending)

    def _end(self, why: AdapterError) -> None:
        is_first, self._closed = self._closed is None, self._closed or why
        self._ready.set()
        self._fail(lambda _: True, why.message, why.code)
        if is_first:
            self._on_state("closed")

    def _fail(
        self,
        concerns: Callable[[_Pending], bool],
        why: str,
        code: str = "CONNECTION_LOST",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        for pending in self._pending:
            if concerns(pending) and not pending.answer.done():
                pending.answer.set_exception(AdapterError(code, f"{pending.name}: {why}", details))


def _reason(error: Exception) -> str:
    """What an error says, or its kind if it says nothing."""
    if isinstance(error, asyncio.TimeoutError):
        return f"what listens there has not answered like a daemon within {CONNECT_TIMEOUT} seconds"
    return str(error) or type(error).__name__
