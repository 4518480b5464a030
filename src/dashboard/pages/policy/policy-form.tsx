import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';

import { TextField } from '../../components/text-field.js';
import { useDashboard } from '../../state/context.js';

interface PolicyFormProps {
  readonly text: Signal<string>;
  /** Id of a session; empty for none. */
  readonly session: Signal<string>;
  readonly directory: Signal<string>;
}

/** A command, and where it would run. */
export const PolicyForm = ({ text, session, directory }: PolicyFormProps): JSX.Element => (
  <div class="panel-body">
    <label class="field">
      <span>Command</span>
      <textarea
        class="mono policy-command"
        rows={4}
        spellcheck={false}
        autoComplete="off"
        placeholder="git clean -fdx && rm -rf ~/cache"
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
        }}
      />
    </label>
    <div class="policy-place">
      <SessionField session={session} />
      <TextField label="Directory (by default that of the session)" text={directory} />
    </div>
  </div>
);

function SessionField({ session }: Pick<PolicyFormProps, 'session'>): JSX.Element {
  const { live } = useDashboard();
  const sessions = [...(live.sessions.value?.values() ?? [])];
  return (
    <label class="field">
      <span>Session: its directory, aliases and functions count</span>
      <select
        value={session.value}
        onChange={({ currentTarget }) => {
          session.value = currentTarget.value;
        }}
      >
        <option value="">none</option>
        {sessions.map(({ session_id: id, label, owner }) => (
          <option key={id} value={id}>
            {`${label ?? id} (${owner})`}
          </option>
        ))}
      </select>
    </label>
  );
}
