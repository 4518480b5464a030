import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';

import type { Answer } from '../../../client/index.js';
import { Badge } from '../../components/badge.js';
import { TwoStepButton } from '../../components/button.js';
import { type Column, DataTable } from '../../components/table/data-table.js';
import { Ago } from '../../components/time.js';
import { Toolbar } from '../../components/toolbar.js';
import { countOf } from '../../format/words.js';
import { useDashboard } from '../../state/context.js';

/** A token without its secret. */
export type TokenInfo = Answer<'list_tokens'>['tokens'][number];

interface TokenTableProps {
  readonly tokens: readonly TokenInfo[];
  readonly onRotate: (token: TokenInfo) => void;
  readonly onRevoke: (token: TokenInfo) => void;
}

/** The tokens with their open connections. */
export function TokenTable({ tokens, onRotate, onRevoke }: TokenTableProps): JSX.Element {
  const own = useDashboard().access.info.value?.token_id;
  const columns = useMemo((): readonly Column<TokenInfo>[] => {
    const render = (token: TokenInfo) => (
      <Actions token={token} isOwn={token.token_id === own} onRotate={onRotate} onRevoke={onRevoke} />
    );
    return [nameColumn(own), ...COLUMNS, { key: 'actions', title: 'Actions', render }];
  }, [own]);
  const keyOf = ({ token_id: id }: TokenInfo) => id;
  return <DataTable label="All tokens" rows={tokens} columns={columns} keyOf={keyOf} initialSort="name" />;
}

interface ActionsProps extends Omit<TokenTableProps, 'tokens'> {
  readonly token: TokenInfo;
  readonly isOwn: boolean;
}

function Actions({ token, isOwn, onRotate, onRevoke }: ActionsProps): JSX.Element {
  // The page would end before it could show the new secret.
  const whyNotRotate = isOwn ? 'This page is signed in with it, and could not show its new secret.' : undefined;
  const end = isOwn ? 'ends this page' : `ends ${countOf(token.connections, 'connection')}`;
  return (
    <Toolbar label={`Actions for ${token.name}`}>
      <TwoStepButton ask={`Rotate: ${end}`} whyNot={whyNotRotate} onPress={() => onRotate(token)}>
        Rotate
      </TwoStepButton>
      <TwoStepButton ask={`Revoke: ${end}`} onPress={() => onRevoke(token)}>
        Revoke
      </TwoStepButton>
    </Toolbar>
  );
}

const nameColumn = (own: string | undefined): Column<TokenInfo> => ({
  key: 'name',
  title: 'Name',
  sortBy: ({ name }) => name,
  render: ({ name, token_id: id }) => (
    <span title={id}>
      {name} {id === own ? <Badge tone="info">this page</Badge> : null}
    </span>
  ),
});

const COLUMNS: readonly Column<TokenInfo>[] = [
  {
    key: 'role',
    title: 'Role',
    sortBy: ({ role }) => role,
    render: ({ role, run_as: user }) => (user === undefined ? role : `${role} as ${user}`),
  },
  {
    key: 'connections',
    title: 'Connections',
    isNumeric: true,
    sortBy: ({ connections }) => connections,
    render: ({ connections }) => connections,
  },
  {
    key: 'created',
    title: 'Created',
    sortBy: ({ created_at: at }) => at,
    render: ({ created_at: at }) => <Ago at={at} />,
  },
  {
    key: 'expires',
    title: 'Ends',
    sortBy: ({ expires_at: at }) => at,
    render: ({ expires_at: at }) => (at === null ? <span class="muted">never</span> : <Ago at={at} />),
  },
];
