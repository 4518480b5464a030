import './diff.css';

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';

import { countOf } from '../format.js';
import { useAnswer } from '../state/use-answer.js';
import type { ChangedPath } from '../state/wire.js';
import { Badge, type Tone } from './badge.js';
import { Button } from './button.js';
import { SafeText } from './command-text.js';
import { Empty, Loading, Problem } from './states.js';
import { useVirtualWindow } from './data-table.js';

/** A line of a unified diff. */
interface DiffLine {
  /** `note` is what is none of the text: names, modes, or the marker of lines that were left out. */
  readonly kind: 'file' | 'hunk' | 'added' | 'removed' | 'context' | 'note';
  readonly text: string;
  /** Number of the line before the change, and after it; null where there is none, or where it is not known. */
  readonly before: number | null;
  readonly after: number | null;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
/** Lines before the first hunk of a file that say nothing more than its first line. */
const REPEATED = /^(?:index |--- |\+\+\+ )/;

/** Where the lines of a hunk are, and how many are to come. */
interface Place {
  before: number;
  after: number;
  beforeLeft: number;
  afterLeft: number;
  /** Whether the line is between the name of a file and its first hunk. */
  isBeforeHunks: boolean;
}

const NOWHERE: Readonly<Place> = { before: 0, after: 0, beforeLeft: 0, afterLeft: 0, isBeforeHunks: false };

/**
 * Parses a unified diff as git prints it. The counts of a hunk say where it ends: a removed line such as `-- x` is no
 * name of a file. A diff may lack lines in its middle; what follows then has no numbers until the next hunk.
 */
export function parseDiff(patch: string): readonly DiffLine[] {
  const place = { ...NOWHERE };
  const lines = patch.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.flatMap((line) => (place.isBeforeHunks && REPEATED.test(line) ? [] : [parseLine(line, place)]));
}

function parseLine(line: string, place: Place): DiffLine {
  const [found, before, beforeCount = '1', after, afterCount = '1'] = HUNK.exec(line) ?? [];
  if (found !== undefined) {
    Object.assign(place, { before: Number(before), after: Number(after), isBeforeHunks: false });
    Object.assign(place, { beforeLeft: Number(beforeCount), afterLeft: Number(afterCount) });
    return outside('hunk', line);
  }
  if (line.startsWith('diff --git ')) {
    Object.assign(place, NOWHERE, { isBeforeHunks: true });
    return outside('file', nameOf(line.slice('diff --git '.length)));
  }
  if (place.beforeLeft + place.afterLeft > 0) return inside(line, place);
  return outside('note', line);
}

/** The name of a file that has the same one before and after; both otherwise. */
function nameOf(names: string): string {
  const middle = (names.length - 1) / 2;
  const [before, after] = [names.slice('a/'.length, middle), names.slice(middle + 1 + 'b/'.length)];
  return before === after ? before : names;
}

const outside = (kind: 'file' | 'hunk' | 'note', text: string): DiffLine => ({ kind, text, before: null, after: null });

function inside(line: string, place: Place): DiffLine {
  const text = line.slice(1);
  if (line.startsWith('+')) {
    place.afterLeft -= 1;
    return { kind: 'added', text, before: null, after: place.after++ };
  }
  if (line.startsWith('-')) {
    place.beforeLeft -= 1;
    return { kind: 'removed', text, before: place.before++, after: null };
  }
  // A context line that is empty may lack its space.
  if (line.startsWith(' ') || line === '') {
    place.beforeLeft -= 1;
    place.afterLeft -= 1;
    return { kind: 'context', text, before: place.before++, after: place.after++ };
  }
  // `\ No newline at end of file` belongs to the hunk; anything else was not written by git.
  if (!line.startsWith('\\')) Object.assign(place, NOWHERE);
  return outside('note', line);
}

/** Height of a line in pixels, as in diff.css. */
const LINE_HEIGHT = 20;
/** Lines above which only those in sight are in the document. */
const VIRTUAL_LINES = 2000;

const SIGNS: { readonly [K in DiffLine['kind']]: string } = {
  added: '+',
  removed: '−',
  context: '',
  file: '',
  hunk: '',
  note: '',
};

/** A unified diff with line numbers. Above 2000 lines, only those in sight are in the document. */
function DiffView({ patch, label }: { readonly patch: string; readonly label: string }): JSX.Element {
  const lines = useMemo(() => parseDiff(patch), [patch]);
  const { ref, window } = useVirtualWindow(lines.length, LINE_HEIGHT);
  const isVirtual = lines.length > VIRTUAL_LINES;
  const { from, to, above, below } = isVirtual ? window : { from: 0, to: lines.length, above: 0, below: 0 };
  return (
    <div ref={ref} class="diff" tabIndex={0} role="region" aria-label={label}>
      <div class="diff-lines">
        <div style={{ height: `${above}px` }} />
        {lines.slice(from, to).map((line, index) => (
          <Line key={from + index} line={line} />
        ))}
        <div style={{ height: `${below}px` }} />
      </div>
    </div>
  );
}

const Line = ({ line: { kind, text, before, after } }: { readonly line: DiffLine }): JSX.Element => (
  <div class={`diff-line line-${kind}`}>
    <span class="diff-number">{before}</span>
    <span class="diff-number">{after}</span>
    <span class="diff-sign">{SIGNS[kind]}</span>
    <span class="diff-text">
      <SafeText text={text} />
    </span>
  </div>
);

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
