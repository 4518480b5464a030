"""Errors of the client."""

from __future__ import annotations

from typing import Any, Mapping


class AdapterError(Exception):
    """An error of the daemon, or of the connection to it.

    `code` is one of the daemon's (`models.ErrorCode`), or of the client's own: `CONNECTION_FAILED`, `CONNECTION_LOST`,
    `CLIENT_CLOSED` and `CONFIRMATION_REQUIRED`.
    """

    def __init__(self, code: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.details: Mapping[str, Any] = details or {}

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> AdapterError:
        """The error of an answer."""
        return cls(str(body.get("code", "INTERNAL")), str(body.get("message", "")), body.get("details"))


class ConfirmationRequired(AdapterError):
    """Nothing was run: the command has to be confirmed first. `terms` says what, why and by whom."""

    def __init__(self, terms: Mapping[str, Any]) -> None:
        reasons = "; ".join(terms.get("reasons", []))
        super().__init__("CONFIRMATION_REQUIRED", f"it has to be confirmed first: {reasons}", terms)
        self.terms = terms
