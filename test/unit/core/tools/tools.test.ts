import { describe, expect, it } from 'vitest';

import { requests } from '../../../../src/core/protocol/requests.js';
import { anthropicTools, openAiTools } from '../../../../src/core/tools/definitions.js';
import { argumentSchema } from '../../../../src/core/tools/schema.js';
import { findTool, TOOLS } from '../../../../src/core/tools/tools.js';

const tool = (name: string) => findTool(name)!;

describe.each(TOOLS.map((entry) => [entry.name, entry] as const))('the tool %s', (name, entry) => {
  it('has a name that every API takes, and says what it does', () => {
    expect(name).toMatch(/^[a-z][a-z_]{0,63}$/);
    expect(entry.description).toMatch(/^[A-Z].*\.$/);
  });

  it('has a schema without null: an argument is there or not', () => {
    const text = JSON.stringify(argumentSchema(entry));
    expect(text).not.toContain('"null"');
    expect(text).not.toContain('$schema');
    expect(argumentSchema(entry)).toMatchObject({ type: 'object', additionalProperties: false });
  });

  it('says of every argument what it is', () => {
    for (const field of Object.values(argumentSchema(entry).properties)) {
      expect(field).toHaveProperty('description', expect.any(String));
    }
  });
});

describe('payloads', () => {
  it.each([
    ['run_command', { command: 'ls' }, { command: 'ls', timeout_ms: 60_000 }],
    ['run_command', { command: 'ls', args: ['-l'], timeout: 5 }, { command: 'ls', args: ['-l'], timeout_ms: 5 }],
    ['execute_command', { session_id: 's', command: 'ls' }, { session_id: 's', command: 'ls' }],
    ['read_output', { command_id: 'c' }, { command_id: 'c', length: 16_000 }],
    ['close_session', { session_id: 's' }, { session_id: 's' }],
  ])('%s %j', (name, args, payload) => {
    const made = tool(name).toPayload(tool(name).input.parse(args));
    expect(made).toMatchObject(payload);
    // The daemon takes it.
    requests[tool(name).request].input.parse(made);
  });
});

it('no definition claims to be strict: most have arguments that may be left out, and maps', () => {
  expect(JSON.stringify([openAiTools(), anthropicTools()])).not.toContain('"strict":');
});

it('the definitions are those of the tools, in the order of the tools', () => {
  const names = TOOLS.map(({ name }) => name);
  expect(openAiTools().map((entry) => entry.function.name)).toEqual(names);
  expect(anthropicTools().map(({ name }) => name)).toEqual(names);
});
