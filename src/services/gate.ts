import type { Request } from '../core/protocol/requests.js';

/** What the gate says of a command. */
type Verdict = { readonly action: 'allow' } | { readonly action: 'deny'; readonly reasons: readonly string[] };

/** Decides whether a command may run. Every command of every transport passes it, before anything of it happens. */
export type CommandGate = (request: Request<'execute_command'>) => Verdict | Promise<Verdict>;

/** Lets everything run: access to the daemon is access to the machine. */
export const allowAll: CommandGate = () => ({ action: 'allow' });
