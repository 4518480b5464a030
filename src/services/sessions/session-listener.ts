import { auditPrincipal } from '../../core/audit/event.js';
import type { SessionEndReason } from '../../core/protocol/results.js';
import type { SessionListener } from '../../engine/session/session.js';
import type { SessionRecorder } from '../recordings/session-recorder.js';
import type { SessionRegistry } from '../registry/session-registry.js';
import type { SessionsOptions } from './sessions-options.js';

/** Receivers of what happens in sessions. */
interface SessionObservers extends Pick<SessionsOptions, 'usage' | 'metrics' | 'audit'> {
  readonly sessions: SessionRegistry;
  /** Called when a session is of no use any more. */
  readonly onDone: (id: string, reason: SessionEndReason, detail: string) => void;
}

/** Makes the listeners of sessions: they pass what happens in a session on to its clients, the audit log and metrics. */
export const sessionListener =
  ({ sessions, usage, metrics, audit, onDone }: SessionObservers) =>
  (id: string, recorder: SessionRecorder | undefined): SessionListener => {
    return {
      tap: recorder,
      onLingering: () => {
        const record = sessions.find(id);
        if (record) usage.watch(record);
      },
      onAwaitingInput: ({ id: command_id, prompt }, certainty) => {
        const event = { command_id, session_id: id, prompt, certainty };
        sessions.find(id)?.channel.announce('awaiting_input', event);
      },
      onShellReplaced: (why) => {
        metrics.shellReplaced(why);
      },
      onRefused: ({ destination, reason, message }) => {
        const record = sessions.find(id);
        const principal = record && auditPrincipal(record.owner);
        const details = { destination, reason, message };
        audit.record({ event: 'egress_refused', principal, session_id: id, details });
      },
      onFailed: (error) => {
        onDone(id, 'failed', `its shell could not be started again: ${error.message}`);
      },
      onExceeded: ({ resource, limit }) => {
        onDone(id, 'limit', `it exceeded its limit on ${resource}, ${limit}, though all in it was ended`);
      },
    };
  };
