import './doctor.css';

import type { JSX } from 'preact';

import type { Answer } from '../../client/index.js';
import { Badge, type Tone } from '../components/badge.js';
import { Button, CopyButton } from '../components/button.js';
import { SafeText } from '../components/command-text.js';
import { type ClusterNodes, NodeSelect, useNodes } from '../components/nodes.js';
import { type Fact, Facts, PageHead, Panel } from '../components/panel.js';
import { Loading, Problem } from '../components/states.js';
import { countOf, formatBytes, formatClock } from '../format.js';
import { useAnswer } from '../state/use-answer.js';

type Metadata = Answer<'shell_metadata'>;

/**
 * What the machine is, and how commands are confined on it.
 * @param node of a cluster; undefined for a daemon alone
 */
function MachineFacts({ node }: { readonly node: string | undefined }): JSX.Element {
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

type Check = Answer<'examine_machine'>['checks'][number];

const STATUSES: { readonly [S in Check['status']]: readonly [text: string, tone: Tone, order: number] } = {
  missing: ['missing', 'bad', 0],
  warn: ['warning', 'warn', 1],
  ok: ['ok', 'good', 2],
};

/** Whether the machine has what the daemon needs, and what it is. In a cluster, the machine of one node. */
export function Doctor(): JSX.Element {
  const nodes = useNodes();
  const node = nodes?.chosen;
  const { value, problem, isLoading, reload } = useAnswer('examine_machine', { node });
  return (
    <>
      <PageHead title="Doctor">
        {value ? <Verdict answer={value} /> : null}
        <NodeSelect nodes={nodes} none={`This node (${nodes?.own})`} />
        <Button onPress={reload} whyNot={isLoading ? 'It is being examined.' : undefined}>
          Examine again
        </Button>
      </PageHead>
      <Panel title="Checks">
        <CheckList checks={value?.checks} problem={problem} />
      </Panel>
      {nodes && !runsSessions(nodes) ? null : <MachineFacts node={node ?? nodes?.own} />}
    </>
  );
}

/** Whether the chosen node runs commands, so that it says how they are confined: a gateway does not. */
const runsSessions = ({ own, names, chosen = own }: ClusterNodes): boolean => names.includes(chosen);

interface CheckListProps {
  readonly checks: readonly Check[] | undefined;
  readonly problem: string | undefined;
}

function CheckList({ checks, problem }: CheckListProps): JSX.Element {
  if (problem !== undefined) return <Problem title="The machine cannot be examined">{problem}</Problem>;
  return checks ? <Checks checks={checks} /> : <Loading what="what the machine has" />;
}

function Verdict({ answer: { checks, checked_at: at } }: { readonly answer: Answer<'examine_machine'> }): JSX.Element {
  const open = checks.filter(({ status }) => status !== 'ok');
  const isMissing = open.some(({ status }) => status === 'missing');
  const text = open.length === 0 ? 'All is well' : `${countOf(open.length, 'thing')} to look at`;
  return (
    <Badge tone={open.length === 0 ? 'good' : isMissing ? 'bad' : 'warn'}>
      {`${text} · ${formatClock(Date.parse(at))}`}
    </Badge>
  );
}

/** What is wrong comes first. */
function Checks({ checks }: { readonly checks: readonly Check[] }): JSX.Element {
  const ordered = checks.toSorted((a, b) => STATUSES[a.status][2] - STATUSES[b.status][2]);
  return (
    <ul class="checks">
      {ordered.map((check, index) => (
        <CheckRow key={`${check.name} ${index}`} check={check} />
      ))}
    </ul>
  );
}

const CheckRow = ({ check: { name, status, detail, fix } }: { readonly check: Check }): JSX.Element => (
  <li>
    <Badge tone={STATUSES[status][1]}>{STATUSES[status][0]}</Badge>
    <strong>{name}</strong>
    <span class="check-detail">
      <SafeText text={detail} />
      {fix === undefined ? null : (
        <span class="check-fix">
          <code>
            <SafeText text={fix} />
          </code>
          <CopyButton text={fix} label={`Copy the fix of ${name}`} />
        </span>
      )}
    </span>
  </li>
);
