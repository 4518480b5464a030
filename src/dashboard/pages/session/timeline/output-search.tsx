import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';

import type { Answer, OutputStreamName } from '../../../../client/index.js';
import { Button } from '../../../components/button.js';
import { countOf } from '../../../format/words.js';
import { useDashboard } from '../../../state/context.js';

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

/** Searches the whole output of a command, in the daemon. */
export function OutputSearch({ commandId, stream, onOpen }: SearchProps): JSX.Element {
  const { connection } = useDashboard();
  const [pattern, isRegex, found] = [useSignal(''), useSignal(false), useSignal<Found | undefined>(undefined)];
  const onSubmit = async (event?: Event) => {
    event?.preventDefault();
    if (pattern.value === '') return;
    const request = { command_id: commandId, stream, pattern: pattern.value, regex: isRegex.value, limit: MAX_MATCHES };
    found.value = { matches: [], isComplete: false };
    try {
      await searchAll(
        (from) => connection.request('search_output', { ...request, ...from }),
        (next) => {
          found.value = next;
        },
      );
    } catch (error) {
      found.value = { matches: [], isComplete: true, problem: (error as Error).message };
    }
  };
  return (
    <form class="output-search" onSubmit={(event) => void onSubmit(event)} aria-label="Search the output">
      <div class="toolbar">
        <input
          type="search"
          aria-label="Text to find in the output"
          placeholder={`Search ${stream}…`}
          onInput={({ currentTarget }) => {
            pattern.value = currentTarget.value;
          }}
        />
        <label>
          <input type="checkbox" checked={isRegex.value} onChange={() => (isRegex.value = !isRegex.value)} /> Regular
          expression
        </label>
        <Button onPress={() => void onSubmit()}>Search</Button>
      </div>
      {found.value ? <Matches found={found.value} onOpen={onOpen} /> : null}
    </form>
  );
}

/** Searches until everything was searched, or enough was found. */
async function searchAll(
  search: (from: { readonly from_offset: number }) => Promise<Answer<'search_output'>>,
  onFound: (found: Found) => void,
): Promise<void> {
  const matches: Match[] = [];
  let [from, lines, isComplete] = [0, 0, false];
  while (!isComplete && matches.length < MAX_MATCHES) {
    const answer = await search({ from_offset: from });
    matches.push(...answer.matches.map((match) => ({ ...match, line: match.line + lines })));
    [from, lines, isComplete] = [answer.scanned_to, lines + answer.lines, answer.complete];
    onFound({ matches: [...matches], isComplete });
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
