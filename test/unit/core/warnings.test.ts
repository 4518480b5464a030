import { describe, expect, it } from 'vitest';

import { COMMAND_WARNINGS, SESSION_WARNINGS } from '../../../src/core/warnings.js';

/** The published codes. One may be added here; none may be renamed, removed or given another meaning. */
const PUBLISHED = {
  command: [
    'NOT_STARTED',
    'RESOURCE_EXHAUSTED',
    'SYNTAX_ERROR',
    'SHELL_ENDED',
    'SHELL_WEDGED',
    'BACKGROUND_ENDED',
    'PROCESSES_UNKNOWN',
    'LIMIT_EXCEEDED',
    'EGRESS_REFUSED',
    'CHECKPOINT_SAVED',
    'NO_CHECKPOINT',
    'REMEMBERED_APPROVAL',
    'NO_CLAIM',
  ],
  session: [
    'DIRECTORY_GONE',
    'PATH_BROKEN',
    'COMMANDS_SHADOWED',
    'SHELL_OPTIONS',
    'TERMINAL_MODES',
    'PROCESSES_LEFT',
    'ENVIRONMENT_LARGE',
    'DISK_LOW',
  ],
};

describe.each([
  ['COMMAND_WARNINGS', COMMAND_WARNINGS, PUBLISHED.command],
  ['SESSION_WARNINGS', SESSION_WARNINGS, PUBLISHED.session],
])('%s', (_, warnings, published) => {
  it('has every published code, and no other', () => {
    expect(Object.keys(warnings).toSorted()).toEqual(published.toSorted());
  });

  it('says for each code what it means and what to do next, in sentences', () => {
    for (const [code, { meaning, next }] of Object.entries(warnings)) {
      expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/u);
      expect(meaning, code).toMatch(/^[`A-Z].*\.$/u);
      expect(next, code).toMatch(/^[A-Z].*\.$/u);
    }
  });
});
