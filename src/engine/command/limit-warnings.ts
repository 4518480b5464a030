import type { Resource } from '../../core/limits/limits.js';
import type { Breach } from './resource-use.js';

/** What results tell of limits beside what they were ended for. */
interface LimitWarning {
  readonly code: 'LIMIT_EXCEEDED';
  readonly message: string;
}

const warning = (message: string): LimitWarning => ({ code: 'LIMIT_EXCEEDED', message });

/** Digits behind the point of what was seen. */
const round = (value: number): number => Math.round(value * 10) / 10;

const seen = ({ resource, observed, limit }: Breach): string =>
  `${resource} was ${round(observed)}, and the limit is ${limit}`;

/** Tells that something was ended for a limit that is no fault of the command whose result tells it. */
export const breachWarning = (breach: Breach): LimitWarning =>
  warning(`Processes that earlier commands have left in this session were ended: ${seen(breach)}.`);

/** Tells that the kernel has kept a limit of a command that has come to its end all the same. */
export const keptWarning = (what: 'ended' | 'not started', resource: Resource, limit: number): LimitWarning =>
  warning(`Processes of this command were ${what}: ${resource} is limited to ${limit}.`);

/** Tells that a command has come to its end before it was ended for a limit, or was spared because it is not to blame. */
export const exceededWarning = (breach: Breach): LimitWarning =>
  warning(`A limit was exceeded while this command ran, and it came to its end all the same: ${seen(breach)}.`);
