import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import type { OutputStreamName } from '../../../../client/index.js';
import { collapseCr, stripAnsi } from '../../../../core/output/ansi.js';
import { Button } from '../../../components/button.js';
import { Chip } from '../../../components/chip.js';
import { Problem } from '../../../components/states.js';
import { formatBytes } from '../../../format/size.js';
import { useDashboard } from '../../../state/context.js';
import { messageOf } from '../../../state/message.js';
import type { CommandInfo } from '../../../state/wire.js';
import { DownloadButton } from './download-button.js';
import { OutputSearch } from './output-search.js';

/** Bytes that are shown at once. */
const PAGE_BYTES = 64 * 1024;

/** The output of a command, a part at a time: exact bytes, as the daemon has kept them. */
export function OutputView({ command }: { readonly command: CommandInfo }): JSX.Element {
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
