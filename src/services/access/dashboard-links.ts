import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';

import { canGrant, LOCAL_PRINCIPAL, type Principal, type Role, ROLES_GRANTED } from '../../core/principal.js';
import { auditPrincipal, type AuditTrail } from '../../core/audit-events.js';
import type { LinkIdentity } from '../../core/cluster/link-messages.js';
import { AdapterError } from '../../core/errors.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import { MAX_SIGN_IN_MS } from '../../core/protocol/bounds.js';
import { randomText } from '../../engine/system/random.js';
import type { Caller, EventSink } from '../registry/caller.js';
import { hashOf } from './token-files.js';

/** Length of a code in bytes: it cannot be guessed. */
const CODE_BYTES = 32;
/** Lifetime of a link, in milliseconds: a browser opens it at once. */
const LINK_MS = 60_000;
/** Lifetime of the link that `serve` prints, in milliseconds: a person reads it. */
const START_LINK_MS = 10 * 60_000;
/** Unused links of one maker; a further one replaces its oldest. */
const MAX_LINKS_PER_MAKER = 16;
/** Unused links of all makers. */
const MAX_LINKS = 256;

interface LinkGrant {
  readonly maker: Principal;
  readonly role: Role;
  /** Lifetime of the sign-in, in milliseconds. */
  readonly lifeMs: number;
  /** Aborted when the maker's token ends; undefined for a maker that needs none. */
  readonly makerEnded: AbortSignal | undefined;
}

/** A client that asks for a link. */
type LinkMaker = Pick<Caller, 'principal' | 'sink'>;

interface Link extends LinkGrant {
  readonly endsAt: number;
  /** The connection that is told of its use. */
  readonly sink?: EventSink | undefined;
}

/** One-time links to the dashboard. Only hashes of their codes are kept, in memory. */
export class DashboardLinks {
  /** False when the dashboard is switched off. */
  readonly #isServed: boolean;
  /** The end of the token with this id; undefined when it is not valid. */
  readonly #endOfToken: (id: string) => AbortSignal | undefined;
  /** By hash of the code, the oldest first. */
  readonly #links = new Map<string, Link>();

  constructor(isServed: boolean, endOfToken: (id: string) => AbortSignal | undefined) {
    this.#isServed = isServed;
    this.#endOfToken = endOfToken;
  }

