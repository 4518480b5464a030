import { z } from 'zod';

import { timestamp } from '../fields.js';

/** The measured values of the machine at one time; of a container, those of the container where the kernel tells them. */
export const hostEntry = z.object({
  at: timestamp,
  cpu_percent: z
    .number()
    .nullable()
    .describe('Of all CPUs together, 0 to 100, since the entry before; null in the first one'),
  load1: z.number().describe('Load average of the last minute'),
  memory_used_bytes: z.int().describe('Without what the kernel can free, such as cached files'),
  disk_used_bytes: z.int().nullable().describe('On the file system of the workspace'),
  net_rx_bytes_s: z
    .number()
    .nullable()
    .describe('Received by all interfaces but the loopback, in bytes per second; null in the first entry'),
  net_tx_bytes_s: z.number().nullable().describe('Sent, likewise'),
  sessions: z.int().describe('Open sessions'),
  commands_running: z.int().describe('Running commands, with and without a session'),
  daemon_rss_bytes: z.int().describe('Resident memory of the daemon itself'),
});

/** The measured values of the machine in wire format. */
export type HostEntry = z.output<typeof hostEntry>;
