import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';

import type { Answer, OutputStreamName } from '../../../client/index.js';
import { collapseCr, stripAnsi } from '../../../core/output/ansi.js';
import { Badge, Chip, type Tone } from '../../components/badge.js';
import { Button, CopyButton, saveFile } from '../../components/button.js';
import { Icon } from '../../components/icon.js';
import { Panel } from '../../components/panel.js';
import { Problem } from '../../components/states.js';
import { countOf, formatBytes, formatDateTime, formatDuration } from '../../format.js';
import type { DaemonConnection } from '../../state/connection.js';
import { useDashboard } from '../../state/context.js';
import { messageOf, useDraft } from '../../state/use-answer.js';
import type { CommandInfo } from '../../state/wire.js';

/** How a command stands, in words and as a tone. */
export function statusOf(info: CommandInfo): { readonly text: string; readonly tone: Tone } {
  const { state, status, exit_code: code, killed_by: killedBy } = info;
  if (state === 'queued') return { text: 'queued', tone: 'neutral' };
  if (status === 'confirmation_required') return { text: 'waits for confirmation', tone: 'warn' };
  if (state === 'running') return { text: 'running', tone: 'info' };
  if (status === 'denied') return { text: 'denied', tone: 'bad' };
  if (code === 0) return { text: 'exit 0', tone: 'good' };
  const why = killedBy === null ? '' : `, ${killedBy}`;
  const how = status === 'completed' ? '' : ` ${status.replaceAll('_', ' ')}`;
  return { text: `exit ${code ?? '—'}${how}${why}`, tone: 'bad' };
}

/** Bytes of one read: the most that the daemon gives. */
const PIECE_BYTES = 1024 * 1024;

/** What is downloaded. */
interface Download {
  readonly commandId: string;
  readonly stream: OutputStreamName;
  readonly signal: AbortSignal;
  /** How far it is, in bytes. */
  readonly onProgress: (done: number, size: number) => void;
}

/** Reads a stream to what was its end at the start, piece by piece. Rejects with a ClientError, or the signal's reason. */
async function readStream(
  connection: Pick<DaemonConnection, 'request'>,
  { commandId, stream, signal, onProgress }: Download,
): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  let end = Infinity;
  while (offset < end) {
    const request = { command_id: commandId, stream, offset, length: Math.min(PIECE_BYTES, end - offset) };
    const { data, size, eof } = await connection.request('read_output', request, { signal });
    end = Math.min(end, size);
    // A copy: what arrives may be a part of a larger buffer.
    pieces.push(new Uint8Array(data));
    offset += data.length;
    onProgress(offset, end);
    if (eof || data.length === 0) break;
  }
  return new Blob(pieces, { type: 'application/octet-stream' });
}

interface DownloadProps {
  readonly commandId: string;
  readonly stream: OutputStreamName;
  readonly size: number;
}

/** Downloads a stream, with its progress. */
function DownloadButton({ commandId, stream, size }: DownloadProps): JSX.Element {
  const { connection } = useDashboard();
  const progress = useSignal<{ readonly done: number; readonly size: number } | undefined>(undefined);
  const problem = useSignal('');
  const abort = useMemo(() => new AbortController(), [commandId, stream]);
  useEffect(() => () => abort.abort(), [abort]);
  const download = async () => {
    problem.value = '';
    const onProgress = (done: number, end: number) => {
      progress.value = { done, size: end };
    };
    try {
      const content = await readStream(connection, { commandId, stream, signal: abort.signal, onProgress });
      saveFile(`${commandId}.${stream}.txt`, content);
    } catch (error) {
      problem.value = (error as Error).message;
    }
    progress.value = undefined;
  };
  if (progress.value) {
    const { done, size: end } = progress.value;
    return (
      <progress value={done} max={end} aria-label="Download" title={`${formatBytes(done)} of ${formatBytes(end)}`} />
    );
  }
  return (
    <>
      <Button whyNot={size === 0 ? `Nothing was written to ${stream}.` : undefined} onPress={() => void download()}>
        <Icon name="download" />
        Download
      </Button>
      {problem.value === '' ? null : <span role="alert">{problem.value}</span>}
    </>
  );
}

type Match = Answer<'search_output'>['matches'][number];

/** Most matches that are listed. */
const MAX_MATCHES = 500;

interface SearchProps {
  readonly commandId: string;
  readonly stream: OutputStreamName;
  readonly onOpen: (offset: number) => void;
}

interface Found {
  readonly matches: readonly Match[];
  readonly isComplete: boolean;
  readonly problem?: string;
}

