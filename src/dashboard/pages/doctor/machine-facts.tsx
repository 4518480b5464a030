import type { JSX } from 'preact';

import type { Answer } from '../../../client/index.js';
import { Badge } from '../../components/badge.js';
import { SafeText } from '../../components/command/command-text.js';
import { type Fact, Facts } from '../../components/facts.js';
import { Panel } from '../../components/panel.js';
import { Loading, Problem } from '../../components/states.js';
import { formatBytes } from '../../format/size.js';
import { useAnswer } from '../../state/use-answer.js';

type Metadata = Answer<'shell_metadata'>;

/**
 * What the machine is, and how commands are confined on it.
 * @param node of a cluster; undefined for a daemon alone
 */
export function MachineFacts({ node }: { readonly node: string | undefined }): JSX.Element {
  const { value, problem } = useAnswer('shell_metadata', { node });
  if (problem !== undefined) return <Problem title="The machine cannot be described">{problem}</Problem>;
  if (!value) return <Loading what="the machine" />;
  return (
    <div class="doctor-facts">
      <Part title="Machine" facts={machine(value)} />
      <Part title="Daemon" facts={daemon(value)} />
      <Part title="Sandbox" facts={sandbox(value.sandbox)} />
      <Part title="Limits" facts={limits(value.resource_limits)} />
    </div>
  );
}

const Part = ({ title, facts }: { readonly title: string; readonly facts: readonly Fact[] }): JSX.Element => (
  <Panel title={title}>
    <div class="panel-body">
      <Facts facts={facts} />
    </div>
  </Panel>
);

const machine = (info: Metadata): readonly Fact[] => [
  ['Host', `${info.hostname}, user ${info.user}`],
  ['System', `${info.operating_system}, kernel ${info.kernel}, ${info.architecture}, platform ${info.platform}`],
  ['CPUs', info.cpus],
  ['Memory', `${formatBytes(info.memory_available_bytes)} of ${formatBytes(info.memory_bytes)} available`],
  ['Disk', info.disk_free_bytes === null ? 'unknown' : `${formatBytes(info.disk_free_bytes)} free`],
  ['Shells', info.shells.map(({ name, version }) => `${name} ${version}`).join(', ')],
];

const daemon = (info: Metadata): readonly Fact[] => [
  ['Version', `${info.adapter_version}, protocol ${info.protocol_version}`],
  [
    'Workspace',
    <code>
      <SafeText text={info.workspace_directory} />
    </code>,
  ],
  ['Confirmed by', info.confirmation_mode],
  ['Audit log', info.audit_enabled ? 'on' : 'off'],
  ['Served', servedBy(info.http)],
];

const servedBy = (http: Metadata['http']): string =>
  ['Socket.IO', ...Object.entries(http).flatMap(([name, isOn]) => (isOn ? [name] : []))].join(', ');

const sandbox = ({ profile, configured, available, reason }: Metadata['sandbox']): readonly Fact[] => [
  ['In use', <Badge tone={profile === configured ? 'good' : 'bad'}>{profile}</Badge>],
  ['Configured', configured],
  ['Available', available.join(', ')],
  ['Why less', reason ?? undefined],
];

const limits = (info: Metadata['resource_limits']): readonly Fact[] => [
  ['Mechanism', <Badge tone={info.enforced ? 'good' : 'warn'}>{info.mechanism}</Badge>],
  ['In use', info.mechanism_in_use],
  ['Enforced by', info.enforced ? 'the kernel' : 'the daemon, which looks at intervals'],
  [
    'Not usable',
    info.rejected.length === 0 ? undefined : (
      <ul>
        {info.rejected.map(({ mechanism, reason }) => (
          <li key={mechanism}>{`${mechanism}: ${reason}`}</li>
        ))}
      </ul>
    ),
  ],
];
