/** What the page of the protocol is for, and who it is for. The beginning of `docs/reference/protocol.md`. */
export const INTRODUCTION = `
Every request, event, error code and rule of the protocol between the daemon and its clients.

Programs talk to the daemon over [Socket.IO](https://socket.io) 4 (Engine.IO protocol 4), in the namespace \`/\`, by WebSocket or HTTP
long-polling. This page is for authors of clients. For JavaScript there is a ready one, \`shell-adapter/client\`.
`;

/** Rules for all requests and events that no schema expresses. The end of `docs/reference/protocol.md`. */
export const RULES = `
## Connecting

The daemon listens on \`http://127.0.0.1:8087\` by default, and on a Unix socket if one is configured. A client sends its token in the handshake,
as \`auth: { token }\` of \`socket.io-client\`. A token is not accepted in the URL, in a header or in a cookie. With \`auth.mode: auto\`, the default,
programs of the daemon's own user on the same machine need no token.

A refused connection gets \`connect_error\`. Its \`data\` is the error of an answer, with the code \`UNAUTHORIZED\`. When a token is revoked, replaced
or expires, its connections get the event \`access_ended\` and are closed. After five wrong tokens within a minute, further wrong tokens of that
user or address are refused with \`RATE_LIMITED\`, and \`details.retry_after_ms\`. A right token is always accepted.

A client has \`handshake_timeout\` to show its token. When too many connections of a user or an address are open, or have shown no token, further ones
are answered with status 503 and the error \`RESOURCE_EXHAUSTED\` as JSON, whatever they ask; with TLS they are closed. A connection that has shown
no token serves one request. The daemon's own user has no such limits.

Web pages always need a token, and their \`Origin\` must be in \`cors_allowed_origins\`, or that of the daemon itself. A program that sends the daemon's own \`Origin\`, as
Python's websocket-client does, does not count as a page. A request with another \`Origin\`, or with a \`Host\` that is not a name of the daemon,
is refused with status 403, whatever its token. A request with a header of a browser (\`Sec-Fetch-Site\`) or of a proxy (\`Via\`, \`Forwarded\`,
\`X-Forwarded-*\`, \`CF-Connecting-IP\` and their like) needs a token.

## Ownership

Sessions, commands and checkpoints belong to the token that created them. All clients without a token share the owner \`local\`. A command in
a session belongs to the owner of the session. Command ids that clients choose are separate for each token: two tokens may choose the same id.
The workspace itself has no owner: a restore changes it for all clients.

The [role](#roles) of a token defines which requests it may make; others fail with \`FORBIDDEN\`. The role also defines whether the token may read, stop or use
what belongs to other owners. Stopping means to close or reset a session, to send a signal that ends (SIGINT, SIGTERM, SIGKILL, SIGHUP, SIGQUIT), and to cancel an
LLM call. Resources that a client may not read are indistinguishable from missing ones: the daemon answers
\`SESSION_NOT_FOUND\`, for example. Using or stopping what it may only read fails with \`FORBIDDEN\`.

## Requests and answers

A request is an event with one object as its payload. The answer comes through the acknowledgement callback. A client that
passes none gets it as the event \`<request>_result\`. A field \`request_id\` of the payload, any JSON value, is repeated in the
answer. Fields \`traceparent\` and \`tracestate\`, as in the [W3C's trace context](https://www.w3.org/TR/trace-context/), name the trace that the request belongs
to. They count for a daemon with \`traces.enabled\`, and are ignored elsewhere and when invalid.

An answer is the object described for the request, or an error:

\`\`\`json
{ "error": { "code": "SESSION_NOT_FOUND", "message": "there is no session session_ID", "details": { "session_id": "session_ID" } } }
\`\`\`

\`code\` is one of the [error codes](#error-codes), \`message\` is for people, \`details\` has facts and may be absent.

In requests, \`null\` counts as absent, and a field that is not in the table is an error. Answers and events may get new
fields at any time: ignore fields that you do not know. The version rises only when an existing client would misunderstand the
daemon.

A message above \`max_message_bytes\` of the configuration (reported by \`shell_metadata\`) is answered with \`PAYLOAD_TOO_LARGE\`; nothing else
happens. A message above 8 MiB, or above twice \`max_message_bytes\` if that is more, ends the connection.

## Sessions and one-shot commands

With \`session_id\`, a command runs in the session's shell. Its changes stay: directory, variables, functions, options, background jobs. The
commands of a session run one after another, in the order in which they came. Without \`session_id\`, a command is a one-shot: it runs in a fresh
environment, in parallel with others, and leaves nothing behind.

A session does not depend on one connection. When its last client has disconnected, it stays for \`reconnect_grace\`, and its clients can
return with \`attach_session\`. With \`keep_while: "used"\`, the default over HTTP, it needs no client: only \`session_idle_timeout\` and
\`session_max_lifetime\` end it. These end every session: without a command for so long, or open for so long. \`expires_at\` is the earliest of
these ends, and \`expires_reason\` says which. For a day after its end, \`SESSION_NOT_FOUND\` says when and why it ended.

A request about a command may name its session beside its \`command_id\`. A command of another session, or of none, is then
\`COMMAND_NOT_FOUND\`, as one that there is not. Clients of a cluster that choose ids of commands should name it: the node of the session is asked, in place of all nodes.

A command may end the shell itself (\`exec\`, \`set -e\`, \`kill -9 $$\`). The session then continues with a new shell under
the same id, in the last directory, with the variables, functions, aliases, options, umask and traps of the old one. The result says
so: \`session_state\` is \`restarted\`, and \`warnings\` lists what was lost ([Warnings](warnings.md)).

## Globs

The globs of \`find_files\` and \`search_files\` have \`*\` and \`?\` within a name, \`**\` across directories, \`[a-z]\`, \`[!a-z]\` and \`{one,other}\`. A
backslash makes the next character an ordinary one. A glob without a slash is about the name alone, in any directory. With a slash it is about the
path from the directory of the search.

## Exit codes

| exit code | meaning |
| --- | --- |
| 0 to 123 | the command's own |
| 124 | time-out, if \`status\` is \`timed_out\`; otherwise the command's own |
| 126, 127 | the program could not be run, or was not found, as in shells; \`warnings\` says when the daemon is the cause |
| 128 + n | ended by signal n: 130 for SIGINT, 137 for SIGKILL, 143 for SIGTERM |
| \`null\` | the command is still running or has not started: see \`status\` |

## Sizes and output

Sizes are in characters (Unicode code points) unless the name ends in \`_bytes\`. An output of up to \`max_size\`
characters is returned whole. A longer output is returned as its beginning and end, with a line between them that says how much was left out.
\`read_output\` gives every byte until the session ends. For a one-shot, it does so until newer one-shots take its place.

Bytes that are not UTF-8 are returned as U+FFFD, and \`lossy\` is true. With \`output.encoding: "base64"\` the result has the exact bytes.

With \`stream: true\`, \`command_output\` events carry the output while the command runs. Their \`seq\` rises by one for each event of a session.
A client can detect missing events, and request them again with \`attach_session\` and \`from_seq\`. Events that are no longer kept, or that a slow
client did not take, are announced as a gap. Commands wait for slow clients for some seconds, except for observers: with
\`max_bytes_per_second\`, \`attach_session\` sends the newest output at most at that rate and skips the rest. stdout and stderr are each in order. Between the two, the order is exact to within one batch of a few
milliseconds. With \`output.merge\`, both are one stream, stdout, in the exact order in which the command wrote; so they are
with \`2>&1\` in its text, or \`tty: true\`. Output that background jobs print after the end of their command carries the id of that command.

## Subscriptions

\`subscribe\` sends a client what changes of everything that it may see, for pages and tables that stay current. Each request replaces the topics of
the one before; an empty list ends the subscription, and so does the end of the connection. A topic sends at most one event in \`interval_ms\`, and only
if something has changed:

| topic | events | content |
| --- | --- | --- |
| \`sessions\` | \`sessions_changed\` | the sessions that have changed, and those that have ended |
| \`commands\` | \`commands_changed\` | the commands that were accepted, have printed something, or have ended |
| \`confirmations\` | \`confirmation_required\` | those that are open at the beginning; later ones are sent to every client concerned anyway |
| \`llm\` | \`llm_changed\` | the LLM calls that have begun, changed or ended |
| \`host\` | \`host_usage\` | measured values of the machine, at most one event a second |
| \`audit\` | \`audit_records\` | new records; for the roles operator and admin |
| \`nodes\` | \`nodes_changed\` | the nodes of the cluster that have come, changed or were removed, as the node that is asked knows them; for the roles operator and admin |

The first event of a topic has everything that the client may see, with \`complete: true\`: what the client knows beyond that is gone. The first
\`audit_records\` has the newest records. Lists end at 1000 entries, and then have \`truncated: true\`. Of more than 200 records in an interval, the newest
are sent, and \`skipped\` counts the others.

While a connection has much unsent data, it gets no such events; the next event has what has changed since the last one. A daemon
alone refuses the topic \`nodes\` with \`INVALID_REQUEST\`.

## Streamed input

\`stdin\` is for text that is known when the command starts. With \`stdin_stream: true\`, standard input is a pipe that stays open for any
amount of text or bytes:

1. Send \`execute_command\` with \`stdin_stream: true\` and a \`command_id\` of your own. The answer comes when the command ends.
2. Without waiting for it, send \`send_input\` with that \`command_id\`. \`data\` is text or a binary attachment, each at most \`max_message_bytes\` long.
   The command need not have started: the daemon buffers what it cannot read yet.
3. Send the next chunk when the answer has come. It is delayed until the command has read most of the data (backpressure). A few chunks may be
   in flight at a time; a client that ignores the answers gets \`INPUT_FULL\` when more than 4 MiB are unread.
4. Send \`eof: true\` with the last chunk, or alone. The command then sees the end of its input.

\`stdin_closed: true\` in an answer means that the command reads no more: stop sending, and wait for its result. After its end, \`send_input\`
fails with \`NO_RUNNING_COMMAND\`. With \`offset\`, a chunk that is sent again after a lost connection counts once.

When the connection that feeds the input is lost, the command waits for \`reconnect_grace\`, at most 30 seconds. Within that time the client has to repeat
\`execute_command\` or send more input. Otherwise the command is killed, so that it never takes a part of its input for the whole. After \`eof\`,
the input needs no connection any more.

The policy cannot see streamed input. A shell or interpreter that would read its program from it needs confirmation.

## Policy

Unless \`confirmation.mode\` is \`off\`, every command passes a gate before it runs. Text that \`send_input\` types into a program that executes it passes the
gate too. A denied request fails with \`COMMAND_DENIED\`, and nothing of it has run. \`check_command\` reports the verdict of the gate without running the
command, in any mode.

\`open_session\` and \`reset_session\` cannot be confirmed. They refuse variables that would need confirmation, and list them in
\`details.variables\`. Set these variables by a command in the session instead.

The verdict on a text is that of its most dangerous command. Commands in substitutions, in texts for other shells and behind programs such as \`sudo\`
and \`xargs\` count too. What the text does not reveal has the class \`obfuscated\`.

A program that executes typed text while it runs has the class \`interactive\` when it starts on a terminal: in a session, or with \`tty\`. Examples are
shells without a script, interpreters, editors and database clients. Such a program is judged once, at its start. \`send_input\` then
passes everything to it unjudged.

A program of this kind that something else has started is judged when it gets its first input. For a shell, each whole line is judged before its line end
is sent, even if the line comes in several requests. For any other program, the confirmation covers all further input of that command.

## Confirmation

A command that needs confirmation is not run. \`requires\` says who has to confirm it:

| \`requires\` | procedure |
| --- | --- |
| \`self\` | The answer comes at once, with \`status: "confirmation_required"\` and the details. The requesting client approves with \`confirm_command\`, \`command_sha256\` and a \`justification\`; the answer to that is the result. |
| \`operator\` | The request waits. An operator decides with \`confirm_command\`, and both get the result. The requesting client cannot be the operator, and neither can a connection without a token. |
| \`llm\` | The request waits while a model reviews the command. |

A request with \`background: true\` never waits: it is answered with \`confirmation_required\` at once, and \`wait_command\` waits.
The clients concerned get the event \`confirmation_required\` when a confirmation opens, and \`confirmation_resolved\` when it closes.
\`list_confirmations\` lists the open ones.

\`command_sha256\` is the SHA-256, in hexadecimal digits, of the command as UTF-8. With \`args\`, it is that of the command and the
arguments, joined by NUL. For input, it is that of the description in \`list_confirmations\`, which never contains the text itself.
After an approval the stored request runs, with its variables, input and directory: nothing of it is sent a second time.

An approval is valid once, until \`expires_at\`, and only while the session has the same directory and shell. The policy judges the command again at
that moment. If the verdict is then stricter than shown, nothing runs and the answer is \`CONFIRMATION_MISMATCH\`. If the session is busy, the answer is
\`SESSION_BUSY\` and the confirmation stays open. After three answers with a wrong \`command_sha256\` it is void. A token may have 16 open
confirmations.

A command that is not approved does not run. That covers a rejection, a time-out, a model without a clear verdict, and the end of the
session or the daemon. A waiting client gets \`COMMAND_DENIED\`; the rejection itself is answered with \`status: "denied"\`.
A waiting request is withdrawn when its connection ends, when its own client rejects it, or by \`signal_command\` with its \`command_id\`.

A command in a session that waits for confirmation does not block the commands after it.

Before a confirmed command that is or may be destructive, the daemon saves the workspace (\`confirmation.checkpoint\`). Restoring \`checkpoint_id\` of
the result undoes what the command has done to the workspace. If the workspace could not be saved, the result has the warning \`NO_CHECKPOINT\`.

Where the policy's action is \`checkpoint\`, a command needs no confirmation: the daemon saves the workspace, runs the command, and adds the warning
\`CHECKPOINT_SAVED\` with \`checkpoint_id\`. If the checkpoint does not contain all that the command destroys, or takes longer than
\`confirmation.checkpoint_timeout\`, the command needs a confirmation, and \`reasons\` begins with the cause. Later commands of the session wait for it.

## Idempotency

A client may choose the \`command_id\`. A request with a known id runs nothing. It returns the result of that
command, and waits for it if necessary; a confirmation that is open stays open. A client that has lost its connection can therefore send
its request again.

## LLM calls

\`llm_call\` asks an LLM: a command-line tool that is installed where the daemon runs (\`provider: "shell"\`), or a configured
service. The answer comes when it is complete. With \`llm_stream\`, \`llm_chunk\` events carry it to the requesting client as it comes.
The chunks are everything that a tool says on its way; \`content\` is its last message, without surrounding blanks.

\`timeout_ms\` bounds the time of the answer. \`cancel_llm\` ends a call with all processes of its tool, and so does the end of the client's
connection: nothing of it is kept. Errors have \`details.provider\`, \`details.shell_provider\`, and in \`details.detail\` what the tool or
service said. When several providers were asked in turn, \`details.tried\` lists each of them.

## Checkpoints

A checkpoint contains everything in the workspace directory of the configuration. Files are kept byte for byte, whatever \`.gitignore\` and
\`.gitattributes\` say. Symbolic links are kept as links; empty directories and permissions are kept, and owners when the daemon runs as root. Times,
extended attributes and hard links are not kept.

The checkpoints are in a git repository of the daemon, in \`state_directory\`. A \`.git\` in the workspace is neither saved nor changed, at any
depth. The other files of nested repositories and submodules are saved like all others.

A restore makes the workspace what it was at the checkpoint: files added since are removed. It first saves the current state, and
restoring \`undo_checkpoint_id\` undoes it. If other tokens have had commands running since the checkpoint, and files would be removed
or overwritten, the restore has to be confirmed like a destructive command: operators and models decide while the request waits, a client that
decides itself gets \`status: "confirmation_required"\`, and the answer to its \`confirm_command\` has \`restored\`. When a restore fails, nothing has changed. It runs in parallel with the commands of sessions, and fails if
one of them writes to a file meanwhile.

Restoring never touches files that the checkpoint could not save, and never removes files that it could not save first. The response lists both in
\`skipped\`:
`;
