import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';

import type { LinkIdentity } from '../../core/cluster/link-messages.js';
import { AdapterError } from '../../core/errors.js';
import { randomText } from '../../engine/system/random.js';

/** Least length of a shared secret, in characters: it stands alone where links have no certificates. */
const MIN_SECRET_CHARACTERS = 32;

/** Which end of a link proves that it knows the secret. A proof of one end is none of the other. */
type LinkEnd = 'dialling' | 'dialled';

/** The random texts of both ends, which make each proof count once. */
export interface LinkNonces {
  readonly dialling: string;
  readonly dialled: string;
}

/** Hexadecimal digits of the id of a cluster. */
const ID_DIGITS = 32;

/** Random bytes of a nonce. */
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
