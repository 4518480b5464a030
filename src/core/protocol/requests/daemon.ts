import { z } from 'zod';

import { ROLE_NAMES } from '../../principal.js';
import { CONFIRMATION_MODES } from '../../confirmation.js';
import { defineRequests } from '../define-requests.js';
import { timestamp } from '../fields.js';

/** Fields that identify one run of the daemon. */
export const daemonIdentity = {
  instance_id: z.string().describe('Identifies this run of the daemon: sessions and commands of another run are gone'),
  adapter_version: z.string(),
  protocol_version: z.int(),
};

/** The requests about the daemon itself. */
export const daemonRequests = defineRequests({
  daemon_status: {
    summary: 'Describes the daemon: version, process, uptime, configuration and workload.',
    role: 'viewer',
    recorded: 'refusals',
    route: 'here',
    repeat: 'safe',
    example: {},
    input: () => z.strictObject({}),
    output: () =>
      z.object({
        ...daemonIdentity,
        pid: z.int(),
        process_identity: z
          .string()
          .nullable()
          .describe('Tells the process from another one under the same pid, on this or another machine'),
        user: z.string(),
        started_at: timestamp,
        uptime_ms: z.int(),
        configuration_file: z.string().nullable(),
        workspace_directory: z.string(),
        state_directory: z.string(),
        log_file: z.string(),
        dashboard: z.boolean().describe('Whether the dashboard is served at the address of the daemon'),
        sessions: z.int().describe('Open sessions'),
        running_commands: z.int().describe('Running commands, with and without a session'),
        clients: z.int().describe('Connected Socket.IO clients, this one included'),
        confirmed_by: z
          .array(z.enum(CONFIRMATION_MODES))
          .describe('Who confirms commands, by the configuration; empty if nothing has to be confirmed'),
        caller: z
          .object({
            name: z.string().describe('Name of the token; `local` without one'),
            role: z.enum(ROLE_NAMES),
            run_as: z
              .string()
              .optional()
              .describe('User as which its processes run; left out for the user of the daemon'),
            has_token: z.boolean().describe('Only clients with a token may decide as operators'),
          })
          .describe('Who this client is to the daemon'),
      }),
  },
});
