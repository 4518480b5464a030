"""Types of all requests, answers and events of the protocol."""

# Generated from src/core/protocol by `npm run docs`. Change it there.

from __future__ import annotations

from typing import Any, Literal, Mapping, NotRequired, TypedDict

ErrorCode = Literal[
    "INVALID_REQUEST",
    "UNKNOWN_REQUEST",
    "METHOD_NOT_ALLOWED",
    "IDEMPOTENCY_KEY_REUSED",
    "SESSION_NOT_FOUND",
    "COMMAND_NOT_FOUND",
    "SESSION_BUSY",
    "SESSION_LIMIT",
    "NO_RUNNING_COMMAND",
    "INPUT_FULL",
    "SHELL_NOT_FOUND",
    "SHELL_FAILED",
    "COMMAND_DENIED",
    "CONFIRMATION_NOT_FOUND",
    "CONFIRMATION_MISMATCH",
    "APPROVAL_NOT_FOUND",
    "APPROVALS_UNAVAILABLE",
    "SANDBOX_UNAVAILABLE",
    "USER_UNAVAILABLE",
    "BAD_DIRECTORY",
    "OUTPUT_EXPIRED",
    "RESOURCE_EXHAUSTED",
    "RECORDING_NOT_FOUND",
    "CHECKPOINT_NOT_FOUND",
    "CHECKPOINT_TOO_LARGE",
    "CHECKPOINT_FAILED",
    "RESTORE_FAILED",
    "GIT_NOT_FOUND",
    "PAYLOAD_TOO_LARGE",
    "UNAUTHORIZED",
    "FORBIDDEN",
    "RATE_LIMITED",
    "FILE_NOT_FOUND",
    "FILE_EXISTS",
    "FILE_CHANGED",
    "FILE_ACCESS_DENIED",
    "FILE_TOO_LARGE",
    "FILE_FAILED",
    "NOT_A_FILE",
    "NOT_A_DIRECTORY",
    "DIRECTORY_NOT_EMPTY",
    "NOT_TEXT",
    "TEXT_NOT_FOUND",
    "TEXT_NOT_UNIQUE",
    "DISK_FULL",
    "PORT_NOT_FOUND",
    "PORT_UNAVAILABLE",
    "PORT_UNREACHABLE",
    "PROVIDER_NOT_FOUND",
    "LLM_UNAVAILABLE",
    "LLM_AUTH",
    "LLM_RATE_LIMITED",
    "LLM_MODEL_NOT_FOUND",
    "LLM_PROMPT_TOO_LARGE",
    "LLM_TIMEOUT",
    "LLM_LIMIT_EXCEEDED",
    "LLM_EMPTY",
    "LLM_FAILED",
    "LLM_CANCELLED",
    "NODE_LOST",
    "NODE_UNREACHABLE",
    "NODE_DRAINING",
    "NO_CAPACITY",
    "REGISTRY_UNAVAILABLE",
    "SHUTTING_DOWN",
    "INTERNAL",
]
"""Codes of errors."""

RETRY: Mapping[str, Literal["later", "changed", "check"]] = {
    "INVALID_REQUEST": "changed",
    "UNKNOWN_REQUEST": "changed",
    "METHOD_NOT_ALLOWED": "changed",
    "IDEMPOTENCY_KEY_REUSED": "changed",
    "SESSION_NOT_FOUND": "changed",
    "COMMAND_NOT_FOUND": "check",
    "SESSION_BUSY": "later",
    "SESSION_LIMIT": "later",
    "NO_RUNNING_COMMAND": "changed",
    "INPUT_FULL": "later",
    "SHELL_NOT_FOUND": "changed",
    "SHELL_FAILED": "later",
    "COMMAND_DENIED": "changed",
    "CONFIRMATION_NOT_FOUND": "changed",
    "CONFIRMATION_MISMATCH": "changed",
    "APPROVAL_NOT_FOUND": "changed",
    "APPROVALS_UNAVAILABLE": "changed",
    "SANDBOX_UNAVAILABLE": "changed",
    "USER_UNAVAILABLE": "changed",
    "BAD_DIRECTORY": "changed",
    "OUTPUT_EXPIRED": "changed",
    "RESOURCE_EXHAUSTED": "later",
    "RECORDING_NOT_FOUND": "changed",
    "CHECKPOINT_NOT_FOUND": "changed",
    "CHECKPOINT_TOO_LARGE": "changed",
    "CHECKPOINT_FAILED": "later",
    "RESTORE_FAILED": "check",
    "GIT_NOT_FOUND": "changed",
    "PAYLOAD_TOO_LARGE": "changed",
    "UNAUTHORIZED": "changed",
    "FORBIDDEN": "changed",
    "RATE_LIMITED": "later",
    "FILE_NOT_FOUND": "changed",
    "FILE_EXISTS": "changed",
    "FILE_CHANGED": "changed",
    "FILE_ACCESS_DENIED": "changed",
    "FILE_TOO_LARGE": "changed",
    "FILE_FAILED": "check",
    "NOT_A_FILE": "changed",
    "NOT_A_DIRECTORY": "changed",
    "DIRECTORY_NOT_EMPTY": "changed",
    "NOT_TEXT": "changed",
    "TEXT_NOT_FOUND": "changed",
    "TEXT_NOT_UNIQUE": "changed",
    "DISK_FULL": "changed",
    "PORT_NOT_FOUND": "later",
    "PORT_UNAVAILABLE": "changed",
    "PORT_UNREACHABLE": "check",
    "PROVIDER_NOT_FOUND": "changed",
    "LLM_UNAVAILABLE": "changed",
    "LLM_AUTH": "changed",
    "LLM_RATE_LIMITED": "later",
    "LLM_MODEL_NOT_FOUND": "changed",
    "LLM_PROMPT_TOO_LARGE": "changed",
    "LLM_TIMEOUT": "check",
    "LLM_LIMIT_EXCEEDED": "check",
    "LLM_EMPTY": "check",
    "LLM_FAILED": "check",
    "LLM_CANCELLED": "check",
    "NODE_LOST": "check",
    "NODE_UNREACHABLE": "later",
    "NODE_DRAINING": "later",
    "NO_CAPACITY": "later",
    "REGISTRY_UNAVAILABLE": "later",
    "SHUTTING_DOWN": "later",
    "INTERNAL": "check",
}
"""Whether a request that failed so may be sent again: see AdapterError.retry."""

REPEATABLE = frozenset(
    {
        "list_sessions",
        "get_session",
        "attach_session",
        "detach_session",
        "watch_resources",
        "check_command",
        "wait_command",
        "read_output",
        "search_output",
        "list_commands",
        "read_screen",
        "resize_terminal",
        "list_confirmations",
        "list_remembered_approvals",
        "list_recordings",
        "read_recording",
        "list_checkpoints",
        "diff_workspace",
        "read_file",
        "list_directory",
        "stat_path",
        "find_files",
        "search_files",
        "wait_for",
        "list_ports",
        "preview_port",
        "cancel_llm",
        "list_llm_calls",
        "list_llm_providers",
        "read_audit",
        "verify_audit",
        "list_tokens",
        "daemon_status",
        "examine_machine",
        "shell_metadata",
        "describe_access",
        "subscribe",
        "host_history",
        "list_nodes",
    }
)
"""Requests that may be sent again when their delivery is unknown."""


class CommandResultLimit(TypedDict):
    resource: Literal["cpu_percent", "cpu_seconds", "memory_mb", "processes", "disk_mb", "disk_free_mb"]
    """Which limit; `disk_free_mb` is the free space that the daemon keeps"""
    limit: float
    """In the unit of its name"""
    observed: float
    """Likewise. Where the kernel keeps a limit, never more than that"""
    peak: float
    """The most that was used, likewise"""
    killed_pids: list[int]
    """Processes that were killed for it, by the numbers that commands see; of those that the kernel killed, the ones
    that are known"""


class CommandResultWarnings(TypedDict):
    code: str
    """Stable name of the warning, see [Warnings](warnings.md)"""
    message: str
    """What happened and what to do"""


class CommandResultFile(TypedDict):
    """Of a request about files that was confirmed: its answer"""


class CommandResultRemembered(TypedDict):
    """In the answer to an approval with `remember`: the approval that is remembered"""
    id: str
    """Id of a remembered approval"""
    scope: Literal["session", "hour", "always"]
    """`session` until the session ends, `hour` for 60 minutes, `always` until it is revoked"""
    pattern: str
    """What is covered; `DIRECTORY/*.EXTENSION` stands for any file of that kind there"""
    expires_at: str | None
    """Null when no time is set"""


CommandResult = TypedDict(
    "CommandResult",
    {
        "stdout": "str",
        "stderr": "str",
        "exit_code": "int | None",
        "original_stdout_size": "int",
        "original_stderr_size": "int",
        "original_stdout_lines": "NotRequired[int]",
        "original_stderr_lines": "NotRequired[int]",
        "command_id": "str",
        "session_id": "str | None",
        "status": "Literal['running', 'completed', 'timed_out', 'interrupted', 'killed', 'confirmation_required', 'denied']",
        "signal": "str | None",
        "timed_out": "bool",
        "killed_by": "Literal['timeout', 'memory', 'cpu', 'processes', 'disk', 'signal', 'client', 'shutdown'] | None",
        "limit": "CommandResultLimit | None",
        "resource_usage": "ResourceUse",
        "duration_ms": "float",
        "working_directory": "str | None",
        "stdout_truncated": "bool",
        "stderr_truncated": "bool",
        "stdout_bytes": "int",
        "stderr_bytes": "int",
        "encoding": "Literal['utf8', 'base64']",
        "lossy": "bool",
        "session_state": "Literal['alive', 'restarted', 'closed'] | None",
        "background_processes": "list[ProcessInfo]",
        "survivors": "NotRequired[list[ProcessInfo]]",
        "spool_error": "NotRequired[str]",
        "warnings": "list[CommandResultWarnings]",
        "checkpoint_id": "NotRequired[str]",
        "accepted_bytes": "NotRequired[int]",
        "restored": "NotRequired[RestoreWorkspaceAnswer]",
        "file": "NotRequired[CommandResultFile]",
        "remembered": "NotRequired[CommandResultRemembered]",
        "confirmation_id": "NotRequired[str]",
        "class": "NotRequired[Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']]",
        "reasons": "NotRequired[list[str]]",
        "commands": "NotRequired[list[JudgedCommand]]",
        "command_sha256": "NotRequired[str]",
        "expires_at": "NotRequired[str]",
        "requires": "NotRequired[Literal['self', 'llm', 'operator']]",
    },
)


class CommandInfoLimit(TypedDict):
    resource: Literal["cpu_percent", "cpu_seconds", "memory_mb", "processes", "disk_mb", "disk_free_mb"]
    """Which limit; `disk_free_mb` is the free space that the daemon keeps"""
    limit: float
    """In the unit of its name"""
    observed: float
    """Likewise. Where the kernel keeps a limit, never more than that"""
    peak: float
    """The most that was used, likewise"""
    killed_pids: list[int]
    """Processes that were killed for it, by the numbers that commands see; of those that the kernel killed, the ones
    that are known"""


class CommandInfoWarnings(TypedDict):
    code: str
    """Stable name of the warning, see [Warnings](warnings.md)"""
    message: str
    """What happened and what to do"""


CommandInfo = TypedDict(
    "CommandInfo",
    {
        "command_id": "str",
        "session_id": "str | None",
        "node": "NotRequired[str]",
        "owner": "str",
        "command": "str",
        "args": "NotRequired[list[str]]",
        "state": "Literal['queued', 'running', 'ended']",
        "status": "Literal['running', 'completed', 'timed_out', 'interrupted', 'killed', 'confirmation_required', 'denied']",
        "exit_code": "int | None",
        "signal": "str | None",
        "killed_by": "Literal['timeout', 'memory', 'cpu', 'processes', 'disk', 'signal', 'client', 'shutdown'] | None",
        "limit": "CommandInfoLimit | None",
        "accepted_at": "str",
        "started_at": "str | None",
        "ended_at": "str | None",
        "duration_ms": "float",
        "working_directory": "str | None",
        "stdout_bytes": "int",
        "stderr_bytes": "int",
        "tty": "bool",
        "class": "NotRequired[Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']]",
        "confirmation_id": "NotRequired[str]",
        "checkpoint_id": "NotRequired[str]",
        "resource_usage": "ResourceUse",
        "warnings": "list[CommandInfoWarnings]",
    },
)


