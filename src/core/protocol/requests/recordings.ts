import { z } from 'zod';

import { MAX_READ_BYTES, MAX_RECORDINGS } from '../bounds.js';
import { defineRequests } from '../define-requests.js';
import * as field from '../fields.js';
import { unreachable } from './nodes.js';

const { optional } = field;

/** A recording in wire format. */
const recordingInfo = z.object({
  recording_id: field.recordingId,
  session_id: field.sessionId,
  node: optional(z.string()).describe('Name of the node of a cluster that has it; left out by a daemon alone'),
  owner: z.string().describe('Name of the token that the session belongs to; `local` for clients without one'),
  reason: z
    .enum(['request', 'configuration'])
    .describe('`configuration`: sessions of this role are always recorded (`recording.roles`)'),
  title: z.string().nullable().describe('The label of the session'),
  started_at: field.timestamp,
  duration_ms: z.int().describe('Until its last event, or until now'),
  bytes: z.int().describe('Size of the file'),
  cols: field.terminalCells.describe('Terminal width at the start'),
  rows: field.terminalCells.describe('Terminal height at the start'),
  state: z
    .enum(['recording', 'complete', 'cut', 'interrupted'])
    .describe(
      '`recording`: the session goes on. `complete`: until its end. `cut`: it ended before its session. `interrupted`: the daemon ended without notice',
    ),
  detail: z.string().nullable().describe('Why it ended before its session'),
});

/** A recording in wire format. */
export type RecordingInfo = z.output<typeof recordingInfo>;

/** The requests about recordings. */
export const recordingRequests = defineRequests({
  list_recordings: {
    summary: 'Lists recordings of sessions, the newest first.',
    role: 'viewer',
    recorded: 'refusals',
    route: 'gather',
    merged: { recordings: { newestFirst: 'started_at' }, total_bytes: 'sum', truncated: 'any' },
    isShared: true,
    repeat: 'safe',
    example: { limit: 20 },
    input: () =>
      z.strictObject({
        session_id: optional(field.sessionId).describe('Of this session only; it may have ended'),
        limit: optional(z.int().min(1).max(MAX_RECORDINGS)).describe('Most recordings to return; 200 by default'),
      }),
    output: () =>
      z.object({
        recordings: z.array(recordingInfo),
        total_bytes: z.int().describe('Of all of them, those above the limit included'),
        truncated: z.boolean().describe('Whether there are more'),
        unreachable,
      }),
  },
  read_recording: {
    summary: 'Reads bytes of a recording: a file in the format asciicast v2.',
    role: 'viewer',
    recorded: 'refusals',
    route: { object: 'recording_id' },
    repeat: 'safe',
    example: { recording_id: 'recording_ID', offset: 0, length: 262_144 },
    input: () =>
      z.strictObject({
        recording_id: field.recordingId,
        offset: optional(z.int().min(0)).describe('In bytes; 0 by default'),
        length: optional(z.int().min(1).max(MAX_READ_BYTES)).describe('In bytes; 262144 by default'),
      }),
    output: () =>
      z.object({
        data: field.bytes,
        offset: z.int(),
        size: z.int().describe('Bytes so far'),
        eof: z.boolean().describe('Nothing follows, now or later'),
      }),
  },
  delete_recording: {
    summary: 'Deletes a recording whose session has ended.',
    role: 'agent',
    recorded: 'each',
    route: { object: 'recording_id' },
    repeat: 'never',
    example: { recording_id: 'recording_ID' },
    input: () => z.strictObject({ recording_id: field.recordingId }),
    output: () => z.object({ recording_id: field.recordingId }),
  },
});
