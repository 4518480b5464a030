import type { Answer, EventPayload } from '../../client/index.js';

/** What the daemon has told this connection about its access. */
export type AccessInfo = Answer<'describe_access'>;

/** A command in wire format. */
export type CommandInfo = EventPayload<'commands_changed'>['commands'][number];

/** One look at the machine. */
export type HostSample = EventPayload<'host_usage'>;

/** A call of an LLM in wire format. */
export type LlmCall = Answer<'list_llm_calls'>['calls'][number];

/** Sizes of the machine. */
export type HostSizes = Pick<Answer<'host_history'>, 'memory_bytes' | 'disk_bytes' | 'cpus'>;

/** A node of the cluster in wire format. */
export type Node = EventPayload<'nodes_changed'>['nodes'][number];

/** A topic of `subscribe`. */
export type Topic = Answer<'subscribe'>['topics'][number];

/** A simple command with the verdict of the policy. */
export type JudgedCommand = Answer<'check_command'>['commands'][number];

/** A file or directory that differs from a checkpoint. */
export type ChangedPath = Answer<'diff_workspace'>['changes'][number];
