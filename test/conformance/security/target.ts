import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

import type { TestContext } from 'vitest';
import { z } from 'zod';

import { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';

/** Address of a daemon that runs already; by default one is started. */
const URL_GIVEN = process.env['SHELL_ADAPTER_CONFORMANCE_URL'];
/** File with tokens for it: JSON, a secret by name. */
const TOKENS_FILE = process.env['SHELL_ADAPTER_CONFORMANCE_TOKENS'];

/** Names in the file of tokens: two of the role agent, and one of each of two others. */
export const PARTIES = ['agent', 'other_agent', 'viewer', 'operator'] as const;

/** Who a client is to the daemon. */
export type Party = (typeof PARTIES)[number];

const tokensFile = z.strictObject(
  Object.fromEntries(PARTIES.map((party) => [party, z.string().min(1).optional()])) as Record<
    Party,
    z.ZodOptional<z.ZodString>
  >,
);

/** The daemon that is asked, and the tokens for it. */
export class SecurityTarget implements AsyncDisposable {
  readonly url: string;
  readonly #own: TestDaemon | undefined;
  readonly #tokens: Partial<Record<Party, string | undefined>>;
  readonly #clients: WireClient[] = [];

  private constructor(url: string, tokens: Partial<Record<Party, string | undefined>>, own?: TestDaemon) {
    this.url = url;
    this.#tokens = tokens;
    this.#own = own;
  }

  /** Takes the daemon at the address that is given, or starts one with the gate on and a token for each party. */
  static async find(): Promise<SecurityTarget> {
    if (URL_GIVEN !== undefined) {
      const tokens = TOKENS_FILE === undefined ? {} : tokensFile.parse(JSON.parse(readFileSync(TOKENS_FILE, 'utf8')));
      return new SecurityTarget(URL_GIVEN, tokens);
    }
    const own = await TestDaemon.start({ settings: { confirmation: { mode: 'self', preset: 'balanced' } } });
    const tokens = {
      agent: own.createToken('agent', 'agent'),
      other_agent: own.createToken('agent', 'other'),
      viewer: own.createToken('viewer', 'viewer'),
      operator: own.createToken('operator', 'operator'),
    };
    return new SecurityTarget(own.url, tokens, own);
  }

  /** Skips a test where tokens that it needs were not given. */
  needs(context: TestContext, ...parties: readonly Party[]): void {
    const missing = parties.filter((party) => this.#tokens[party] === undefined);
    if (missing.length > 0) context.skip(`no token of ${missing.join(' and ')} was given (--tokens FILE)`);
  }

  /** Connects with the token of a party, or without one as a local program. The connection is closed at the end. */
  async connect(party: Party): Promise<WireClient> {
    const token = this.#tokens[party];
    const client = await WireClient.connect(this.url, ['websocket'], token === undefined ? {} : { token });
    this.#clients.push(client);
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) await client[Symbol.asyncDispose]();
    await this.#own?.[Symbol.asyncDispose]();
  }
}

/** A name that nothing else on the machine has. */
export const newName = (): string => `security-${randomBytes(6).toString('hex')}`;
