"""A method for each request of the protocol."""

# Generated from src/core/protocol by `npm run docs`. Change it there.

from __future__ import annotations

from typing import Any, Awaitable, Callable, Mapping, Unpack, cast

from . import models


class AsyncRequests:
    """Requests for asyncio."""

    def __init__(self, request: Callable[[str, Mapping[str, Any]], Awaitable[Any]]) -> None:
        self._request = request

    async def open_session(self, **fields: Unpack[models.OpenSessionRequest]) -> models.OpenSessionAnswer:
        """Opens a persistent shell session."""
        return cast("models.OpenSessionAnswer", await self._request("open_session", fields))

    async def close_session(self, **fields: Unpack[models.CloseSessionRequest]) -> models.CloseSessionAnswer:
        """Ends a session and every process in it."""
        return cast("models.CloseSessionAnswer", await self._request("close_session", fields))

    async def list_sessions(self, **fields: Unpack[models.ListSessionsRequest]) -> models.ListSessionsAnswer:
        """Lists the sessions."""
        return cast("models.ListSessionsAnswer", await self._request("list_sessions", fields))

    async def get_session(self, **fields: Unpack[models.GetSessionRequest]) -> models.Session:
        """Describes one session."""
        return cast("models.Session", await self._request("get_session", fields))

    async def reset_session(self, **fields: Unpack[models.ResetSessionRequest]) -> models.ResetSessionAnswer:
        """Ends everything in a session and gives it a fresh shell under the same id."""
        return cast("models.ResetSessionAnswer", await self._request("reset_session", fields))

    async def attach_session(self, **fields: Unpack[models.AttachSessionRequest]) -> models.AttachSessionAnswer:
        """Subscribes to a session and replays its output from a sequence number, before the answer."""
        return cast("models.AttachSessionAnswer", await self._request("attach_session", fields))

    async def detach_session(self, **fields: Unpack[models.DetachSessionRequest]) -> models.DetachSessionAnswer:
        """Ends what `attach_session` has begun: this client gets no more events of the session."""
        return cast("models.DetachSessionAnswer", await self._request("detach_session", fields))

    async def watch_resources(self, **fields: Unpack[models.WatchResourcesRequest]) -> models.WatchResourcesAnswer:
        """Subscribes to `resource_usage` events, which come while a command or background process runs in the
        session."""
        return cast("models.WatchResourcesAnswer", await self._request("watch_resources", fields))

    async def execute_command(self, **fields: Unpack[models.ExecuteCommandRequest]) -> models.CommandResult:
        """Runs a command in a session, or in a fresh environment without one."""
        return cast("models.CommandResult", await self._request("execute_command", fields))

    async def check_command(self, **fields: Unpack[models.CheckCommandRequest]) -> models.CheckCommandAnswer:
        """Reports the verdict of the policy on a command, without running it."""
        return cast("models.CheckCommandAnswer", await self._request("check_command", fields))

    async def signal_command(self, **fields: Unpack[models.SignalCommandRequest]) -> models.SignalCommandAnswer:
        """Sends a signal to the foreground processes of a running command."""
        return cast("models.SignalCommandAnswer", await self._request("signal_command", fields))

    async def wait_command(self, **fields: Unpack[models.WaitCommandRequest]) -> models.CommandResult:
        """Waits for a command and returns its result, or the output so far."""
        return cast("models.CommandResult", await self._request("wait_command", fields))

    async def read_output(self, **fields: Unpack[models.ReadOutputRequest]) -> models.ReadOutputAnswer:
        """Reads exact bytes of a command’s output, or lines of it."""
        return cast("models.ReadOutputAnswer", await self._request("read_output", fields))

    async def search_output(self, **fields: Unpack[models.SearchOutputRequest]) -> models.SearchOutputAnswer:
        """Searches a command’s output, line by line."""
        return cast("models.SearchOutputAnswer", await self._request("search_output", fields))

    async def list_commands(self, **fields: Unpack[models.ListCommandsRequest]) -> models.ListCommandsAnswer:
        """Lists commands, the newest first: those that run, and those whose output is still kept."""
        return cast("models.ListCommandsAnswer", await self._request("list_commands", fields))

    async def send_input(self, **fields: Unpack[models.SendInputRequest]) -> models.SendInputAnswer:
        """Types into the terminal of a running command, or feeds its streamed standard input."""
        return cast("models.SendInputAnswer", await self._request("send_input", fields))

    async def read_screen(self, **fields: Unpack[models.ReadScreenRequest]) -> models.ReadScreenAnswer:
        """Gives what the terminal of a command shows, as a person would see it."""
        return cast("models.ReadScreenAnswer", await self._request("read_screen", fields))

    async def resize_terminal(self, **fields: Unpack[models.ResizeTerminalRequest]) -> models.ResizeTerminalAnswer:
        """Sets the size of the session’s terminal."""
        return cast("models.ResizeTerminalAnswer", await self._request("resize_terminal", fields))

    async def confirm_command(self, **fields: Unpack[models.ConfirmCommandRequest]) -> models.CommandResult:
        """Approves or rejects a confirmation: the command is run, the input is typed, or neither."""
        return cast("models.CommandResult", await self._request("confirm_command", fields))

    async def list_confirmations(self, **fields: Unpack[models.ListConfirmationsRequest]) -> models.ListConfirmationsAnswer:
        """Lists the open confirmations that this client has caused or may decide."""
        return cast("models.ListConfirmationsAnswer", await self._request("list_confirmations", fields))

    async def list_remembered_approvals(self, **fields: Unpack[models.ListRememberedApprovalsRequest]) -> models.ListRememberedApprovalsAnswer:
        """Lists the approvals that are remembered for commands of this client; for operators, those of all clients."""
        return cast("models.ListRememberedApprovalsAnswer", await self._request("list_remembered_approvals", fields))

    async def revoke_remembered_approval(self, **fields: Unpack[models.RevokeRememberedApprovalRequest]) -> models.RevokeRememberedApprovalAnswer:
        """Revokes a remembered approval: such commands have to be confirmed again."""
        return cast("models.RevokeRememberedApprovalAnswer", await self._request("revoke_remembered_approval", fields))

    async def list_recordings(self, **fields: Unpack[models.ListRecordingsRequest]) -> models.ListRecordingsAnswer:
        """Lists recordings of sessions, the newest first."""
        return cast("models.ListRecordingsAnswer", await self._request("list_recordings", fields))

    async def read_recording(self, **fields: Unpack[models.ReadRecordingRequest]) -> models.ReadRecordingAnswer:
        """Reads bytes of a recording: a file in the format asciicast v2."""
        return cast("models.ReadRecordingAnswer", await self._request("read_recording", fields))

    async def delete_recording(self, **fields: Unpack[models.DeleteRecordingRequest]) -> models.DeleteRecordingAnswer:
        """Deletes a recording whose session has ended."""
        return cast("models.DeleteRecordingAnswer", await self._request("delete_recording", fields))

    async def checkpoint_workspace(self, **fields: Unpack[models.CheckpointWorkspaceRequest]) -> models.CheckpointWorkspaceAnswer:
        """Saves the workspace as a checkpoint."""
        return cast("models.CheckpointWorkspaceAnswer", await self._request("checkpoint_workspace", fields))

    async def list_checkpoints(self, **fields: Unpack[models.ListCheckpointsRequest]) -> models.ListCheckpointsAnswer:
        """Lists the checkpoints of the workspace, the oldest first."""
        return cast("models.ListCheckpointsAnswer", await self._request("list_checkpoints", fields))

    async def diff_workspace(self, **fields: Unpack[models.DiffWorkspaceRequest]) -> models.DiffWorkspaceAnswer:
        """Lists the differences between the workspace and a checkpoint."""
        return cast("models.DiffWorkspaceAnswer", await self._request("diff_workspace", fields))

    async def restore_workspace(self, **fields: Unpack[models.RestoreWorkspaceRequest]) -> models.RestoreWorkspaceAnswer:
        """Restores the workspace, or paths of it, from a checkpoint. The current state is saved first. It has to be
        confirmed when it takes files that others may have written."""
        return cast("models.RestoreWorkspaceAnswer", await self._request("restore_workspace", fields))

    async def read_file(self, **fields: Unpack[models.ReadFileRequest]) -> models.ReadFileAnswer:
        """Reads a part of a file, or lines of it."""
        return cast("models.ReadFileAnswer", await self._request("read_file", fields))

    async def write_file(self, **fields: Unpack[models.WriteFileRequest]) -> models.WriteFileAnswer:
        """Writes a file. A reader sees the old content or the new, never a part of it."""
        return cast("models.WriteFileAnswer", await self._request("write_file", fields))

    async def edit_file(self, **fields: Unpack[models.EditFileRequest]) -> models.EditFileAnswer:
        """Replaces an exact text in a file."""
        return cast("models.EditFileAnswer", await self._request("edit_file", fields))

    async def list_directory(self, **fields: Unpack[models.ListDirectoryRequest]) -> models.ListDirectoryAnswer:
        """Lists the entries of a directory, by name."""
        return cast("models.ListDirectoryAnswer", await self._request("list_directory", fields))

    async def stat_path(self, **fields: Unpack[models.StatPathRequest]) -> models.StatPathAnswer:
        """Describes a file or a directory."""
        return cast("models.StatPathAnswer", await self._request("stat_path", fields))

    async def make_directory(self, **fields: Unpack[models.MakeDirectoryRequest]) -> models.MakeDirectoryAnswer:
        """Makes a directory."""
        return cast("models.MakeDirectoryAnswer", await self._request("make_directory", fields))

    async def move_path(self, **fields: Unpack[models.MovePathRequest]) -> models.MovePathAnswer:
        """Moves or renames a file or a directory. A link is moved itself."""
        return cast("models.MovePathAnswer", await self._request("move_path", fields))

    async def remove_path(self, **fields: Unpack[models.RemovePathRequest]) -> models.RemovePathAnswer:
        """Removes a file, or a directory. A link is removed itself."""
        return cast("models.RemovePathAnswer", await self._request("remove_path", fields))

    async def find_files(self, **fields: Unpack[models.FindFilesRequest]) -> models.FindFilesAnswer:
        """Finds files and directories by their names, without following links."""
        return cast("models.FindFilesAnswer", await self._request("find_files", fields))

    async def search_files(self, **fields: Unpack[models.SearchFilesRequest]) -> models.SearchFilesAnswer:
        """Searches text files, line by line, without following links."""
        return cast("models.SearchFilesAnswer", await self._request("search_files", fields))

    async def wait_for(self, **fields: Unpack[models.WaitForRequest]) -> models.WaitForAnswer:
        """Waits for a port, a file, a text in an output or on a screen, or the end of a command: for the first that
        comes."""
        return cast("models.WaitForAnswer", await self._request("wait_for", fields))

    async def list_ports(self, **fields: Unpack[models.ListPortsRequest]) -> models.ListPortsAnswer:
        """Lists the TCP ports on which processes of sessions listen."""
        return cast("models.ListPortsAnswer", await self._request("list_ports", fields))

    async def preview_port(self, **fields: Unpack[models.PreviewPortRequest]) -> models.PreviewPortAnswer:
        """Gives the path under which the daemon passes HTTP and WebSocket on to a port of a session."""
        return cast("models.PreviewPortAnswer", await self._request("preview_port", fields))

    async def watch_paths(self, **fields: Unpack[models.WatchPathsRequest]) -> models.WatchPathsAnswer:
        """Watches files and directories. Changes come as `paths_changed`, until `unwatch_paths` or the end of the
        connection."""
        return cast("models.WatchPathsAnswer", await self._request("watch_paths", fields))

    async def unwatch_paths(self, **fields: Unpack[models.UnwatchPathsRequest]) -> models.UnwatchPathsAnswer:
        """Ends a watch of this connection."""
        return cast("models.UnwatchPathsAnswer", await self._request("unwatch_paths", fields))

    async def llm_call(self, **fields: Unpack[models.LlmCallRequest]) -> models.LlmCallAnswer:
        """Asks an LLM: an installed command-line tool, or a configured service."""
        return cast("models.LlmCallAnswer", await self._request("llm_call", fields))

    async def llm_stream(self, **fields: Unpack[models.LlmCallRequest]) -> models.LlmStreamAnswer:
        """Asks an LLM as `llm_call` does, and sends `llm_chunk` events as the answer comes."""
        return cast("models.LlmStreamAnswer", await self._request("llm_stream", fields))

    async def cancel_llm(self, **fields: Unpack[models.CancelLlmRequest]) -> models.CancelLlmAnswer:
        """Cancels an LLM call, which is then answered with `LLM_CANCELLED`."""
        return cast("models.CancelLlmAnswer", await self._request("cancel_llm", fields))

    async def list_llm_calls(self, **fields: Unpack[models.ListLlmCallsRequest]) -> models.ListLlmCallsAnswer:
        """Lists LLM calls: those under way, and the last that have ended. Questions and answers are not kept."""
        return cast("models.ListLlmCallsAnswer", await self._request("list_llm_calls", fields))

    async def list_llm_providers(self, **fields: Unpack[models.ListLlmProvidersRequest]) -> models.ListLlmProvidersAnswer:
        """Lists the providers for `llm_call`, without calling them."""
        return cast("models.ListLlmProvidersAnswer", await self._request("list_llm_providers", fields))

    async def read_audit(self, **fields: Unpack[models.ReadAuditRequest]) -> models.ReadAuditAnswer:
        """Returns records of the audit log, the newest first."""
        return cast("models.ReadAuditAnswer", await self._request("read_audit", fields))

    async def verify_audit(self, **fields: Unpack[models.VerifyAuditRequest]) -> models.VerifyAuditAnswer:
        """Verifies the hash chain of the audit log. A finding is kept for 30 seconds."""
        return cast("models.VerifyAuditAnswer", await self._request("verify_audit", fields))

    async def list_tokens(self, **fields: Unpack[models.ListTokensRequest]) -> models.ListTokensAnswer:
        """Lists the tokens, those that have expired included."""
        return cast("models.ListTokensAnswer", await self._request("list_tokens", fields))

    async def create_token(self, **fields: Unpack[models.CreateTokenRequest]) -> models.CreateTokenAnswer:
        """Creates a token."""
        return cast("models.CreateTokenAnswer", await self._request("create_token", fields))

    async def rotate_token(self, **fields: Unpack[models.RotateTokenRequest]) -> models.CreateTokenAnswer:
        """Replaces the secret of a token, and closes its connections."""
        return cast("models.CreateTokenAnswer", await self._request("rotate_token", fields))

    async def revoke_token(self, **fields: Unpack[models.RotateTokenRequest]) -> models.RevokeTokenAnswer:
        """Deletes a token, and closes its connections."""
        return cast("models.RevokeTokenAnswer", await self._request("revoke_token", fields))

    async def daemon_status(self, **fields: Unpack[models.DaemonStatusRequest]) -> models.DaemonStatusAnswer:
        """Describes the daemon: version, process, uptime, configuration and workload."""
        return cast("models.DaemonStatusAnswer", await self._request("daemon_status", fields))

    async def examine_machine(self, **fields: Unpack[models.ExamineMachineRequest]) -> models.ExamineMachineAnswer:
        """Checks everything that the daemon needs or can use, as `shell-adapter doctor` does. A finding is kept for
        30 seconds."""
        return cast("models.ExamineMachineAnswer", await self._request("examine_machine", fields))

    async def shell_metadata(self, **fields: Unpack[models.ShellMetadataRequest]) -> models.ShellMetadataAnswer:
        """Describes the machine and the shell that commands run on."""
        return cast("models.ShellMetadataAnswer", await self._request("shell_metadata", fields))

    async def describe_access(self, **fields: Unpack[models.DescribeAccessRequest]) -> models.DescribeAccessAnswer:
        """Describes who this client is to the daemon, and which requests it may make."""
        return cast("models.DescribeAccessAnswer", await self._request("describe_access", fields))

    async def subscribe(self, **fields: Unpack[models.SubscribeRequest]) -> models.SubscribeAnswer:
        """Subscribes to changes of everything that this client may see, instead of the topics before; see
        [Subscriptions](#subscriptions)."""
        return cast("models.SubscribeAnswer", await self._request("subscribe", fields))

    async def host_history(self, **fields: Unpack[models.HostHistoryRequest]) -> models.HostHistoryAnswer:
        """Returns the measured values of the machine in the last hour."""
        return cast("models.HostHistoryAnswer", await self._request("host_history", fields))

    async def create_dashboard_link(self, **fields: Unpack[models.CreateDashboardLinkRequest]) -> models.CreateDashboardLinkAnswer:
        """Makes a link that signs a browser in to the dashboard. It counts once, for a minute. Its page has no more
        rights than its maker, and ends with the token of its maker."""
        return cast("models.CreateDashboardLinkAnswer", await self._request("create_dashboard_link", fields))

    async def list_nodes(self, **fields: Unpack[models.ListNodesRequest]) -> models.ListNodesAnswer:
        """Lists the nodes of the cluster. A daemon alone has none."""
        return cast("models.ListNodesAnswer", await self._request("list_nodes", fields))

    async def register_node(self, **fields: Unpack[models.RegisterNodeRequest]) -> models.RegisterNodeAnswer:
        """Adds a worker to the nodes of this gateway, or changes it, and connects to it. It answers after the first
        attempt."""
        return cast("models.RegisterNodeAnswer", await self._request("register_node", fields))

    async def remove_node(self, **fields: Unpack[models.RemoveNodeRequest]) -> models.RemoveNodeAnswer:
        """Removes a worker from the nodes of this gateway. What runs on it counts as lost for the clients here."""
        return cast("models.RemoveNodeAnswer", await self._request("remove_node", fields))

    async def drain_node(self, **fields: Unpack[models.DrainNodeRequest]) -> models.DrainNodeAnswer:
        """Has a node take no new sessions and one-shot commands, or take them again. What runs there goes on."""
        return cast("models.DrainNodeAnswer", await self._request("drain_node", fields))