  /**
   * Makes a link for `create_dashboard_link`.
   * @throws AdapterError FORBIDDEN for a role above that of the maker, or for a page; RESOURCE_EXHAUSTED when too many
   *   links wait; UNKNOWN_REQUEST without a dashboard
   */
  create(
    request: Request<'create_dashboard_link'>,
    { principal: maker, sink }: LinkMaker,
  ): Answer<'create_dashboard_link'> {
    const { role = maker.role, expires_in_ms: lifeMs = MAX_SIGN_IN_MS } = request;
    if (!this.#isServed) throw new AdapterError('UNKNOWN_REQUEST', SWITCHED_OFF);
    if (maker.pageId !== undefined) throw new AdapterError('FORBIDDEN', FROM_PAGE);
    if (!canGrant(maker.role, role)) throw tooHigh(maker.role, role);
    const makerEnded = maker.isLocalPeer ? undefined : this.#endOfToken(maker.id);
    const endsAt = Date.now() + LINK_MS;
    const path = this.#add({ maker, role, lifeMs, makerEnded, endsAt, sink });
    return { path, expires_at: new Date(endsAt).toISOString(), role };
  }

  /** Makes the link that `serve` prints, for a person who has started the daemon; gives its path. */
  createForStart(): string {
    const grant = { maker: LOCAL_PRINCIPAL, role: LOCAL_PRINCIPAL.role, lifeMs: MAX_SIGN_IN_MS, makerEnded: undefined };
    return this.#add({ ...grant, endsAt: Date.now() + START_LINK_MS });
  }

  /** Uses up a link; gives its grant, or undefined for a code that is wrong, was used, or has expired. */
  use(code: string): LinkGrant | undefined {
    const key = keyOf(code);
    const link = this.#links.get(key);
    this.#links.delete(key);
    if (!link || !isValid(link)) return undefined;
    link.sink?.send('dashboard_link_used', { path: pathOf(code) });
    return link;
  }

  #add(link: Link): string {
    for (const [key, other] of this.#links) if (!isValid(other)) this.#links.delete(key);
    const own = [...this.#links].filter(([, { maker }]) => maker.id === link.maker.id);
    const [oldest] = own;
    if (oldest && own.length >= MAX_LINKS_PER_MAKER) this.#links.delete(oldest[0]);
    if (this.#links.size >= MAX_LINKS) throw new AdapterError('RESOURCE_EXHAUSTED', TOO_MANY);
    const code = randomBytes(CODE_BYTES).toString('base64url');
    this.#links.set(keyOf(code), link);
    return pathOf(code);
  }
}

/** Path of a link: browsers do not send what follows the `#`. */
const pathOf = (code: string): string => `/#code=${code}`;

/** Looking a hash up tells nothing about a code: similar codes have different hashes. */
const keyOf = (secret: string): string => hashOf(secret).toString('hex');

const isValid = ({ endsAt, makerEnded }: Link): boolean => endsAt > Date.now() && makerEnded?.aborted !== true;

const SWITCHED_OFF = 'the dashboard is switched off (http.dashboard: false)';
const FROM_PAGE =
  'a page of the dashboard cannot make links: it would outlive its sign-in; `shell-adapter dashboard` makes one';
const TOO_MANY = `${MAX_LINKS} links to the dashboard wait to be used; each ends after a minute`;

function tooHigh(own: Role, role: Role): AdapterError {
  const granted = ROLES_GRANTED[own];
  const message = `a client with the role ${own} makes links for ${granted.join(', ')}, not for ${role}`;
  return new AdapterError('FORBIDDEN', message, { details: { role: own, granted: [...granted] } });
}

/** Least length of a shared secret, in characters: it stands alone where links have no certificates. */
const MIN_SECRET_CHARACTERS = 32;

/** Which end of a link proves that it knows the secret. A proof of one end is none of the other. */
type LinkEnd = 'dialling' | 'dialled';

/** The random texts of both ends, which make each proof count once. */
interface LinkNonces {
  readonly dialling: string;
  readonly dialled: string;
}

/** Hexadecimal digits of the id of a cluster. */
const ID_DIGITS = 32;

const NONCE_BYTES = 24;

/** A random text that was never used before. */
export const randomNonce = (): string => randomText(NONCE_BYTES);

/** Proofs that both ends of a link know the shared secret of the cluster, without sending it. */
export class LinkSecret {
  readonly #secret: string;

  /**
   * @throws AdapterError INVALID_REQUEST when the file cannot be read, or has too short a secret
   */
  constructor(file: string) {
    this.#secret = readSecret(file);
  }

  /** An id that is the same on all nodes of a cluster, and tells nothing of the secret. */
  get clusterId(): string {
    return createHmac('sha256', this.#secret).update('cluster').digest('hex').slice(0, ID_DIGITS);
  }

  /** HMAC-SHA-256 over the end, both nonces and what the end says of itself, in hexadecimal digits. */
  prove(end: LinkEnd, { dialling, dialled }: LinkNonces, identity: LinkIdentity): string {
    const { node, incarnation, version, link_version, instance_id } = identity;
    const text = JSON.stringify([end, dialling, dialled, node, incarnation, version, link_version, instance_id]);
    return createHmac('sha256', this.#secret).update(text).digest('hex');
  }

  /** Whether a proof is the right one; takes as long for every wrong one. */
  accepts(proof: string, ...proven: Parameters<LinkSecret['prove']>): boolean {
    return timingSafeEqual(Buffer.from(proof, 'hex'), Buffer.from(this.prove(...proven), 'hex'));
  }
}

function readSecret(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new AdapterError('INVALID_REQUEST', `cluster.secret_file cannot be read: ${(error as Error).message}`);
  }
  if (text.length >= MIN_SECRET_CHARACTERS) return text;
  const message = `cluster.secret_file (${file}) has ${text.length} characters; it needs at least ${MIN_SECRET_CHARACTERS}: openssl rand -hex 32`;
  throw new AdapterError('INVALID_REQUEST', message);
}

/** Length of a secret in bytes. */
const SECRET_BYTES = 32;
const ID_BYTES = 8;
/** Prefix of secrets, by which scanners for leaked secrets find them. */
const SECRET_PREFIX = 'sap_';
/** Pages that are signed in. */
const MAX_PAGES = 64;
/** Pages of one maker; a further one ends its oldest. */
const MAX_PAGES_PER_MAKER = 16;

interface SignedInPage {
  readonly principal: Principal;
  /** Aborted when the sign-in ends; the reason is an AdapterError. */
  readonly ended: AbortSignal;
}

/** A new sign-in, with its secret, which is not kept. */
export interface PageSignIn {
  readonly secret: string;
  readonly principal: Principal;
  readonly expiresAt: Date;
}

interface Page extends SignedInPage {
  readonly maker: string;
  readonly expiresAt: Date;
  readonly ending: AbortController;
}

/** Page tokens: the sign-ins of browsers, in memory. They end with the daemon, and with the token of their maker. */
export class PageTokens implements Disposable {
  readonly #audit: AuditTrail;
  readonly #onEnd: (id: string) => void;
  /** By hash of the secret, the oldest first. */
  readonly #pages = new Map<string, Page>();

  /** @param onEnd called with the id of each principal that was made for a page, when its sign-in has ended */
  constructor(audit: AuditTrail, onEnd: (id: string) => void = () => undefined) {
    this.#audit = audit;
    this.#onEnd = onEnd;
  }

  /**
   * Signs a page in.
   * @param from origin of the request, for records
   * @throws AdapterError RESOURCE_EXHAUSTED when too many pages are signed in
   */
  signIn(grant: LinkGrant, from: string): PageSignIn {
    const { maker, lifeMs, makerEnded } = grant;
    this.#makeRoom(maker.id);
    const secret = SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
    const key = keyOf(secret);
    const expiresAt = new Date(Date.now() + lifeMs);
    const principal = principalOf(grant, expiresAt);
    const ending = new AbortController();
    // One listener for each of its connections.
    setMaxListeners(0, ending.signal);
    this.#pages.set(key, { principal, maker: maker.id, expiresAt, ending, ended: ending.signal });
    const expire = () => {
      this.#end(key, EXPIRED);
    };
    const timer = setTimeout(expire, lifeMs).unref();
    const endWithMaker = () => {
      this.#end(key, `the sign-in has ended with its token: ${(makerEnded?.reason as Error).message}`);
    };
    makerEnded?.addEventListener('abort', endWithMaker, { once: true, signal: ending.signal });
    ending.signal.addEventListener('abort', () => {
      clearTimeout(timer);
    });
    this.#audit.record({ event: 'page_signed_in', principal: auditPrincipal(principal), from });
    return { secret, principal, expiresAt };
  }

  /** Returns the page of a secret; undefined for a secret that is wrong or has ended. */
  find(secret: string): SignedInPage | undefined {
    const page = secret.startsWith(SECRET_PREFIX) ? this.#pages.get(keyOf(secret)) : undefined;
    return page && isCurrent(page) ? page : undefined;
  }

  /** Whether the sign-in with this id counts. */
  isActive(id: string): boolean {
    return [...this.#pages.values()].some((page) => page.principal.pageId === id && isCurrent(page));
  }

  /** Signs a page out; returns false for a secret that is none of a page. */
  signOut(secret: string): boolean {
    return this.#end(keyOf(secret), 'the page was signed out');
  }

  [Symbol.dispose](): void {
    for (const key of this.#pages.keys()) this.#end(key, 'the daemon has ended');
  }

  #makeRoom(maker: string): void {
    const own = [...this.#pages].filter(([, page]) => page.maker === maker);
    const [oldest] = own;
    if (oldest && own.length >= MAX_PAGES_PER_MAKER) this.#end(oldest[0], REPLACED);
    if (this.#pages.size < MAX_PAGES) return;
    throw new AdapterError('RESOURCE_EXHAUSTED', `${MAX_PAGES} pages are signed in; sign one of them out`);
  }

  #end(key: string, why: string): boolean {
    const page = this.#pages.get(key);
    if (!page) return false;
    this.#pages.delete(key);
    page.ending.abort(new AdapterError('UNAUTHORIZED', why));
    if (page.principal.id !== page.maker) this.#onEnd(page.principal.id);
    this.#audit.record({ event: 'page_signed_out', principal: auditPrincipal(page.principal), details: { why } });
    return true;
  }
}

/** A timer may be late, by as much time as the machine was suspended. */
const isCurrent = ({ expiresAt }: Page): boolean => expiresAt.getTime() > Date.now();

/**
 * A page with the role of its maker owns what its maker owns. One with another role owns nothing of it: its maker has
 * limited it. It counts as a local program if its maker is one, since a command could have made the link.
 */
function principalOf({ maker, role }: LinkGrant, expiresAt: Date): Principal {
  const id = `page_${randomBytes(ID_BYTES).toString('hex')}`;
  const owner = role === maker.role ? maker : { id, name: `${maker.name} (page)` };
  return { ...maker, ...owner, role, pageId: id, expiresAt: expiresAt.toISOString() };
}

const EXPIRED = 'the sign-in has expired; `shell-adapter dashboard` makes a new link';
const REPLACED = `the sign-in was replaced: one client has at most ${MAX_PAGES_PER_MAKER} pages`;
