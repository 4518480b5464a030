import { describe, expect, it } from 'vitest';

import type { ShellProviderSettings } from '../../../../src/core/llm/settings.js';
import { generic } from '../../../../src/services/llm/drivers/driver.js';
import { claude } from '../../../../src/services/llm/drivers/claude.js';
import { assertQuestion, invocationOf } from '../../../../src/services/llm/invocation.js';
import { outputReader } from '../../../../src/services/llm/output-reader.js';
import { shellSettings } from '../../../support/llm/llm-settings.js';

const HELLO = [{ role: 'user' as const, content: 'hello' }];
const invoke = (settings: Partial<ShellProviderSettings>, content = 'hello', driver = generic, model?: string) =>
  invocationOf(
    { name: 'mine', driver, settings: shellSettings(settings) },
    { messages: [{ role: 'user', content }], model },
  );

describe('a tool of the configuration', () => {
  it.each([
    ['reads standard input', { args: ['-x'] }, { args: ['-x'], stdin: 'hello', inputFile: undefined }],
    [
      'reads a file',
      { args: ['--in={input_file}'], stdinMode: 'file' },
      { args: ['--in={input_file}'], stdin: undefined, inputFile: 'hello' },
    ],
    [
      'takes the prompt behind a flag',
      { args: ['-q'], promptFlag: '-p' },
      { args: ['-q', '-p', 'hello'], stdin: undefined, inputFile: undefined },
    ],
    [
      'takes it as its last argument',
      { promptFlag: 'positional' },
      { args: ['hello'], stdin: undefined, inputFile: undefined },
    ],
    ['has a model', { modelFlag: '-m', model: 'tiny' }, { args: ['-m', 'tiny'], stdin: 'hello', inputFile: undefined }],
  ] as const)('%s', (_title, settings, expected) => {
    expect(invoke(settings)).toEqual(expected);
  });

  it('takes the model of the request before its own', () => {
    expect(invoke({ modelFlag: '-m', model: 'tiny' }, 'hello', generic, 'large').args).toEqual(['-m', 'large']);
  });

  it('refuses a model when it has no flag for one', () => {
    expect(() => invoke({}, 'hello', generic, 'large')).toThrow(
      expect.objectContaining({ code: 'LLM_MODEL_NOT_FOUND' }) as Error,
    );
  });

  it('gets a long prompt on standard input after all', () => {
    const long = 'x'.repeat(100_001);
    expect(invoke({ promptFlag: '-p' }, long)).toEqual({ args: [], stdin: long, inputFile: undefined });
  });

  it('cannot be given options by a prompt', () => {
    expect(invoke({ promptFlag: 'positional' }, '--help').args).toEqual([' --help']);
  });

  it('replaces the arguments of a driver, and keeps its flags', () => {
    const messages = [{ role: 'system' as const, content: 'S' }, ...HELLO];
    const provider = { name: 'claude', driver: claude, settings: shellSettings({ args: ['-p'] }) };
    const { args, stdin } = invocationOf(provider, { messages, model: undefined });
    expect(args).toEqual(['-p', '--append-system-prompt', 'S']);
    expect(stdin).toBe('hello');
  });

  it('is given access by its own arguments', () => {
    const accessArgs = { read: ['--look'], write: ['--edit'] };
    expect(invoke({ args: ['-x'], accessArgs }).args).toEqual(['-x', '--look']);
    expect(invoke({ args: ['-x'], accessArgs, access: 'write' }).args).toEqual(['-x', '--edit']);
  });

  it('has configured arguments extended by those of the driver only if access is configured too', () => {
    expect(invoke({ args: ['-p'] }, 'hello', claude).args).toEqual(['-p']);
    expect(invoke({ args: ['-p'], access: 'write' }, 'hello', claude).args).toEqual([
      ...['-p', '--permission-mode', 'acceptEdits'],
    ]);
  });

  it('bounds the prompt', () => {
    expect(() => invoke({ maxPromptBytes: 4 }, 'ÄÄÄ')).toThrow(
      expect.objectContaining({
        code: 'LLM_PROMPT_TOO_LARGE',
        details: { shell_provider: 'mine', size: 6, max: 4, unit: 'bytes' },
      }) as Error,
    );
  });
});

describe('assertQuestion', () => {
  it.each([
    [[{ role: 'system', content: 'Only this' }]],
    [[{ role: 'user', content: '' }]],
    [[{ role: 'user', content: ' \n' }]],
  ] as const)('refuses %j', (messages) => {
    expect(() => {
      assertQuestion(messages);
    }).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }) as Error);
  });
});

describe('the output of a tool without a driver', () => {
  it.each([
    ['text', 'One.\n\nTwo.\n', 'One.\n\nTwo.'],
    ['auto', '  {"type":"result","result":"no"}\n', '{"type":"result","result":"no"}'],
    ['last_block', 'log line\nlog line\n\nThe answer\nin two lines.\n\n', 'The answer\nin two lines.'],
    ['last_block', 'a\r\n\r\nb\r\n', 'b'],
    ['last_block', '\n', ''],
  ] as const)('%s: %j', (mode, text, answer) => {
    const reader = outputReader(generic, mode, true);
    for (const character of text) reader.push(character);
    reader.end();
    expect(reader.answer.text).toBe(answer);
    // Which part of a text is the answer is known at its end.
    expect(reader.answer.takeChunks().join('').trim()).toBe(mode === 'last_block' ? '' : answer);
    expect(reader.isText).toBe(true);
  });
});
