import type { AuditEventName } from '../core/audit-events.js';
import { ownUid } from '../engine/system/own-user.js';
import { Access, Peers, Tokens } from '../services/access/access.js';
import { Admission, Refusals } from '../services/access/admission.js';
import { DashboardLinks, PageTokens } from '../services/access/dashboard-links.js';
import { SharedTokens } from '../services/access/shared-tokens.js';
import { TokenFiles } from '../services/access/token-files.js';
import { type TokenChange, TokenStore } from '../services/access/token-store.js';
import type { RuntimeContext } from './context.js';
import type { Engine } from './engine.js';

/** Builds authentication, authorisation and admission; creates the first token at the first start. */
export async function buildAccess({ launcher }: Engine, context: RuntimeContext) {
  const { configuration, audit, metrics, log, closers, platform, detachment } = context;
  const { auth, socketio, http } = configuration();
  const peers = new Peers(platform.peers);
  const refusals = new Refusals({ audit, metrics, log: log('access') });
  const hasSandboxes = () => launcher.hasSharedNetwork || (detachment?.as === 'daemon' && detachment.mayHaveSandboxes);
  const noteEnd = (id: string) => {
    access.noteTokenEnd(id);
  };
  const { files, store } = await openTokens(context, noteEnd);
  const links = new DashboardLinks(http.dashboard, (id) => store.endOf(id));
  const pages = closers.use(new PageTokens(audit, noteEnd));
  const access = new Access(auth.mode, store, links, pages, peers, refusals, hasSandboxes);
  return {
    access,
    admission: new Admission(socketio, peers, refusals),
    peers,
    refusals,
    tokens: new Tokens(files, store),
    links,
  };
}

async function openTokens(context: RuntimeContext, onEnd: (tokenId: string) => void) {
  const { configuration, audit, log: logs, closers } = context;
  const log = logs('access');
  const files = new TokenFiles(configuration().adapter.stateDirectory);
  const shared = await shareTokens(files, context);
  const first = shared ? undefined : files.createFirst();
  if (first) log.info('the first token was made', { role: first.token.role, file: files.firstSecretFile });
  // Only root can run what a token with a user of its own starts.
  const tokens = ownUid() === 0 ? [] : files.namesWithUser();
  if (tokens.length > 0)
    log.warn('tokens with a user of their own (run_as) are refused: the daemon is not root', { tokens });
  const store = new TokenStore(shared ?? files, log, (change, { id, name, role, run_as }) => {
    const principal = { id, name, role, ...(run_as !== undefined && { run_as }) };
    audit.record({ event: TOKEN_EVENTS[change], principal, details: { change } });
    if (change === 'revoked' || change === 'expired') onEnd(id);
    shared?.hasten();
  });
  if (shared) {
    shared.onChange = () => {
      store.refresh();
    };
  }
  closers.use(store);
  return { files, store };
}

/** Shares the tokens of a gateway with the other gateways; undefined where each has its own. */
async function shareTokens(
  files: TokenFiles,
  { configuration, shared, log, closers }: RuntimeContext,
): Promise<SharedTokens | undefined> {
  const { cluster, adapter } = configuration();
  if (!shared || cluster.role === 'worker' || cluster.tokens === 'files') return undefined;
  const tokens = closers.use(
    new SharedTokens(files, adapter.stateDirectory, shared.tokens, cluster.tokenGraceMs, log('access')),
  );
  await tokens.start();
  return tokens;
}

const TOKEN_EVENTS = {
  made: 'token_made',
  changed: 'token_changed',
  revoked: 'token_ended',
  expired: 'token_ended',
} as const satisfies Record<TokenChange, AuditEventName>;
