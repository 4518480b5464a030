import type { ComponentChildren, JSX, RefObject } from 'preact';

import { Badge } from '../../../components/badge.js';
import { CopyButton } from '../../../components/copy-button.js';
import { Panel } from '../../../components/panel.js';
import { formatBytes } from '../../../format/size.js';
import { formatDateTime, formatDuration } from '../../../format/time.js';
import type { CommandInfo } from '../../../state/wire.js';
import { statusOf } from './command-status.js';
import { OutputView } from './output-view.js';

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
