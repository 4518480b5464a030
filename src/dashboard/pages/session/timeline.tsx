import './timeline.css';

import { useSignal } from '@preact/signals';
import type { JSX, RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { Badge } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { type Column, DataTable } from '../../components/data-table.js';
import { Panel } from '../../components/panel.js';
import { Empty, Loading, Problem } from '../../components/states.js';
import { Ago } from '../../components/time.js';
import { countOf, formatBytes, formatDuration } from '../../format.js';
import { hrefOf } from '../../route.js';
import { useDashboard } from '../../state/context.js';
import { messageOf } from '../../state/use-answer.js';
import type { CommandInfo } from '../../state/wire.js';
import { CommandDetail, statusOf } from './output-view.js';
import type { ViewedSession } from './use-session.js';

/** Commands of one answer. */
const PAGE = 100;

/** What is known of the commands of a session. */
interface KnownCommands {
  /** Undefined before the first answer. */
  readonly commands: readonly CommandInfo[] | undefined;
  /** Why the last attempt to read some failed; empty when it did not. */
  readonly problem: string;
  /** Reads older ones; undefined when there are none. */
  readonly loadOlder: (() => void) | undefined;
}

/** The commands of a session: those that were read, and those that are reported as they change. */
function useCommands(sessionId: string): KnownCommands {
  const { connection, live } = useDashboard();
  const read = useSignal<{ readonly commands: readonly CommandInfo[]; readonly next: string | null } | undefined>(
    undefined,
  );
  const problem = useSignal('');
  const load = async (before?: string) => {
    problem.value = '';
    try {
      const request = { session_id: sessionId, before, limit: PAGE };
      const { commands, next } = await connection.request('list_commands', request);
      read.value = { commands: [...(read.peek()?.commands ?? []), ...commands], next };
    } catch (error) {
      problem.value = messageOf(error);
    }
  };
  useEffect(() => {
    void load();
  }, [sessionId]);
  const reported = [...(live.commands.value?.values() ?? [])].filter(({ session_id: id }) => id === sessionId);
  const next = read.value?.next;
  const known = new Map([...(read.value?.commands ?? []), ...reported].map((info) => [info.command_id, info]));
  return {
    commands: read.value && [...known.values()],
    problem: problem.value,
    loadOlder: typeof next === 'string' ? () => void load(next) : undefined,
  };
}

/** The link of what is selected already: to follow it again changes no address. */
const SELECTED = 'tr.selected a[data-row]';

/**
 * Gives the ref of the title of what is selected, and brings that title into view, at once and no further than needed. The title is
 * focused as well, except for what was selected when the page was opened: Tab goes on from there, and screen readers say it.
 */
function useTitleInView(selected: string | undefined, isShown: boolean): RefObject<HTMLHeadingElement | null> {
  const title = useRef<HTMLHeadingElement>(null);
  const before = useRef(selected);
  useEffect(() => {
    show(title.current, { isFocused: selected !== before.current });
    before.current = selected;
  }, [selected, isShown]);
  useEffect(() => {
    const onClick = ({ target }: MouseEvent) => {
      if (target instanceof Element && target.closest(SELECTED)) show(title.current, { isFocused: true });
    };
    document.addEventListener('click', onClick);
    return () => document.removeEventListener('click', onClick);
  }, []);
  return title;
}

function show(title: HTMLElement | null, { isFocused }: { readonly isFocused: boolean }): void {
  if (isFocused) title?.focus({ preventScroll: true });
  title?.scrollIntoView({ block: 'nearest', behavior: 'instant' });
}

const COLUMNS: readonly Column<CommandInfo>[] = [
  {
    key: 'status',
    title: 'Result',
    sortBy: (info) => statusOf(info).text,
    render: (info) => <Badge tone={statusOf(info).tone}>{statusOf(info).text}</Badge>,
  },
  {
    key: 'command',
    title: 'Command',
    sortBy: ({ command }) => command,
    render: (info) => <CommandLink info={info} />,
  },
  {
    key: 'at',
    title: 'Accepted',
    sortBy: ({ accepted_at: at }) => at,
    render: ({ accepted_at: at }) => <Ago at={at} />,
  },
  {
    key: 'duration',
    title: 'Duration',
    isNumeric: true,
    sortBy: ({ duration_ms: ms }) => ms,
    render: ({ duration_ms: ms }) => formatDuration(ms),
  },
  {
    key: 'stdout',
    title: 'stdout',
    isNumeric: true,
    sortBy: ({ stdout_bytes: bytes }) => bytes,
    render: ({ stdout_bytes: bytes }) => formatBytes(bytes),
  },
  {
    key: 'stderr',
    title: 'stderr',
    isNumeric: true,
    sortBy: ({ stderr_bytes: bytes }) => bytes,
    render: ({ stderr_bytes: bytes }) => formatBytes(bytes),
  },
  {
    key: 'class',
    title: 'Class',
    sortBy: (info) => info.class ?? null,
    render: (info) => info.class?.replaceAll('_', ' '),
  },
  {
    key: 'warnings',
    title: 'Warnings',
    render: ({ warnings }) => warnings.length > 0 && <Badge tone="warn">{countOf(warnings.length, 'warning')}</Badge>,
  },
];

/** The filters in the address stay, but for the part of the output: that is of the command that was selected before. */
function CommandLink({ info }: { readonly info: CommandInfo }): JSX.Element {
  const { command, command_id: id, session_id: session } = info;
  const { query } = useDashboard().router.route.value;
  const wanted = { ...query, view: 'timeline', command: id, stream: '', offset: '' };
  return (
    <a data-row class="ellipsis command-cell" href={hrefOf('sessions', [session ?? ''], wanted)}>
      <code>{command}</code>
    </a>
  );
}

const Missing = ({ hasOlder }: { readonly hasOlder: boolean }): JSX.Element => (
  <Problem title="There is no such command">
    {hasOlder ? 'It may be one of the older ones, which are not loaded yet.' : 'The session no longer keeps it.'}
  </Problem>
);

/** The commands of a session, and the one that is selected. */
export function Timeline({ session }: { readonly session: ViewedSession }): JSX.Element {
  const { router } = useDashboard();
  const { commands, problem, loadOlder } = useCommands(session.info.session_id);
  const selected = router.route.value.query['command'];
  const command = commands?.find(({ command_id: id }) => id === selected);
  const titleRef = useTitleInView(selected, command !== undefined);
  if (problem !== '') return <Problem title="The commands cannot be listed">{problem}</Problem>;
  if (!commands) return <Loading what="the commands" />;
  if (commands.length === 0 && selected === undefined)
    return <Empty title="No commands yet">Run one on the tab Terminal.</Empty>;
  return (
    <>
      {command ? <CommandDetail key={command.command_id} command={command} titleRef={titleRef} /> : null}
      {selected !== undefined && !command ? <Missing hasOlder={loadOlder !== undefined} /> : null}
      <Panel title="Commands" actions={loadOlder ? <Button onPress={loadOlder}>Load older ones</Button> : null}>
        <DataTable
          label="Commands of the session"
          rows={commands}
          columns={COLUMNS}
          keyOf={({ command_id: id }) => id}
          initialSort="-at"
          classOf={({ command_id: id }) => (id === selected ? 'selected' : '')}
        />
      </Panel>
    </>
  );
}
