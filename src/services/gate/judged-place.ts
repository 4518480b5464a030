import type { PolicyFacts } from '../../core/policy/model/facts.js';
import type { PolicyVerdict } from '../../core/policy/decision/policy.js';
import type { Request } from '../../core/protocol/requests.js';
import type { JudgedPlace } from '../approvals/coverage.js';
import type { SessionRecord } from '../registry/session-registry.js';
import { isBusy } from './session-facts.js';

/** Returns where a command was judged. */
export const placeOf = (
  request: Request<'execute_command'>,
  session: SessionRecord | undefined,
  facts: PolicyFacts,
  verdict: PolicyVerdict,
): JudgedPlace => ({
  directory: facts.directories.length === 1 ? facts.directories[0] : undefined,
  shell: facts.shell,
  sandbox: session?.sandbox ?? request.sandbox,
  isOnTerminal: request.tty === true,
  sessionId: session?.id,
  doubt: findDoubt(request, facts, verdict),
});

/** Finds a name in a command that has another meaning in the session than on the machine. */
function findDoubt({ command, args }: Request<'execute_command'>, facts: PolicyFacts, verdict: PolicyVerdict) {
  if (facts.areNamesUnknown) return 'the aliases and functions of its session are not known';
  if (facts.isPathChanged) return 'PATH was changed in its session';
  const names = [
    ...(args ? [] : command.split(/[\s;&|()<>"'\\]+/)),
    ...verdict.commands.flatMap(({ program }) => program ?? []),
  ];
  const name = names.find((word) => facts.aliases.has(word) || facts.functions.has(word));
  return name === undefined ? undefined : `${name} is an alias or a function in its session`;
}

/** Returns a check that a session is idle, and that nothing has run in it since. Without a session, nothing can. */
export function unchanged(session: SessionRecord | undefined): () => boolean {
  const commandCount = session?.session.commandCount;
  return () => !session || (!isBusy(session) && session.session.commandCount === commandCount);
}
