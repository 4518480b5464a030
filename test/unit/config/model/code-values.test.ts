import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { toCode } from '../../../../src/config/model/settings.js';
import { count, duration, optionalDuration, secret } from '../../../../src/config/fields.js';
import { Secret } from '../../../../src/core/secret.js';

const SIZE = { min: 0, max: 1000 } as const;

const schema = z.strictObject({
  kill_grace: duration('seconds', 2, ''),
  idle: duration('minutes', 1, ''),
  max_file_mb: count({ ...SIZE, unit: 'MB' }, 1, ''),
  replay_kb: count({ ...SIZE, unit: 'KB' }, 1, ''),
  max_size: count({ ...SIZE, unit: 'bytes' }, 1, ''),
  max_message_bytes: count({ ...SIZE, unit: 'bytes' }, 1, ''),
  max_count: count({ ...SIZE, unit: 'files' }, 1, ''),
  api_key: secret('', ''),
  inner: z.strictObject({ one_shots: z.int() }).prefault({ one_shots: 3 }),
  tools: z.record(z.string(), z.strictObject({ idle_timeout: optionalDuration('seconds', '', '') })),
});

const convert = (value: z.input<typeof schema>) => toCode(schema, schema.parse(value));

describe('values in the code', () => {
  it('have names in camelCase with the unit of the code, in groups and in entries of mappings too', () => {
    const code = convert({ api_key: 'k', tools: { a_b: { idle_timeout: 0.5 }, c: {} } });
    expect(code).toEqual({
      killGraceMs: 2000,
      idleMs: 60_000,
      maxFileBytes: 1024 * 1024,
      replayBytes: 1024,
      maxSizeBytes: 1,
      maxMessageBytes: 1,
      maxCount: 1,
      apiKey: new Secret('k'),
      inner: { oneShots: 3 },
      tools: { a_b: { idleTimeoutMs: 500 }, c: { idleTimeoutMs: undefined } },
    });
  });

  it('have the types of their schema', () => {
    const code = convert({ tools: {} });
    expectTypeOf(code.killGraceMs).toEqualTypeOf<number>();
    expectTypeOf(code.apiKey).toEqualTypeOf<Secret | undefined>();
    expectTypeOf(code.inner.oneShots).toEqualTypeOf<number>();
    expectTypeOf(code.tools['a']?.idleTimeoutMs).toEqualTypeOf<number | undefined>();
  });

  it.each([
    [0, 0],
    [1, 1024],
  ])('are whole: %d KB are %d bytes', (written, expected) => {
    expect(convert({ tools: {}, replay_kb: written }).replayBytes).toBe(expected);
  });
});
