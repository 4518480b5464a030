import type { Principal, Role } from '../../../../src/core/principal.js';
import type { ConfirmationMode, ConfirmationRecord } from '../../../../src/core/confirmation.js';
import { factsOfFreshShell } from '../../../../src/core/policy/model.js';
import { decide, PRESETS } from '../../../../src/core/policy/policy.js';
import type { EventName } from '../../../../src/core/protocol/results.js';
import type { Caller, Connections, EventSink } from '../../../../src/services/registry/caller.js';
import type {
  ConfirmableAction,
  ConfirmedAnswer,
  Reviewer,
} from '../../../../src/services/confirmations/confirmation.js';
import { Confirmations, type ConfirmationSettings } from '../../../../src/services/confirmations/confirmations.js';
import { RememberedApprovals } from '../../../../src/services/remembered-approvals.js';
import type { SessionRecord } from '../../../../src/services/registry/session-registry.js';

export const EXPIRES_MS = 60_000;

/** A client with a connection that remembers its events. */
export interface TestClient {
  readonly caller: Caller & { readonly sink: EventSink };
  readonly events: { readonly name: EventName; readonly payload: unknown }[];
}

export function client(name: string, role: Role = 'agent', isLocalPeer = false): TestClient {
  const principal: Principal = { id: `token_${name}`, name, role, isLocalPeer };
  const events: TestClient['events'] = [];
  const sink: EventSink = {
    id: name,
    send: (event, payload) => void events.push({ name: event, payload }),
    pendingBytes: () => 0,
  };
  return { caller: { principal, sink }, events };
}

const VERDICT = decide({ actions: PRESETS.balanced, rules: [] }, { command: 'rm x' }, factsOfFreshShell('/work/space'));

/** The confirmations with what surrounds them: who is connected, and every step that was noted. */
export class Fixture {
  readonly steps: ConfirmationRecord[] = [];
  readonly confirmations: Confirmations;
  /** What was run, by command id. */
  readonly runs: string[] = [];
  /** Principals whose token has ended. */
  readonly ended = new Set<string>();
  reviewer: Reviewer | undefined;
  settings: ConfirmationSettings;
  save = () => Promise.resolve({ checkpointId: undefined, warnings: [] });

  constructor(mode: ConfirmationMode, connected: readonly TestClient[]) {
    this.settings = { mode, modes: {}, expiresMs: EXPIRES_MS, reviewTimeoutMs: 1000 };
    this.confirmations = new Confirmations({
      settings: () => this.settings,
      connections: { all: () => connected.map(({ caller }) => caller) } as unknown as Connections,
      reviewer: () => this.reviewer,
      save: () => this.save(),
      approvals: new RememberedApprovals(
        { workspace: '/work/space', path: '/usr/bin:/bin', sandbox: () => 'none' },
        '/nonexistent/approvals.json',
        () => this.settings,
        () => undefined,
        { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
      ),
      diffBaseFor: () => null,
      isActive: ({ id }) => !this.ended.has(id),
      observe: (record) => this.steps.push(record),
    });
  }

  /** A command that is stopped, as if in a session. */
  action(commandId: string, { caller }: TestClient, changes: Partial<ConfirmableAction> = {}): ConfirmableAction {
    return {
      kind: 'command',
      request: { command: 'rm x' },
      verdict: VERDICT,
      commandId,
      fingerprint: commandId,
      session: { id: 'session_1', label: undefined } as SessionRecord,
      directory: '/work/space',
      caller,
      owner: caller.principal,
      assertReady: () => undefined,
      judge: () => undefined,
      run: () => {
        this.runs.push(commandId);
        return Promise.resolve({ command_id: commandId } as ConfirmedAnswer);
      },
      ...changes,
    };
  }

  /** What was noted, in short. */
  get events(): string[] {
    return this.steps.map(({ event, by }) => (by ? `${event} by ${by.name}` : event));
  }
}

/** The code that a promise rejects with, or `ok`. */
export const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  );
