import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';

import type { RequestInput } from '../../../client/index.js';
import { ROLE_NAMES, type Role, ROLES } from '../../../core/principal.js';
import { Button } from '../../components/button.js';
import { TextField } from '../../components/text-field.js';
import { useDashboard } from '../../state/context.js';
import { useDraft } from '../../state/use-draft.js';

/** Asks for a new token. */
export function CreateForm({ onCreate }: CreateFormProps): JSX.Element {
  const { access } = useDashboard();
  const name = useDraft('token name');
  const role = useSignal<Role>('agent');
  const life = useSignal('90d');
  const whyNot = access.whyNot('create_token') ?? (name.value.trim() === '' ? 'It needs a name.' : undefined);
  const create = () => {
    if (whyNot !== undefined) return;
    const expires = life.value.trim();
    onCreate({ name: name.value.trim(), role: role.value, ...(expires !== '' && { expires_in: expires }) });
  };
  return (
    <form
      class="token-form"
      aria-label="New token"
      onKeyDown={({ key, target }) => {
        if (key === 'Enter' && target instanceof HTMLInputElement) create();
      }}
    >
      <TextField label="Name" text={name} maxLength={64} />
      <RoleField role={role} />
      <TextField label="Lifetime, such as 90d" text={life} placeholder="no end" maxLength={12} />
      <Button tone="primary" whyNot={whyNot} onPress={create}>
        Create
      </Button>
      <p class="muted token-role">{ROLES[role.value]}</p>
    </form>
  );
}

const RoleField = ({ role }: { readonly role: Signal<Role> }): JSX.Element => (
  <label class="field">
    <span>Role</span>
    <select
      value={role.value}
      onChange={({ currentTarget }) => {
        role.value = ROLE_NAMES.find((each) => each === currentTarget.value) ?? 'agent';
      }}
    >
      {ROLE_NAMES.map((each) => (
        <option key={each}>{each}</option>
      ))}
    </select>
  </label>
);

interface CreateFormProps {
  readonly onCreate: (request: RequestInput<'create_token'>) => void;
}
