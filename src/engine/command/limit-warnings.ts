import type { Resource } from '../../core/limits/limits.js';
import type { Warning } from './outcome.js';
import type { Breach } from './resource-use.js';

const warning = (message: string): Warning => ({ code: 'LIMIT_EXCEEDED', message });

/** Rounds a measured value to one decimal place. */
const round = (value: number): number => Math.round(value * 10) / 10;

const seen = ({ resource, observed, limit }: Breach): string =>
  `${resource} was ${round(observed)}, and the limit is ${limit}`;

/** Returns the warning that processes were ended for a limit, in the result of a command that did not cause it. */
export const breachWarning = (breach: Breach): Warning =>
  warning(`Processes that earlier commands have left in this session were ended: ${seen(breach)}.`);

/** Returns the warning that the kernel has enforced a limit of a command that has completed anyway. */
export const keptWarning = (what: 'ended' | 'not started', resource: Resource, limit: number): Warning =>
  warning(`Processes of this command were ${what}: ${resource} is limited to ${limit}.`);

/**
 * Returns the warning that a command has completed before it was ended for a limit, or was spared because it did not
 * cause the breach.
 */
export const exceededWarning = (breach: Breach): Warning =>
  warning(`A limit was exceeded while this command ran, and it came to its end all the same: ${seen(breach)}.`);
