import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import type { Answer, OutputStreamName } from '../../../../client/index.js';
import { Button } from '../../../components/button.js';
import { countOf } from '../../../format/words.js';
import { useDashboard } from '../../../state/context.js';
import { messageOf } from '../../../state/message.js';
import { useDraft } from '../../../state/use-draft.js';

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
export function OutputSearch(props: SearchProps): JSX.Element {
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
    const request = { command_id: commandId, stream, pattern, regex: isRegex, limit: MAX_MATCHES };
    show({ matches: [], isComplete: false });
    try {
      await searchAll((from) => connection.request('search_output', { ...request, ...from }), show);
    } catch (error) {
      show({ matches: [], isComplete: true, problem: messageOf(error) });
    }
  };
  return { found, search };
}

/** Searches until everything was searched, enough was found, or `onFound` returns false. */
async function searchAll(
  search: (from: { readonly from_offset: number }) => Promise<Answer<'search_output'>>,
  onFound: (found: Found) => boolean,
): Promise<void> {
  const matches: Match[] = [];
  let [from, lines, isComplete, isWanted] = [0, 0, false, true];
  while (isWanted && !isComplete && matches.length < MAX_MATCHES) {
    const answer = await search({ from_offset: from });
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
