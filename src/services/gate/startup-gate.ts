import type { Principal } from '../../core/access/principal.js';
import { AdapterError } from '../../core/errors.js';
import { decide, type Policy, type PolicyVerdict } from '../../core/policy/decision/policy.js';
import type { PolicyFacts } from '../../core/policy/model/facts.js';
import { sourced, type Startup } from '../../core/startup/startup-text.js';
import { judgementRecord, refuse } from './gate-verdicts.js';
import type { TypingGateOptions } from './gate-options.js';

/** Decides on what a session runs before it is handed over. It cannot be confirmed: the error says what can be. */
export class StartupGate {
  readonly #options: TypingGateOptions;

  constructor(options: TypingGateOptions) {
    this.#options = options;
  }

  /**
   * Decides on the startup of a session. The `init` of an environment is approved by the configuration, unless the
   * policy denies it.
   * @param directory where the session starts, if that is not the workspace
   * @throws AdapterError COMMAND_DENIED
   */
  async admit(startup: Startup, principal: Principal, directory: string | undefined): Promise<void> {
    const { isEnforced, confirmingPolicy: policy } = this.#options.settings();
    if (!isEnforced) return;
    const facts = await this.#options.facts.of({ session: undefined, principal }, directory, false);
    if (startup.init !== undefined) this.#note(decide(policy, { command: startup.init }, facts), principal);
    const { login, rcfile } = startup;
    if (!login && rcfile === undefined) return;
    const verdict = filesVerdict(policy, facts, rcfile);
    this.#note(verdict, principal);
    if (verdict.action !== 'allow') throw unconfirmable(verdict, rcfile);
  }

  #note(verdict: PolicyVerdict, principal: Principal): void {
    this.#options.audit.record(judgementRecord(verdict, undefined, principal));
    refuse(verdict, undefined, this.#options.log);
  }
}

/** The verdict on startup files: that on a program, whose text is not known either. */
function filesVerdict(policy: Policy, facts: PolicyFacts, rcfile: string | undefined): PolicyVerdict {
  if (rcfile !== undefined) return decide(policy, { command: 'sh', args: [rcfile] }, facts);
  const reasons = ['startup files of the shell are run'];
  return { ...decide(policy, { command: ':' }, facts), action: policy.actions.execute, class: 'execute', reasons };
}

function unconfirmable({ action, class: commandClass, reasons }: PolicyVerdict, rcfile: string | undefined) {
  const [field, text] = rcfile === undefined ? ['login', '. ~/.profile'] : ['rcfile', sourced(rcfile)];
  const message = `a session cannot be confirmed: ${reasons.join('; ')}; open it without ${field}, and run "${text}" in it, which can be confirmed`;
  return new AdapterError('COMMAND_DENIED', message, { details: { action, class: commandClass, reasons, field } });
}
