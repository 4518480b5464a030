/** Rules for all requests and events that no schema expresses. The beginning of `docs/protocol.md`. */
export const RULES = `
Programs speak to the daemon over [Socket.IO](https://socket.io) 4 (Engine.IO protocol 4), in the namespace \`/\`, by
WebSocket or HTTP long-polling. This page is for everybody who writes a client; for JavaScript there is one ready, \`shell-adapter/client\`.

## Connecting

The daemon listens at \`http://127.0.0.1:8087\` unless it is configured otherwise, and on a Unix socket if it is told to. A client shows its token in the handshake,
as \`auth: { token }\` of \`socket.io-client\`, and nowhere else: not in the URL, not in a header, not in a cookie. With
\`auth.mode: auto\`, the default, programs that the daemon's own user runs on the same machine need none. A connection that is
not accepted gets \`connect_error\`, whose \`data\` is the error of an answer with the code \`UNAUTHORIZED\`. When a token is
revoked or replaced, or expires, its connections get \`access_ended\` and are closed. After five wrong tokens within a minute, those
of an address are refused for a while (\`RATE_LIMITED\`).

Web pages always need a token (a program that sends the daemon's own \`Origin\`, as Python's websocket-client does, is no page), and their \`Origin\` has to be among \`cors_allowed_origins\`. A request whose \`Origin\` is not
one of these, or whose \`Host\` is not a name of the daemon, is refused with status 403, whatever token comes with it.

## What belongs to whom

Sessions, commands and checkpoints belong to the token that they were made with; all clients without one share what is
\`local\`. The [role](#roles) of a token says which requests it may make (\`FORBIDDEN\` otherwise), and whether it may look at
what belongs to others, or use it. What a client may not look at is to it as if it were not there: the answer is the same as
for an id that does not exist, such as \`SESSION_NOT_FOUND\`. What it may only look at, it is \`FORBIDDEN\` to use. A command in a
session belongs to whom the session does, and ids of commands that clients choose are their own: two tokens may choose the
same. The workspace itself has no owner: a restore changes it for all.

## Asking and answering

A request is an event with one object as its payload. The answer comes through the acknowledgement callback. A client that
passes none gets it as the event \`<request>_result\`. A field \`request_id\` of the payload, any JSON value, is echoed in the
answer.

An answer is the object described below, or an error:

\`\`\`json
{ "error": { "code": "SESSION_NOT_FOUND", "message": "there is no session session_ID", "details": { "session_id": "session_ID" } } }
\`\`\`

\`code\` is one of the [error codes](#error-codes), \`message\` is for people, \`details\` has facts and may be absent.

In requests, \`null\` counts as absent, and a field that is not in the table is an error. Answers and events may get new
fields at any time: ignore what you do not know. The version rises only when an existing client would misunderstand the
daemon.

A message that is larger than \`max_message_bytes\` of the configuration (\`shell_metadata\` tells it) is answered with
\`PAYLOAD_TOO_LARGE\`, and nothing else happens. Only beyond 8 MiB, or twice \`max_message_bytes\` if that is more, it ends the connection.

## Sessions and one-shot commands

With \`session_id\`, a command runs in the session's shell and what it changes stays: the directory, variables, functions,
options, background jobs. The commands of a session run one after another, in the order in which they came. Without
\`session_id\`, a command runs in a fresh environment of its own, beside all others, and nothing of it stays.

A session belongs to no connection. When its last client has gone it waits for \`reconnect_grace\`, and its clients may
\`attach_session\` to it. It also ends after \`session_max_lifetime\`, and after \`session_idle_timeout\` without a command.
For ten minutes afterwards, \`SESSION_NOT_FOUND\` says why it ended.

A command may end the shell itself (\`exec\`, \`set -e\`, \`kill -9 $$\`). The session then goes on with a new shell under
the same id, in the last directory and with the exported variables. The result says so: \`session_state\` is
\`restarted\`, and \`warnings\` tells what was lost.

## Exit codes

| exit code | meaning |
| --- | --- |
| 0 to 123 | the command's own |
| 124 | the command ran into its time-out: \`status\` is \`timed_out\`. Without that status it is the command's own |
| 126, 127 | the program could not be run, or was not found, as shells say it; \`warnings\` tells when the fault is the daemon's |
| 128 + n | ended by signal n: 130 for SIGINT, 137 for SIGKILL, 143 for SIGTERM |
| \`null\` | it is still running, or has not begun: \`status\` says which |

## Sizes and output

Sizes are in characters (Unicode code points) where they are not named \`…_bytes\`. An output of up to \`max_size\`
characters comes whole; of a longer one, the beginning and the end, with a line between that tells how much was left out.
\`read_output\` gives every byte of it until the session ends (for a one-shot: until newer ones have taken its place).

Bytes that are not UTF-8 come as U+FFFD, and \`lossy\` is true; with \`output.encoding: "base64"\` they come as they are.

With \`stream: true\` the output also comes as \`command_output\` events while the command runs. Their \`seq\` rises by one
for each event of a session, so that a client can tell what it has missed, and ask for it again with \`attach_session\` and
\`from_seq\`. What is no longer kept, and what a client was too slow to take, is announced as a gap. stdout and stderr are
each in order; between the two, the order is exact to within one batch of a few milliseconds. Output of background jobs that
comes after their command has ended carries that command's id.

## Streamed input

\`stdin\` is for text that is known when the command starts. With \`stdin_stream: true\` standard input is a pipe that stays open, for any
amount of text or bytes:

1. Send \`execute_command\` with \`stdin_stream: true\` and a \`command_id\` of your own. The answer comes when the command ends.
2. Without waiting for it, send \`send_input\` with that \`command_id\`. \`data\` is text or a binary attachment, each at most \`max_message_bytes\` long.
   The command need not have started: what it cannot read yet waits.
3. Send the next chunk when the answer has come: it is delayed until the command has read most of what was sent. A few chunks may be
   under way at a time; a client that ignores the answers gets \`INPUT_FULL\` once more than 4 MiB are unread.
4. Send \`eof: true\` with the last chunk, or alone. The command then sees the end of its input.

\`stdin_closed: true\` in an answer means that the command reads no more: stop sending, and wait for its result. After its end, \`send_input\` is
answered with \`NO_RUNNING_COMMAND\`. With \`offset\`, a chunk that is sent again after a lost connection counts once.

When the connection that feeds the input is lost, the command waits for \`reconnect_grace\`, 30 seconds at most, for the client to repeat
\`execute_command\` or send more. Otherwise the command is killed: it never takes half of an input for the whole. An input that was ended by
\`eof\` needs no connection any more.

The policy cannot see a streamed input. A shell or an interpreter that would read its program from it has to be confirmed.

## Policy

With \`confirmation.mode\` of the configuration other than \`off\`, every command passes a gate before it runs, and so does what
is typed by \`send_input\` into a program that executes it. What is denied is answered with \`COMMAND_DENIED\`, and nothing of
it has happened. \`open_session\` and \`reset_session\` cannot be confirmed: variables that a command would be asked about are
refused there, in \`details.variables\`, and set by a command in the session instead. \`check_command\` says beforehand what the
gate would say, whatever the mode. A command counts as the worst that is in it: every command of the text is looked at, those
in substitutions, in texts for other shells and behind programs such as \`sudo\` and \`xargs\` too. What cannot be told from
the text is of the class \`obfuscated\`.

A program that executes what is typed while it runs, such as a shell without a script, an interpreter, an editor or a database
client, is of the class \`interactive\` when it is started on a terminal: in a session, or with \`tty\`. It is judged once, at its
start. Once it runs, \`send_input\` passes everything to it unjudged. A program that was not known at the start, because something else
has started it, is judged when it gets its first input: then a whole line for a shell is judged before the end of that line is sent, also
when the line comes in several requests; for anything else the confirmation is for all further input of that command.

## Confirmation

A command that has to be confirmed is not run. \`requires\` says who has to confirm it:

| \`requires\` | what happens |
| --- | --- |
| \`self\` | The answer comes at once, with \`status: "confirmation_required"\` and what is to be confirmed. The client that asked approves it by \`confirm_command\`, with \`command_sha256\` and a \`justification\`; the answer to that is the result. |
| \`operator\` | The request waits. Operators decide by \`confirm_command\`, and both get the result. The client that asked cannot be the operator, and neither can a connection without a token. |
| \`llm\` | The request waits while a model reviews the command. |

A request with \`background: true\` never waits: it is answered with \`confirmation_required\` at once, and \`wait_command\` waits.
All whom it concerns get the event \`confirmation_required\` when something begins to wait, and \`confirmation_resolved\` when it no
longer does. \`list_confirmations\` has what waits at the moment.

\`command_sha256\` is the SHA-256, in hexadecimal digits, of the command as UTF-8; with \`args\`, of the command and the
arguments, joined by NUL; for input, of the description of it in \`list_confirmations\`, which never has the text itself. What runs is the request that was stopped, with its
variables, input and directory: nothing of it is sent a second time.

An approval counts once, until \`expires_at\`, and only while the session has the directory and the shell that it had. The policy
is asked again then: what it says by then must not be more than what was shown. Otherwise nothing runs, and the answer is
\`CONFIRMATION_MISMATCH\`. A session that is busy is \`SESSION_BUSY\`, and the confirmation stays open. After three answers with a wrong
\`command_sha256\` it is void. A token may have 16 of them open.

What is not confirmed does not run: a rejection, a time-out, a model that gives no clear verdict, and the end of the
session or the daemon are all the same. A waiting client gets \`COMMAND_DENIED\`; the rejection itself is answered with \`status: "denied"\`.
A waiting request is withdrawn when its connection ends, when its own client rejects it, or by \`signal_command\` with its \`command_id\`.

A command in a session that waits does not hold up those that come after it.

Before a confirmed command that destroys, or may, the workspace is saved (\`confirmation.checkpoint\`): \`checkpoint_id\` in
the result undoes it. That it could not be saved is a warning, \`NO_CHECKPOINT\`.

## Asking twice

\`command_id\` may be chosen by the client. A request with an id that is known runs nothing: it gives the result of that
command, and waits for it if need be. One that waits for its confirmation waits on. So a client that has lost its connection can send its request again.

## LLMs

\`llm_call\` asks an LLM: a command-line tool that is installed where the daemon runs (\`provider: "shell"\`), or a service that
is configured. The answer comes when it is complete; with \`llm_stream\` it also comes as \`llm_chunk\` events, to the client
that asked. The pieces are all that a tool says on its way; \`content\` is its last message, without blanks around it.
\`timeout_ms\` bounds the time of the answer. A call is ended, with all processes of a tool, by \`cancel_llm\`, and when its client disconnects:
nothing of it is kept. Errors have \`details.provider\`, \`details.shell_provider\`, and in \`details.detail\` what the tool or
service said; when several were asked in turn, \`details.tried\` has each of them.

## Checkpoints

A checkpoint has everything in the workspace directory of the configuration: files byte for byte, whatever \`.gitignore\` and
\`.gitattributes\` say, symbolic links as links, empty directories, permissions, and owners when the daemon runs as root. It
does not have times, extended attributes and hard links. The checkpoints are in a git repository of the adapter's own, in
\`state_directory\`. A \`.git\` in the workspace is neither saved nor changed, at any depth; the other files of nested
repositories and submodules are saved like all others.

A restore makes the workspace what it was then: what has been added since goes. It first saves what is there now;
restoring \`undo_checkpoint_id\` undoes it. When it fails, nothing has changed. It runs beside the commands of sessions: a file
that one of them writes to meanwhile makes it fail.

What a checkpoint could not save a restore does not touch, nor does it remove what it could not save first. Both are
told in \`skipped\`:
`;
