import { randomBytes } from 'node:crypto';

import { LOCAL_PRINCIPAL, type Principal } from '../../core/access/principal.js';
import { canGrant, type Role, ROLES_GRANTED } from '../../core/access/roles.js';
import { AdapterError } from '../../core/errors.js';
import { MAX_SIGN_IN_MS } from '../../core/protocol/requests/dashboard.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
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

/** What a link grants. */
export interface LinkGrant {
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

/** Dependencies of the links. */
export interface DashboardLinksOptions {
  /** False when the dashboard is switched off. */
  readonly isServed: boolean;
  /** The end of the token with this id; undefined when it is not valid. */
  readonly endOfToken: (id: string) => AbortSignal | undefined;
}

/** One-time links to the dashboard. Only hashes of their codes are kept, in memory. */
export class DashboardLinks {
  readonly #options: DashboardLinksOptions;
  /** By hash of the code, the oldest first. */
  readonly #links = new Map<string, Link>();

  constructor(options: DashboardLinksOptions) {
    this.#options = options;
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
    if (!this.#options.isServed) throw new AdapterError('UNKNOWN_REQUEST', SWITCHED_OFF);
    if (maker.pageId !== undefined) throw new AdapterError('FORBIDDEN', FROM_PAGE);
    if (!canGrant(maker.role, role)) throw tooHigh(maker.role, role);
    const makerEnded = maker.isLocalPeer ? undefined : this.#options.endOfToken(maker.id);
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
const keyOf = (code: string): string => hashOf(code).toString('hex');

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
