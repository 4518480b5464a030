import type { JSX } from 'preact';

import { Badge } from '../../../components/badge.js';
import { Button } from '../../../components/button.js';
import { type Column, DataTable } from '../../../components/table/data-table.js';
import { Panel } from '../../../components/panel.js';
import { Empty, Loading, Problem } from '../../../components/states.js';
import { Ago } from '../../../components/time.js';
import { formatBytes } from '../../../format/size.js';
import { formatDuration } from '../../../format/time.js';
import { countOf } from '../../../format/words.js';
import { hrefOf } from '../../../router/route.js';
import { useDashboard } from '../../../state/context.js';
import type { CommandInfo } from '../../../state/wire.js';
import type { ViewedSession } from '../use-session.js';
import { CommandDetail } from './command-detail.js';
import { statusOf } from './command-status.js';
import { useCommands } from './use-commands.js';
import { useTitleInView } from './use-title-in-view.js';

import './timeline.css';

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
