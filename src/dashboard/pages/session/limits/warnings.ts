import type { EventPayload } from '../../../../client/index.js';
import type { ChartMark } from '../../../components/chart/marks.js';
import { RESOURCE_NAMES } from '../../../../core/limits.js';
import { formatClock } from '../../../format/time.js';

type Warning = EventPayload<'resource_warning'>;

/** What a limit is of. */
export type Resource = Warning['resource'];

/** A warning, and when it came, in milliseconds. */
export interface SeenWarning {
  readonly at: number;
  readonly warning: Warning;
}

/** How a mark looks and what it says, by the level of its warning. */
const LOOKS = {
  warning: { tone: 'warn', sign: '!', word: 'warning' },
  exceeded: { tone: 'bad', sign: '×', word: 'exceeded' },
} as const;

/** What a warning of the daemon says. */
export function warningText({ resource, observed, limit, level }: Warning): string {
  const { unit } = RESOURCE_NAMES[resource];
  const meaning = level === 'exceeded' ? 'exceeded, so that it was ended' : 'near the limit';
  return `${titleOf(resource)}: ${Math.round(observed)} of ${limit}${unit}, ${meaning}`;
}

const titleOf = (resource: Resource): string => {
  const { name } = RESOURCE_NAMES[resource];
  return name.charAt(0).toUpperCase() + name.slice(1);
};

/** The marks of the chart of one resource, in the order of the warnings. */
export const marksOf = (seen: readonly SeenWarning[], resource: Resource): readonly ChartMark[] =>
  seen.filter(({ warning }) => warning.resource === resource).map(markOf);

function markOf({ at, warning: { resource, observed, limit, level } }: SeenWarning): ChartMark {
  const { tone, sign, word } = LOOKS[level];
  const percent = Math.round((observed / limit) * 100);
  return {
    at: at / 1000,
    tone,
    sign,
    text: `${word} at ${formatClock(at)}: ${titleOf(resource)} at ${percent} % of its limit`,
  };
}