/** Searches the whole output of a command, in the daemon. The text stays in its field for the next command and stream. */
function OutputSearch(props: SearchProps): JSX.Element {
  const [pattern, regex] = [useDraft('output search'), useDraft('output search regex')];
  const { found, search } = useSearch(props);
  const isRegex = regex.value !== '';
  const onSubmit = (event?: Event) => {
    event?.preventDefault();
    if (pattern.value !== '') void search(pattern.value, isRegex);
  };
  return (
    <form class="output-search" onSubmit={onSubmit} aria-label="Search the output">
      <div class="toolbar">
        <input
          type="search"
          aria-label="Text to find in the output"
          placeholder={`Search ${props.stream}…`}
          value={pattern.value}
          onInput={({ currentTarget }) => {
            pattern.value = currentTarget.value;
          }}
        />
        <label>
          <input type="checkbox" checked={isRegex} onChange={() => (regex.value = isRegex ? '' : 'on')} /> Regular
          expression
        </label>
        <Button whyNot={pattern.value === '' ? 'Type first what to find.' : undefined} onPress={onSubmit}>
          Search
        </Button>
      </div>
      {found.value ? <Matches found={found.value} onOpen={props.onOpen} /> : null}
    </form>
  );
}

interface SearchState {
  /** Undefined before the first search. */
  readonly found: Signal<Found | undefined>;
  readonly search: (pattern: string, isRegex: boolean) => Promise<void>;
}

/** Searches one stream. A search ends with the next one, and when its stream is left. */
function useSearch({ commandId, stream }: SearchProps): SearchState {
  const { connection } = useDashboard();
  const found = useSignal<Found | undefined>(undefined);
  const latest = useRef(0);
  useEffect(() => () => void (latest.current += 1), []);
  const search = async (pattern: string, isRegex: boolean) => {
    const attempt = (latest.current += 1);
    const show = (next: Found) => {
      const isLatest = attempt === latest.current;
      if (isLatest) found.value = next;
      return isLatest;
    };
    const request = { command_id: commandId, stream, pattern, regex: isRegex };
    show({ matches: [], isComplete: false });
    try {
      await searchAll((part) => connection.request('search_output', { ...request, ...part }), show);
    } catch (error) {
      show({ matches: [], isComplete: true, problem: messageOf(error) });
    }
  };
  return { found, search };
}

/** Searches until everything was searched, enough was found, or `onFound` returns false. */
export async function searchAll(
  search: (part: { readonly from_offset: number; readonly limit: number }) => Promise<Answer<'search_output'>>,
  onFound: (found: Found) => boolean,
): Promise<void> {
  const matches: Match[] = [];
  let [from, lines, isComplete, isWanted] = [0, 0, false, true];
  while (isWanted && !isComplete && matches.length < MAX_MATCHES) {
    const answer = await search({ from_offset: from, limit: MAX_MATCHES - matches.length });
    matches.push(...answer.matches.map((match) => ({ ...match, line: match.line + lines })));
    [from, lines, isComplete] = [answer.scanned_to, lines + answer.lines, answer.complete];
    isWanted = onFound({ matches: [...matches], isComplete });
  }
}

function Matches({ found, onOpen }: { readonly found: Found } & Pick<SearchProps, 'onOpen'>): JSX.Element {
  const { matches, isComplete, problem } = found;
  if (problem !== undefined) {
    return (
      <p class="notice bad" role="alert">
        {problem}
      </p>
    );
  }
  const more = isComplete ? '' : matches.length >= MAX_MATCHES ? ' at least' : ' so far';
  return (
    <>
      <p role="status">{`${countOf(matches.length, 'line')}${more}`}</p>
      <ol class="matches">
        {matches.map(({ offset, line, text }) => (
          <li key={`${line} ${offset}`}>
            <button type="button" onClick={() => onOpen(offset)}>
              <span class="muted">{line}</span> <code>{text}</code>
            </button>
          </li>
        ))}
      </ol>
    </>
  );
}

/** Bytes that are shown at once. */
const PAGE_BYTES = 64 * 1024;

/** The output of a command, a part at a time: exact bytes, as the daemon has kept them. */
function OutputView({ command }: { readonly command: CommandInfo }): JSX.Element {
  const { router } = useDashboard();
  const { query } = router.route.value;
  const isEmpty = command.stdout_bytes === 0 && command.stderr_bytes > 0;
  const stream: OutputStreamName =
    (query['stream'] ?? (isEmpty ? 'stderr' : 'stdout')) === 'stderr' ? 'stderr' : 'stdout';
  const size = command[`${stream}_bytes`];
  const last = Math.max(0, size - PAGE_BYTES);
  const offset = Math.min(last, Number(query['offset'] ?? last) || 0);
  const go = (to: number) => {
    router.setQuery({ stream, offset: String(Math.max(0, Math.min(last, to))) });
  };
  return (
    <div class="output">
      <div class="toolbar" role="group" aria-label="Output">
        {(['stdout', 'stderr'] as const).map((name) => (
          <Chip key={name} isOn={name === stream} onToggle={() => router.setQuery({ stream: name, offset: '' })}>
            {`${name} ${formatBytes(command[`${name}_bytes`])}`}
          </Chip>
        ))}
        <span class="spacer" />
        <DownloadButton commandId={command.command_id} stream={stream} size={size} />
      </div>
      <OutputSearch key={stream} commandId={command.command_id} stream={stream} onOpen={go} />
      {size > PAGE_BYTES ? <Pager offset={offset} size={size} onGo={go} /> : null}
      <OutputPart commandId={command.command_id} stream={stream} offset={offset} size={size} />
    </div>
  );
}

