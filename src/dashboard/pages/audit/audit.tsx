import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';

import { Button } from '../../components/button.js';
import { NodeSelect } from '../../components/nodes/node-select.js';
import type { ClusterNodes } from '../../components/nodes/nodes.js';
import { useNodes } from '../../components/nodes/use-nodes.js';
import { PageHead } from '../../components/page-head.js';
import { Panel } from '../../components/panel.js';
import { Empty, Loading, Problem } from '../../components/states.js';
import { countOf } from '../../format/words.js';
import type { PageProps } from '../../router/page.js';
import { useDashboard } from '../../state/context.js';
import { AuditFilters } from './audit-filters.js';
import type { AuditLog } from './audit-log.js';
import { auditRequest } from './audit-query.js';
import { AuditTable } from './audit-table.js';
import { RecordDialog } from './record-dialog.js';
import { useAuditLog } from './use-audit-log.js';
import { VerifyBadge } from './verify-badge.js';

import './audit.css';

/** What has happened: the records of the audit log. In a cluster, those of one node. */
export function Audit({ segments: [seq] }: PageProps): JSX.Element {
  const { router } = useDashboard();
  const nodes = useNodes();
  const node = nodes?.chosen;
  const isFollowing = useSignal(true);
  const whyNotFollow = whyNotFollowed(nodes);
  const isLive = isFollowing.value && whyNotFollow === undefined;
  const log = useAuditLog({ ...auditRequest(router.route.value.query), ...(node !== undefined && { node }) }, isLive);
  const toggle = () => {
    isFollowing.value = !isFollowing.value;
    // What came meanwhile is not there.
    if (isFollowing.value) void log.start();
  };
  return (
    <>
      <PageHead title="Audit">
        <NodeSelect nodes={nodes} none={`This node (${nodes?.own})`} />
        <VerifyBadge node={node} />
      </PageHead>
      <Panel title="Records" actions={<Follow isLive={isLive} whyNot={whyNotFollow} onToggle={toggle} />}>
        <AuditFilters />
        <Records log={log} />
      </Panel>
      {seq === undefined ? null : <RecordDialog seq={Number(seq)} known={log.state.value.records} node={node} />}
    </>
  );
}

/** Only the node that the page is connected to tells of new records. */
const whyNotFollowed = (nodes: ClusterNodes | undefined): string | undefined =>
  nodes?.chosen === undefined || nodes.chosen === nodes.own
    ? undefined
    : 'Only the log of the node of this page can be followed.';

interface FollowProps {
  readonly isLive: boolean;
  readonly whyNot: string | undefined;
  readonly onToggle: () => void;
}

const Follow = ({ isLive, whyNot, onToggle }: FollowProps): JSX.Element => (
  <Button onPress={onToggle} isPressed={isLive} whyNot={whyNot} title="New records appear as they are written">
    {isLive ? 'Following' : 'Follow'}
  </Button>
);

function Records({ log }: { readonly log: AuditLog }): JSX.Element {
  const { records, problem, next, isLoading, skipped, unreadable } = log.state.value;
  if (problem !== undefined) return <Problem title="The audit log cannot be read">{problem}</Problem>;
  if (!records) return <Loading what="the records" />;
  return (
    <>
      {skipped > 0 ? (
        <p class="note warn">{`${countOf(skipped, 'record')} came too fast and are not shown: press Follow twice.`}</p>
      ) : null}
      {unreadable > 0 ? (
        <p class="note bad">{`${countOf(unreadable, 'line')} of the log cannot be read as records: see above.`}</p>
      ) : null}
      {records.length === 0 ? (
        <Empty title="No records">No record matches all filters, as far as the log was searched.</Empty>
      ) : (
        <AuditTable records={records} />
      )}
      <p class="audit-more">
        <Button
          onPress={() => void log.readOlder()}
          whyNot={next === null ? 'This is the beginning of the log.' : isLoading ? 'They are being read.' : undefined}
        >
          {isLoading ? 'Loading…' : 'Older records'}
        </Button>
        <span class="muted">{countOf(records.length, 'record')}</span>
      </p>
    </>
  );
}
