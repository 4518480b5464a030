import { describe, expect, it, vi } from 'vitest';

import { LOCAL_PRINCIPAL } from '../../../../src/core/principal.js';
import type { AuditEvent } from '../../../../src/core/audit-events.js';
import { factsOfFreshShell } from '../../../../src/core/policy/model.js';
import { type PresetName, PRESETS, withoutCheckpoints } from '../../../../src/core/policy/policy.js';
import { GateDesk, type SyntaxGuard } from '../../../../src/services/gate/gate-options.js';
import { CommandGate } from '../../../../src/services/gate/gate.js';
import { ShellGate } from '../../../../src/services/gate/startup-gate.js';
import { TypingGate } from '../../../../src/services/gate/typing-gate.js';
import type { SessionFacts } from '../../../../src/services/gate/session-facts.js';
import type { SessionRecord } from '../../../../src/services/registry/session-registry.js';
import { eventually } from '../../../support/measure.js';

const CALLER = { principal: LOCAL_PRINCIPAL };
const FACTS = factsOfFreshShell('/work/space');

interface GateFixture {
  readonly gate: CommandGate;
  readonly shells: ShellGate;
  readonly forget: ReturnType<typeof vi.fn<SessionFacts['forget']>>;
  readonly recorded: readonly AuditEvent[];
}

/** A gate whose facts come when `of` says so. */
function makeGate(
  of: SessionFacts['of'] = () => FACTS,
  isEnforced = true,
  preset: PresetName = 'balanced',
): GateFixture {
  const forget = vi.fn<SessionFacts['forget']>();
  const recorded: AuditEvent[] = [];
  const policy = { actions: PRESETS[preset], rules: [] };
  const desk = new GateDesk(
    () => ({ isEnforced, policy, confirmingPolicy: withoutCheckpoints(policy) }),
    { of, forget, whileRunning: () => FACTS } as unknown as SessionFacts,
    { record: (event: AuditEvent) => recorded.push(event) },
    { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() },
  );
  const gate = new CommandGate(
    desk,
    { secure: () => Promise.resolve({ reason: 'there is no disk' }) },
    { admit: () => undefined },
    { refusal: () => Promise.resolve(undefined) } as unknown as SyntaxGuard,
    new TypingGate(desk),
  );
  return { gate, shells: new ShellGate(desk), forget, recorded };
}

const session = (id: string) => ({ id }) as unknown as SessionRecord;