Confirmation = TypedDict(
    "Confirmation",
    {
        "confirmation_id": "str",
        "class": "Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']",
        "reasons": "list[str]",
        "commands": "list[JudgedCommand]",
        "command_sha256": "str",
        "expires_at": "str",
        "requires": "Literal['self', 'llm', 'operator']",
        "kind": "Literal['command', 'input', 'restore', 'file']",
        "command": "str",
        "args": "NotRequired[list[str]]",
        "env": "NotRequired[dict[str, str]]",
        "stdin": "NotRequired[str]",
        "working_directory": "str",
        "command_id": "str",
        "node": "NotRequired[str]",
        "session_id": "str | None",
        "session_label": "str | None",
        "requested_by": "str",
        "requested_at": "str",
        "may_decide": "bool",
        "server_time": "str",
        "diff_base": "str | None",
    },
)


JudgedCommand = TypedDict(
    "JudgedCommand",
    {
        "command": "str",
        "program": "str | None",
        "action": "Literal['allow', 'checkpoint', 'confirm', 'deny']",
        "class": "Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']",
        "reasons": "list[str]",
    },
)


class SessionRunningCommand(TypedDict):
    command_id: str
    """Id of a command"""
    command: str
    started_at: str
    tty: bool
    """Whether it was started with `tty`: its output comes as a terminal gets it"""


class SessionLimits(TypedDict):
    """What the processes may use together; null is no limit"""
    cpu_percent: float | None
    cpu_seconds: float | None
    memory_mb: float | None
    processes: int | None
    disk_mb: float | None


class SessionUsage(TypedDict):
    cpu_percent: float
    """Of one core"""
    memory_bytes: int
    processes: int
    """Processes and threads, the shell included"""
    written_bytes: int
    """Written to disks since something began to run in the session"""
    at: str


class SessionPeaks(TypedDict):
    """The most that was seen since it was opened; 0 if nothing was seen"""
    cpu_percent: float
    """Of one core"""
    memory_bytes: int
    processes: int
    """Processes and threads, the shell included"""
    written_bytes: int
    """Written to disks since something began to run in the session"""


class SessionWarnings(TypedDict):
    code: str
    """Stable name of the warning, see [Warnings](warnings.md)"""
    message: str
    """What happened and what to do"""
    since: str


