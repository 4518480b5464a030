import type { JSX } from 'preact';

import type { Answer } from '../../../client/index.js';
import { Badge, type Tone } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { SafeText } from '../../components/command/command-text.js';
import { CopyButton } from '../../components/copy-button.js';
import { NodeSelect } from '../../components/nodes/node-select.js';
import type { ClusterNodes } from '../../components/nodes/nodes.js';
import { useNodes } from '../../components/nodes/use-nodes.js';
import { PageHead } from '../../components/page-head.js';
import { Panel } from '../../components/panel.js';
import { Loading, Problem } from '../../components/states.js';
import { formatClock } from '../../format/time.js';
import { countOf } from '../../format/words.js';
import { useAnswer } from '../../state/use-answer.js';
import { MachineFacts } from './machine-facts.js';

import './doctor.css';

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
