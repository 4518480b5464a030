import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { ask } from '../../support/http.js';
import { readSamples } from '../../support/network/prometheus.js';
import { WireClient } from '../../support/wire.js';
import { behaving, expectNothingLeft, sleepers, uniqueSleep } from './support.js';

const CROWD = { auto: uniqueSleep(7101), polling: uniqueSleep(7102) };
const messages = [{ role: 'user' as const, content: 'hello' }];

describe.each(['auto', 'polling'] as const)('limits on what a run of a tool uses (%s)', (mechanism) => {
  let daemon: TestDaemon;
  let client: WireClient;

  beforeAll(async () => {
    daemon = await TestDaemon.startCold({
      settings: {
        // Those of `llm` win, be they lower or higher; the last is that of the commands.
        adapter: { limit_mechanism: mechanism, memory_mb_limit: 20, process_limit: 4, disk_mb_limit: 20 },
        llm: {
          memory_mb_limit: 100,
          process_limit: 12,
          cpu_seconds_limit: 0.3,
          shell_providers: {
            // Long enough to be looked at: of a run that has ended before nobody knows what it has used.
            modest: behaving('slow'),
            memory: behaving('memory', 400),
            busy: behaving('busy'),
            crowd: behaving('crowd', 30, CROWD[mechanism]),
            writer: behaving('writer'),
          },
        },
      },
    });
    client = await WireClient.connect(daemon.url);
  });

  afterAll(async () => {
    await expectNothingLeft(daemon, CROWD[mechanism]);
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
  });

  const call = (name: string) => client.request('llm_call', { shell_provider: name, messages, timeout_ms: 30_000 });

  it.each([
    ['memory', 'memory', 'memory_mb', 100],
    ['busy', 'cpu', 'cpu_seconds', 0.3],
    ['crowd', 'processes', 'processes', 12],
    ['writer', 'disk', 'disk_mb', 20],
  ] as const)('%s: one that exceeds its limit is ended with all it has started, and told so', async (...row) => {
    const [name, killedBy, resource, limit] = row;
    const { error } = await call(name);
    expect(error).toMatchObject({
      code: 'LLM_LIMIT_EXCEEDED',
      message: expect.stringMatching(/exceeded a limit and was ended: llm\.\w+_limit \(/) as string,
      details: { shell_provider: name, exit_code: null, killed_by: killedBy, limit: { resource, limit } },
    });
    expect(error?.details?.['resource_usage']).toMatchObject({ cpu_ms: expect.any(Number) as number });
    await expectNothingLeft(daemon, CROWD[mechanism]);
    expect(sleepers(CROWD[mechanism])).toEqual([]);
  });

  it('one within its limits has its answer, with what it has used', async () => {
    const { content, resource_usage: use } = await call('modest');
    expect(content).toBe('one two three');
    expect(use).toMatchObject({ cpu_ms: expect.any(Number) as number });
  });

  it('runs are counted with what they have used, and the limits that they have exceeded', async () => {
    const before = readSamples((await ask(new URL('/metrics', daemon.url))).text, 'shell_adapter_');
    await call('busy');
    const after = readSamples((await ask(new URL('/metrics', daemon.url))).text, 'shell_adapter_');
    const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    expect(grown('limits_exceeded_total{limit="cpu_seconds"}')).toBe(1);
    expect(grown('commands_cpu_seconds_total')).toBeGreaterThan(0.2);
  });
});