class Session(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""
    node: NotRequired[str]
    """Name of the node of a cluster that it runs on; left out by a daemon alone"""
    owner: str
    """Name of the token that it belongs to; `local` for clients without one"""
    run_as: NotRequired[str]
    """User as which its processes run; left out for the user of the daemon"""
    label: str | None
    shell: str
    """bash, zsh, sh, fish or pwsh (untested)"""
    sandbox: Literal["none", "workspace", "strict"]
    """`none`, `workspace` (the machine read-only, the workspace writable) or `strict` (and no network)"""
    state: Literal["idle", "busy"]
    working_directory: str
    created_at: str
    last_used_at: str
    expires_at: str
    """When it ends unless something happens until then: the earliest of its bounds"""
    expires_reason: Literal["lifetime", "idle", "disconnected"]
    """Which bound that is: `lifetime` (`session_max_lifetime`), `idle` (`session_idle_timeout`) or `disconnected`
    (`reconnect_grace`)"""
    keep_while: Literal["connected", "used"]
    """What keeps it open"""
    cols: int
    rows: int
    running_command: SessionRunningCommand | None
    queued_commands: int
    next_seq: int
    """`seq` of the next `command_output`"""
    restarts: int
    """How often the shell was replaced"""
    attached_clients: int
    background_processes: list[ProcessInfo]
    limits: SessionLimits
    """What the processes may use together; null is no limit"""
    usage: SessionUsage | None
    """What its processes used when they were looked at last; null while nothing runs in it for long"""
    peaks: SessionPeaks
    """The most that was seen since it was opened; 0 if nothing was seen"""
    warnings: list[SessionWarnings]
    """States that hold now and in which commands will fail; see `health_warning`"""
    last_command: CommandInfo | None
    """The last command that has ended"""
    observers: int
    """Clients that observe it, see `max_bytes_per_second` of `attach_session`"""
    recording_id: str | None
    """Null unless it is recorded"""


class Checkpoint(TypedDict):
    checkpoint_id: str
    """Id of a checkpoint, from `checkpoint_workspace`"""
    kind: Literal["requested", "before_restore", "before_command"]
    """Whether a client asked for it, or what it was made before"""
    label: str | None
    created_at: str
    files: int
    """Files and symbolic links in it"""
    bytes: int
    """Size of their contents together"""


class HostUsage(TypedDict):
    at: str
    cpu_percent: float | None
    """Of all CPUs together, 0 to 100, since the entry before; null in the first one"""
    load1: float
    """Load average of the last minute"""
    memory_used_bytes: int
    """Without what the kernel can free, such as cached files"""
    disk_used_bytes: int | None
    """On the file system of the workspace"""
    net_rx_bytes_s: float | None
    """Received by all interfaces but the loopback, in bytes per second; null in the first entry"""
    net_tx_bytes_s: float | None
    """Sent, likewise"""
    sessions: int
    """Open sessions"""
    commands_running: int
    """Running commands, with and without a session"""
    daemon_rss_bytes: int
    """Resident memory of the daemon itself"""


class ProcessInfo(TypedDict):
    pid: int
    """Process id"""
    command: str
    """Command line, at most 200 characters"""


class ResourceUse(TypedDict):
    cpu_ms: float | None
    """CPU time of all that ran in its session while it did"""
    peak_memory_bytes: int | None
    """The most that was seen; null for a command too short to be looked at"""
    peak_processes: int | None
    """Processes and threads, the shell included; likewise"""
    written_bytes: int | None
    """Written to disks, approximately: what samples have shown since its start; null where that is not known"""


class OpenSessionRequestPlacement(TypedDict):
    """Where in a [cluster](../operate/cluster.md); by default on the node with the least load"""
    node: NotRequired[str]
    """On this node only"""
    labels: NotRequired[dict[str, str]]
    """Only on a node that has all these labels"""


class OpenSessionRequestLimits(TypedDict):
    """Limits for this session, lower than the configured ones"""
    cpu_percent: NotRequired[float]
    """Of one core, on the average over `cpu_window`"""
    cpu_seconds: NotRequired[float]
    """CPU time"""
    memory_mb: NotRequired[float]
    """Memory in MB; files in memory count, cached ones do not"""
    processes: NotRequired[int]
    """Processes and threads, the shell included"""
    disk_mb: NotRequired[float]
    """MB written to disks"""


class OpenSessionRequest(TypedDict):
    placement: NotRequired[OpenSessionRequestPlacement]
    """Where in a [cluster](../operate/cluster.md); by default on the node with the least load"""
    cwd: NotRequired[str]
    """A directory: absolute, or relative to the current one"""
    env: NotRequired[dict[str, str]]
    """Environment variables, name to value"""
    shell: NotRequired[str]
    """bash, zsh, sh, fish, or pwsh (untested), or the path of one"""
    label: NotRequired[str]
    """A name for people"""
    sandbox: NotRequired[Literal["none", "workspace", "strict"]]
    """Sandbox profile: the configured one (`sandbox.profile`) by default, or a stricter one"""
    cols: NotRequired[int]
    """Terminal width; 200 by default"""
    rows: NotRequired[int]
    """Terminal height; 50 by default"""
    limits: NotRequired[OpenSessionRequestLimits]
    """Limits for this session, lower than the configured ones"""
    login: NotRequired[bool]
    """Whether it reads the startup files of a login shell first; no by default"""
    rcfile: NotRequired[str]
    """A file that it reads first, such as `~/.bashrc`; relative to its directory"""
    environment: NotRequired[str]
    """The name of an environment of the configuration, whose `init` it runs first"""
    keep_while: NotRequired[Literal["connected", "used"]]
    """What keeps it open: `connected`, a client that is connected to it (`reconnect_grace`), or `used`, commands
    alone (`session_idle_timeout`). By default `connected` for clients with a connection that lasts, and `used`
    over HTTP and MCP"""
    record: NotRequired[bool]
    """Whether to record it: output and typed input with their times. `false` does not switch off what
    `recording.roles` demands"""


class OpenSessionAnswerLimits(TypedDict):
    """What the processes may use together; null is no limit"""
    cpu_percent: float | None
    cpu_seconds: float | None
    memory_mb: float | None
    processes: int | None
    disk_mb: float | None


class OpenSessionAnswer(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""
    shell: str
    working_directory: str
    expires_at: str
    """When it ends unless something happens until then: the earliest of its bounds"""
    expires_reason: Literal["lifetime", "idle", "disconnected"]
    """Which bound that is: `lifetime` (`session_max_lifetime`), `idle` (`session_idle_timeout`) or `disconnected`
    (`reconnect_grace`)"""
    sandbox: Literal["none", "workspace", "strict"]
    """The sandbox that it is in: less than what is configured where that does not work"""
    limits: OpenSessionAnswerLimits
    """What the processes may use together; null is no limit"""
    recording_id: str | None
    """Null unless it is recorded"""
    startup: NotRequired[CommandResult]
    """What its startup has done: `login`, `rcfile` and `environment`"""


class CloseSessionRequest(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""


class CloseSessionAnswer(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""


class ListSessionsRequest(TypedDict):
    pass


class ListSessionsAnswerUnreachable(TypedDict):
    node: str
    """Name of a node: 1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends"""
    code: str


class ListSessionsAnswer(TypedDict):
    sessions: list[Session]
    unreachable: NotRequired[list[ListSessionsAnswerUnreachable]]
    """Of a [cluster](../operate/cluster.md): nodes that have not answered, whose entries are missing; left out if
    there are none"""


class GetSessionRequest(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""


class ResetSessionRequest(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""
    cwd: NotRequired[str]
    """By default where the session was opened"""
    env: NotRequired[dict[str, str]]
    """By default what the session was opened with"""


class ResetSessionAnswer(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""
    shell: str
    working_directory: str
    startup: NotRequired[CommandResult]
    """What its startup has done, which is repeated"""


class AttachSessionRequest(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""
    from_seq: NotRequired[int]
    """First event wanted; by default only what comes from now on"""
    max_bytes_per_second: NotRequired[int]
    """Observe only: commands never wait for this client, and output above the rate is skipped, oldest first, with
    `output_gap` events. Observers have sequence numbers of their own. By default it gets all output, and commands
    wait for it"""


class AttachSessionAnswerGap(TypedDict):
    from_seq: int
    to_seq: int


class AttachSessionAnswer(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""
    next_seq: int
    """`seq` of the next event"""
    replayed: int
    """How many events were sent again; 0 for an observer, which gets them after the answer"""
    gap: AttachSessionAnswerGap | None
    """The wanted events that are no longer kept, both ends included"""


class DetachSessionRequest(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""


class DetachSessionAnswer(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""


class WatchResourcesRequest(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""
    interval_ms: int
    """Between two events at least; 0 ends it"""


class WatchResourcesAnswer(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""
    interval_ms: int


class ExecuteCommandRequestOutput(TypedDict):
    """How output is returned; the defaults are the configuration’s"""
    max_size: NotRequired[int]
    """Most characters of each stream in the result"""
    begin_size: NotRequired[int]
    """Characters kept from the beginning of a longer output"""
    end_size: NotRequired[int]
    """Characters kept from its end"""
    max_lines: NotRequired[int]
    """Most lines; by default `begin_lines` and `end_lines` together"""
    begin_lines: NotRequired[int]
    """Lines kept from the beginning of a longer output"""
    end_lines: NotRequired[int]
    """Lines kept from its end"""
    max_line_length: NotRequired[int]
    """Characters after which a line is cut and ends in `…`"""
    encoding: NotRequired[Literal["utf8", "base64"]]
    """`base64` gives the exact bytes"""
    strip_ansi: NotRequired[bool]
    """Leave out ANSI escape sequences"""
    collapse_cr: NotRequired[bool]
    """Show lines overwritten by carriage returns as they end up"""
    merge: NotRequired[bool]
    """Give both streams one pipe: everything is stdout, in the exact order in which it was written"""


class ExecuteCommandRequestLimits(TypedDict):
    """Limits for this command, lower than those of its session"""
    cpu_percent: NotRequired[float]
    """Of one core, on the average over `cpu_window`"""
    cpu_seconds: NotRequired[float]
    """CPU time"""
    memory_mb: NotRequired[float]
    """Memory in MB; files in memory count, cached ones do not"""
    processes: NotRequired[int]
    """Processes and threads, the shell included"""
    disk_mb: NotRequired[float]
    """MB written to disks"""


class ExecuteCommandRequest(TypedDict):
    command: str
    """Shell text; with `args`, the program to run"""
    session_id: NotRequired[str]
    """Id of a session, from `open_session`"""
    args: NotRequired[list[str]]
    """Run `command` as a program with exactly these arguments, without shell parsing"""
    cwd: NotRequired[str]
    """Directory for this command alone"""
    env: NotRequired[dict[str, str]]
    """Variables for this command alone"""
    stdin: NotRequired[str]
    """Text on standard input; by default the terminal, for one-shots nothing"""
    stdin_stream: NotRequired[bool]
    """Standard input is a pipe that `send_input` feeds under this `command_id`, which is required; see [Streamed
    input](#streamed-input)"""
    timeout_ms: NotRequired[int]
    """Most time the command may take: by default `command_timeout` of the configuration, at most
    `command_max_lifetime`"""
    no_output_timeout_ms: NotRequired[int]
    """Most time it may take without printing anything"""
    tty: NotRequired[bool]
    """Put stdout and stderr on the terminal; both come back as stdout"""
    stream: NotRequired[bool]
    """Send `command_output` events while it runs"""
    background: NotRequired[bool]
    """Answer at once with `status: "running"`"""
    output: NotRequired[ExecuteCommandRequestOutput]
    """How output is returned; the defaults are the configuration’s"""
    limits: NotRequired[ExecuteCommandRequestLimits]
    """Limits for this command, lower than those of its session"""
    sandbox: NotRequired[Literal["none", "workspace", "strict"]]
    """Sandbox profile of a command without a session; a session keeps its own"""
    command_id: NotRequired[str]
    """Chosen by the client, it makes a repeated request idempotent"""


class CheckCommandRequest(TypedDict):
    command: str
    """As in `execute_command`"""
    args: NotRequired[list[str]]
    """As in `execute_command`"""
    stdin_stream: NotRequired[bool]
    """As in `execute_command`"""
    session_id: NotRequired[str]
    """Where it would run: its directory, aliases and functions count"""
    cwd: NotRequired[str]
    """Directory for this command alone; it need not exist"""


CheckCommandAnswer = TypedDict(
    "CheckCommandAnswer",
    {
        "action": "Literal['allow', 'checkpoint', 'confirm', 'deny']",
        "class": "Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']",
        "reasons": "list[str]",
        "commands": "list[JudgedCommand]",
        "enforced": "bool",
    },
)


class SignalCommandRequest(TypedDict):
    session_id: NotRequired[str]
    """Id of a session, from `open_session`"""
    command_id: NotRequired[str]
    """Id of a command"""
    signal: Literal["SIGINT", "SIGTERM", "SIGKILL", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGTSTP", "SIGSTOP", "SIGCONT", "SIGWINCH", "SIGABRT", "SIGALRM", "SIGCHLD", "SIGPIPE", "SIGPROF", "SIGTRAP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGVTALRM", "SIGXCPU", "SIGXFSZ"]
    """Name of a signal; SIGINT is Ctrl-C"""


class SignalCommandAnswer(TypedDict):
    signalled: list[ProcessInfo]
    """Those that got it. A shell that ignores SIGINT goes on with its next program, even when SIGKILL ends one:
    `reset_session` ends it"""


class WaitCommandRequest(TypedDict):
    command_id: str
    """Id of a command"""
    session_id: NotRequired[str]
    """The session of the command: with that of another one, there is no such command. In a cluster, a command whose
    id a client has chosen is asked of the node of its session alone"""
    timeout_ms: NotRequired[int]
    """How long to wait; 0 asks without waiting; by default until the end"""


class ReadOutputRequest(TypedDict):
    command_id: str
    """Id of a command"""
    session_id: NotRequired[str]
    """The session of the command: with that of another one, there is no such command. In a cluster, a command whose
    id a client has chosen is asked of the node of its session alone"""
    stream: NotRequired[Literal["stdout", "stderr"]]
    """stdout by default"""
    offset: NotRequired[int]
    """In bytes; 0 by default. Lines are counted from there"""
    length: NotRequired[int]
    """Most bytes; 65536 by default"""
    from_line: NotRequired[int]
    """Begin with this line, from 1, as `search_output` counts them"""
    max_lines: NotRequired[int]
    """Most lines"""
    last_lines: NotRequired[int]
    """Only so many lines at the end"""
    max_line_length: NotRequired[int]
    """Characters after which a line is cut and ends in `…`; the data is then no longer exact"""


class ReadOutputAnswer(TypedDict):
    data: bytes
    """Of lines: as many as fit, each with its end; a line that does not fit alone is cut"""
    offset: int
    from_line: NotRequired[int]
    """Of lines: number of the first one"""
    lines: NotRequired[int]
    """Of lines: how many there are"""
    clipped_lines: NotRequired[int]
    """Of lines: how many were cut by `max_line_length`"""
    next_offset: NotRequired[int]
    """Of lines: where the rest begins, in bytes"""
    size: int
    """Bytes the stream has so far"""
    eof: bool
    """Nothing follows, now or later"""


class SearchOutputRequest(TypedDict):
    command_id: str
    """Id of a command"""
    session_id: NotRequired[str]
    """The session of the command: with that of another one, there is no such command. In a cluster, a command whose
    id a client has chosen is asked of the node of its session alone"""
    stream: NotRequired[Literal["stdout", "stderr"]]
    """stdout by default"""
    pattern: str
    """The text to find, within one line"""
    regex: NotRequired[bool]
    """Whether `pattern` is a regular expression of [RE2](https://github.com/google/re2/wiki/Syntax)"""
    ignore_case: NotRequired[bool]
    from_offset: NotRequired[int]
    """Where to begin, in bytes; 0 by default"""
    limit: NotRequired[int]
    """Most lines to return; 100 by default"""


class SearchOutputAnswerMatches(TypedDict):
    offset: int
    """Where the line begins, in bytes; of a line above 16 KiB, the part with the match"""
    line: int
    """Number of the line, from 1 for the one at `from_offset`"""
    text: str
    """The line, or the part around the match if the line is longer"""


class SearchOutputAnswer(TypedDict):
    matches: list[SearchOutputAnswerMatches]
    scanned_to: int
    """In bytes: `from_offset` of the next call"""
    lines: int
    """Line ends from `from_offset` to `scanned_to`: add them to the `line` of the next call"""
    complete: bool
    """Whether everything was searched that the command has printed so far; if not, call again"""


class ListCommandsRequest(TypedDict):
    session_id: NotRequired[str]
    """Only those of a session"""
    owner: NotRequired[str]
    """Only those of a token, by its name"""
    state: NotRequired[Literal["running", "ended"]]
    """`running`: those that have not ended, queued ones too"""
    before: NotRequired[str]
    """`next` of the answer before"""
    limit: NotRequired[int]
    """Most commands to return; 50 by default"""


class ListCommandsAnswerCommandsLimit(TypedDict):
    resource: Literal["cpu_percent", "cpu_seconds", "memory_mb", "processes", "disk_mb", "disk_free_mb"]
    """Which limit; `disk_free_mb` is the free space that the daemon keeps"""
    limit: float
    """In the unit of its name"""
    observed: float
    """Likewise. Where the kernel keeps a limit, never more than that"""
    peak: float
    """The most that was used, likewise"""
    killed_pids: list[int]
    """Processes that were killed for it, by the numbers that commands see; of those that the kernel killed, the ones
    that are known"""


class ListCommandsAnswerCommandsWarnings(TypedDict):
    code: str
    """Stable name of the warning, see [Warnings](warnings.md)"""
    message: str
    """What happened and what to do"""


ListCommandsAnswerCommands = TypedDict(
    "ListCommandsAnswerCommands",
    {
        "command_id": "str",
        "session_id": "str | None",
        "node": "NotRequired[str]",
        "owner": "str",
        "command": "str",
        "args": "NotRequired[list[str]]",
        "state": "Literal['queued', 'running', 'ended']",
        "status": "Literal['running', 'completed', 'timed_out', 'interrupted', 'killed', 'confirmation_required', 'denied']",
        "exit_code": "int | None",
        "signal": "str | None",
        "killed_by": "Literal['timeout', 'memory', 'cpu', 'processes', 'disk', 'signal', 'client', 'shutdown'] | None",
        "limit": "ListCommandsAnswerCommandsLimit | None",
        "accepted_at": "str",
        "started_at": "str | None",
        "ended_at": "str | None",
        "duration_ms": "float",
        "working_directory": "str | None",
        "stdout_bytes": "int",
        "stderr_bytes": "int",
        "tty": "bool",
        "class": "NotRequired[Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']]",
        "confirmation_id": "NotRequired[str]",
        "checkpoint_id": "NotRequired[str]",
        "resource_usage": "ResourceUse",
        "warnings": "list[ListCommandsAnswerCommandsWarnings]",
        "number": "int",
    },
)


class ListCommandsAnswerUnreachable(TypedDict):
    node: str
    """Name of a node: 1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends"""
    code: str


class ListCommandsAnswer(TypedDict):
    commands: list[ListCommandsAnswerCommands]
    next: str | None
    """`before` of the request for older ones; null at the end of the list"""
    unreachable: NotRequired[list[ListCommandsAnswerUnreachable]]
    """Of a [cluster](../operate/cluster.md): nodes that have not answered, whose entries are missing; left out if
    there are none"""


class SendInputRequest(TypedDict):
    session_id: NotRequired[str]
    """Id of a session, from `open_session`"""
    command_id: NotRequired[str]
    """Id of a command"""
    data: NotRequired[str | bytes]
    """Text to type; control characters act as keys. Bytes for a streamed input only"""
    keys: NotRequired[list[str]]
    """Keys to press after `data`: single characters, or `Enter`, `Tab`, `Escape`, `Space`, `Backspace`, `Up`,
    `Down`, `Right`, `Left`, `Home`, `End`, `F1`, `F2`, `F3`, `F4`, `Insert`, `Delete`, `PageUp`, `PageDown`,
    `F5`, `F6`, `F7`, `F8`, `F9`, `F10`, `F11`, `F12`, with `C-`, `M-` or `S-` in front: `C-c`"""
    eof: NotRequired[bool]
    """Then signal end of input"""
    offset: NotRequired[int]
    """For a streamed input: the position of `data` in it, in bytes. What was taken before is skipped, so the request
    can be repeated"""


SendInputAnswer = TypedDict(
    "SendInputAnswer",
    {
        "accepted_bytes": "int",
        "stdin_bytes": "NotRequired[int]",
        "stdin_closed": "NotRequired[bool]",
        "status": "NotRequired[Literal['confirmation_required']]",
        "confirmation_id": "NotRequired[str]",
        "class": "NotRequired[Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']]",
        "reasons": "NotRequired[list[str]]",
        "commands": "NotRequired[list[JudgedCommand]]",
        "command_sha256": "NotRequired[str]",
        "expires_at": "NotRequired[str]",
        "requires": "NotRequired[Literal['self', 'llm', 'operator']]",
    },
)


class ReadScreenRequest(TypedDict):
    session_id: NotRequired[str]
    """Id of a session, from `open_session`"""
    command_id: NotRequired[str]
    """Id of a command"""
    cells: NotRequired[bool]
    """Also each character with its colours and attributes"""


class ReadScreenAnswerCursor(TypedDict):
    """Where the cursor is, from 1"""
    row: int
    col: int


class ReadScreenAnswerCells(TypedDict):
    text: str
    width: int
    """Columns: 2 for a wide character, 0 for the place behind one"""
    fg: NotRequired[int | str]
    """Colour: of the palette, or `#rrggbb`; by default the terminal’s"""
    bg: NotRequired[int | str]
    """Colour behind it"""
    bold: NotRequired[Literal[True]]
    dim: NotRequired[Literal[True]]
    italic: NotRequired[Literal[True]]
    underline: NotRequired[Literal[True]]
    inverse: NotRequired[Literal[True]]
    strikethrough: NotRequired[Literal[True]]


class ReadScreenAnswer(TypedDict):
    command_id: str
    """Id of a command"""
    running: bool
    """False when the command has ended: its last screen"""
    text: str
    """The lines, without spaces at their ends and empty lines at the end"""
    rows: int
    cols: int
    cursor: ReadScreenAnswerCursor
    """Where the cursor is, from 1"""
    alternate: bool
    """Whether a full-screen program shows its own screen"""
    cells: NotRequired[list[list[ReadScreenAnswerCells]]]
    """Row by row"""


class ResizeTerminalRequest(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""
    cols: int
    rows: int


class ResizeTerminalAnswer(TypedDict):
    cols: int
    rows: int


class ConfirmCommandRequest(TypedDict):
    confirmation_id: str
    """Id of a confirmation"""
    decision: Literal["approve", "reject"]
    """`approve` has it done, `reject` has it not done"""
    command_sha256: NotRequired[str]
    """Of what is meant; required to approve what one has asked for oneself. Another one is refused"""
    justification: NotRequired[str]
    """Why, for people and logs; required to approve what one has asked for oneself"""
    remember: NotRequired[Literal["session", "hour", "always"]]
    """Only with `approve`: the approval also counts for the same command later; `always` needs a token of an
    operator or admin"""


class ListConfirmationsRequest(TypedDict):
    pass


class ListConfirmationsAnswerUnreachable(TypedDict):
    node: str
    """Name of a node: 1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends"""
    code: str


class ListConfirmationsAnswer(TypedDict):
    confirmations: list[Confirmation]
    unreachable: NotRequired[list[ListConfirmationsAnswerUnreachable]]
    """Of a [cluster](../operate/cluster.md): nodes that have not answered, whose entries are missing; left out if
    there are none"""


class ListRememberedApprovalsRequest(TypedDict):
    pass


class ListRememberedApprovalsAnswerApprovals(TypedDict):
    id: str
    """Id of a remembered approval"""
    scope: Literal["session", "hour", "always"]
    """`session` until the session ends, `hour` for 60 minutes, `always` until it is revoked"""
    pattern: str
    """What is covered; `DIRECTORY/*.EXTENSION` stands for any file of that kind there"""
    expires_at: str | None
    """Null when no time is set"""
    working_directory: str
    """Only commands in this directory are covered"""
    session_id: str | None
    """The session, with the scope `session`"""
    classes: list[Literal["read", "write", "execute", "network", "interactive", "destructive", "privilege", "persistence", "exfiltration", "obfuscated"]]
    """What may need a confirmation in a covered command"""
    requested_by: str
    """Name of the token whose commands are covered; `local` without one"""
    approved_by: str
    """Name of the token that has approved it"""
    remembered_at: str


class ListRememberedApprovalsAnswerUnreachable(TypedDict):
    node: str
    """Name of a node: 1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends"""
    code: str


class ListRememberedApprovalsAnswer(TypedDict):
    approvals: list[ListRememberedApprovalsAnswerApprovals]
    problem: str | None
    """Why approvals of the scope `always` do not count: their file is damaged"""
    unreachable: NotRequired[list[ListRememberedApprovalsAnswerUnreachable]]
    """Of a [cluster](../operate/cluster.md): nodes that have not answered, whose entries are missing; left out if
    there are none"""


class RevokeRememberedApprovalRequest(TypedDict):
    id: str
    """Id of a remembered approval"""


class RevokeRememberedApprovalAnswerRevoked(TypedDict):
    id: str
    """Id of a remembered approval"""
    scope: Literal["session", "hour", "always"]
    """`session` until the session ends, `hour` for 60 minutes, `always` until it is revoked"""
    pattern: str
    """What is covered; `DIRECTORY/*.EXTENSION` stands for any file of that kind there"""
    expires_at: str | None
    """Null when no time is set"""
    working_directory: str
    """Only commands in this directory are covered"""
    session_id: str | None
    """The session, with the scope `session`"""
    classes: list[Literal["read", "write", "execute", "network", "interactive", "destructive", "privilege", "persistence", "exfiltration", "obfuscated"]]
    """What may need a confirmation in a covered command"""
    requested_by: str
    """Name of the token whose commands are covered; `local` without one"""
    approved_by: str
    """Name of the token that has approved it"""
    remembered_at: str


class RevokeRememberedApprovalAnswer(TypedDict):
    revoked: RevokeRememberedApprovalAnswerRevoked


class ListRecordingsRequest(TypedDict):
    session_id: NotRequired[str]
    """Of this session only; it may have ended"""
    limit: NotRequired[int]
    """Most recordings to return; 200 by default"""


class ListRecordingsAnswerRecordings(TypedDict):
    recording_id: str
    """Id of a recording"""
    session_id: str
    """Id of a session, from `open_session`"""
    node: NotRequired[str]
    """Name of the node of a cluster that has it; left out by a daemon alone"""
    owner: str
    """Name of the token that the session belongs to; `local` for clients without one"""
    reason: Literal["request", "configuration"]
    """`configuration`: sessions of this role are always recorded (`recording.roles`)"""
    title: str | None
    """The label of the session"""
    started_at: str
    duration_ms: int
    """Until its last event, or until now"""
    bytes: int
    """Size of the file"""
    cols: int
    """Terminal width at the start"""
    rows: int
    """Terminal height at the start"""
    state: Literal["recording", "complete", "cut", "interrupted"]
    """`recording`: the session goes on. `complete`: until its end. `cut`: it ended before its session.
    `interrupted`: the daemon ended without notice"""
    detail: str | None
    """Why it ended before its session"""


class ListRecordingsAnswerUnreachable(TypedDict):
    node: str
    """Name of a node: 1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends"""
    code: str


class ListRecordingsAnswer(TypedDict):
    recordings: list[ListRecordingsAnswerRecordings]
    total_bytes: int
    """Of all of them, those above the limit included"""
    truncated: bool
    """Whether there are more"""
    unreachable: NotRequired[list[ListRecordingsAnswerUnreachable]]
    """Of a [cluster](../operate/cluster.md): nodes that have not answered, whose entries are missing; left out if
    there are none"""


class ReadRecordingRequest(TypedDict):
    recording_id: str
    """Id of a recording"""
    offset: NotRequired[int]
    """In bytes; 0 by default"""
    length: NotRequired[int]
    """In bytes; 262144 by default"""


class ReadRecordingAnswer(TypedDict):
    data: bytes
    """Bytes, sent as a binary attachment"""
    offset: int
    size: int
    """Bytes so far"""
    eof: bool
    """Nothing follows, now or later"""


class DeleteRecordingRequest(TypedDict):
    recording_id: str
    """Id of a recording"""


class DeleteRecordingAnswer(TypedDict):
    recording_id: str
    """Id of a recording"""


class CheckpointWorkspaceRequest(TypedDict):
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only
    one that runs sessions"""
    label: NotRequired[str]
    """A name for people"""


class CheckpointWorkspaceAnswerSkipped(TypedDict):
    path: str
    reason: Literal["git_directory", "unreadable", "special", "too_large", "too_deep", "other_file_system", "changing"]
    """Why; see [Checkpoints](#checkpoints)"""


class CheckpointWorkspaceAnswer(TypedDict):
    checkpoint_id: str
    """Id of a checkpoint, from `checkpoint_workspace`"""
    kind: Literal["requested", "before_restore", "before_command"]
    """Whether a client asked for it, or what it was made before"""
    label: str | None
    created_at: str
    files: int
    """Files and symbolic links in it"""
    bytes: int
    """Size of their contents together"""
    skipped: list[CheckpointWorkspaceAnswerSkipped]
    """What is not in it, at most 1000 entries"""
    skipped_count: int
    dropped: list[str]
    """Older checkpoints of this token that have made room for it (`max_count`)"""


class ListCheckpointsRequest(TypedDict):
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only
    one that runs sessions"""


class ListCheckpointsAnswer(TypedDict):
    checkpoints: list[Checkpoint]


class DiffWorkspaceRequestOutput(TypedDict):
    """How output is returned; the defaults are the configuration’s"""
    max_size: NotRequired[int]
    """Most characters of each stream in the result"""
    begin_size: NotRequired[int]
    """Characters kept from the beginning of a longer output"""
    end_size: NotRequired[int]
    """Characters kept from its end"""
    max_lines: NotRequired[int]
    """Most lines; by default `begin_lines` and `end_lines` together"""
    begin_lines: NotRequired[int]
    """Lines kept from the beginning of a longer output"""
    end_lines: NotRequired[int]
    """Lines kept from its end"""
    max_line_length: NotRequired[int]
    """Characters after which a line is cut and ends in `…`"""
    encoding: NotRequired[Literal["utf8", "base64"]]
    """`base64` gives the exact bytes"""
    strip_ansi: NotRequired[bool]
    """Leave out ANSI escape sequences"""
    collapse_cr: NotRequired[bool]
    """Show lines overwritten by carriage returns as they end up"""


class DiffWorkspaceRequest(TypedDict):
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only
    one that runs sessions"""
    checkpoint_id: NotRequired[str]
    """By default the newest"""
    paths: NotRequired[list[str]]
    """Only these, each with all that is in it; by default everything"""
    format: NotRequired[Literal["names", "stat", "patch"]]
    """`stat` counts lines, `patch` shows them; by default only the names"""
    output: NotRequired[DiffWorkspaceRequestOutput]
    """How output is returned; the defaults are the configuration’s"""


class DiffWorkspaceAnswerChanges(TypedDict):
    path: str
    """Relative to the workspace; a directory ends in `/`. Bytes that are not UTF-8 are U+FFFD"""
    status: Literal["added", "modified", "deleted", "type_changed", "mode_changed"]
    """`mode_changed`: only permissions or owner"""
    insertions: NotRequired[int]
    """Lines that came, with `stat`; null when it is not text"""
    deletions: NotRequired[int]
    """Lines that went, likewise"""


class DiffWorkspaceAnswer(TypedDict):
    checkpoint_id: str
    """Id of a checkpoint, from `checkpoint_workspace`"""
    changes: list[DiffWorkspaceAnswerChanges]
    """What differs, at most 1000 entries"""
    change_count: int
    patch: str | None
    """From the checkpoint to now, trimmed like any output; null unless asked for"""
    original_patch_size: int | None
    """Its size before trimming, in characters (code points)"""
    original_patch_lines: NotRequired[int]
    """Its lines before trimming, when lines are limited"""
    patch_truncated: bool
    encoding: Literal["utf8", "base64"]
    """Encoding of the patch, as asked"""
    lossy: bool
    """Some bytes of the patch were not UTF-8 and show as U+FFFD"""


class RestoreWorkspaceRequest(TypedDict):
    checkpoint_id: str
    """Id of a checkpoint, from `checkpoint_workspace`"""
    paths: NotRequired[list[str]]
    """Only these, each with all that is in it; by default everything"""


class RestoreWorkspaceAnswerSkipped(TypedDict):
    path: str
    reason: Literal["git_directory", "unreadable", "special", "too_large", "too_deep", "other_file_system", "changing"]
    """Why; see [Checkpoints](#checkpoints)"""


RestoreWorkspaceAnswer = TypedDict(
    "RestoreWorkspaceAnswer",
    {
        "checkpoint_id": "str",
        "restored": "list[str]",
        "restored_count": "int",
        "removed": "list[str]",
        "removed_count": "int",
        "skipped": "list[RestoreWorkspaceAnswerSkipped]",
        "skipped_count": "int",
        "undo_checkpoint_id": "str | None",
        "status": "NotRequired[Literal['confirmation_required']]",
        "would_remove": "NotRequired[list[str]]",
        "confirmation_id": "NotRequired[str]",
        "class": "NotRequired[Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']]",
        "reasons": "NotRequired[list[str]]",
        "commands": "NotRequired[list[JudgedCommand]]",
        "command_sha256": "NotRequired[str]",
        "expires_at": "NotRequired[str]",
        "requires": "NotRequired[Literal['self', 'llm', 'operator']]",
    },
)


class ReadFileRequest(TypedDict):
    path: str
    """Absolute, or relative to the directory of the session; without a session, to the workspace"""
    session_id: NotRequired[str]
    """The session whose directory, sandbox and user count; by default those of a command without a session"""
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only
    one that runs sessions"""
    offset: NotRequired[int]
    """Where to begin, in bytes; 0 by default"""
    length: NotRequired[int]
    """Most bytes to read; 262144 by default"""
    encoding: NotRequired[Literal["bytes", "utf8", "base64"]]
    """`bytes` by default. `utf8` gives text, and fails with `NOT_TEXT` for anything else"""
    from_line: NotRequired[int]
    """Begin at this line instead, from 1; the answer is text"""
    max_lines: NotRequired[int]
    """Most lines to read, within `length`; the answer is text"""
    line_numbers: NotRequired[bool]
    """Begin each line with its number and a tab; the answer is text"""


class ReadFileAnswerWarnings(TypedDict):
    code: str
    """Stable name of the warning, see [Warnings](warnings.md)"""
    message: str
    """What happened and what to do"""


ReadFileAnswer = TypedDict(
    "ReadFileAnswer",
    {
        "data": "bytes | str",
        "offset": "int",
        "length": "int",
        "size": "int",
        "sha256": "str | None",
        "mtime_ms": "float",
        "eof": "bool",
        "from_line": "NotRequired[int]",
        "lines": "NotRequired[int]",
        "status": "NotRequired[Literal['confirmation_required']]",
        "checkpoint_id": "NotRequired[str]",
        "warnings": "NotRequired[list[ReadFileAnswerWarnings]]",
        "confirmation_id": "NotRequired[str]",
        "class": "NotRequired[Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']]",
        "reasons": "NotRequired[list[str]]",
        "commands": "NotRequired[list[JudgedCommand]]",
        "command_sha256": "NotRequired[str]",
        "expires_at": "NotRequired[str]",
        "requires": "NotRequired[Literal['self', 'llm', 'operator']]",
    },
)


class WriteFileRequest(TypedDict):
    path: str
    """Absolute, or relative to the directory of the session; without a session, to the workspace"""
    session_id: NotRequired[str]
    """The session whose directory, sandbox and user count; by default those of a command without a session"""
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only
    one that runs sessions"""
    data: str | bytes
    """The content: bytes, or text"""
    encoding: NotRequired[Literal["utf8", "base64"]]
    """What a text in `data` is; `utf8` by default"""
    mode: NotRequired[Literal["create", "overwrite", "append"]]
    """`overwrite` by default, which also creates; `create` fails with `FILE_EXISTS` if there is one"""
    create_directories: NotRequired[bool]
    """Make the directories that are missing above it"""
    permissions: NotRequired[str]
    """In octal digits, such as `644`; by default those it has"""
    expected_sha256: NotRequired[str]
    """Fails with `FILE_CHANGED` unless the file has this content now"""
    expected_mtime_ms: NotRequired[float]
    """The same for the time of its last change"""


class WriteFileAnswerWarnings(TypedDict):
    code: str
    """Stable name of the warning, see [Warnings](warnings.md)"""
    message: str
    """What happened and what to do"""


WriteFileAnswer = TypedDict(
    "WriteFileAnswer",
    {
        "size": "int",
        "sha256": "str | None",
        "created": "bool",
        "mtime_ms": "float",
        "status": "NotRequired[Literal['confirmation_required']]",
        "checkpoint_id": "NotRequired[str]",
        "warnings": "NotRequired[list[WriteFileAnswerWarnings]]",
        "confirmation_id": "NotRequired[str]",
        "class": "NotRequired[Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']]",
        "reasons": "NotRequired[list[str]]",
        "commands": "NotRequired[list[JudgedCommand]]",
        "command_sha256": "NotRequired[str]",
        "expires_at": "NotRequired[str]",
        "requires": "NotRequired[Literal['self', 'llm', 'operator']]",
    },
)


class EditFileRequest(TypedDict):
    path: str
    """Absolute, or relative to the directory of the session; without a session, to the workspace"""
    session_id: NotRequired[str]
    """The session whose directory, sandbox and user count; by default those of a command without a session"""
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only
    one that runs sessions"""
    old_text: str
    """The text to replace, exactly, with its spaces and line ends"""
    new_text: str
    """The text to put in its place"""
    all: NotRequired[bool]
    """Replace every occurrence; by default there has to be exactly one"""
    expected_sha256: NotRequired[str]
    """Fails with `FILE_CHANGED` unless the file has this content now"""


class EditFileAnswerWarnings(TypedDict):
    code: str
    """Stable name of the warning, see [Warnings](warnings.md)"""
    message: str
    """What happened and what to do"""


EditFileAnswer = TypedDict(
    "EditFileAnswer",
    {
        "replaced": "int",
        "diff": "str",
        "diff_truncated": "bool",
        "sha256": "str | None",
        "size": "int",
        "mtime_ms": "float",
        "status": "NotRequired[Literal['confirmation_required']]",
        "checkpoint_id": "NotRequired[str]",
        "warnings": "NotRequired[list[EditFileAnswerWarnings]]",
        "confirmation_id": "NotRequired[str]",
        "class": "NotRequired[Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']]",
        "reasons": "NotRequired[list[str]]",
        "commands": "NotRequired[list[JudgedCommand]]",
        "command_sha256": "NotRequired[str]",
        "expires_at": "NotRequired[str]",
        "requires": "NotRequired[Literal['self', 'llm', 'operator']]",
    },
)


class ListDirectoryRequest(TypedDict):
    path: NotRequired[str]
    """The directory of the session, or the workspace, by default"""
    session_id: NotRequired[str]
    """The session whose directory, sandbox and user count; by default those of a command without a session"""
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only
    one that runs sessions"""
    after: NotRequired[str]
    """`next` of the answer before"""
    limit: NotRequired[int]
    """Most entries to return; 1000 by default"""


class ListDirectoryAnswerEntries(TypedDict):
    name: str
    type: Literal["file", "directory", "link", "other"]
    """`other`: a pipe, a socket or a device"""
    size: int | None
    """In bytes; null for what is no file"""
    mode: str
    """Permissions, in octal digits"""
    mtime_ms: float
    """When the content was changed last, in milliseconds since 1970"""
    target: NotRequired[str]
    """Of a link: what it says"""


class ListDirectoryAnswerWarnings(TypedDict):
    code: str
    """Stable name of the warning, see [Warnings](warnings.md)"""
    message: str
    """What happened and what to do"""


ListDirectoryAnswer = TypedDict(
    "ListDirectoryAnswer",
    {
        "path": "str",
        "entries": "list[ListDirectoryAnswerEntries]",
        "next": "str | None",
        "status": "NotRequired[Literal['confirmation_required']]",
        "checkpoint_id": "NotRequired[str]",
        "warnings": "NotRequired[list[ListDirectoryAnswerWarnings]]",
        "confirmation_id": "NotRequired[str]",
        "class": "NotRequired[Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']]",
        "reasons": "NotRequired[list[str]]",
        "commands": "NotRequired[list[JudgedCommand]]",
        "command_sha256": "NotRequired[str]",
        "expires_at": "NotRequired[str]",
        "requires": "NotRequired[Literal['self', 'llm', 'operator']]",
    },
)


class StatPathRequest(TypedDict):
    path: str
    """Absolute, or relative to the directory of the session; without a session, to the workspace"""
    session_id: NotRequired[str]
    """The session whose directory, sandbox and user count; by default those of a command without a session"""
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only
    one that runs sessions"""
    hash: NotRequired[bool]
    """Also the SHA-256 of a file of any size, which takes a second for each GB or so"""


class StatPathAnswerWarnings(TypedDict):
    code: str
    """Stable name of the warning, see [Warnings](warnings.md)"""
    message: str
    """What happened and what to do"""


StatPathAnswer = TypedDict(
    "StatPathAnswer",
    {
        "path": "str",
        "real_path": "str",
        "type": "Literal['file', 'directory', 'link', 'other']",
        "size": "int | None",
        "mode": "str",
        "uid": "int",
        "gid": "int",
        "mtime_ms": "float",
        "target": "NotRequired[str]",
        "sha256": "NotRequired[str]",
        "status": "NotRequired[Literal['confirmation_required']]",
        "checkpoint_id": "NotRequired[str]",
        "warnings": "NotRequired[list[StatPathAnswerWarnings]]",
        "confirmation_id": "NotRequired[str]",
        "class": "NotRequired[Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']]",
        "reasons": "NotRequired[list[str]]",
        "commands": "NotRequired[list[JudgedCommand]]",
        "command_sha256": "NotRequired[str]",
        "expires_at": "NotRequired[str]",
        "requires": "NotRequired[Literal['self', 'llm', 'operator']]",
    },
)


class MakeDirectoryRequest(TypedDict):
    path: str
    """Absolute, or relative to the directory of the session; without a session, to the workspace"""
    session_id: NotRequired[str]
    """The session whose directory, sandbox and user count; by default those of a command without a session"""
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only
    one that runs sessions"""
    parents: NotRequired[bool]
    """Make those above it too; that it exists already is no error"""
    permissions: NotRequired[str]
    """Of the directory, in octal digits"""


class MakeDirectoryAnswerWarnings(TypedDict):
    code: str
    """Stable name of the warning, see [Warnings](warnings.md)"""
    message: str
    """What happened and what to do"""


MakeDirectoryAnswer = TypedDict(
    "MakeDirectoryAnswer",
    {
        "path": "str",
        "created": "bool",
        "status": "NotRequired[Literal['confirmation_required']]",
        "checkpoint_id": "NotRequired[str]",
        "warnings": "NotRequired[list[MakeDirectoryAnswerWarnings]]",
        "confirmation_id": "NotRequired[str]",
        "class": "NotRequired[Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']]",
        "reasons": "NotRequired[list[str]]",
        "commands": "NotRequired[list[JudgedCommand]]",
        "command_sha256": "NotRequired[str]",
        "expires_at": "NotRequired[str]",
        "requires": "NotRequired[Literal['self', 'llm', 'operator']]",
    },
)


class MovePathRequest(TypedDict):
    path: str
    """Absolute, or relative to the directory of the session; without a session, to the workspace"""
    to: str
    """Its new path, not the directory to put it in"""
    session_id: NotRequired[str]
    """The session whose directory, sandbox and user count; by default those of a command without a session"""
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only
    one that runs sessions"""
    overwrite: NotRequired[bool]
    """Replace a file that is there; by default that is `FILE_EXISTS`"""


class MovePathAnswerWarnings(TypedDict):
    code: str
    """Stable name of the warning, see [Warnings](warnings.md)"""
    message: str
    """What happened and what to do"""


MovePathAnswer = TypedDict(
    "MovePathAnswer",
    {
        "path": "str",
        "replaced": "bool",
        "status": "NotRequired[Literal['confirmation_required']]",
        "checkpoint_id": "NotRequired[str]",
        "warnings": "NotRequired[list[MovePathAnswerWarnings]]",
        "confirmation_id": "NotRequired[str]",
        "class": "NotRequired[Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']]",
        "reasons": "NotRequired[list[str]]",
        "commands": "NotRequired[list[JudgedCommand]]",
        "command_sha256": "NotRequired[str]",
        "expires_at": "NotRequired[str]",
        "requires": "NotRequired[Literal['self', 'llm', 'operator']]",
    },
)


class RemovePathRequest(TypedDict):
    path: str
    """Absolute, or relative to the directory of the session; without a session, to the workspace"""
    session_id: NotRequired[str]
    """The session whose directory, sandbox and user count; by default those of a command without a session"""
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only
    one that runs sessions"""
    recursive: NotRequired[bool]
    """Remove a directory with all that is in it"""


class RemovePathAnswerWarnings(TypedDict):
    code: str
    """Stable name of the warning, see [Warnings](warnings.md)"""
    message: str
    """What happened and what to do"""


RemovePathAnswer = TypedDict(
    "RemovePathAnswer",
    {
        "removed": "int",
        "status": "NotRequired[Literal['confirmation_required']]",
        "checkpoint_id": "NotRequired[str]",
        "warnings": "NotRequired[list[RemovePathAnswerWarnings]]",
        "confirmation_id": "NotRequired[str]",
        "class": "NotRequired[Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']]",
        "reasons": "NotRequired[list[str]]",
        "commands": "NotRequired[list[JudgedCommand]]",
        "command_sha256": "NotRequired[str]",
        "expires_at": "NotRequired[str]",
        "requires": "NotRequired[Literal['self', 'llm', 'operator']]",
    },
)


class FindFilesRequest(TypedDict):
    path: NotRequired[str]
    """Where to begin; the directory of the session, or the workspace, by default"""
    session_id: NotRequired[str]
    """The session whose directory, sandbox and user count; by default those of a command without a session"""
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only
    one that runs sessions"""
    pattern: NotRequired[str]
    """A [glob](#globs), such as `*.c` or `src/**/test-*`; everything by default"""
    type: NotRequired[Literal["file", "directory", "link", "other"]]
    """Only entries of this kind"""
    include_ignored: NotRequired[bool]
    """Also what a .gitignore excludes, and what is in `.git`; left out by default"""
    limit: NotRequired[int]
    """Most entries to return; 1000 by default"""


class FindFilesAnswerMatches(TypedDict):
    path: str
    """Relative to where it began"""
    type: Literal["file", "directory", "link", "other"]
    """`other`: a pipe, a socket or a device"""
    size: int | None
    """In bytes; null for what is no file"""
    mtime_ms: float
    """When the content was changed last, in milliseconds since 1970"""


class FindFilesAnswerWarnings(TypedDict):
    code: str
    """Stable name of the warning, see [Warnings](warnings.md)"""
    message: str
    """What happened and what to do"""


FindFilesAnswer = TypedDict(
    "FindFilesAnswer",
    {
        "path": "str",
        "matches": "list[FindFilesAnswerMatches]",
        "skipped": "int",
        "stopped": "Literal['limit', 'time', 'bytes'] | None",
        "status": "NotRequired[Literal['confirmation_required']]",
        "checkpoint_id": "NotRequired[str]",
        "warnings": "NotRequired[list[FindFilesAnswerWarnings]]",
        "confirmation_id": "NotRequired[str]",
        "class": "NotRequired[Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']]",
        "reasons": "NotRequired[list[str]]",
        "commands": "NotRequired[list[JudgedCommand]]",
        "command_sha256": "NotRequired[str]",
        "expires_at": "NotRequired[str]",
        "requires": "NotRequired[Literal['self', 'llm', 'operator']]",
    },
)


class SearchFilesRequest(TypedDict):
    path: NotRequired[str]
    """A directory or a file; that of the session, or the workspace, by default"""
    session_id: NotRequired[str]
    """The session whose directory, sandbox and user count; by default those of a command without a session"""
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only
    one that runs sessions"""
    pattern: str
    """The text to find, within one line"""
    regex: NotRequired[bool]
    """Whether `pattern` is a regular expression of [RE2](https://github.com/google/re2/wiki/Syntax)"""
    ignore_case: NotRequired[bool]
    glob: NotRequired[str]
    """Only files that match this [glob](#globs)"""
    include_ignored: NotRequired[bool]
    """Also what a .gitignore excludes, and what is in `.git`; left out by default"""
    limit: NotRequired[int]
    """Most lines to return; 200 by default"""


class SearchFilesAnswerMatches(TypedDict):
    path: str
    """Relative to where it began"""
    line: int
    """Number of the line, from 1"""
    offset: int
    """Where the line begins in the file, in bytes"""
    text: str
    """The line, or the part around the match"""


class SearchFilesAnswerWarnings(TypedDict):
    code: str
    """Stable name of the warning, see [Warnings](warnings.md)"""
    message: str
    """What happened and what to do"""


SearchFilesAnswer = TypedDict(
    "SearchFilesAnswer",
    {
        "path": "str",
        "matches": "list[SearchFilesAnswerMatches]",
        "searched": "int",
        "skipped": "int",
        "stopped": "Literal['limit', 'time', 'bytes'] | None",
        "status": "NotRequired[Literal['confirmation_required']]",
        "checkpoint_id": "NotRequired[str]",
        "warnings": "NotRequired[list[SearchFilesAnswerWarnings]]",
        "confirmation_id": "NotRequired[str]",
        "class": "NotRequired[Literal['read', 'write', 'execute', 'network', 'interactive', 'destructive', 'privilege', 'persistence', 'exfiltration', 'obfuscated']]",
        "reasons": "NotRequired[list[str]]",
        "commands": "NotRequired[list[JudgedCommand]]",
        "command_sha256": "NotRequired[str]",
        "expires_at": "NotRequired[str]",
        "requires": "NotRequired[Literal['self', 'llm', 'operator']]",
    },
)


class WaitForRequest(TypedDict):
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only
    one that runs sessions"""
    session_id: NotRequired[str]
    """Of a port: listening in this session, instead of on the machine. Of a path: as this session sees it. Of a
    screen: of the command that runs in it, or ran last"""
    port: NotRequired[int]
    """Until something listens on this TCP port"""
    path: NotRequired[str]
    """Until this file or directory exists"""
    command_id: NotRequired[str]
    """Until this command has ended, or has printed `pattern`"""
    pattern: NotRequired[str]
    """Until the command has printed this, within one line"""
    regex: NotRequired[bool]
    """Whether `pattern` and `screen_text` are regular expressions of
    [RE2](https://github.com/google/re2/wiki/Syntax)"""
    stream: NotRequired[Literal["stdout", "stderr"]]
    """Of `pattern`: stdout by default"""
    from_offset: NotRequired[int]
    """Of `pattern`: where to begin, in bytes; 0 by default"""
    screen_text: NotRequired[str]
    """Until the screen shows this, within one line; of `command_id`, or of what runs in the session"""
    screen_stable_ms: NotRequired[int]
    """Until nothing on the screen has changed for this time, which begins with the request"""
    timeout_ms: NotRequired[int]
    """How long to wait; 30000 by default"""


class WaitForAnswerMatch(TypedDict):
    """The line with the pattern"""
    offset: int
    """Where the line begins, in bytes"""
    line: int
    """Number of the line, from 1 for the one at `from_offset`"""
    text: str


class WaitForAnswerScreenCursor(TypedDict):
    """Where the cursor is, from 1"""
    row: int
    col: int


class WaitForAnswerScreen(TypedDict):
    """What the screen shows, when that was waited for"""
    text: str
    """The lines, without spaces at their ends and empty lines at the end"""
    rows: int
    cols: int
    cursor: WaitForAnswerScreenCursor
    """Where the cursor is, from 1"""
    alternate: bool
    """Whether a full-screen program shows its own screen"""


class WaitForAnswer(TypedDict):
    met: bool
    """Whether one of them has come"""
    condition: Literal["port", "path", "pattern", "screen_text", "screen_stable", "end"] | None
    """Which; `end` of a command without its `pattern` or `screen_text` is not what was waited for. Null after the
    time-out"""
    waited_ms: int
    match: NotRequired[WaitForAnswerMatch]
    """The line with the pattern"""
    screen: NotRequired[WaitForAnswerScreen]
    """What the screen shows, when that was waited for"""
    exit_code: NotRequired[int]
    """Of a command that has ended"""


class ListPortsRequest(TypedDict):
    session_id: NotRequired[str]
    """Only of this session; by default of all that the client may see"""


class ListPortsAnswerPorts(TypedDict):
    port: int
    address: str
    """On which it listens: `0.0.0.0` and `::` are all addresses"""
    session_id: str
    """Id of a session, from `open_session`"""
    pid: int
    """Process id, as the session sees it"""
    command: str
    """Command line, at most 200 characters"""
    on_machine: bool
    """Whether the machine can connect to it; a sandbox may have its own network"""


class ListPortsAnswerUnreachable(TypedDict):
    node: str
    """Name of a node: 1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends"""
    code: str


class ListPortsAnswer(TypedDict):
    ports: list[ListPortsAnswerPorts]
    unreachable: NotRequired[list[ListPortsAnswerUnreachable]]
    """Of a [cluster](../operate/cluster.md): nodes that have not answered, whose entries are missing; left out if
    there are none"""


class PreviewPortRequest(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""
    port: int
    """TCP port on which a process of the session listens"""


class PreviewPortAnswer(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""
    port: int
    path: str
    """Path on the port of the daemon; requests to it need the same token"""
    address: str
    """Where the daemon connects to"""
    pid: int
    """Process id of the program, as the session sees it"""
    command: str
    """Its command line, at most 200 characters"""


class WatchPathsRequest(TypedDict):
    paths: list[str]
    session_id: NotRequired[str]
    """The session whose directory, sandbox and user count; by default those of a command without a session"""
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only
    one that runs sessions"""
    recursive: NotRequired[bool]
    """Whether to watch what is in the directories below, too, without `.git` and what a `.gitignore` excludes"""
    debounce_ms: NotRequired[int]
    """Shortest time between two events; 100 by default"""


class WatchPathsAnswer(TypedDict):
    watch_id: str
    """Names the watch on this connection"""
    paths: list[str]
    """The paths, absolute"""
    debounce_ms: int


class UnwatchPathsRequest(TypedDict):
    watch_id: str
    """Names the watch on this connection"""


class UnwatchPathsAnswer(TypedDict):
    watch_id: str
    """Names the watch on this connection"""


class LlmCallRequestMessages(TypedDict):
    role: Literal["system", "user", "assistant"]
    content: str
    """Text"""


class LlmCallRequest(TypedDict):
    messages: list[LlmCallRequestMessages]
    """The conversation so far"""
    provider: NotRequired[Literal["auto", "shell", "ollama", "azure", "openai", "litellm"]]
    """Who answers; `auto` takes a configured service, or else an installed tool. By default `llm.provider`"""
    shell_provider: NotRequired[str]
    """Which command-line tool answers; by default the first of `llm.fallback` that can"""
    model: NotRequired[str]
    """Name of a model; by default the provider’s"""
    timeout_ms: NotRequired[int]
    """Most time the answer may take; by default the provider’s"""
    cwd: NotRequired[str]
    """Where a tool runs, within the workspace; by default the workspace"""
    call_id: NotRequired[str]
    """Chosen by the client, to cancel the call"""


class LlmCallAnswerUsage(TypedDict):
    """As far as the provider tells; empty when it does not"""
    prompt_tokens: NotRequired[int]
    """Those from a cache included"""
    completion_tokens: NotRequired[int]
    total_tokens: NotRequired[int]
    cached_tokens: NotRequired[int]
    reasoning_tokens: NotRequired[int]
    cost_usd: NotRequired[float]


class LlmCallAnswer(TypedDict):
    content: str
    """The answer; of a tool that works in several steps, its last message"""
    usage: LlmCallAnswerUsage
    """As far as the provider tells; empty when it does not"""
    provider: Literal["auto", "shell", "ollama", "azure", "openai", "litellm"]
    shell_provider: str | None
    """The command-line tool that answered; null for a service"""
    model: str | None
    """As the provider tells it"""
    session: str | None
    """The tool’s own id of the conversation, by which the tool can resume it"""
    resource_usage: ResourceUse | None
    """What the run of the tool has used; null for a service"""
    call_id: str
    """Id of a call of an LLM"""
    duration_ms: float
    """From the request to the answer, in milliseconds"""


class LlmStreamAnswerUsage(TypedDict):
    """As far as the provider tells; empty when it does not"""
    prompt_tokens: NotRequired[int]
    """Those from a cache included"""
    completion_tokens: NotRequired[int]
    total_tokens: NotRequired[int]
    cached_tokens: NotRequired[int]
    reasoning_tokens: NotRequired[int]
    cost_usd: NotRequired[float]


class LlmStreamAnswer(TypedDict):
    content: str
    """The answer; of a tool that works in several steps, its last message"""
    usage: LlmStreamAnswerUsage
    """As far as the provider tells; empty when it does not"""
    provider: Literal["auto", "shell", "ollama", "azure", "openai", "litellm"]
    shell_provider: str | None
    """The command-line tool that answered; null for a service"""
    model: str | None
    """As the provider tells it"""
    session: str | None
    """The tool’s own id of the conversation, by which the tool can resume it"""
    resource_usage: ResourceUse | None
    """What the run of the tool has used; null for a service"""
    call_id: str
    """Id of a call of an LLM"""
    duration_ms: float
    """From the request to the answer, in milliseconds"""
    chunk_count: int
    """How many `llm_chunk` events there were"""


class CancelLlmRequest(TypedDict):
    call_id: str
    """Id of a call of an LLM"""


class CancelLlmAnswer(TypedDict):
    call_id: str
    """Id of a call of an LLM"""
    cancelled: bool
    """False when no such call is under way"""


class ListLlmCallsRequest(TypedDict):
    limit: NotRequired[int]
    """Most calls to return; 200 by default"""


class ListLlmCallsAnswerCallsUsage(TypedDict):
    """As far as the provider tells; empty when it does not"""
    prompt_tokens: NotRequired[int]
    """Those from a cache included"""
    completion_tokens: NotRequired[int]
    total_tokens: NotRequired[int]
    cached_tokens: NotRequired[int]
    reasoning_tokens: NotRequired[int]
    cost_usd: NotRequired[float]


class ListLlmCallsAnswerCalls(TypedDict):
    call_id: str
    """Id of a call of an LLM"""
    node: NotRequired[str]
    """Name of the node of a cluster that asks the provider; left out by a daemon alone"""
    owner: str
    """Name of the token; `local` without one, `reviewer` for the model that reviews commands"""
    provider: Literal["auto", "shell", "ollama", "azure", "openai", "litellm"] | None
    """The provider that was asked last; null before the first"""
    shell_provider: str | None
    model: str | None
    """As the provider tells it, or as the request named it"""
    state: str
    """`waiting` in the queue of a tool, `running`, `ok`, or the error code"""
    started_at: str
    duration_ms: float
    """Until the answer, or so far"""
    usage: ListLlmCallsAnswerCallsUsage | None
    """Null while the call is under way, and after a failure"""
    resource_usage: ResourceUse | None
    """As in the answer"""


class ListLlmCallsAnswerUnreachable(TypedDict):
    node: str
    """Name of a node: 1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends"""
    code: str


class ListLlmCallsAnswer(TypedDict):
    calls: list[ListLlmCallsAnswerCalls]
    """The newest first"""
    unreachable: NotRequired[list[ListLlmCallsAnswerUnreachable]]
    """Of a [cluster](../operate/cluster.md): nodes that have not answered, whose entries are missing; left out if
    there are none"""


class ListLlmProvidersRequest(TypedDict):
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only
    one that runs sessions"""


class ListLlmProvidersAnswerProviders(TypedDict):
    provider: Literal["auto", "shell", "ollama", "azure", "openai", "litellm"]
    shell_provider: str | None
    available: bool
    """Its program is there, or its service is configured"""
    reason: str | None
    """Why it is not available"""
    command: str | None
    """Path of its program"""


class ListLlmProvidersAnswer(TypedDict):
    providers: list[ListLlmProvidersAnswerProviders]
    auto: list[str]
    """Providers in the order of attempts when the request names none, available or not"""


class ReadAuditRequest(TypedDict):
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md); by default the one that the client is connected to"""
    before: NotRequired[int]
    """Only records with a lower `seq`; the newest by default"""
    limit: NotRequired[int]
    """Most records to return; 100 by default"""
    event: NotRequired[str]
    """Name of an event, see [Audit](../operate/audit-and-secrets.md)"""
    principal: NotRequired[str]
    """Name or id of a token; `local` without one"""
    session_id: NotRequired[str]
    """Id of a session, from `open_session`"""
    command_id: NotRequired[str]
    """Id of a command"""
    text: NotRequired[str]
    """A text anywhere in the record, whatever its case"""
    since: NotRequired[str]
    """Only records from this time on"""
    until: NotRequired[str]
    """Only records up to this time"""


class ReadAuditAnswerRecords(TypedDict):
    seq: int
    """Number of the record; they have no gaps"""
    time: str
    event: str
    prev: str
    """Hash of the record before it"""
    hash: str


class ReadAuditAnswer(TypedDict):
    records: list[ReadAuditAnswerRecords]
    """As in the file, with the fields of the event"""
    next: int | None
    """`before` of the request for older records, even if this answer has none; null at the end of the log"""
    unreadable: int
    """Lines that are no record as it was written; `verify_audit` says where"""


class VerifyAuditRequest(TypedDict):
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md); by default the one that the client is connected to"""


VerifyAuditAnswer = TypedDict(
    "VerifyAuditAnswer",
    {
        "ok": "bool",
        "records": "int",
        "from": "int | None",
        "to": "int | None",
        "problems": "list[str]",
        "checked_at": "str",
    },
)


class ListTokensRequest(TypedDict):
    pass


class ListTokensAnswerTokens(TypedDict):
    token_id: str
    name: str
    role: Literal["viewer", "agent", "operator", "admin"]
    run_as: NotRequired[str]
    """User as which its processes run; left out for the user of the daemon"""
    created_at: str
    expires_at: str | None
    """Null for a token without an end"""
    connections: int
    """Open connections with this token"""


class ListTokensAnswer(TypedDict):
    tokens: list[ListTokensAnswerTokens]


class CreateTokenRequest(TypedDict):
    name: str
    """A name for people: 1 to 64 letters, digits or any of . _ -, beginning with a letter or digit"""
    role: Literal["viewer", "agent", "operator", "admin"]
    expires_in: NotRequired[str]
    """Its lifetime, such as `90d` or `12h`; without an end by default"""


class CreateTokenAnswerToken(TypedDict):
    token_id: str
    name: str
    role: Literal["viewer", "agent", "operator", "admin"]
    run_as: NotRequired[str]
    """User as which its processes run; left out for the user of the daemon"""
    created_at: str
    expires_at: str | None
    """Null for a token without an end"""
    connections: int
    """Open connections with this token"""


class CreateTokenAnswer(TypedDict):
    token: CreateTokenAnswerToken
    secret: str
    """The text that a client connects with. It is not kept, and cannot be shown again"""


class RotateTokenRequest(TypedDict):
    name_or_id: str
    """Name or id of a token"""


class RevokeTokenAnswerToken(TypedDict):
    token_id: str
    name: str
    role: Literal["viewer", "agent", "operator", "admin"]
    run_as: NotRequired[str]
    """User as which its processes run; left out for the user of the daemon"""
    created_at: str
    expires_at: str | None
    """Null for a token without an end"""
    connections: int
    """Open connections with this token"""


class RevokeTokenAnswer(TypedDict):
    token: RevokeTokenAnswerToken


class DaemonStatusRequest(TypedDict):
    pass


class DaemonStatusAnswerCaller(TypedDict):
    """Who this client is to the daemon"""
    name: str
    """Name of the token; `local` without one"""
    role: Literal["viewer", "agent", "operator", "admin"]
    run_as: NotRequired[str]
    """User as which its processes run; left out for the user of the daemon"""
    has_token: bool
    """Only clients with a token may decide as operators"""


class DaemonStatusAnswer(TypedDict):
    instance_id: str
    """Identifies this run of the daemon: sessions and commands of another run are gone"""
    adapter_version: str
    protocol_version: int
    pid: int
    process_identity: str | None
    """Tells the process from another one under the same pid, on this or another machine"""
    user: str
    started_at: str
    uptime_ms: int
    configuration_file: str | None
    workspace_directory: str
    state_directory: str
    log_file: str
    dashboard: bool
    """Whether the dashboard is served at the address of the daemon"""
    sessions: int
    """Open sessions"""
    running_commands: int
    """Running commands, with and without a session"""
    clients: int
    """Connected Socket.IO clients, this one included"""
    confirmed_by: list[Literal["self", "llm", "operator"]]
    """Who confirms commands, by the configuration; empty if nothing has to be confirmed"""
    caller: DaemonStatusAnswerCaller
    """Who this client is to the daemon"""


class ExamineMachineRequest(TypedDict):
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md); by default the one that the client is connected to"""


class ExamineMachineAnswerChecks(TypedDict):
    name: str
    status: Literal["ok", "warn", "missing"]
    """`missing`: the daemon needs it"""
    detail: str
    fix: NotRequired[str]
    """How to fix it"""


class ExamineMachineAnswer(TypedDict):
    checks: list[ExamineMachineAnswerChecks]
    checked_at: str


class ShellMetadataRequest(TypedDict):
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only
    one that runs sessions"""


class ShellMetadataAnswerShells(TypedDict):
    name: str
    path: str
    version: str


class ShellMetadataAnswerLimits(TypedDict):
    command_timeout_ms: int
    """Time-out of a command that asks for none"""
    command_max_lifetime_ms: int
    """The longest time-out that a command may ask for"""
    session_max_lifetime_ms: int
    max_sessions: int
    queue_limit: int
    max_output_size: int
    begin_output_size: int
    end_output_size: int
    max_message_bytes: int


class ShellMetadataAnswerResourceLimitsSafetyNet(TypedDict):
    """Limits that hold where none is configured; null where the safety net has none, or is off"""
    cpu_percent: float | None
    cpu_seconds: float | None
    memory_mb: float | None
    processes: int | None
    disk_mb: float | None
    disk_free_mb: float | None
    """Free space to keep on the disk of the workspace, in MB"""


class ShellMetadataAnswerResourceLimitsRejected(TypedDict):
    mechanism: str
    reason: str


class ShellMetadataAnswerResourceLimits(TypedDict):
    cpu_percent: float | None
    cpu_seconds: float | None
    memory_mb: float | None
    processes: int | None
    disk_mb: float | None
    disk_free_mb: float | None
    """Free space to keep on the disk of the workspace, in MB"""
    safety_net: ShellMetadataAnswerResourceLimitsSafetyNet
    """Limits that hold where none is configured; null where the safety net has none, or is off"""
    mechanism: Literal["cgroup2", "cgroup1", "pid_namespace", "polling"]
    """By what limits are kept, where any is set"""
    mechanism_in_use: Literal["cgroup2", "cgroup1", "pid_namespace", "polling"]
    """What new sessions run under that set no limit themselves: `mechanism`, or `polling` while nothing asks for the
    process namespace of `pid_namespace`"""
    enforced: bool
    """Whether the kernel itself keeps memory and processes within them"""
    rejected: list[ShellMetadataAnswerResourceLimitsRejected]
    """Better mechanisms, and why they cannot be used here"""


class ShellMetadataAnswerSandbox(TypedDict):
    profile: Literal["none", "workspace", "strict"]
    """What commands are in that ask for nothing stricter"""
    configured: Literal["none", "workspace", "strict"]
    """What `sandbox.profile` says"""
    available: list[Literal["none", "workspace", "strict"]]
    """What works on this machine"""
    reason: str | None
    """Why `profile` is less than what is configured"""


class ShellMetadataAnswerHttp(TypedDict):
    """What is served beside Socket.IO"""
    dashboard: bool
    openai: bool
    mcp: bool
    metrics: bool


class ShellMetadataAnswer(TypedDict):
    operating_system: str
    platform: Literal["linux", "posix"]
    """What the daemon uses of the operating system: all that Linux has, or what POSIX has"""
    shell: str
    """The default shell and its version"""
    workspace_directory: str
    architecture: str
    kernel: str
    hostname: str
    user: str
    cpus: int
    memory_bytes: int
    memory_available_bytes: int
    disk_bytes: int | None
    """Size of the file system of the workspace"""
    disk_free_bytes: int | None
    shells: list[ShellMetadataAnswerShells]
    limits: ShellMetadataAnswerLimits
    resource_limits: ShellMetadataAnswerResourceLimits
    sandbox: ShellMetadataAnswerSandbox
    http: ShellMetadataAnswerHttp
    """What is served beside Socket.IO"""
    environments: list[str]
    """Names of the environments in which a session can be opened"""
    confirmation_mode: Literal["self", "llm", "operator", "off"]
    """What `confirmation.mode` says"""
    audit_enabled: bool
    node: str | None
    """Null for a daemon alone"""
    instance_id: str
    """Identifies this run of the daemon: sessions and commands of another run are gone"""
    adapter_version: str
    protocol_version: int


class DescribeAccessRequest(TypedDict):
    pass


class DescribeAccessAnswer(TypedDict):
    name: str
    """Name of the token; `local` without one"""
    role: Literal["viewer", "agent", "operator", "admin"]
    is_local: bool
    """Accepted without a token: it may not decide as an operator"""
    token_id: NotRequired[str]
    """Left out without a token"""
    expires_at: NotRequired[str]
    """When the token ends; left out for one without an end"""
    node: NotRequired[str]
    """Name of the node of a [cluster](../operate/cluster.md) that the client is connected to; left out by a daemon
    alone"""
    may: list[str]
    """Names of the requests that the role may make"""
    server_time: str


class SubscribeRequest(TypedDict):
    topics: list[Literal["sessions", "commands", "confirmations", "llm", "host", "audit", "nodes"]]
    """None ends the subscription. `audit` and `nodes` need the role operator or admin, `nodes` a
    [cluster](../operate/cluster.md) too"""
    interval_ms: NotRequired[int]
    """Between two events of a topic; 1000 by default"""


class SubscribeAnswer(TypedDict):
    topics: list[Literal["sessions", "commands", "confirmations", "llm", "host", "audit", "nodes"]]
    """Those granted: `audit` is left out if the daemon records nothing"""
    interval_ms: int


class HostHistoryRequest(TypedDict):
    node: NotRequired[str]
    """The node of a [cluster](../operate/cluster.md); by default the one that the client is connected to"""
    since: NotRequired[str]
    """Only entries after this time; by default all"""


class HostHistoryAnswer(TypedDict):
    interval_ms: int
    """Between two entries"""
    at: list[str]
    cpu_percent: list[float | None]
    """Of all CPUs together, 0 to 100, since the entry before; null in the first one"""
    load1: list[float]
    """Load average of the last minute"""
    memory_used_bytes: list[int]
    """Without what the kernel can free, such as cached files"""
    disk_used_bytes: list[int | None]
    """On the file system of the workspace"""
    net_rx_bytes_s: list[float | None]
    """Received by all interfaces but the loopback, in bytes per second; null in the first entry"""
    net_tx_bytes_s: list[float | None]
    """Sent, likewise"""
    sessions: list[int]
    """Open sessions"""
    commands_running: list[int]
    """Running commands, with and without a session"""
    daemon_rss_bytes: list[int]
    """Resident memory of the daemon itself"""
    memory_bytes: int
    """Memory of the machine, or the limit of the container"""
    disk_bytes: int | None
    """Size of the file system of the workspace"""
    cpus: float
    """CPUs of the machine, or the share of the container, which may be a fraction"""


class CreateDashboardLinkRequest(TypedDict):
    role: NotRequired[Literal["viewer", "agent", "operator", "admin"]]
    """Role of the page; that of the maker by default"""
    expires_in_ms: NotRequired[int]
    """How long the page stays signed in; 12 hours by default"""


class CreateDashboardLinkAnswer(TypedDict):
    path: str
    """Path of the link, to append to the address of the daemon"""
    expires_at: str
    """When the link counts no longer"""
    role: Literal["viewer", "agent", "operator", "admin"]


class ListNodesRequest(TypedDict):
    pass


class ListNodesAnswerNodes(TypedDict):
    node: str
    """Name of a node: 1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends"""
    role: Literal["node", "gateway", "worker"]
    state: Literal["live", "draining", "suspect", "lost"]
    """`suspect`: its connection has broken, and it may come back; `lost`: what ran on it counts as lost"""
    problem: str | None
    """Why there is no connection"""
    url: str | None
    """Where other nodes reach it; null for the node that answers"""
    version: str | None
    """Of the adapter; null before the first connection"""
    instance_id: str | None
    labels: dict[str, str]
    sessions: int
    """Open sessions and running one-shot commands"""
    capacity: int
    """Most of them"""
    seen_at: str | None
    """When it has shown last that it runs: over its link, or by its lease"""


class ListNodesAnswer(TypedDict):
    nodes: list[ListNodesAnswerNodes]


class RegisterNodeRequest(TypedDict):
    node: str
    """`cluster.name` of the worker"""
    url: str
    """Where its `cluster.link_port` is reached"""
    labels: NotRequired[dict[str, str]]
    """Besides those of its configuration, which they replace"""
    capacity: NotRequired[int]
    """Most sessions; by default what it says itself"""


class RegisterNodeAnswerNode(TypedDict):
    node: str
    """Name of a node: 1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends"""
    role: Literal["node", "gateway", "worker"]
    state: Literal["live", "draining", "suspect", "lost"]
    """`suspect`: its connection has broken, and it may come back; `lost`: what ran on it counts as lost"""
    problem: str | None
    """Why there is no connection"""
    url: str | None
    """Where other nodes reach it; null for the node that answers"""
    version: str | None
    """Of the adapter; null before the first connection"""
    instance_id: str | None
    labels: dict[str, str]
    sessions: int
    """Open sessions and running one-shot commands"""
    capacity: int
    """Most of them"""
    seen_at: str | None
    """When it has shown last that it runs: over its link, or by its lease"""


class RegisterNodeAnswer(TypedDict):
    node: RegisterNodeAnswerNode


class RemoveNodeRequest(TypedDict):
    node: str
    """Name of a node: 1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends"""


class RemoveNodeAnswer(TypedDict):
    node: str
    """Name of a node: 1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends"""


class DrainNodeRequest(TypedDict):
    node: str
    """Name of a node: 1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends"""
    drain: bool
    """False ends it"""


class DrainNodeAnswerNode(TypedDict):
    node: str
    """Name of a node: 1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends"""
    role: Literal["node", "gateway", "worker"]
    state: Literal["live", "draining", "suspect", "lost"]
    """`suspect`: its connection has broken, and it may come back; `lost`: what ran on it counts as lost"""
    problem: str | None
    """Why there is no connection"""
    url: str | None
    """Where other nodes reach it; null for the node that answers"""
    version: str | None
    """Of the adapter; null before the first connection"""
    instance_id: str | None
    labels: dict[str, str]
    sessions: int
    """Open sessions and running one-shot commands"""
    capacity: int
    """Most of them"""
    seen_at: str | None
    """When it has shown last that it runs: over its link, or by its lease"""


class DrainNodeAnswer(TypedDict):
    node: DrainNodeAnswerNode


class DaemonInfoEvent(TypedDict):
    instance_id: str
    """Identifies this run of the daemon: sessions and commands of another run are gone"""
    adapter_version: str
    protocol_version: int


class CommandOutputEvent(TypedDict):
    command_id: str
    """Id of a command"""
    session_id: str | None
    stream: Literal["stdout", "stderr"]
    seq: int
    """Rises by one per session (per command for one-shots); a gap is announced by `output_gap`"""
    offset: int
    """Position of the first byte in the stream: `read_output` takes the same offsets"""
    data: str | bytes
    """Text, never cut inside a character; bytes where they are not UTF-8 or base64 was asked for"""


class OutputGapEvent(TypedDict):
    session_id: str | None
    from_seq: int
    to_seq: int
    """The last one left out"""


class AwaitingInputEvent(TypedDict):
    command_id: str
    """Id of a command"""
    session_id: str
    """Id of a session, from `open_session`"""
    prompt: str
    """The last unfinished line it printed, at most 200 characters"""
    certainty: NotRequired[Literal["certain", "likely"]]
    """`likely` for a program that waits for others too, and has printed a prompt"""


class HealthWarningEventWarnings(TypedDict):
    code: str
    """Stable name of the warning, see [Warnings](warnings.md)"""
    message: str
    """What happened and what to do"""


class HealthWarningEvent(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""
    warnings: list[HealthWarningEventWarnings]


class LlmChunkEvent(TypedDict):
    call_id: str
    """Id of a call of an LLM"""
    index: int
    """Rises by one from 0"""
    content: str


class ResourceUsageEvent(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""
    command_id: str | None
    """The command that runs"""
    cpu_percent: float
    """Of one core, since the daemon looked last"""
    cpu_ms: int
    """CPU time since something began to run in the session"""
    memory_bytes: int
    processes: int
    """Processes and threads, the shell included"""
    written_bytes: int
    """Written to disks since something began to run in the session"""


class ResourceWarningEvent(TypedDict):
    session_id: str | None
    command_id: str | None
    """The command that runs; null when background processes are meant"""
    level: Literal["warning", "exceeded"]
    resource: Literal["cpu_percent", "cpu_seconds", "memory_mb", "processes", "disk_mb", "disk_free_mb", "timeout_seconds"]
    """Which limit; `disk_free_mb` is the free space that the daemon keeps, `timeout_seconds` the time-out of the
    command, of at least two minutes"""
    limit: float
    """In the unit of its name"""
    observed: float
    """Likewise. Where the kernel keeps a limit, never more than that"""


class ConfirmationResolvedEventRemembered(TypedDict):
    """The approval that is remembered for later commands"""
    id: str
    """Id of a remembered approval"""
    scope: Literal["session", "hour", "always"]
    """`session` until the session ends, `hour` for 60 minutes, `always` until it is revoked"""
    pattern: str
    """What is covered; `DIRECTORY/*.EXTENSION` stands for any file of that kind there"""
    expires_at: str | None
    """Null when no time is set"""


class ConfirmationResolvedEvent(TypedDict):
    confirmation_id: str
    """Id of a confirmation"""
    command_id: str
    """Id of a command"""
    session_id: str | None
    outcome: Literal["approved", "rejected", "expired", "withdrawn", "void"]
    """All but `approved` mean that nothing has run"""
    decided_by: str | None
    """Name of the token or model that decided; null when it was not decided"""
    justification: str | None
    remembered: ConfirmationResolvedEventRemembered | None
    """The approval, if it is remembered for later commands"""


class SessionClosedEventLimit(TypedDict):
    """Likewise: the limit, and what was ended for it"""
    resource: Literal["cpu_percent", "cpu_seconds", "memory_mb", "processes", "disk_mb", "disk_free_mb"]
    """Which limit; `disk_free_mb` is the free space that the daemon keeps"""
    limit: float
    """In the unit of its name"""
    observed: float
    """Likewise. Where the kernel keeps a limit, never more than that"""
    peak: float
    """The most that was used, likewise"""
    killed_pids: list[int]
    """Processes that were killed for it, by the numbers that commands see; of those that the kernel killed, the ones
    that are known"""


class SessionClosedEvent(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""
    reason: Literal["client", "lifetime", "idle", "disconnected", "failed", "limit", "shutdown", "restarted", "node_lost"]
    """`restarted` comes from client libraries: the session belonged to an earlier run of the daemon. `node_lost`:
    its node of the cluster was lost"""
    detail: str
    killed_by: NotRequired[Literal["timeout", "memory", "cpu", "processes", "disk", "signal", "client", "shutdown"]]
    """Which kind of limit, when it has ended for one"""
    limit: NotRequired[SessionClosedEventLimit]
    """Likewise: the limit, and what was ended for it"""
    survivors: NotRequired[list[ProcessInfo]]
    """Processes of the session that could not be ended"""


class SessionDetachedEvent(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""
    node: str
    code: Literal["NODE_UNREACHABLE"]


class SessionReattachedEventGap(TypedDict):
    from_seq: int
    to_seq: int


class SessionReattachedEvent(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""
    node: str
    next_seq: int
    """`seq` of the next event"""
    gap: SessionReattachedEventGap | None
    """Events that are no longer kept, both ends included"""


class SessionsChangedEventClosed(TypedDict):
    session_id: str
    """Id of a session, from `open_session`"""
    reason: Literal["client", "lifetime", "idle", "disconnected", "failed", "limit", "shutdown", "restarted", "node_lost"]
    """`restarted` comes from client libraries: the session belonged to an earlier run of the daemon. `node_lost`:
    its node of the cluster was lost"""
    detail: str


class SessionsChangedEvent(TypedDict):
    sessions: list[Session]
    closed: list[SessionsChangedEventClosed]
    complete: NotRequired[Literal[True]]
    """There in the first event: what it does not name is gone"""
    truncated: NotRequired[Literal[True]]
    """There when entries above 1000 were left out"""


class CommandsChangedEvent(TypedDict):
    commands: list[CommandInfo]
    complete: NotRequired[Literal[True]]
    """There in the first event: what it does not name is gone"""
    truncated: NotRequired[Literal[True]]
    """There when entries above 1000 were left out"""


class LlmChangedEventCallsUsage(TypedDict):
    """As far as the provider tells; empty when it does not"""
    prompt_tokens: NotRequired[int]
    """Those from a cache included"""
    completion_tokens: NotRequired[int]
    total_tokens: NotRequired[int]
    cached_tokens: NotRequired[int]
    reasoning_tokens: NotRequired[int]
    cost_usd: NotRequired[float]


class LlmChangedEventCalls(TypedDict):
    call_id: str
    """Id of a call of an LLM"""
    node: NotRequired[str]
    """Name of the node of a cluster that asks the provider; left out by a daemon alone"""
    owner: str
    """Name of the token; `local` without one, `reviewer` for the model that reviews commands"""
    provider: Literal["auto", "shell", "ollama", "azure", "openai", "litellm"] | None
    """The provider that was asked last; null before the first"""
    shell_provider: str | None
    model: str | None
    """As the provider tells it, or as the request named it"""
    state: str
    """`waiting` in the queue of a tool, `running`, `ok`, or the error code"""
    started_at: str
    duration_ms: float
    """Until the answer, or so far"""
    usage: LlmChangedEventCallsUsage | None
    """Null while the call is under way, and after a failure"""
    resource_usage: ResourceUse | None
    """As in the answer"""


class LlmChangedEvent(TypedDict):
    calls: list[LlmChangedEventCalls]
    complete: NotRequired[Literal[True]]
    """There in the first event: what it does not name is gone"""
    truncated: NotRequired[Literal[True]]
    """There when entries above 1000 were left out"""


class AuditRecordsEventRecords(TypedDict):
    seq: int
    """Number of the record; they have no gaps"""
    time: str
    event: str
    prev: str
    """Hash of the record before it"""
    hash: str


class AuditRecordsEvent(TypedDict):
    records: list[AuditRecordsEventRecords]
    skipped: int
    """Records before these that were left out: `read_audit` has them"""


class NodesChangedEventNodes(TypedDict):
    node: str
    """Name of a node: 1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends"""
    role: Literal["node", "gateway", "worker"]
    state: Literal["live", "draining", "suspect", "lost"]
    """`suspect`: its connection has broken, and it may come back; `lost`: what ran on it counts as lost"""
    problem: str | None
    """Why there is no connection"""
    url: str | None
    """Where other nodes reach it; null for the node that answers"""
    version: str | None
    """Of the adapter; null before the first connection"""
    instance_id: str | None
    labels: dict[str, str]
    sessions: int
    """Open sessions and running one-shot commands"""
    capacity: int
    """Most of them"""
    seen_at: str | None
    """When it has shown last that it runs: over its link, or by its lease"""


class NodesChangedEvent(TypedDict):
    nodes: list[NodesChangedEventNodes]
    removed: list[str]
    """Names of nodes that are not listed any more"""
    complete: NotRequired[Literal[True]]
    """There in the first event: what it does not name is gone"""
    truncated: NotRequired[Literal[True]]
    """There when entries above 1000 were left out"""


class PathsChangedEventChanges(TypedDict):
    path: str
    """Absolute"""
    change: Literal["created", "changed", "removed"]


class PathsChangedEvent(TypedDict):
    watch_id: str
    changes: list[PathsChangedEventChanges]
    overflow: bool
    """More has changed than `changes` says, or cannot be watched: look yourself, by `list_directory` or `find_files`"""


class WatchEndedEvent(TypedDict):
    watch_id: str
    reason: Literal["session_closed", "failed"]
    detail: str


class AccessEndedEvent(TypedDict):
    message: str
    """Why: it was revoked or replaced, or has expired"""


class DashboardLinkUsedEvent(TypedDict):
    path: str


class ServerShutdownEvent(TypedDict):
    reason: str
    grace_ms: int
    """Time until then, at most"""
    node: NotRequired[str]
    """The worker of a cluster that is stopping, for clients of a gateway, which goes on"""
