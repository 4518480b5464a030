import './tokens.css';

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';

import type { Answer, RequestInput } from '../../client/index.js';
import { type Role, ROLE_NAMES, ROLES } from '../../core/principal.js';
import { Badge } from '../components/badge.js';
import { Button, CopyButton, Toolbar, TwoStepButton } from '../components/button.js';
import { type Column, DataTable } from '../components/data-table.js';
import { PageHead, Panel } from '../components/panel.js';
import { Empty, Loading, Problem } from '../components/states.js';
import { TextField } from '../components/text-field.js';
import { Ago } from '../components/time.js';
import { countOf } from '../format.js';
import { useDashboard } from '../state/context.js';
import { useAction, useAnswer, useDraft } from '../state/use-answer.js';

/** Asks for a new token. */
function CreateForm({ onCreate }: CreateFormProps): JSX.Element {
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

/** A token whose secret can still be seen. */
interface IssuedToken {
  readonly name: string;
  readonly secret: string;
}

/** The secret of a new token, once. It is nowhere else: neither in the daemon nor in the storage of the browser. */
const Secret = ({ issued: { name, secret }, onForget }: SecretProps): JSX.Element => (
  <Panel title={`Secret of ${name}`} actions={<Button onPress={onForget}>I have kept it</Button>}>
    <div class="note warn" role="alert">
      <p>It is shown this once: the daemon keeps only its hash. It goes when you leave this page.</p>
      <p class="secret">
        <code>{secret}</code>
        <CopyButton text={secret} label="Copy the secret" />
      </p>
    </div>
  </Panel>
);

interface SecretProps {
  readonly issued: IssuedToken;
  readonly onForget: () => void;
}

/** A token without its secret. */
type TokenInfo = Answer<'list_tokens'>['tokens'][number];

interface TokenTableProps {
  readonly tokens: readonly TokenInfo[];
  readonly onRotate: (token: TokenInfo) => void;
  readonly onRevoke: (token: TokenInfo) => void;
}

/** The tokens with their open connections. */
function TokenTable({ tokens, onRotate, onRevoke }: TokenTableProps): JSX.Element {
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
