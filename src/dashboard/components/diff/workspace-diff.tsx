import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';

import type { ChangedPath } from '../../state/wire.js';
import { countOf } from '../../format/words.js';
import { useAnswer } from '../../state/use-answer.js';
import { Badge, type Tone } from '../badge.js';
import { Button } from '../button.js';
import { SafeText } from '../command/command-text.js';
import { Empty, Loading, Problem } from '../states.js';
import { DiffView } from './diff-view.js';

/** How much of a patch is fetched, in characters: of a larger one, the beginning and the end. */
const PATCH_SIZE = { max_size: 1_000_000, begin_size: 900_000, end_size: 100_000 };

const STATUSES: { readonly [S in ChangedPath['status']]: readonly [text: string, tone: Tone] } = {
  added: ['added', 'good'],
  modified: ['modified', 'info'],
  deleted: ['deleted', 'bad'],
  type_changed: ['other type', 'warn'],
  mode_changed: ['mode', 'neutral'],
};

interface WorkspaceDiffProps {
  /** Left out for the newest. */
  readonly checkpointId?: string | undefined;
  /** Left out for everything. */
  readonly paths?: readonly string[] | undefined;
}

/** What has changed in the workspace since a checkpoint: the files with their counts, and the lines on demand. */
export function WorkspaceDiff({ checkpointId, paths }: WorkspaceDiffProps): JSX.Element {
  const isPatchShown = useSignal(false);
  const which = { checkpoint_id: checkpointId, paths: paths && [...paths] };
  const { value, problem } = useAnswer('diff_workspace', { ...which, format: 'stat' });
  if (problem !== undefined) return <Problem title="The difference cannot be shown">{problem}</Problem>;
  if (!value) return <Loading what="the difference" />;
  if (value.change_count === 0) {
    return <Empty title="No difference">The workspace is as the checkpoint saved it.</Empty>;
  }
  return (
    <div>
      <div class="diff-summary">
        <DiffTotals changes={value.changes} count={value.change_count} />
        <Button
          isPressed={isPatchShown.value}
          onPress={() => {
            isPatchShown.value = !isPatchShown.value;
          }}
        >
          {isPatchShown.value ? 'Hide lines' : 'Show lines'}
        </Button>
      </div>
      <ChangedFiles changes={value.changes} count={value.change_count} />
      {isPatchShown.value ? <Patch which={which} /> : null}
    </div>
  );
}

/** Sums of a list of changes. */
function DiffTotals({ changes, count }: ChangedFilesProps): JSX.Element {
  const sum = (key: 'insertions' | 'deletions') => changes.reduce((total, change) => total + (change[key] ?? 0), 0);
  return (
    <span>
      {countOf(count, 'path')}, <span class="insertions">{`+${sum('insertions')}`}</span>{' '}
      <span class="deletions">{`−${sum('deletions')}`}</span>
    </span>
  );
}

interface ChangedFilesProps {
  readonly changes: readonly ChangedPath[];
  /** Of all, with those that are not in the list. */
  readonly count: number;
}

/** The changed files with their counts of lines. */
const ChangedFiles = ({ changes, count }: ChangedFilesProps): JSX.Element => (
  <ul class="diff-files" aria-label="Changed files" tabIndex={0}>
    {changes.map(({ path, status, insertions, deletions }) => (
      <li key={path}>
        <Badge tone={STATUSES[status][1]}>{STATUSES[status][0]}</Badge>
        <code>
          <SafeText text={path} />
        </code>
        {insertions === undefined || insertions === null ? null : <span class="insertions">{`+${insertions}`}</span>}
        {deletions === undefined || deletions === null ? null : <span class="deletions">{`−${deletions}`}</span>}
      </li>
    ))}
    {count > changes.length ? (
      <li class="muted">{`and ${countOf(count - changes.length, 'more path')}, too many to list`}</li>
    ) : null}
  </ul>
);

function Patch({ which }: { readonly which: { checkpoint_id: string | undefined; paths: string[] | undefined } }) {
  const { value, problem } = useAnswer('diff_workspace', { ...which, format: 'patch', output: PATCH_SIZE });
  if (problem !== undefined) return <Problem title="The lines cannot be shown">{problem}</Problem>;
  if (!value) return <Loading what="the lines" />;
  return (
    <>
      {value.patch_truncated ? (
        <p class="diff-summary muted">The middle is left out: the difference is too long.</p>
      ) : null}
      <DiffView patch={value.patch ?? ''} label="Changed lines" />
    </>
  );
}
