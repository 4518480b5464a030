"""Runs shell commands through a shell-adapter daemon.

    with connect("http://127.0.0.1:8087") as client:
        print(client.run("ls").stdout)
"""

from ._client import AsyncClient, AsyncSession, connect_async
from ._errors import AdapterError, ConfirmationRequired
from ._results import Output, Result
from ._sessions import SessionEnd
from ._sync import Client, Session, connect

__all__ = [
    "AdapterError",
    "AsyncClient",
    "AsyncSession",
    "Client",
    "ConfirmationRequired",
    "Output",
    "Result",
    "Session",
    "SessionEnd",
    "connect",
    "connect_async",
]
