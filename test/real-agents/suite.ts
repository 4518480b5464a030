import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { type Agent, agentOf, type Transport, TRANSPORTS } from './agents.js';
import { suiteTitle } from './results.js';
import * as scenarios from './scenarios.js';
import { Stage } from './stage.js';
import { TITLES } from './titles.js';

/** Drives the daemon by an agent over both transports, set up as the guide says. */
export function testAgent(name: Agent['name']): void {
  const agent = agentOf(name);
  for (const transport of TRANSPORTS) {
    describe(suiteTitle(agent, transport), () => {
      testTransport(agent, transport);
    });
  }
}

function testTransport(agent: Agent, transport: Transport): void {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.set(agent, transport);
  });

  afterAll(async () => {
    await stage[Symbol.asyncDispose]();
  });

  afterEach(() => stage.expectNothingLeft());

  it(TITLES.listed, () => stage.expectListed());

  it(TITLES.exact, async () => {
    const [answer] = await stage.follow(scenarios.exactOutput);
    expect(answer).toMatchObject({ stdout: `it's "ünï→😀"\n`, stderr: 'oops\n', exit_code: 3 });
  });

  it(TITLES.session, async () => {
    const [opened, moved, told, closed] = await stage.follow(scenarios.session);
    expect(opened).toMatchObject({ session_id: expect.any(String) as string });
    expect(moved).toMatchObject({ exit_code: 0 });
    expect(told).toMatchObject({ stdout: 'b 42\n', exit_code: 0 });
    expect(closed).toEqual({ session_id: opened?.['session_id'] });
  });

  it(TITLES.confirmation, async () => {
    const [, asked, result] = await stage.follow(scenarios.confirmation);
    expect(asked).toMatchObject({ status: 'confirmation_required' });
    expect(result).toMatchObject({ stdout: 'removed\n', exit_code: 0 });
  });

  it(TITLES.typed, async () => {
    const [, , , result] = await stage.follow(scenarios.typedInput);
    expect(result).toMatchObject({ stdout: 'hello Ünal\n', exit_code: 0 });
  });

  it(TITLES.long, async () => {
    using recording = stage.home.record();
    const [answer] = await stage.follow(scenarios.longCommand);
    expect(answer).toMatchObject({ stdout: expect.stringMatching(/^step 1\n[^]*\nend\n$/) as string, exit_code: 0 });
    const { client, server } = transport === 'HTTP' ? stage.recorder.seen : recording.seen();
    expect(client).toContain('"progressToken"');
    const reported = [...server.matchAll(/"message":"step (\d+)"/g)].map(([, step]) => Number(step));
    expect(reported.length).toBeGreaterThan(scenarios.LONG_COMMAND_S / 2);
    expect(Math.max(...reported)).toBeGreaterThan(scenarios.LONG_COMMAND_S - 10);
  });

  it(TITLES.interruption, () => stage.interrupt());

  it(TITLES.directory, async () => {
    const [answer] = await stage.follow(scenarios.workingDirectory);
    const isKnown = transport === 'stdio' || agent.sharesDirectoryOverHttp;
    expect(answer).toMatchObject({ stdout: `${isKnown ? stage.project : stage.workspace}\n` });
  });
}
