import type { JSX } from 'preact';

import { Button } from '../../components/button.js';
import { TextField } from '../../components/text-field.js';
import { useDashboard } from '../../state/context.js';
import { useAction } from '../../state/use-action.js';
import { useDraft } from '../../state/use-draft.js';

interface SaveFormProps {
  /** Of a cluster: the node whose workspace is saved. */
  readonly node: string | undefined;
  readonly onSaved: () => void;
}

/** Saves the workspace as a checkpoint, with a label. */
export function SaveForm({ node, onSaved }: SaveFormProps): JSX.Element {
  const { connection, access, notices } = useDashboard();
  const label = useDraft('checkpoint label');
  const { isRunning, problem, run } = useAction();
  const whyNot = access.whyNot('checkpoint_workspace') ?? (isRunning ? 'It is being saved.' : undefined);
  const save = () => {
    if (whyNot !== undefined) return;
    run(async () => {
      const text = label.peek().trim();
      await connection.request('checkpoint_workspace', { node, ...(text !== '' && { label: text }) });
      label.value = '';
      notices.say('The workspace was saved.');
      onSaved();
    });
  };
  return (
    <form
      aria-label="Save a checkpoint"
      class="toolbar save-form"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <TextField label="Label" text={label} maxLength={100} />
      <Button onPress={save} whyNot={whyNot}>
        {isRunning ? 'Saving…' : 'Save now'}
      </Button>
      {problem === undefined ? null : (
        <span class="problem-text" role="alert">
          {problem}
        </span>
      )}
    </form>
  );
}
