import { z } from 'zod';

import { CONFIRMATION_SETTINGS } from '../../confirmation.js';
import { LIMIT_MECHANISM_NAMES } from '../../limits.js';
import { PLATFORM_NAMES } from '../../platform.js';
import { defineRequests } from '../define-requests.js';
import * as field from '../fields.js';
import { effectiveLimits } from '../results.js';
import { daemonIdentity } from './daemon.js';
import { ofNode, onNode } from './nodes.js';

const diskFreeMb = z.number().nullable().describe('Free space to keep on the disk of the workspace, in MB');

/** What bounds commands, of the answer of `shell_metadata`. */
const bounds = () => ({
  limits: z.object({
    command_timeout_ms: z.int().describe('Time-out of a command that asks for none'),
    command_max_lifetime_ms: z.int().describe('The longest time-out that a command may ask for'),
    session_max_lifetime_ms: z.int(),
    max_sessions: z.int(),
    queue_limit: z.int(),
    max_output_size: z.int(),
    begin_output_size: z.int(),
    end_output_size: z.int(),
    max_message_bytes: z.int(),
  }),
  resource_limits: z.object({
    ...effectiveLimits.shape,
    disk_free_mb: diskFreeMb,
    safety_net: z
      .object({ ...effectiveLimits.shape, disk_free_mb: diskFreeMb })
      .describe('Limits that hold where none is configured; null where the safety net has none, or is off'),
    mechanism: z.enum(LIMIT_MECHANISM_NAMES).describe('By what limits are kept, where any is set'),
    mechanism_in_use: z
      .enum(LIMIT_MECHANISM_NAMES)
      .describe(
        'What new sessions run under that set no limit themselves: `mechanism`, or `polling` while nothing asks for the process namespace of `pid_namespace`',
      ),
    enforced: z.boolean().describe('Whether the kernel itself keeps memory and processes within them'),
    rejected: z
      .array(z.object({ mechanism: z.string(), reason: z.string() }))
      .describe('Better mechanisms, and why they cannot be used here'),
  }),
  sandbox: z.object({
    profile: field.sandboxProfile.describe('What commands are in that ask for nothing stricter'),
    configured: field.sandboxProfile.describe('What `sandbox.profile` says'),
    available: z.array(field.sandboxProfile).describe('What works on this machine'),
    reason: z.string().nullable().describe('Why `profile` is less than what is configured'),
  }),
});

/** The requests about the machine. */
export const machineRequests = defineRequests({
  examine_machine: {
    summary:
      'Checks everything that the daemon needs or can use, as `shell-adapter doctor` does. A finding is kept for 30 seconds.',
    role: 'operator',
    recorded: 'refusals',
    route: 'machine',
    repeat: 'safe',
    example: {},
    input: () => z.strictObject({ node: ofNode }),
    output: () =>
      z.object({
        checks: z.array(
          z.object({
            name: z.string(),
            status: z.enum(['ok', 'warn', 'missing']).describe('`missing`: the daemon needs it'),
            detail: z.string(),
            fix: field.optional(z.string()).describe('How to fix it'),
          }),
        ),
        checked_at: field.timestamp,
      }),
  },
  shell_metadata: {
    summary: 'Describes the machine and the shell that commands run on.',
    role: 'viewer',
    recorded: 'refusals',
    route: 'workspace',
    repeat: 'safe',
    example: {},
    input: () => z.strictObject({ node: onNode }),
    output: () =>
      z.object({
        operating_system: z.string(),
        platform: z
          .enum(PLATFORM_NAMES)
          .describe('What the daemon uses of the operating system: all that Linux has, or what POSIX has'),
        shell: z.string().describe('The default shell and its version'),
        workspace_directory: z.string(),
        architecture: z.string(),
        kernel: z.string(),
        hostname: z.string(),
        user: z.string(),
        cpus: z.int(),
        memory_bytes: z.int(),
        memory_available_bytes: z.int(),
        disk_bytes: z.int().nullable().describe('Size of the file system of the workspace'),
        disk_free_bytes: z.int().nullable(),
        shells: z.array(z.object({ name: z.string(), path: z.string(), version: z.string() })),
        ...bounds(),
        http: z
          .object({ dashboard: z.boolean(), openai: z.boolean(), mcp: z.boolean(), metrics: z.boolean() })
          .describe('What is served beside Socket.IO'),
        environments: z.array(z.string()).describe('Names of the environments in which a session can be opened'),
        confirmation_mode: z.enum(CONFIRMATION_SETTINGS).describe('What `confirmation.mode` says'),
        audit_enabled: z.boolean(),
        node: z.string().nullable().describe('Null for a daemon alone'),
        ...daemonIdentity,
      }),
  },
});
