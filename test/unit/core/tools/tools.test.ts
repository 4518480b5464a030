import { describe, expect, it } from 'vitest';

import { requests } from '../../../../src/core/protocol/requests.js';
import {
  anthropicTools,
  findTool,
  openAiTools,
  TOOL_SETS,
  toolInstructions,
  TOOLS,
  WORKSPACE,
} from '../../../../src/core/tools/tools.js';

const tool = (name: string) => findTool(name)!;

describe.each(TOOLS.map((entry) => [entry.name, entry] as const))('the tool %s', (name, entry) => {
  it('has a name that every API takes, and says what it does', () => {
    expect(name).toMatch(/^[a-z][a-z_]{0,63}$/);
    expect(entry.describe(WORKSPACE)).toMatch(/^[A-Z].*\.$/);
  });

  it('has a schema without null: an argument is there or not', () => {
    const text = JSON.stringify(entry.schema);
    expect(text).not.toContain('"null"');
    expect(text).not.toContain('$schema');
    expect(entry.schema).toMatchObject({ type: 'object', additionalProperties: false });
  });

  it('says of every argument what it is', () => {
    for (const field of Object.values(entry.schema.properties)) {
      expect(field).toHaveProperty('description', expect.any(String));
    }
  });
});

describe('payloads', () => {
  it.each([
    ['run_command', { command: 'ls' }, { command: 'ls', timeout_ms: 60_000 }],
    ['run_command', { command: 'ls', args: ['-l'], timeout_ms: 5 }, { command: 'ls', args: ['-l'], timeout_ms: 5 }],
    ['execute_command', { session_id: 's', command: 'ls' }, { session_id: 's', command: 'ls' }],
    ['run_command', { command: 'ls' }, { output: { max_size: 16_000, begin_size: 8000, end_size: 8000 } }],
    ['run_command', { command: 'ls', end_lines: 9 }, { command: 'ls', output: { max_size: 16_000, end_lines: 9 } }],
    [
      'execute_command',
      { session_id: 's', command: 'ls', begin_lines: 1, max_line_length: 80 },
      { session_id: 's', output: { max_size: 16_000, begin_lines: 1, max_line_length: 80 } },
    ],
    ['read_output', { command_id: 'c' }, { command_id: 'c', length: 16_000 }],
    ['close_session', { session_id: 's' }, { session_id: 's' }],
    ['wait_for', { session_id: 's', screen_text: 'x' }, { session_id: 's', screen_text: 'x' }],
    ['wait_for', { port: 80, timeout_ms: 5 }, { port: 80, timeout_ms: 5 }],
    ['read_screen', { command_id: 'c' }, { command_id: 'c' }],
    ['list_ports', {}, {}],
    ['type_input', { session_id: 's', keys: ['Up'] }, { session_id: 's', keys: ['Up'] }],
    ['read_file', { path: 'f' }, { path: 'f', from_line: 1, length: 16_000 }],
    ['read_file', { path: 'f', offset: 9 }, { path: 'f', offset: 9, length: 16_000, encoding: 'utf8' }],
    ['write_file', { path: 'f', content: 'x' }, { path: 'f', data: 'x', create_directories: true }],
    ['edit_file', { path: 'f', old_text: 'a', new_text: 'b' }, { path: 'f', old_text: 'a', new_text: 'b' }],
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

describe('selections of tools', () => {
  /** As agents count them: characters of the list, by four. */
  const tokensOf = (set: keyof typeof TOOL_SETS) => Math.ceil(JSON.stringify(anthropicTools(set)).length / 4);

  it('core has what running commands takes, and run one tool', () => {
    expect(TOOL_SETS.core.map(({ name }) => name)).toEqual([
      'run_command',
      'open_session',
      'execute_command',
      'wait_command',
      'type_input',
      'read_output',
      'close_session',
      'confirm_command',
    ]);
    expect(TOOL_SETS.run.map(({ name }) => name)).toEqual(['run_command']);
    expect(TOOL_SETS.all).toHaveLength(24);
  });

  it.each([
    ['run', 350],
    ['core', 2100],
    ['files', 2900],
    ['terminal', 2150],
    ['all', 3800],
  ] as const)('%s costs at most %i tokens', (set, most) => {
    expect(tokensOf(set)).toBeLessThan(most);
  });

  it('typed input is found by its former name too; no list has that one', () => {
    expect(findTool('send_input')?.name).toBe('type_input');
    expect(openAiTools().map((entry) => entry.function.name)).not.toContain('send_input');
  });

  it('what the main tool gives is in the first 160 characters: some clients show a model no more', () => {
    expect(tool('run_command').describe('/p').slice(0, 160)).toContain('exit_code, stdout and stderr');
  });

  it('descriptions and instructions name where commands start', () => {
    for (const name of ['run_command', 'open_session', 'checkpoint_workspace']) {
      expect(tool(name).describe('/home/me/project')).toContain('/home/me/project');
      expect(tool(name).describe(WORKSPACE)).toContain('workspace');
    }
    expect(toolInstructions('core', '/home/me/project')).toContain('Commands start in /home/me/project');
    expect(toolInstructions('run')).not.toContain('open_session');
  });
});
