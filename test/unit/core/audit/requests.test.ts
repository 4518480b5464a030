import { describe, expect, it } from 'vitest';

import { rolesFor } from '../../../../src/core/protocol/permissions.js';
import { isRecorded } from '../../../../src/core/audit.js';
import { type RequestName, requests } from '../../../../src/core/protocol/requests.js';

const names = Object.keys(requests) as RequestName[];

/** Requests for more than viewers that change nothing. */
const LOOKS: readonly RequestName[] = [
  ...(['check_command', 'list_confirmations', 'list_remembered_approvals'] as const),
  ...(['read_audit', 'verify_audit', 'list_tokens', 'list_nodes', 'examine_machine', 'wait_for'] as const),
];

describe('which requests are recorded', () => {
  it.each(names)('%s: a refusal is', (name) => {
    for (const code of ['FORBIDDEN', 'UNAUTHORIZED', 'RATE_LIMITED'] as const)
      expect(isRecorded(name, code)).toBe(true);
  });

  it.each(names.filter((name) => rolesFor(name).includes('viewer') && name !== 'create_dashboard_link'))(
    '%s, which a viewer may make, is not',
    (name) => {
      expect(isRecorded(name, 'ok')).toBe(false);
      expect(isRecorded(name, 'SESSION_NOT_FOUND')).toBe(false);
    },
  );

  it.each(names.filter((name) => !rolesFor(name).includes('viewer')))('%s is, if it changes something', (name) => {
    const onlyLooks = LOOKS.includes(name);
    // What a command starts has records of its own.
    expect(isRecorded(name, 'ok')).toBe(!onlyLooks && name !== 'execute_command');
    expect(isRecorded(name, 'INVALID_REQUEST')).toBe(!onlyLooks);
  });
});