class Requests:
    """Requests that wait for their answers."""

    def __init__(self, request: Callable[[str, Mapping[str, Any]], Any]) -> None:
        self._request = request

    def open_session(self, **fields: Unpack[models.OpenSessionRequest]) -> models.OpenSessionAnswer:
        """Opens a persistent shell session."""
        return cast("models.OpenSessionAnswer", self._request("open_session", fields))

    def close_session(self, **fields: Unpack[models.CloseSessionRequest]) -> models.CloseSessionAnswer:
        """Ends a session and every process in it."""
        return cast("models.CloseSessionAnswer", self._request("close_session", fields))

    def list_sessions(self, **fields: Unpack[models.ListSessionsRequest]) -> models.ListSessionsAnswer:
        """Lists the sessions."""
        return cast("models.ListSessionsAnswer", self._request("list_sessions", fields))

    def get_session(self, **fields: Unpack[models.GetSessionRequest]) -> models.Session:
        """Describes one session."""
        return cast("models.Session", self._request("get_session", fields))

    def reset_session(self, **fields: Unpack[models.ResetSessionRequest]) -> models.ResetSessionAnswer:
        """Ends everything in a session and gives it a fresh shell under the same id."""
        return cast("models.ResetSessionAnswer", self._request("reset_session", fields))

    def attach_session(self, **fields: Unpack[models.AttachSessionRequest]) -> models.AttachSessionAnswer:
        """Subscribes to a session and replays its output from a sequence number, before the answer."""
        return cast("models.AttachSessionAnswer", self._request("attach_session", fields))

    def detach_session(self, **fields: Unpack[models.DetachSessionRequest]) -> models.DetachSessionAnswer:
        """Ends what `attach_session` has begun: this client gets no more events of the session."""
        return cast("models.DetachSessionAnswer", self._request("detach_session", fields))

    def watch_resources(self, **fields: Unpack[models.WatchResourcesRequest]) -> models.WatchResourcesAnswer:
        """Subscribes to `resource_usage` events, which come while a command or background process runs in the
        session."""
        return cast("models.WatchResourcesAnswer", self._request("watch_resources", fields))

    def execute_command(self, **fields: Unpack[models.ExecuteCommandRequest]) -> models.CommandResult:
        """Runs a command in a session, or in a fresh environment without one."""
        return cast("models.CommandResult", self._request("execute_command", fields))

    def check_command(self, **fields: Unpack[models.CheckCommandRequest]) -> models.CheckCommandAnswer:
        """Reports the verdict of the policy on a command, without running it."""
        return cast("models.CheckCommandAnswer", self._request("check_command", fields))

    def signal_command(self, **fields: Unpack[models.SignalCommandRequest]) -> models.SignalCommandAnswer:
        """Sends a signal to the foreground processes of a running command."""
        return cast("models.SignalCommandAnswer", self._request("signal_command", fields))

    def wait_command(self, **fields: Unpack[models.WaitCommandRequest]) -> models.CommandResult:
        """Waits for a command and returns its result, or the output so far."""
        return cast("models.CommandResult", self._request("wait_command", fields))

    def read_output(self, **fields: Unpack[models.ReadOutputRequest]) -> models.ReadOutputAnswer:
        """Reads exact bytes of a command’s output, or lines of it."""
        return cast("models.ReadOutputAnswer", self._request("read_output", fields))

    def search_output(self, **fields: Unpack[models.SearchOutputRequest]) -> models.SearchOutputAnswer:
        """Searches a command’s output, line by line."""
        return cast("models.SearchOutputAnswer", self._request("search_output", fields))

    def list_commands(self, **fields: Unpack[models.ListCommandsRequest]) -> models.ListCommandsAnswer:
        """Lists commands, the newest first: those that run, and those whose output is still kept."""
        return cast("models.ListCommandsAnswer", self._request("list_commands", fields))

    def send_input(self, **fields: Unpack[models.SendInputRequest]) -> models.SendInputAnswer:
        """Types into the terminal of a running command, or feeds its streamed standard input."""
        return cast("models.SendInputAnswer", self._request("send_input", fields))

    def read_screen(self, **fields: Unpack[models.ReadScreenRequest]) -> models.ReadScreenAnswer:
        """Gives what the terminal of a command shows, as a person would see it."""
        return cast("models.ReadScreenAnswer", self._request("read_screen", fields))

    def resize_terminal(self, **fields: Unpack[models.ResizeTerminalRequest]) -> models.ResizeTerminalAnswer:
        """Sets the size of the session’s terminal."""
        return cast("models.ResizeTerminalAnswer", self._request("resize_terminal", fields))

    def confirm_command(self, **fields: Unpack[models.ConfirmCommandRequest]) -> models.CommandResult:
        """Approves or rejects a confirmation: the command is run, the input is typed, or neither."""
        return cast("models.CommandResult", self._request("confirm_command", fields))

    def list_confirmations(self, **fields: Unpack[models.ListConfirmationsRequest]) -> models.ListConfirmationsAnswer:
        """Lists the open confirmations that this client has caused or may decide."""
        return cast("models.ListConfirmationsAnswer", self._request("list_confirmations", fields))

    def list_remembered_approvals(self, **fields: Unpack[models.ListRememberedApprovalsRequest]) -> models.ListRememberedApprovalsAnswer:
        """Lists the approvals that are remembered for commands of this client; for operators, those of all clients."""
        return cast("models.ListRememberedApprovalsAnswer", self._request("list_remembered_approvals", fields))

    def revoke_remembered_approval(self, **fields: Unpack[models.RevokeRememberedApprovalRequest]) -> models.RevokeRememberedApprovalAnswer:
        """Revokes a remembered approval: such commands have to be confirmed again."""
        return cast("models.RevokeRememberedApprovalAnswer", self._request("revoke_remembered_approval", fields))

    def list_recordings(self, **fields: Unpack[models.ListRecordingsRequest]) -> models.ListRecordingsAnswer:
        """Lists recordings of sessions, the newest first."""
        return cast("models.ListRecordingsAnswer", self._request("list_recordings", fields))

    def read_recording(self, **fields: Unpack[models.ReadRecordingRequest]) -> models.ReadRecordingAnswer:
        """Reads bytes of a recording: a file in the format asciicast v2."""
        return cast("models.ReadRecordingAnswer", self._request("read_recording", fields))

    def delete_recording(self, **fields: Unpack[models.DeleteRecordingRequest]) -> models.DeleteRecordingAnswer:
        """Deletes a recording whose session has ended."""
        return cast("models.DeleteRecordingAnswer", self._request("delete_recording", fields))

    def checkpoint_workspace(self, **fields: Unpack[models.CheckpointWorkspaceRequest]) -> models.CheckpointWorkspaceAnswer:
        """Saves the workspace as a checkpoint."""
        return cast("models.CheckpointWorkspaceAnswer", self._request("checkpoint_workspace", fields))

    def list_checkpoints(self, **fields: Unpack[models.ListCheckpointsRequest]) -> models.ListCheckpointsAnswer:
        """Lists the checkpoints of the workspace, the oldest first."""
        return cast("models.ListCheckpointsAnswer", self._request("list_checkpoints", fields))

    def diff_workspace(self, **fields: Unpack[models.DiffWorkspaceRequest]) -> models.DiffWorkspaceAnswer:
        """Lists the differences between the workspace and a checkpoint."""
        return cast("models.DiffWorkspaceAnswer", self._request("diff_workspace", fields))

    def restore_workspace(self, **fields: Unpack[models.RestoreWorkspaceRequest]) -> models.RestoreWorkspaceAnswer:
        """Restores the workspace, or paths of it, from a checkpoint. The current state is saved first. It has to be
        confirmed when it takes files that others may have written."""
        return cast("models.RestoreWorkspaceAnswer", self._request("restore_workspace", fields))

    def read_file(self, **fields: Unpack[models.ReadFileRequest]) -> models.ReadFileAnswer:
        """Reads a part of a file, or lines of it."""
        return cast("models.ReadFileAnswer", self._request("read_file", fields))

    def write_file(self, **fields: Unpack[models.WriteFileRequest]) -> models.WriteFileAnswer:
        """Writes a file. A reader sees the old content or the new, never a part of it."""
        return cast("models.WriteFileAnswer", self._request("write_file", fields))

    def edit_file(self, **fields: Unpack[models.EditFileRequest]) -> models.EditFileAnswer:
        """Replaces an exact text in a file."""
        return cast("models.EditFileAnswer", self._request("edit_file", fields))

    def list_directory(self, **fields: Unpack[models.ListDirectoryRequest]) -> models.ListDirectoryAnswer:
        """Lists the entries of a directory, by name."""
        return cast("models.ListDirectoryAnswer", self._request("list_directory", fields))

    def stat_path(self, **fields: Unpack[models.StatPathRequest]) -> models.StatPathAnswer:
        """Describes a file or a directory."""
        return cast("models.StatPathAnswer", self._request("stat_path", fields))

    def make_directory(self, **fields: Unpack[models.MakeDirectoryRequest]) -> models.MakeDirectoryAnswer:
        """Makes a directory."""
        return cast("models.MakeDirectoryAnswer", self._request("make_directory", fields))

    def move_path(self, **fields: Unpack[models.MovePathRequest]) -> models.MovePathAnswer:
        """Moves or renames a file or a directory. A link is moved itself."""
        return cast("models.MovePathAnswer", self._request("move_path", fields))

    def remove_path(self, **fields: Unpack[models.RemovePathRequest]) -> models.RemovePathAnswer:
        """Removes a file, or a directory. A link is removed itself."""
        return cast("models.RemovePathAnswer", self._request("remove_path", fields))

    def find_files(self, **fields: Unpack[models.FindFilesRequest]) -> models.FindFilesAnswer:
        """Finds files and directories by their names, without following links."""
        return cast("models.FindFilesAnswer", self._request("find_files", fields))

    def search_files(self, **fields: Unpack[models.SearchFilesRequest]) -> models.SearchFilesAnswer:
        """Searches text files, line by line, without following links."""
        return cast("models.SearchFilesAnswer", self._request("search_files", fields))

    def wait_for(self, **fields: Unpack[models.WaitForRequest]) -> models.WaitForAnswer:
        """Waits for a port, a file, a text in an output or on a screen, or the end of a command: for the first that
        comes."""
        return cast("models.WaitForAnswer", self._request("wait_for", fields))

    def list_ports(self, **fields: Unpack[models.ListPortsRequest]) -> models.ListPortsAnswer:
        """Lists the TCP ports on which processes of sessions listen."""
        return cast("models.ListPortsAnswer", self._request("list_ports", fields))

    def preview_port(self, **fields: Unpack[models.PreviewPortRequest]) -> models.PreviewPortAnswer:
        """Gives the path under which the daemon passes HTTP and WebSocket on to a port of a session."""
        return cast("models.PreviewPortAnswer", self._request("preview_port", fields))

    def watch_paths(self, **fields: Unpack[models.WatchPathsRequest]) -> models.WatchPathsAnswer:
        """Watches files and directories. Changes come as `paths_changed`, until `unwatch_paths` or the end of the
        connection."""
        return cast("models.WatchPathsAnswer", self._request("watch_paths", fields))

    def unwatch_paths(self, **fields: Unpack[models.UnwatchPathsRequest]) -> models.UnwatchPathsAnswer:
        """Ends a watch of this connection."""
        return cast("models.UnwatchPathsAnswer", self._request("unwatch_paths", fields))

    def llm_call(self, **fields: Unpack[models.LlmCallRequest]) -> models.LlmCallAnswer:
        """Asks an LLM: an installed command-line tool, or a configured service."""
        return cast("models.LlmCallAnswer", self._request("llm_call", fields))

    def llm_stream(self, **fields: Unpack[models.LlmCallRequest]) -> models.LlmStreamAnswer:
        """Asks an LLM as `llm_call` does, and sends `llm_chunk` events as the answer comes."""
        return cast("models.LlmStreamAnswer", self._request("llm_stream", fields))

    def cancel_llm(self, **fields: Unpack[models.CancelLlmRequest]) -> models.CancelLlmAnswer:
        """Cancels an LLM call, which is then answered with `LLM_CANCELLED`."""
        return cast("models.CancelLlmAnswer", self._request("cancel_llm", fields))

    def list_llm_calls(self, **fields: Unpack[models.ListLlmCallsRequest]) -> models.ListLlmCallsAnswer:
        """Lists LLM calls: those under way, and the last that have ended. Questions and answers are not kept."""
        return cast("models.ListLlmCallsAnswer", self._request("list_llm_calls", fields))

    def list_llm_providers(self, **fields: Unpack[models.ListLlmProvidersRequest]) -> models.ListLlmProvidersAnswer:
        """Lists the providers for `llm_call`, without calling them."""
        return cast("models.ListLlmProvidersAnswer", self._request("list_llm_providers", fields))

    def read_audit(self, **fields: Unpack[models.ReadAuditRequest]) -> models.ReadAuditAnswer:
        """Returns records of the audit log, the newest first."""
        return cast("models.ReadAuditAnswer", self._request("read_audit", fields))

    def verify_audit(self, **fields: Unpack[models.VerifyAuditRequest]) -> models.VerifyAuditAnswer:
        """Verifies the hash chain of the audit log. A finding is kept for 30 seconds."""
        return cast("models.VerifyAuditAnswer", self._request("verify_audit", fields))

    def list_tokens(self, **fields: Unpack[models.ListTokensRequest]) -> models.ListTokensAnswer:
        """Lists the tokens, those that have expired included."""
        return cast("models.ListTokensAnswer", self._request("list_tokens", fields))

    def create_token(self, **fields: Unpack[models.CreateTokenRequest]) -> models.CreateTokenAnswer:
        """Creates a token."""
        return cast("models.CreateTokenAnswer", self._request("create_token", fields))

    def rotate_token(self, **fields: Unpack[models.RotateTokenRequest]) -> models.CreateTokenAnswer:
        """Replaces the secret of a token, and closes its connections."""
        return cast("models.CreateTokenAnswer", self._request("rotate_token", fields))

    def revoke_token(self, **fields: Unpack[models.RotateTokenRequest]) -> models.RevokeTokenAnswer:
        """Deletes a token, and closes its connections."""
        return cast("models.RevokeTokenAnswer", self._request("revoke_token", fields))

    def daemon_status(self, **fields: Unpack[models.DaemonStatusRequest]) -> models.DaemonStatusAnswer:
        """Describes the daemon: version, process, uptime, configuration and workload."""
        return cast("models.DaemonStatusAnswer", self._request("daemon_status", fields))

    def examine_machine(self, **fields: Unpack[models.ExamineMachineRequest]) -> models.ExamineMachineAnswer:
        """Checks everything that the daemon needs or can use, as `shell-adapter doctor` does. A finding is kept for
        30 seconds."""
        return cast("models.ExamineMachineAnswer", self._request("examine_machine", fields))

    def shell_metadata(self, **fields: Unpack[models.ShellMetadataRequest]) -> models.ShellMetadataAnswer:
        """Describes the machine and the shell that commands run on."""
        return cast("models.ShellMetadataAnswer", self._request("shell_metadata", fields))

    def describe_access(self, **fields: Unpack[models.DescribeAccessRequest]) -> models.DescribeAccessAnswer:
        """Describes who this client is to the daemon, and which requests it may make."""
        return cast("models.DescribeAccessAnswer", self._request("describe_access", fields))

    def subscribe(self, **fields: Unpack[models.SubscribeRequest]) -> models.SubscribeAnswer:
        """Subscribes to changes of everything that this client may see, instead of the topics before; see
        [Subscriptions](#subscriptions)."""
        return cast("models.SubscribeAnswer", self._request("subscribe", fields))

    def host_history(self, **fields: Unpack[models.HostHistoryRequest]) -> models.HostHistoryAnswer:
        """Returns the measured values of the machine in the last hour."""
        return cast("models.HostHistoryAnswer", self._request("host_history", fields))

    def create_dashboard_link(self, **fields: Unpack[models.CreateDashboardLinkRequest]) -> models.CreateDashboardLinkAnswer:
        """Makes a link that signs a browser in to the dashboard. It counts once, for a minute. Its page has no more
        rights than its maker, and ends with the token of its maker."""
        return cast("models.CreateDashboardLinkAnswer", self._request("create_dashboard_link", fields))

    def list_nodes(self, **fields: Unpack[models.ListNodesRequest]) -> models.ListNodesAnswer:
        """Lists the nodes of the cluster. A daemon alone has none."""
        return cast("models.ListNodesAnswer", self._request("list_nodes", fields))

    def register_node(self, **fields: Unpack[models.RegisterNodeRequest]) -> models.RegisterNodeAnswer:
        """Adds a worker to the nodes of this gateway, or changes it, and connects to it. It answers after the first
        attempt."""
        return cast("models.RegisterNodeAnswer", self._request("register_node", fields))

    def remove_node(self, **fields: Unpack[models.RemoveNodeRequest]) -> models.RemoveNodeAnswer:
        """Removes a worker from the nodes of this gateway. What runs on it counts as lost for the clients here."""
        return cast("models.RemoveNodeAnswer", self._request("remove_node", fields))

    def drain_node(self, **fields: Unpack[models.DrainNodeRequest]) -> models.DrainNodeAnswer:
        """Has a node take no new sessions and one-shot commands, or take them again. What runs there goes on."""
        return cast("models.DrainNodeAnswer", self._request("drain_node", fields))
