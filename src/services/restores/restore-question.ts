import type { PolicyRequest } from '../../core/policy/analysis/inspection.js';
import type { Policy, PolicyVerdict } from '../../core/policy/decision/policy.js';
import type { Request } from '../../core/protocol/requests.js';

/** What a restore takes that may belong to others. Paths are relative to the workspace. */
export interface Affected {
  /** Names of the other tokens that have run commands since the checkpoint. */
  readonly others: readonly string[];
  readonly removed: readonly string[];
  readonly overwritten: readonly string[];
  /** Number of both, with those that are not listed. */
  readonly count: number;
}

/** A restore that has to be confirmed. */
export interface RestoreQuestion {
  readonly request: PolicyRequest;
  readonly verdict: PolicyVerdict;
  readonly affected: Affected;
}

/** Maximum number of paths that a reason names. */
const MAX_NAMED = 5;

/** Judges a restore as what it is: deleting and overwriting files that others may have written. */
export function verdictOn(
  { checkpoint_id: id, paths = [] }: Request<'restore_workspace'>,
  affected: Affected,
  { actions }: Pick<Policy, 'actions'>,
): RestoreQuestion {
  const request = { command: 'restore_workspace', args: [id, ...paths] };
  const reasons = reasonsOf(affected);
  const judged = { action: actions.destructive, class: 'destructive', reasons } as const;
  const verdict: PolicyVerdict = {
    ...judged,
    commands: [{ ...judged, text: [request.command, ...request.args].join(' '), program: undefined }],
    causes: judged.action === 'confirm' ? ['destructive'] : [],
    changesNames: false,
    isUnparsable: false,
    takesTyping: false,
    hasUnknowns: false,
    paths: [],
    scripts: [],
    repositories: [],
    losses: [],
  };
  return { request, verdict, affected };
}

function reasonsOf({ others, removed, overwritten, count }: Affected): readonly string[] {
  const unlisted = count - removed.length - overwritten.length;
  return [
    `since the checkpoint, ${others.join(', ')} ran commands in the workspace: files may be theirs`,
    ...(removed.length > 0 ? [`removes ${named(removed)}`] : []),
    ...(overwritten.length > 0 ? [`overwrites ${named(overwritten)}`] : []),
    ...(unlisted > 0 ? [`changes ${unlisted} more files, which are too many to list`] : []),
  ];
}

const named = (paths: readonly string[]): string => {
  const rest = paths.length - MAX_NAMED;
  return `${paths.slice(0, MAX_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
};
