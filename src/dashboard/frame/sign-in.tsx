import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import type { ConnectionStatus } from '../state/connection.js';
import { useDashboard } from '../state/context.js';

/** The page for signing in. */
export function SignIn({ status }: { readonly status: ConnectionStatus }): JSX.Element {
  const reason = status.kind === 'signed-out' ? status.reason : undefined;
  const detail = status.kind === 'connecting' ? (status.detail ?? 'Signing in…') : undefined;
  return (
    <main class="centred">
      <h1>shell-adapter</h1>
      {reason === undefined ? null : (
        <p class="banner bad" role="alert">
          {reason}
        </p>
      )}
      {detail === undefined ? null : (
        <p class="muted" role="status">
          {detail}
        </p>
      )}
      <TokenForm />
      <p class="muted">
        No token at hand? On the machine of the daemon, <code>shell-adapter dashboard</code> opens this page with a link
        that signs you in once. <code>shell-adapter token create NAME --role operator</code> makes a token.
      </p>
    </main>
  );
}

function TokenForm(): JSX.Element {
  const { connection } = useDashboard();
  const token = useSignal('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const onSubmit = (event: Event) => {
    event.preventDefault();
    const given = token.value.trim();
    if (given !== '') void connection.signIn(given);
  };
  return (
    <form class="sign-in" onSubmit={onSubmit}>
      <label>
        Token
        <input
          ref={field}
          type="password"
          autoComplete="off"
          spellcheck={false}
          required
          value={token.value}
          onInput={({ currentTarget }) => {
            token.value = currentTarget.value;
          }}
        />
      </label>
      <button type="submit" class="button primary">
        Sign in
      </button>
    </form>
  );
}
