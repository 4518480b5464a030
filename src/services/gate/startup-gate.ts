import type { Principal } from '../../core/principal.js';
import { AdapterError } from '../../core/errors.js';
import { addFinding, decide, type Policy, type PolicyVerdict } from '../../core/policy/policy.js';
import type { PolicyFacts } from '../../core/policy/model.js';
import { isStandardProgram } from '../../core/policy/words/program-knowledge.js';
import type { SessionRequest } from '../../core/protocol/requests.js';
import { sourced, type Startup } from '../../core/startup-text.js';
import type { Caller } from '../registry/caller.js';
import { type GateDesk, unconfirmable } from './gate-options.js';

/** Decides on what a session runs before it is handed over. It cannot be confirmed: the error says what can be. */
export class StartupGate {
  readonly #desk: GateDesk;

  constructor(desk: GateDesk) {
    this.#desk = desk;
  }

  /**
   * Decides on the startup of a session. The `init` of an environment is approved by the configuration, unless the
   * policy denies it.
   * @param directory where the session starts, if that is not the workspace
   * @throws AdapterError COMMAND_DENIED
   */
  async admit(startup: Startup, principal: Principal, directory: string | undefined): Promise<void> {
    const { isEnforced, confirmingPolicy: policy } = this.#desk.settings();
    if (!isEnforced) return;
    const facts = await this.#desk.facts.of({ session: undefined, principal }, directory, false);
    const place = { session: undefined, principal };
    if (startup.init !== undefined) this.#desk.note(decide(policy, { command: startup.init }, facts), place);
    const { login, rcfile } = startup;
    if (!login && rcfile === undefined) return;
    const verdict = filesVerdict(policy, facts, rcfile);
    this.#desk.note(verdict, place);
    if (verdict.action !== 'allow') throw unconfirmableStart(verdict, rcfile);
  }
}

/** The verdict on startup files: that on a program, whose text is not known either. */
function filesVerdict(policy: Policy, facts: PolicyFacts, rcfile: string | undefined): PolicyVerdict {
  if (rcfile !== undefined) return decide(policy, { command: 'sh', args: [rcfile] }, facts);
  const reasons = ['startup files of the shell are run'];
  return { ...decide(policy, { command: ':' }, facts), action: policy.actions.execute, class: 'execute', reasons };
}

function unconfirmableStart({ action, class: commandClass, reasons }: PolicyVerdict, rcfile: string | undefined) {
  const [field, text] = rcfile === undefined ? ['login', '. ~/.profile'] : ['rcfile', sourced(rcfile)];
  const message = `a session cannot be confirmed: ${reasons.join('; ')}; open it without ${field}, and run "${text}" in it, which can be confirmed`;
  return new AdapterError('COMMAND_DENIED', message, { details: { action, class: commandClass, reasons, field } });
}

/** Decides on the shell and the variables of sessions. */
export class ShellGate {
  readonly #desk: GateDesk;

  constructor(desk: GateDesk) {
    this.#desk = desk;
  }

  /**
   * Checks the shell and the variables of a new session: they are accepted if a single command with them needs no
   * confirmation. They cannot be confirmed here: the error says how they can be.
   * @throws AdapterError COMMAND_DENIED
   */
  async admit(
    { env = {}, shell }: Pick<SessionRequest, 'env' | 'shell'>,
    { principal }: Pick<Caller, 'principal'>,
  ): Promise<void> {
    const { isEnforced, confirmingPolicy: policy } = this.#desk.settings();
    const program = unusualShell(shell);
    if (!isEnforced || (program === undefined && Object.keys(env).length === 0)) return;
    const facts = await this.#desk.facts.of({ session: undefined, principal }, undefined, false);
    const judge = (given: Readonly<Record<string, string>>) =>
      withShell(policy, decide(policy, { command: program ?? ':', args: [], env: given }, facts), program);
    const verdict = judge(env);
    const details = { environment: Object.keys(env), ...(program !== undefined && { shell: program }) };
    this.#desk.note(verdict, { session: undefined, principal }, { details });
    if (verdict.action === 'confirm') {
      const variables = Object.entries(env).filter(([name, value]) => judge({ [name]: value }).action !== 'allow');
      throw unconfirmable(verdict, judge({}).action === 'allow' ? variables.map(([name]) => name) : []);
    }
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
