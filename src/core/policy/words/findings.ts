import type { CommandClass } from '../model/classes.js';
import type { Finding } from '../model/finding.js';

const NO_EFFECT: Finding = { class: 'read', reason: '', isOfProgram: true };

/** The findings about one command, each reason once. */
export class Findings {
  readonly #all: Finding[] = [];
  readonly #reasons = new Set<string>();

  /** The findings; one without a reason when there is none. */
  get all(): readonly Finding[] {
    return this.#all.length > 0 ? this.#all : [NO_EFFECT];
  }

  /** Adds a finding. */
  add(finding: Finding): void {
    if (this.#reasons.has(finding.reason)) return;
    this.#reasons.add(finding.reason);
    this.#all.push(finding);
  }

  /** Whether a finding of this class exists. */
  has(commandClass: CommandClass): boolean {
    return this.#all.some((finding) => finding.class === commandClass);
  }
}
