import { describe, expect, it } from 'vitest';

import { assertPermitted, requestsFor, rolesFor } from '../../../../src/core/protocol/permissions.js';
import {
  canAccess,
  LOCAL_ID,
  LOCAL_PRINCIPAL,
  type Principal,
  type Role,
  ROLE_NAMES,
} from '../../../../src/core/principal.js';
import type { AdapterError } from '../../../../src/core/errors.js';
import { type RequestName, requests } from '../../../../src/core/protocol/requests.js';

/** Who may ask what, said a second time and request by request: v viewer, a agent, o operator, A admin. */
const EXPECTED: Readonly<Record<RequestName, string>> = {
  open_session: ' aoA',
  execute_command: ' aoA',
  close_session: ' aoA',
  shell_metadata: 'vaoA',
  daemon_status: 'vaoA',
  check_command: ' aoA',
  send_input: ' aoA',
  confirm_command: ' aoA',
  list_confirmations: ' aoA',
  list_remembered_approvals: ' aoA',
  revoke_remembered_approval: ' aoA',
  signal_command: ' aoA',
  wait_command: 'vaoA',
  read_output: 'vaoA',
  search_output: 'vaoA',
  list_commands: 'vaoA',
  list_sessions: 'vaoA',
  get_session: 'vaoA',
  reset_session: ' aoA',
  read_screen: 'vaoA',
  resize_terminal: ' aoA',
  attach_session: 'vaoA',
  detach_session: 'vaoA',
  watch_resources: 'vaoA',
  list_recordings: 'vaoA',
  read_recording: 'vaoA',
  delete_recording: ' aoA',
  checkpoint_workspace: ' aoA',
  list_checkpoints: 'vaoA',
  diff_workspace: 'vaoA',
  restore_workspace: ' aoA',
  read_file: ' aoA',
  write_file: ' aoA',
  edit_file: ' aoA',
  list_directory: ' aoA',
  stat_path: ' aoA',
  make_directory: ' aoA',
  move_path: ' aoA',
  remove_path: ' aoA',
  find_files: ' aoA',
  search_files: ' aoA',
  wait_for: ' aoA',
  list_ports: 'vaoA',
  preview_port: ' aoA',
  watch_paths: ' aoA',
  unwatch_paths: ' aoA',
  llm_call: ' aoA',
  llm_stream: ' aoA',
  cancel_llm: ' aoA',
  list_llm_calls: 'vaoA',
  list_llm_providers: 'vaoA',
  read_audit: '  oA',
  verify_audit: '  oA',
  list_tokens: '   A',
  create_token: '   A',
  rotate_token: '   A',
  revoke_token: '   A',
  examine_machine: '  oA',
  describe_access: 'vaoA',
  subscribe: 'vaoA',
  host_history: 'vaoA',
  create_dashboard_link: 'vaoA',
  list_nodes: 'oA',
  register_node: 'A',
  remove_node: 'A',
  drain_node: 'A',
};

const LETTERS: Readonly<Record<Role, string>> = { viewer: 'v', agent: 'a', operator: 'o', admin: 'A' };

const names = Object.keys(requests) as RequestName[];
const rows = names.flatMap((name) => ROLE_NAMES.map((role) => ({ name, role })));

function refusalOf(role: Role, name: RequestName): AdapterError | undefined {
  try {
    assertPermitted(role, name);
    return undefined;
  } catch (error) {
    return error as AdapterError;
  }
}

describe('the table of requests and roles', () => {
  it('has every request', () => {
    expect(requestsFor('admin')).toEqual(names);
    expect(Object.keys(EXPECTED).sort()).toEqual([...names].sort());
  });

  it.each(rows)('$role and $name', ({ name, role }) => {
    const refusal = refusalOf(role, name);
    expect(refusal === undefined).toBe(EXPECTED[name].includes(LETTERS[role]));
    if (!refusal) return;
    expect(refusal.code).toBe('FORBIDDEN');
    expect(refusal.details).toEqual({ request: name, role, needs: [...rolesFor(name)] });
    for (const needed of rolesFor(name)) expect(refusal.message).toContain(needed);
    expect(refusal.message).toContain(`has the role ${role}`);
  });
});

describe('what is whose', () => {
  const principal = (role: Role): Principal => ({ id: 'token_mine', name: 'mine', role, isLocalPeer: false });

  it.each(ROLE_NAMES)('%s reaches what is its own', (role) => {
    expect(canAccess(principal(role), 'token_mine', 'see')).toBe(true);
    expect(canAccess(principal(role), 'token_mine', 'stop')).toBe(true);
    expect(canAccess(principal(role), 'token_mine', 'use')).toBe(true);
  });

  it.each([
    ['viewer', true, false, false],
    ['agent', false, false, false],
    ['operator', true, true, false],
    ['admin', true, true, true],
  ] as const)('%s: may look at what is of others: %s, may stop it: %s, may use it: %s', (role, see, stop, use) => {
    for (const owner of ['token_other', LOCAL_ID]) {
      expect(canAccess(principal(role), owner, 'see')).toBe(see);
      expect(canAccess(principal(role), owner, 'stop')).toBe(stop);
      expect(canAccess(principal(role), owner, 'use')).toBe(use);
    }
  });

  it('programs of the daemon’s user reach everything', () => {
    expect(canAccess(LOCAL_PRINCIPAL, 'token_other', 'use')).toBe(true);
  });
});
