"""Errors of the client."""

from __future__ import annotations

from typing import Any, Literal, Mapping

from .models import RETRY

Retry = Literal["later", "changed", "check"]

CLIENT_RETRY: Mapping[str, Retry] = {
    "CONNECTION_FAILED": "later",
    "CONNECTION_LOST": "check",
    "CLIENT_CLOSED": "check",
    "CONFIRMATION_REQUIRED": "changed",
}


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

    @property
    def retry(self) -> Retry:
        """Whether the same request may be sent again.

        `later`: nothing was done, and it may succeed later. `changed`: nothing was done, and it fails again as it is.
        `check`: something may have been done; look first.
        """
        if self.details.get("retry_safe") is True:
            return "later"
        retry: Retry = RETRY.get(self.code) or CLIENT_RETRY.get(self.code, "check")
        return retry

    @property
    def may_have_run(self) -> bool:
        """Whether what was asked for may have been done, or a part of it."""
        return bool(self.details.get("maybe_executed", self.retry == "check"))

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
