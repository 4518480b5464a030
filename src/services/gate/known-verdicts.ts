import type { PolicyRequest } from '../../core/policy/analysis/inspection.js';
import type { Policy, PolicyVerdict } from '../../core/policy/decision/policy.js';
import type { PolicyFacts } from '../../core/policy/model/facts.js';
import { decideHere } from './decide-here.js';

/** Most texts whose verdicts are kept for one place. */
const MAX_TEXTS = 32;
/** Longest text whose verdict is kept, in characters. */
const MAX_CHARACTERS = 1_000;

/** Verdicts by text. */
interface Known {
  readonly policy: Policy;
  readonly verdicts: Map<string, PolicyVerdict>;
}

/**
 * Decides on commands, and remembers the verdicts that depend on nothing but the text and the facts: a client that watches a
 * machine sends the same few commands all the time. Verdicts on files are not kept, because files change.
 */
export class KnownVerdicts {
  /** By the facts, which `SessionFacts` gives again only while they hold. */
  readonly #known = new WeakMap<PolicyFacts, Known>();

  /** Decides on a request with what lies on this machine. */
  decide(policy: Policy, request: PolicyRequest, facts: PolicyFacts): PolicyVerdict {
    const { command, args, env, stdin, stdin_stream: isStreamed } = request;
    const isPlain = !args && !env && stdin === undefined && isStreamed !== true && command.length <= MAX_CHARACTERS;
    if (!isPlain) return decideHere(policy, request, facts);
    const { verdicts } = this.#of(policy, facts);
    const known = verdicts.get(command);
    if (known) return known;
    const verdict = decideHere(policy, request, facts);
    if (verdict.paths.length > 0 || verdict.repositories.length > 0) return verdict;
    if (verdicts.size >= MAX_TEXTS) verdicts.clear();
    verdicts.set(command, verdict);
    return verdict;
  }

  #of(policy: Policy, facts: PolicyFacts): Known {
    const known = this.#known.get(facts);
    if (known?.policy === policy) return known;
    const fresh: Known = { policy, verdicts: new Map() };
    this.#known.set(facts, fresh);
    return fresh;
  }
}
