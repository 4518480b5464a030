import type { JSX } from 'preact';

import { Button } from '../../components/button.js';
import { SafeText } from '../../components/command/command-text.js';
import { CopyButton } from '../../components/copy-button.js';
import { Dialog } from '../../components/dialog.js';
import { Loading, Problem } from '../../components/states.js';
import { hrefOf } from '../../router/route.js';
import { useDashboard } from '../../state/context.js';
import { useAnswer } from '../../state/use-answer.js';
import { type AuditRecord, textOf } from './record-text.js';

interface RecordDialogProps {
  readonly seq: number;
  /** Records that the page has. */
  readonly known: readonly AuditRecord[] | undefined;
  /** Of a cluster: the node whose log has it. */
  readonly node: string | undefined;
}

/** A record as it is in the file, with ways to what belongs to it. */
export function RecordDialog({ seq, known, node }: RecordDialogProps): JSX.Element {
  const { router } = useDashboard();
  const found = known?.find((record) => record.seq === seq);
  const { value, problem } = useAnswer('read_audit', found ? undefined : { before: seq + 1, limit: 1, node });
  const record = found ?? value?.records.find((each) => each.seq === seq);
  const close = () => {
    router.go(hrefOf('audit', [], router.route.peek().query));
  };
  return (
    <Dialog title={`Record ${seq}`} onClose={close} actions={record ? <Actions record={record} node={node} /> : null}>
      {record ? (
        <pre class="command-text audit-json" tabIndex={0}>
          <SafeText text={JSON.stringify(record, null, 2)} />
        </pre>
      ) : problem !== undefined || value ? (
        <Problem title="There is no such record">{problem ?? 'It may have been in a file that was deleted.'}</Problem>
      ) : (
        <Loading what="the record" />
      )}
    </Dialog>
  );
}

interface ActionsProps extends Pick<RecordDialogProps, 'node'> {
  readonly record: AuditRecord;
}

function Actions({ record, node = '' }: ActionsProps): JSX.Element {
  const { router } = useDashboard();
  const narrow = (field: 'command_id' | 'session_id', title: string) => {
    const value = textOf(record, field);
    if (value === '') return null;
    return <Button onPress={() => router.go(hrefOf('audit', [], { [field]: value, node }))}>{title}</Button>;
  };
  return (
    <>
      {narrow('command_id', 'All of this command')}
      {narrow('session_id', 'All of this session')}
      <CopyButton text={JSON.stringify(record, null, 2)} label="Copy the record" />
    </>
  );
}
