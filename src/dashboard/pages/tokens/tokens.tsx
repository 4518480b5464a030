import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';

import type { Answer } from '../../../client/index.js';
import { Button } from '../../components/button.js';
import { PageHead } from '../../components/page-head.js';
import { Panel } from '../../components/panel.js';
import { Empty, Loading, Problem } from '../../components/states.js';
import { useDashboard } from '../../state/context.js';
import { useAction } from '../../state/use-action.js';
import { useAnswer } from '../../state/use-answer.js';
import { CreateForm } from './create-form.js';
import { type IssuedToken, Secret } from './secret.js';
import { type TokenInfo, TokenTable } from './token-table.js';

import './tokens.css';

/** Who has access, and since when. */
export function Tokens(): JSX.Element {
  const { connection } = useDashboard();
  const { value, problem, isLoading, reload } = useAnswer('list_tokens', {});
  const issued = useSignal<IssuedToken | undefined>(undefined);
  const action = useAction();
  const issue = (request: () => Promise<Answer<'create_token'>>) => {
    action.run(async () => {
      const { token, secret } = await request();
      issued.value = { name: token.name, secret };
      reload();
    });
  };
  const revoke = ({ token_id: id }: TokenInfo) => {
    action.run(async () => {
      await connection.request('revoke_token', { name_or_id: id });
      reload();
    });
  };
  const forget = () => {
    issued.value = undefined;
  };
  const rotate = ({ token_id: id }: TokenInfo) => issue(() => connection.request('rotate_token', { name_or_id: id }));
  return (
    <>
      <PageHead title="Tokens">
        <Button onPress={reload}>{isLoading ? 'Loading…' : 'Refresh'}</Button>
      </PageHead>
      {issued.value ? <Secret issued={issued.value} onForget={forget} /> : null}
      {action.problem === undefined ? null : <Problem title="It was not done">{action.problem}</Problem>}
      <Panel title="New token">
        <CreateForm onCreate={(request) => issue(() => connection.request('create_token', request))} />
      </Panel>
      <Panel title="Tokens">
        <List tokens={value?.tokens} problem={problem} onRotate={rotate} onRevoke={revoke} />
      </Panel>
    </>
  );
}

interface ListProps {
  readonly tokens: readonly TokenInfo[] | undefined;
  readonly problem: string | undefined;
  readonly onRotate: (token: TokenInfo) => void;
  readonly onRevoke: (token: TokenInfo) => void;
}

function List({ tokens, problem, onRotate, onRevoke }: ListProps): JSX.Element {
  if (problem !== undefined) return <Problem title="The tokens cannot be listed">{problem}</Problem>;
  if (!tokens) return <Loading what="the tokens" />;
  if (tokens.length === 0) {
    return <Empty title="No tokens">Programs of the user of the daemon need none on this machine.</Empty>;
  }
  return <TokenTable tokens={tokens} onRotate={onRotate} onRevoke={onRevoke} />;
}
