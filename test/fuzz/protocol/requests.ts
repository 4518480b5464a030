import fc from 'fast-check';
import { z } from 'zod';

import { requests } from '../../../src/core/protocol/requests.js';
import { type FieldValues, type SchemaNode, valuesOf } from './schema-values.js';

/** A request as it goes to `emit`; SESSION, COMMAND and CHECKPOINT stand for ids that exist. */
export interface FuzzedRequest {
  readonly name: string;
  readonly args: readonly unknown[];
}

/** The only commands that may run: no random text is a command. */
const COMMANDS = [
  'true',
  'echo x',
  'exit 3',
  'cat',
  '(',
  '',
  ' ',
  'sleep 0.01',
  'kill -INT $$',
  ': >&9',
  'echo $((1/0))',
];

const sessionId = fc.constantFrom('SESSION', 'SESSION', 'none', '', 'x'.repeat(200));
const commandId = fc.constantFrom('COMMAND', 'COMMAND', 'a', 'b', 'c', '-', 'a b');

/** Fields whose values decide whether a request meets anything. */
const NAMED: FieldValues = {
  command: fc.constantFrom(...COMMANDS),
  session_id: sessionId,
  command_id: commandId,
  checkpoint_id: fc.constantFrom('CHECKPOINT', 'none'),
  // Nothing waits longer than the bound for an answer.
  timeout_ms: fc.integer({ min: 0, max: 500 }),
  cwd: fc.constantFrom('.', '/', '/tmp', '/nonexistent', '/etc/passwd', ''),
};

/** What a field can be instead. */
const hostile: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    ...[null, true, -1, 1.5, 2 ** 53, 1e21, -1e308, NaN, Infinity, '', 'a\0b', '\uD800', '../../etc', '__proto__'],
    ...['x'.repeat(5000), 'SIGKILL', [], {}, [[[[]]]], { __proto__: null, constructor: { prototype: { a: 1 } } }],
  ),
  fc.anything({ maxDepth: 3, withBigInt: false, withDate: false, withNullPrototype: false }),
);

const FIELD_NAMES = [
  ...new Set(Object.values(requests).flatMap(({ input }) => Object.keys(input.shape))),
  ...['request_id', '__proto__', 'constructor', 'toString', 'timeout'],
];

/** A change to a payload: a field that is gone, or has another value. A command is never changed into a random text. */
const change = fc.record({
  field: fc.constantFrom(...FIELD_NAMES.filter((name) => name !== 'command')),
  value: fc.oneof(hostile, fc.constant(undefined)),
});

function withChanges(payload: unknown, changes: readonly { field: string; value: unknown }[]): unknown {
  const changed = new Map(Object.entries(payload as object));
  for (const { field, value } of changes) {
    if (value === undefined) changed.delete(field);
    else changed.set(field, value);
  }
  return Object.fromEntries(changed);
}

function payloadsOf(input: z.ZodType): fc.Arbitrary<unknown> {
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as SchemaNode;
  const changes = fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(change, { minLength: 1, maxLength: 3 }) },
  );
  const payloads = fc.tuple(valuesOf(schema, NAMED), changes).map(([payload, some]) => withChanges(payload, some));
  return fc.oneof({ weight: 9, arbitrary: payloads }, { weight: 1, arbitrary: hostile });
}

/** Each of these looks through the whole workspace: a few of them are enough. */
const SLOW = new Set(['checkpoint_workspace', 'list_checkpoints', 'diff_workspace', 'restore_workspace']);

const known = Object.entries(requests).map(([name, { input }]) => ({
  weight: SLOW.has(name) ? 1 : 20,
  arbitrary: fc.record({ name: fc.constant(name), args: fc.tuple(payloadsOf(input)) }),
}));

const odd: fc.Arbitrary<FuzzedRequest> = fc.record({
  name: fc.oneof(
    fc.constantFrom('', 'x', 'constructor', '__proto__', 'toString', 'execute_command'),
    fc.string({ maxLength: 10 }),
  ),
  args: fc.array(hostile, { maxLength: 3 }),
});

/** Requests as the schemas have them, with fields left out, changed and added; and some that are none at all. */
export const fuzzedRequests: fc.Arbitrary<FuzzedRequest> = fc.oneof(...known, { weight: 20, arbitrary: odd });
