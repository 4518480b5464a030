import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { NO_AUDIT } from '../../../../src/core/audit-events.js';
import { LOCAL_PRINCIPAL, type Principal } from '../../../../src/core/principal.js';
import { DashboardLinks, PageTokens } from '../../../../src/services/access/dashboard-links.js';

const HOUR_MS = 3_600_000;

const person = (number: number): Principal => ({
  id: `token_${number}`,
  name: `person-${number}`,
  role: 'operator',
  isLocalPeer: false,
});

let links: DashboardLinks;
let pages: PageTokens;
/** Principals of pages that have ended. */
let ended: string[];
beforeEach(() => {
  vi.useFakeTimers();
  links = new DashboardLinks(true, () => undefined);
  ended = [];
  pages = new PageTokens(NO_AUDIT, (id) => ended.push(id));
});
afterEach(() => {
  pages[Symbol.dispose]();
  vi.useRealTimers();
});

const codeOf = (maker: Principal): string =>
  links.create({}, { principal: maker, sink: undefined }).path.replace('/#code=', '');

function open(maker: Principal) {
  const grant = links.use(codeOf(maker));
  if (!grant) throw new Error('the link does not count');
  return pages.signIn(grant, 'a test');
}

describe('a link', () => {
  it('counts for a minute; the one of the start for ten', () => {
    const code = codeOf(LOCAL_PRINCIPAL);
    const start = links.createForStart().replace('/#code=', '');
    vi.advanceTimersByTime(60_000);
    expect(links.use(code)).toBeUndefined();
    vi.advanceTimersByTime(9 * 60_000 - 1);
    expect(links.use(start)).toMatchObject({ maker: LOCAL_PRINCIPAL, role: 'admin' });
    expect(links.use(start)).toBeUndefined();
  });

  it('of one maker is replaced by its 17th, and others stay', () => {
    const other = codeOf(person(2));
    const codes = Array.from({ length: 17 }, () => codeOf(person(1)));
    expect(codes.map((code) => links.use(code) !== undefined)).toEqual([false, ...Array<boolean>(16).fill(true)]);
    expect(links.use(other)).toBeDefined();
  });

  it('is refused while 256 wait, until one ends', () => {
    for (let maker = 0; maker < 16; maker += 1) for (let link = 0; link < 16; link += 1) codeOf(person(maker));
    expect(() => codeOf(person(16))).toThrow('256 links to the dashboard wait');
    vi.advanceTimersByTime(60_000);
    expect(links.use(codeOf(person(16)))).toBeDefined();
  });
});

describe('a page', () => {
  it('with a lower role than its maker is a principal of its own, whose end is told', () => {
    const own = open(person(1));
    const lower = links.use(links.create({ role: 'viewer' }, { principal: person(1), sink: undefined }).path.slice(7));
    const page = pages.signIn(lower!, 'a test');
    for (const { secret } of [own, page]) pages.signOut(secret);
    expect(ended).toEqual([page.principal.id]);
    expect(page.principal.id).not.toBe(own.principal.id);
  });

  it('is signed in for at most 12 hours', () => {
    const { secret, principal } = open(LOCAL_PRINCIPAL);
    const found = pages.find(secret);
    vi.advanceTimersByTime(12 * HOUR_MS - 1);
    expect(pages.find(secret)).toBe(found);
    expect(pages.isActive(principal.pageId ?? '')).toBe(true);
    vi.advanceTimersByTime(1);
    expect(pages.find(secret)).toBeUndefined();
    expect(pages.isActive(principal.pageId ?? '')).toBe(false);
    expect((found?.ended.reason as Error).message).toContain('the sign-in has expired');
  });

  it('is not found after its time, however late its timer is', () => {
    const { secret, expiresAt } = open(LOCAL_PRINCIPAL);
    vi.setSystemTime(expiresAt);
    expect(pages.find(secret)).toBeUndefined();
  });

  it('of one maker is ended by its 17th', () => {
    const [first, second] = Array.from({ length: 17 }, () => open(LOCAL_PRINCIPAL));
    expect(pages.find(first?.secret ?? '')).toBeUndefined();
    expect(pages.find(second?.secret ?? '')).toBeDefined();
  });

  it('is refused while 64 are signed in', () => {
    const [first] = Array.from({ length: 64 }, (_, number) => open(person(Math.floor(number / 8))));
    expect(() => open(person(9))).toThrow('64 pages are signed in');
    expect(pages.signOut(first?.secret ?? '')).toBe(true);
    expect(open(person(9)).principal).toMatchObject({ id: 'token_9', name: 'person-9', role: 'operator' });
  });
});