interface PagerProps {
  readonly offset: number;
  readonly size: number;
  readonly onGo: (offset: number) => void;
}

const Pager = ({ offset, size, onGo }: PagerProps): JSX.Element => (
  <div class="toolbar" role="group" aria-label="Part of the output">
    <Button onPress={() => onGo(0)}>Start</Button>
    <Button onPress={() => onGo(offset - PAGE_BYTES)}>Earlier</Button>
    <Button onPress={() => onGo(offset + PAGE_BYTES)}>Later</Button>
    <Button onPress={() => onGo(size)}>End</Button>
    <span class="muted">{`from ${formatBytes(offset)} of ${formatBytes(size)}`}</span>
  </div>
);

interface PartProps {
  readonly commandId: string;
  readonly stream: OutputStreamName;
  readonly offset: number;
  readonly size: number;
}

function OutputPart({ commandId, stream, offset, size }: PartProps): JSX.Element {
  const { connection } = useDashboard();
  const text = useSignal<string | undefined>(undefined);
  const problem = useSignal('');
  const end = Math.min(size, offset + PAGE_BYTES);
  useEffect(() => {
    let isCurrent = true;
    problem.value = '';
    const request = { command_id: commandId, stream, offset, length: PAGE_BYTES };
    connection.request('read_output', request).then(
      ({ data }) => {
        if (isCurrent) text.value = stripAnsi(collapseCr(new TextDecoder().decode(data)));
      },
      (error: unknown) => {
        if (isCurrent) problem.value = messageOf(error);
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [commandId, stream, offset, end]);
  if (size === 0) return <p class="muted">{`Nothing was written to ${stream}.`}</p>;
  if (problem.value !== '') return <Problem title="The output cannot be read">{problem.value}</Problem>;
  return (
    <pre class={`output-text ${stream}`} tabIndex={0} aria-label={`Output: ${stream}`} role="region">
      {text.value ?? 'Loading…'}
    </pre>
  );
}

interface CommandDetailProps {
  readonly command: CommandInfo;
  readonly titleRef: RefObject<HTMLHeadingElement | null>;
}

/** Everything about one command. */
export function CommandDetail({ command: info, titleRef }: CommandDetailProps): JSX.Element {
  const { text, tone } = statusOf(info);
  const line = [info.command, ...(info.args ?? [])].join(' ');
  return (
    <Panel title="Command" titleRef={titleRef} actions={<Badge tone={tone}>{text}</Badge>}>
      <div class="command-detail">
        <div class="detail-command">
          <pre tabIndex={0} role="region" aria-label="Text of the command">
            {line}
          </pre>
          <CopyButton text={line} label="Copy the command" />
        </div>
        <Result info={info} />
        {info.warnings.map(({ code, message }) => (
          <p key={code} class="notice warn">
            <strong>{code}</strong> {message}
          </p>
        ))}
        <OutputView command={info} />
      </div>
    </Panel>
  );
}

function Result({ info }: { readonly info: CommandInfo }): JSX.Element {
  const { resource_usage: used, started_at: started, limit } = info;
  return (
    <dl class="result">
      <Fact name="Started">{started === null ? 'not yet' : formatDateTime(Date.parse(started))}</Fact>
      <Fact name="Duration">{formatDuration(info.duration_ms)}</Fact>
      <Fact name="CPU time">{used.cpu_ms === null ? '—' : formatDuration(used.cpu_ms)}</Fact>
      <Fact name="Memory, most">{used.peak_memory_bytes === null ? '—' : formatBytes(used.peak_memory_bytes)}</Fact>
      <Fact name="Processes, most">{used.peak_processes ?? '—'}</Fact>
      <Fact name="Written">{used.written_bytes === null ? '—' : formatBytes(used.written_bytes)}</Fact>
      <Fact name="Directory" isLong>
        {info.working_directory ?? '—'}
      </Fact>
      {info.class === undefined ? null : <Fact name="Class">{info.class.replaceAll('_', ' ')}</Fact>}
      {limit ? <Fact name="Limit">{`${limit.resource}: ${limit.observed} of ${limit.limit}`}</Fact> : null}
      {info.checkpoint_id === undefined ? null : <Fact name="Checkpoint">{info.checkpoint_id}</Fact>}
    </dl>
  );
}

interface FactProps {
  readonly name: string;
  readonly children: ComponentChildren;
  /** Whether it takes the room of two. */
  readonly isLong?: boolean;
}

const Fact = ({ name, children, isLong = false }: FactProps): JSX.Element => (
  <div class={isLong ? 'long' : undefined}>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