describe('the gate', () => {
  it('lets in at once what is allowed', () => {
    const { gate } = makeGate();
    expect(gate.admit({ command: 'ls' }, undefined, CALLER)).toBeUndefined();
    expect(gate.admit({ command: 'ls' }, session('a'), CALLER)).toBeUndefined();
  });

  it('gives back as a question what has to be confirmed', () => {
    const { gate } = makeGate();
    const request = { command: 'rm ~/x' };
    expect(gate.admit(request, undefined, CALLER)).toMatchObject({
      request,
      verdict: { action: 'confirm', class: 'destructive', causes: ['destructive'] },
    });
  });

  it('gives back as a question what no checkpoint could be made for, with the reason', async () => {
    const { gate } = makeGate();
    const request = { command: 'rm x' };
    const asked = await gate.admit(request, undefined, CALLER);
    expect(asked).toMatchObject({
      request,
      verdict: {
        action: 'confirm',
        causes: ['destructive'],
        reasons: ['there is no disk', 'rm deletes /work/space/x'],
      },
    });
    expect(asked?.saved).toBeUndefined();
  });

  it('does not save the workspace again for what was confirmed', () => {
    const { gate } = makeGate();
    expect(gate.admitConfirmed({ command: 'rm x' }, undefined, CALLER)).toMatchObject({
      verdict: { action: 'checkpoint', class: 'destructive' },
    });
  });

  it('denies what is denied, with why', () => {
    const { gate } = makeGate();
    expect(() => gate.admit({ command: 'rm -rf /' }, undefined, CALLER)).toThrow(
      expect.objectContaining({
        code: 'COMMAND_DENIED',
        details: expect.objectContaining({ action: 'deny', class: 'destructive', commands: ['rm -rf /'] }) as unknown,
      }) as Error,
    );
  });

  it('keeps the order of a session while it waits, and lets other sessions pass', async () => {
    const waiting: (() => void)[] = [];
    const slow = session('slow');
    const of: SessionFacts['of'] = ({ session: record }) =>
      record === slow ? new Promise((resolve) => waiting.push(() => resolve(FACTS))) : FACTS;
    const { gate } = makeGate(of);
    const admitted: string[] = [];
    const admit = (command: string) =>
      Promise.resolve(gate.admit({ command }, slow, CALLER)).then(() => admitted.push(command));
    const all = Promise.all([admit('echo 1'), admit('echo 2'), admit('echo 3')]);
    expect(gate.admit({ command: 'ls' }, session('other'), CALLER)).toBeUndefined();
    // Each looks at the session when the one before it has passed.
    for (let count = 1; count <= 3; count += 1) {
      await eventually(() => expect(waiting).toHaveLength(count));
      waiting[count - 1]?.();
    }
    await all;
    expect(admitted).toEqual(['echo 1', 'echo 2', 'echo 3']);
  });

  it('has the names of a session looked up again after a command that may change them', () => {
    const { gate, forget } = makeGate();
    void gate.admit({ command: 'ls' }, session('a'), CALLER);
    expect(forget).not.toHaveBeenCalled();
    void gate.admit({ command: "alias l='ls -l'" }, session('a'), CALLER);
    expect(forget).toHaveBeenCalledOnce();
  });

  it('lets everything in when it is not enforced, and remembers that it did not look', () => {
    const { gate, forget } = makeGate(undefined, false);
    expect(gate.admit({ command: 'rm -rf /' }, session('a'), CALLER)).toBeUndefined();
    expect(gate.typing.admit(session('a'), { data: 'rm -rf /\n' }, LOCAL_PRINCIPAL)).toBeUndefined();
    expect(forget).toHaveBeenCalledOnce();
  });

  it('judges the variables of a session', async () => {
    const { shells } = makeGate();
    await expect(shells.admit({ env: { LANG: 'C' } }, CALLER)).resolves.toBeUndefined();
    await expect(shells.admit({ env: { LANG: 'C', LD_PRELOAD: 'x', PATH: '/x' } }, CALLER)).rejects.toMatchObject({
      code: 'COMMAND_DENIED',
      message: expect.stringMatching(
        /open it without LD_PRELOAD, PATH, and set them by a command in it \(export LD_PRELOAD=…\)/,
      ) as string,
      details: { action: 'confirm', variables: ['LD_PRELOAD', 'PATH'] },
    });
  });

  it('judges the shell of a session like any program, unless it is the system’s', async () => {
    const { shells } = makeGate(undefined, true, 'strict');
    for (const shell of [undefined, 'bash', '/bin/bash', '/usr/local/bin/zsh']) {
      await expect(shells.admit({ shell }, CALLER)).resolves.toBeUndefined();
    }
    await expect(shells.admit({ shell: '/work/bash' }, CALLER)).rejects.toThrow(
      /name a shell instead: bash, zsh or sh/,
    );
    await expect(makeGate(undefined, true, 'balanced').shells.admit({ shell: '/work/bash' }, CALLER)).rejects.toThrow();
  });

  it('records each verdict with who asked, and of variables the names alone', async () => {
    const { gate, shells, recorded } = makeGate();
    void gate.admit({ command: 'ls' }, session('a'), CALLER);
    await expect(shells.admit({ env: { LD_PRELOAD: 'x-secret' } }, CALLER)).rejects.toThrow();
    expect(recorded).toMatchObject([
      { event: 'verdict', session_id: 'a', command: 'ls', principal: { id: 'local' }, verdict: { action: 'allow' } },
      { event: 'verdict', session_id: null, details: { environment: ['LD_PRELOAD'] } },
    ]);
    expect(JSON.stringify(recorded)).not.toContain('x-secret');
  });
});
