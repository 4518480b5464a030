import { addFinding, decide, type Policy, type PolicyVerdict } from '../../core/policy/decision/policy.js';
import { isStandardProgram } from '../../core/policy/words/program-name.js';
import type { Request } from '../../core/protocol/requests.js';
import type { Caller } from '../registry/caller.js';
import type { TypingGateOptions } from './gate-options.js';
import { judgementRecord, refuse, unconfirmable } from './gate-verdicts.js';

/** Decides on the shell and the variables of sessions. */
export class ShellGate {
  readonly #options: TypingGateOptions;

  constructor(options: TypingGateOptions) {
    this.#options = options;
  }

  /**
   * Checks the shell and the variables of a new session: they are accepted if a single command with them needs no
   * confirmation. They cannot be confirmed here: the error says how they can be.
   * @throws AdapterError COMMAND_DENIED
   */
  async admit(
    { env = {}, shell }: Pick<Request<'open_session'>, 'env' | 'shell'>,
    { principal }: Pick<Caller, 'principal'>,
  ): Promise<void> {
    const { isEnforced, confirmingPolicy: policy } = this.#options.settings();
    const program = unusualShell(shell);
    if (!isEnforced || (program === undefined && Object.keys(env).length === 0)) return;
    const facts = await this.#options.facts.of({ session: undefined, principal }, undefined, false);
    const judge = (given: Readonly<Record<string, string>>) =>
      withShell(policy, decide(policy, { command: program ?? ':', args: [], env: given }, facts), program);
    const verdict = judge(env);
    const details = { environment: Object.keys(env), ...(program !== undefined && { shell: program }) };
    this.#options.audit.record({ ...judgementRecord(verdict, undefined, principal), details });
    if (verdict.action === 'confirm') {
      const variables = Object.entries(env).filter(([name, value]) => judge({ [name]: value }).action !== 'allow');
      throw unconfirmable(verdict, judge({}).action === 'allow' ? variables.map(([name]) => name) : []);
    }
    refuse(verdict, undefined, this.#options.log);
  }
}

/** Adds that a shell is no shell of the system: a file of that name may be any program. */
const withShell = (policy: Policy, verdict: PolicyVerdict, shell: string | undefined): PolicyVerdict =>
  shell === undefined
    ? verdict
    : addFinding(policy, verdict, {
        class: 'obfuscated',
        reason: `${shell} is not in a directory of the system: it may be any program`,
        isOfProgram: false,
      });

/** A shell that is given by its path, and that the policy has to judge as it would judge any other program. */
const unusualShell = (shell: string | undefined): string | undefined =>
  shell?.includes('/') === true && !isStandardProgram(shell) ? shell : undefined;
