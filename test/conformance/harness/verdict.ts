import { expect } from 'vitest';

import type { CommandResult } from '../../../src/core/protocol/results.js';
import type { WireAnswer } from '../../support/wire.js';
import type { TrapContext } from './context.js';
import type { Expectation, Step } from './table.js';

/** Fields of a result that are always compared, with what they are after a command that does nothing. */
const DEFAULTS = {
  stdout: '',
  stderr: '',
  exit_code: 0,
  status: 'completed',
  session_state: 'alive',
  killed_by: null,
  lossy: false,
} as const satisfies Partial<CommandResult>;

/** What an expectation says besides the fields of a result. */
const NOT_FIELDS: ReadonlySet<string> = new Set(['background', 'error', 'takesMs', 'check', 'whole']);

/** Compares an answer with what the row expects, and with what must hold of every answer. */
export async function checkAnswer(
  answer: WireAnswer<'execute_command'>,
  step: Step,
  title: string,
  context: TrapContext,
): Promise<void> {
  const { error, background, check, whole } = step.expect;
  expect(answer.error?.code ?? null, title).toBe(error ?? null);
  if (answer.error) return;
  expect(pick(answer, step.expect), title).toEqual(wanted(step.expect));
  checkBackground(answer, background ?? [], title);
  expect(answer.survivors ?? [], `${title}: survivors`).toEqual([]);
  const { encoding, collapse_cr, strip_ansi } = step.options.output ?? {};
  if (encoding !== 'base64' && collapse_cr !== true && strip_ansi !== true) checkSizes(answer, title);
  if (step.options.stream === true) await checkStream(answer, title, context);
  if (whole !== undefined)
    expect((await context.wholeOutput(answer.command_id)).toString() === whole, title).toBe(true);
  await check?.(answer, context);
}

function pick(answer: CommandResult, expected: Expectation): Record<string, unknown> {
  const names = new Set([...Object.keys(DEFAULTS), ...Object.keys(expected)]);
  return Object.fromEntries(
    [...names].filter((name) => name in answer).map((name) => [name, answer[name as 'stdout']]),
  );
}

function wanted(expected: Expectation): Record<string, unknown> {
  const entries = Object.entries({ ...DEFAULTS, ...expected }).filter(([name]) => !NOT_FIELDS.has(name));
  return Object.fromEntries(
    entries.map(([name, value]: [string, unknown]) => [
      name,
      value instanceof RegExp ? (expect.stringMatching(value) as unknown) : value,
    ]),
  );
}

function checkBackground(answer: CommandResult, expected: Required<Expectation>['background'], title: string): void {
  const commands = answer.background_processes.map(({ command }) => command);
  const about = `${title}: background_processes`;
  if (expected === 'some') expect(commands, about).not.toEqual([]);
  else if (expected !== 'any') {
    expect(commands, about).toEqual(expected.map((pattern) => expect.stringMatching(pattern) as string));
  }
}

/** Sizes fit what an untrimmed answer holds. */
function checkSizes(answer: CommandResult, title: string): void {
  for (const name of ['stdout', 'stderr'] as const) {
    if (answer[`${name}_truncated`]) continue;
    const text = answer[name];
    expect(answer[`original_${name}_size`], `${title}: original_${name}_size`).toBe(Array.from(text).length);
    if (!answer.lossy) expect(answer[`${name}_bytes`], `${title}: ${name}_bytes`).toBe(Buffer.byteLength(text));
  }
}

/** What was streamed is what the answer counts, in one rising sequence. */
async function checkStream(answer: CommandResult, title: string, context: TrapContext): Promise<void> {
  const { command_id: id, stdout_bytes, stderr_bytes } = answer;
  const { client } = context;
  const total = stdout_bytes + stderr_bytes;
  await client.until(() => (context.streamed(id).length >= total ? true : undefined));
  expect(context.streamed(id, 'stdout').length, `${title}: streamed stdout`).toBe(stdout_bytes);
  expect(context.streamed(id, 'stderr').length, `${title}: streamed stderr`).toBe(stderr_bytes);
  const numbers = client.all('command_output').filter((event) => event.command_id === id);
  const first = numbers[0]?.seq ?? 0;
  expect(
    numbers.map(({ seq }) => seq),
    `${title}: seq`,
  ).toEqual(numbers.map((_, index) => first + index));
}
