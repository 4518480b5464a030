import { observedMembers } from './observed-members.js';
import type { Membership } from './observed-group.js';
import { Observation } from './observation.js';

/** Enforces limits by sampling only. */
export class Polling extends Observation {
  readonly name = 'polling';
  readonly nameWithoutLimits = 'polling';

  protected membershipOf(tag: string): Membership {
    return observedMembers(this.reader, tag);
  }
}
