"""The client for programs without asyncio: the same client, in a thread with an event loop of its own."""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Coroutine, Iterator, Mapping, Sequence, TypeVar

from ._client import RECONNECT_TIMEOUT, STOP_PATIENCE, AsyncClient, AsyncSession, Confirm, Listener, StateListener, connect_async
from ._requests import Requests
from ._results import Output, Result
from ._sessions import SessionEnd

T = TypeVar("T")


class _Loop:
    """An event loop in a thread, and a thread for listeners: one that waits for an answer must not hold up the loop that brings it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="shell-adapter", daemon=True)
        self._thread.start()
        self._listening = ThreadPoolExecutor(1, "shell-adapter-listeners")
        self._listening_thread: threading.Thread | None = None

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Waits for a coroutine; an interrupt (Ctrl-C) cancels it, and waits until it has ended its command."""
        has_ended = threading.Event()

        async def tracked() -> T:
            try:
                return await work
            finally:
                has_ended.set()

        future = asyncio.run_coroutine_threadsafe(tracked(), self._loop)
        try:
            return future.result()
        except BaseException:
            if future.cancel():
                has_ended.wait(2 * STOP_PATIENCE)
            raise

    def call(self, listener: Callable[..., None], *arguments: Any) -> None:
        """Calls a listener after those before, in the thread for listeners."""
        self._listening.submit(self._call, listener, arguments)

    def _call(self, listener: Callable[..., None], arguments: Sequence[Any]) -> None:
        self._listening_thread = threading.current_thread()
        try:
            listener(*arguments)
        except Exception:
            logging.getLogger("shell_adapter").exception("a listener has failed")

    def close(self) -> None:
        """Ends the threads; harmless when they have ended."""
        if self._loop.is_closed():
            return
        # A listener may close its client.
        self._listening.shutdown(wait=threading.current_thread() is not self._listening_thread)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _iterate(loop: _Loop, items: Any) -> Iterator[Output | Result]:
    try:
        while True:
            try:
                yield loop.wait(items.__anext__())
            except StopAsyncIteration:
                return
    finally:
        loop.wait(items.aclose())


class Client:
    """A client of a daemon. `connect` makes one; `with` closes it. Threads may share it."""

    def __init__(self, loop: _Loop, client: AsyncClient) -> None:
        self._loop = loop
        self._client = client
        self.requests = Requests(self.request)
        """Every request of the protocol, with types: `client.requests.list_sessions()`."""

    def request(self, name: str, payload: Mapping[str, Any] | None = None) -> Any:
        """Makes a request of the protocol; gives its answer. Raises AdapterError."""
        return self._loop.wait(self._client.request(name, payload))

    def run(self, command: str, args: Sequence[str] | None = None, **fields: Any) -> Result:
        """Runs a command and gives its result; see `AsyncClient.run`."""
        return self._loop.wait(self._client.run(command, args, **fields))

    def stream(self, command: str, args: Sequence[str] | None = None, **fields: Any) -> Iterator[Output | Result]:
        """Runs a command; gives its output while it runs, byte for byte, and its Result at the end."""
        return _iterate(self._loop, self._client.stream(command, args, **fields))

    def open_session(self, **fields: Any) -> Session:
        """Opens a session; see `AsyncClient.open_session`."""
        return Session(self._loop, self._loop.wait(self._client.open_session(**fields)))

    def attach_session(self, session_id: str) -> Session:
        """Uses a session that is open already."""
        return Session(self._loop, self._loop.wait(self._client.attach_session(session_id)))

    def confirm(self, terms: Mapping[str, Any], justification: str) -> Result:
        """Confirms what `ConfirmationRequired.terms` describes; gives the result of the command."""
        return self._loop.wait(self._client.confirm(terms, justification))

    def on_event(self, listener: Listener) -> Callable[[], None]:
        """Calls a listener with each event; gives a function that ends this.

        Listeners are called one after another, in a thread of the client. They may make requests; later events wait meanwhile.
        """
        return self._client.on_event(lambda name, payload: self._loop.call(listener, name, payload))

    def on_connection(self, listener: StateListener) -> Callable[[], None]:
        """Calls a listener with each state of the connection, as `on_event`; see `AsyncClient.on_connection`."""
        return self._client.on_connection(lambda state: self._loop.call(listener, state))

    def close(self) -> None:
        """Ends the connection; harmless when it has ended."""
        if self._loop._loop.is_closed():
            return
        self._loop.wait(self._client.close())
        self._loop.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Session:
    """A persistent shell session: directory, variables and jobs stay from one command to the next."""

    def __init__(self, loop: _Loop, session: AsyncSession) -> None:
        self._loop = loop
        self._session = session

    @property
    def id(self) -> str:
        """Its id, for `attach_session`."""
        return self._session.id

    @property
    def end(self) -> SessionEnd | None:
        """Why it has ended; None while it is open."""
        return self._session.end

    @property
    def is_reachable(self) -> bool:
        """Whether the daemon reaches it; see `AsyncSession.is_reachable`."""
        return self._session.is_reachable

    def run(self, command: str, args: Sequence[str] | None = None, **fields: Any) -> Result:
        """Runs a command in this session, as `Client.run`."""
        return self._loop.wait(self._session.run(command, args, **fields))

    def stream(self, command: str, args: Sequence[str] | None = None, **fields: Any) -> Iterator[Output | Result]:
        """Runs a command in this session, as `Client.stream`."""
        return _iterate(self._loop, self._session.stream(command, args, **fields))

    def send_input(self, data: str, eof: bool = False) -> None:
        """Types into the terminal of the command that runs."""
        self._loop.wait(self._session.send_input(data, eof))

    def signal(self, name: str = "SIGINT") -> None:
        """Signals the command that runs; SIGINT is Ctrl-C."""
        self._loop.wait(self._session.signal(name))

    def detach(self) -> None:
        """Leaves the session open: its events come no more, and the end of a `with` does not close it."""
        self._loop.wait(self._session.detach())

    def close(self) -> None:
        """Ends the session and every process in it; harmless when it has ended."""
        self._loop.wait(self._session.close())

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.wait(self._session.__aexit__(*error))


def connect(
    url: str = "http://127.0.0.1:8087",
    token: str | None = None,
    *,
    confirm: Confirm | None = None,
    reconnect_timeout: float = RECONNECT_TIMEOUT,
) -> Client:
    """Connects to a daemon; see `connect_async` for the parameters."""
    loop = _Loop()
    try:
        client = loop.wait(connect_async(url, token, confirm=confirm, reconnect_timeout=reconnect_timeout))
    except BaseException:
        loop.close()
        raise
    return Client(loop, client)
