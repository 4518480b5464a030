import type { AuditEventName } from '../core/audit/event.js';
import { Access } from '../services/access/access.js';
import { Admission } from '../services/access/admission.js';
import { Peers } from '../services/access/peers.js';
import { Refusals } from '../services/access/refusals.js';
import { TokenFiles } from '../services/access/token-files.js';
import { Tokens } from '../services/access/tokens.js';
import { type TokenChange, TokenStore } from '../services/access/token-store.js';
import type { Services } from '../services/services.js';

import type { Engine } from './engine.js';
import type { RuntimeContext } from './runtime-context.js';

/** The services that decide who is served. */
export type AccessServices = Pick<Services, 'access' | 'admission' | 'peers' | 'refusals' | 'tokens'>;

/** Builds authentication, authorisation and admission; creates the first token at the first start. */
export function buildAccess({ launcher }: Engine, context: RuntimeContext): AccessServices {
  const { configuration, audit, metrics, log } = context;
  const { auth, socketio } = configuration();
  const peers = new Peers();
  const refusals = new Refusals({ audit, metrics, log: log('access') });
  const hasSandboxes = () => launcher.hasSharedNetwork;
  const { files, store } = openTokens(context);
  return {
    access: new Access({ mode: auth.mode, tokens: store, peers, refusals, hasSandboxes }),
    admission: new Admission({ ...socketio, peers, refusals }),
    peers,
    refusals,
    tokens: new Tokens(files, store),
  };
}

interface OpenTokens {
  readonly files: TokenFiles;
  readonly store: TokenStore;
}

function openTokens({ configuration, audit, log: logs, closers }: RuntimeContext): OpenTokens {
  const log = logs('access');
  const files = new TokenFiles(configuration().adapter.stateDirectory);
  const first = files.createFirst();
  if (first) log.info('the first token was made', { role: first.token.role, file: files.firstSecretFile });
  const store = new TokenStore(files, log, (change, { id, name, role }) => {
    audit.record({ event: TOKEN_EVENTS[change], principal: { id, name, role }, details: { change } });
  });
  closers.push(() => {
    store[Symbol.dispose]();
  });
  return { files, store };
}

const TOKEN_EVENTS = {
  made: 'token_made',
  changed: 'token_changed',
  revoked: 'token_ended',
  expired: 'token_ended',
} as const satisfies Record<TokenChange, AuditEventName>;
