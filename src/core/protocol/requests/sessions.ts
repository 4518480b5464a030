import { z } from 'zod';

import { defineRequests, UNTIL_CLOSED } from '../define-requests.js';
import * as field from '../fields.js';
import { commandResult, effectiveLimits, expiry, sessionInfo } from '../results.js';
import { placement, unreachable } from './nodes.js';

const { optional } = field;

/** The requests about sessions. */
export const sessionRequests = defineRequests({
  open_session: {
    summary: 'Opens a persistent shell session.',
    role: 'agent',
    recorded: 'each',
    route: 'place',
    begins: 'session_id',
    repeat: 'never',
    httpDefaults: { keep_while: 'used' },
    example: { cwd: '/srv/project', env: { CI: '1' }, label: 'build' },
    input: () =>
      z.strictObject({
        placement,
        cwd: optional(field.directory),
        env: optional(field.environmentVariables),
        shell: optional(field.textWithoutNul('a shell').min(1)).describe(
          'bash, zsh, sh, fish, or pwsh (untested), or the path of one',
        ),
        label: optional(field.label),
        sandbox: optional(field.sandboxProfile).describe(
          'Sandbox profile: the configured one (`sandbox.profile`) by default, or a stricter one',
        ),
        cols: optional(field.terminalCells).describe('Terminal width; 200 by default'),
        rows: optional(field.terminalCells).describe('Terminal height; 50 by default'),
        limits: optional(field.resourceLimits).describe('Limits for this session, lower than the configured ones'),
        login: optional(z.boolean()).describe(
          'Whether it reads the startup files of a login shell first; no by default',
        ),
        rcfile: optional(field.textWithoutNul('a path').min(1)).describe(
          'A file that it reads first, such as `~/.bashrc`; relative to its directory',
        ),
        environment: optional(field.label).describe(
          'The name of an environment of the configuration, whose `init` it runs first',
        ),
        keep_while: optional(field.keepWhile).describe(
          'What keeps it open: `connected`, a client that is connected to it (`reconnect_grace`), or `used`, commands alone (`session_idle_timeout`). By default `connected` for clients with a connection that lasts, and `used` over HTTP and MCP',
        ),
        record: optional(z.boolean()).describe(
          'Whether to record it: output and typed input with their times. `false` does not switch off what `recording.roles` demands',
        ),
      }),
    output: () =>
      z.object({
        session_id: field.sessionId,
        shell: z.string(),
        working_directory: z.string(),
        ...expiry,
        sandbox: field.sandboxProfile.describe(
          'The sandbox that it is in: less than what is configured where that does not work',
        ),
        limits: effectiveLimits,
        recording_id: field.recordingId.nullable().describe('Null unless it is recorded'),
        startup: optional(commandResult).describe('What its startup has done: `login`, `rcfile` and `environment`'),
      }),
  },
  close_session: {
    summary: 'Ends a session and every process in it.',
    role: 'agent',
    recorded: 'each',
    route: 'session',
    repeat: 'never',
    example: { session_id: 'session_ID' },
    input: () => z.strictObject({ session_id: field.sessionId }),
    output: () => z.object({ session_id: field.sessionId }),
  },
  list_sessions: {
    summary: 'Lists the sessions.',
    role: 'viewer',
    recorded: 'refusals',
    route: 'gather',
    merged: { sessions: { oldestFirst: 'created_at' } },
    repeat: 'safe',
    whileClosing: true,
    example: {},
    input: () => z.strictObject({}),
    output: () => z.object({ sessions: z.array(sessionInfo), unreachable }),
  },
  get_session: {
    summary: 'Describes one session.',
    role: 'viewer',
    recorded: 'refusals',
    route: 'session',
    repeat: 'safe',
    whileClosing: true,
    example: { session_id: 'session_ID' },
    input: () => z.strictObject({ session_id: field.sessionId }),
    output: () => sessionInfo,
  },
  reset_session: {
    summary: 'Ends everything in a session and gives it a fresh shell under the same id.',
    role: 'agent',
    recorded: 'each',
    route: 'session',
    repeat: 'never',
    example: { session_id: 'session_ID' },
    input: () =>
      z.strictObject({
        session_id: field.sessionId,
        cwd: optional(field.directory).describe('By default where the session was opened'),
        env: optional(field.environmentVariables).describe('By default what the session was opened with'),
      }),
    output: () =>
      z.object({
        session_id: field.sessionId,
        shell: z.string(),
        working_directory: z.string(),
        startup: optional(commandResult).describe('What its startup has done, which is repeated'),
      }),
  },
  attach_session: {
    summary: 'Subscribes to a session and replays its output from a sequence number, before the answer.',
    role: 'viewer',
    recorded: 'refusals',
    route: 'session',
    repeat: 'safe',
    noSink: true,
    subscribesTo: ({ session_id: id }) => String(id),
    example: { session_id: 'session_ID', from_seq: 17 },
    input: () =>
      z.strictObject({
        session_id: field.sessionId,
        from_seq: optional(z.int().min(0)).describe('First event wanted; by default only what comes from now on'),
        max_bytes_per_second: optional(z.int().min(field.MIN_OBSERVER_RATE)).describe(
          'Observe only: commands never wait for this client, and output above the rate is skipped, oldest first, with `output_gap` events. Observers have sequence numbers of their own. By default it gets all output, and commands wait for it',
        ),
      }),
    output: () =>
      z.object({
        session_id: field.sessionId,
        next_seq: z.int().describe('`seq` of the next event'),
        replayed: z
          .int()
          .describe('How many events were sent again; 0 for an observer, which gets them after the answer'),
        gap: z
          .object({ from_seq: z.int(), to_seq: z.int() })
          .nullable()
          .describe('The wanted events that are no longer kept, both ends included'),
      }),
  },
  detach_session: {
    summary: 'Ends what `attach_session` has begun: this client gets no more events of the session.',
    role: 'viewer',
    recorded: 'refusals',
    route: 'session',
    repeat: 'safe',
    example: { session_id: 'session_ID' },
    input: () => z.strictObject({ session_id: field.sessionId }),
    output: () => z.object({ session_id: field.sessionId }),
  },
  watch_resources: {
    summary:
      'Subscribes to `resource_usage` events, which come while a command or background process runs in the session.',
    role: 'viewer',
    recorded: 'refusals',
    route: 'session',
    repeat: 'safe',
    noSink: true,
    subscribesTo: ({ interval_ms: ms }) => (ms === 0 ? undefined : UNTIL_CLOSED),
    example: { session_id: 'session_ID', interval_ms: 1000 },
    input: () =>
      z.strictObject({
        session_id: field.sessionId,
        interval_ms: z.int().min(0).max(field.MAX_USAGE_INTERVAL_MS).describe('Between two events at least; 0 ends it'),
      }),
    output: () => z.object({ session_id: field.sessionId, interval_ms: z.int() }),
  },
});

/** What is asked of a session. */
export type SessionRequest = z.output<(typeof sessionRequests)['open_session']['input']>;
