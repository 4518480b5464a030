import type { ReviewQuestion } from '../../../../src/core/review.js';

/** What stands around the data. */
export const BOUNDARY = '0123456789abcdef';

/** A question about `rm x`, but for the changes. */
export const question = (changes: Partial<ReviewQuestion>): ReviewQuestion => ({
  kind: 'command',
  command: 'rm x',
  args: undefined,
  stdin: undefined,
  variables: [],
  workingDirectory: '/work/space',
  sessionLabel: undefined,
  verdict: {
    action: 'confirm',
    class: 'destructive',
    reasons: ['rm deletes x'],
    commands: [],
    causes: [],
    changesNames: false,
    isUnparsable: false,
    takesTyping: false,
    hasUnknowns: false,
    paths: [],
    scripts: [],
    repositories: [],
    losses: [],
  },
  ...changes,
});
