import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';

import { auditPrincipal, type AuditTrail } from '../../core/audit/event.js';
import type { Principal } from '../../core/access/principal.js';
import { AdapterError } from '../../core/errors.js';
import type { LinkGrant } from './dashboard-links.js';
import { hashOf } from './token-files.js';

/** Length of a secret in bytes. */
const SECRET_BYTES = 32;
const ID_BYTES = 8;
/** Prefix of secrets, by which scanners for leaked secrets find them. */
const SECRET_PREFIX = 'sap_';
/** Pages that are signed in. */
const MAX_PAGES = 64;
/** Pages of one maker; a further one ends its oldest. */
const MAX_PAGES_PER_MAKER = 16;

/** A page that is signed in. */
export interface SignedInPage {
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

/** Looking a hash up tells nothing about a secret: similar secrets have different hashes. */
const keyOf = (secret: string): string => hashOf(secret).toString('hex');

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
