import { z } from 'zod';

import { RESOURCES } from '../../limits.js';

/** Cause that ended a command early. */
export const killedBy = z.enum(['timeout', 'memory', 'cpu', 'processes', 'disk', 'signal', 'client', 'shutdown']);

/** A limit that was exceeded or is nearly reached. Numbers are in the unit that the name of the resource gives. */
export const breach = {
  resource: z.enum(RESOURCES).describe('Which limit; `disk_free_mb` is the free space that the daemon keeps'),
  limit: z.number().describe('In the unit of its name'),
  observed: z.number().describe('Likewise. Where the kernel keeps a limit, never more than that'),
};

/** A limit whose breach ended a process. */
export const kill = z.object({
  ...breach,
  peak: z.number().describe('The most that was used, likewise'),
  killed_pids: z
    .array(z.int())
    .describe(
      'Processes that were killed for it, by the numbers that commands see; of those that the kernel killed, the ones that are known',
    ),
});

/** Resources that a command has used. */
export const resourceUse = z.object({
  cpu_ms: z.number().nullable().describe('CPU time of all that ran in its session while it did'),
  peak_memory_bytes: z
    .int()
    .nullable()
    .describe('The most that was seen; null for a command too short to be looked at'),
  peak_processes: z.int().nullable().describe('Processes and threads, the shell included; likewise'),
  written_bytes: z
    .int()
    .nullable()
    .describe('Written to disks, approximately: what samples have shown since its start; null where that is not known'),
});

/** Limits in effect. */
export const effectiveLimits = z
  .object({
    cpu_percent: z.number().nullable(),
    cpu_seconds: z.number().nullable(),
    memory_mb: z.number().nullable(),
    processes: z.int().nullable(),
    disk_mb: z.number().nullable(),
  })
  .describe('What the processes may use together; null is no limit');

/** Limits that apply to the processes of a session or command, in the units of their names; null is no limit. */
export type EffectiveLimits = z.output<typeof effectiveLimits>;
