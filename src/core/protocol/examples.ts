import type { RequestInput, RequestName } from './requests.js';

/** An example of each request, for the documentation. The types keep them valid; a test parses them too. */
export const requestExamples: { readonly [N in RequestName]: RequestInput<N> } = {
  open_session: { cwd: '/srv/project', env: { CI: '1' }, label: 'build' },
  execute_command: { command: 'make test', session_id: 'session_ID', timeout_ms: 60_000, stream: true },
  close_session: { session_id: 'session_ID' },
  shell_metadata: {},
  daemon_status: {},
  check_command: { command: 'git status && rm -rf build', session_id: 'session_ID' },
  send_input: { session_id: 'session_ID', data: 'yes\n' },
  confirm_command: {
    confirmation_id: 'confirmation_ID',
    decision: 'approve',
    command_sha256: 'd2264a21fbf6b8f8f3d9b4ee2ba6a1d3b0c16a7e6a3dca6ad7d5c1a1b8a3c0de',
    justification: 'the build directory is built again by make',
  },
  list_confirmations: {},
  signal_command: { session_id: 'session_ID', signal: 'SIGINT' },
  wait_command: { command_id: 'command_ID', timeout_ms: 5000 },
  read_output: { command_id: 'command_ID', stream: 'stdout', offset: 0, length: 65_536 },
  list_sessions: {},
  get_session: { session_id: 'session_ID' },
  reset_session: { session_id: 'session_ID' },
  resize_terminal: { session_id: 'session_ID', cols: 120, rows: 40 },
  attach_session: { session_id: 'session_ID', from_seq: 17 },
  watch_resources: { session_id: 'session_ID', interval_ms: 1000 },
  checkpoint_workspace: { label: 'before the refactoring' },
  list_checkpoints: {},
  diff_workspace: { checkpoint_id: 'checkpoint_ID', paths: ['src'], format: 'patch' },
  restore_workspace: { checkpoint_id: 'checkpoint_ID', paths: ['src/main.c', 'docs'] },
  llm_call: {
    provider: 'shell',
    shell_provider: 'claude',
    messages: [
      { role: 'system', content: 'Answer in one word.' },
      { role: 'user', content: 'What is the capital of France?' },
    ],
    timeout_ms: 60_000,
  },
  llm_stream: { messages: [{ role: 'user', content: 'Tell a story.' }], call_id: 'story-1' },
  cancel_llm: { call_id: 'story-1' },
  list_llm_providers: {},
};
