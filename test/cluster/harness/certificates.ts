import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

/** Paths of what a node shows, and of the authority that it trusts. */
export interface NodeCertificate {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** Purposes of certificates: with `serverAuth` alone a node can be dialled, but dial no other. */
type Purpose = 'serverAuth' | 'clientAuth' | 'serverAuth,clientAuth';

/** What openssl has made: the text of a certificate, and its key. */
interface Made {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Where it is written. */
type MadePaths = Pick<NodeCertificate, 'cert' | 'key'>;

/**
 * What was made for the clusters of this process, by what it is. They trust the same authority, and nodes of the same name show the
 * same certificate: openssl would take a tenth of the time in which a node starts.
 */
const OF_CLUSTERS = new Map<string, Made>();

/** A certificate authority of a test's own. */
export class CertificateAuthority {
  readonly #directory: string;
  readonly #name: string;
  readonly #made: Map<string, Made>;

  /** @param made what need not be made again */
  constructor(directory: string, name = 'ca', made = new Map<string, Made>()) {
    this.#directory = directory;
    this.#name = name;
    this.#made = made;
    const [cert, key] = [this.#path('pem'), this.#path('key')];
    const extension = ['-addext', 'basicConstraints=critical,CA:TRUE'];
    this.#make('authority', { cert, key }, () => {
      openssl(
        ...['req', '-x509', ...NEW_KEY, '-days', '2', '-subj', `/CN=${name}`, ...extension],
        ...['-keyout', key, '-out', cert],
      );
    });
  }

  /** The one of all clusters of this process, with its files in the folder of one. */
  static ofClusters(directory: string): CertificateAuthority {
    return new CertificateAuthority(directory, 'ca', OF_CLUSTERS);
  }

  /** Makes a certificate for an address. `authority` makes it one that may issue others. */
  issue(node: string, purpose: Purpose, address = '127.0.0.1', { days = 2, authority = false } = {}): NodeCertificate {
    const path = (kind: string) => join(this.#directory, `${this.#name}-${node}.${kind}`);
    const [cert, key] = [path('pem'), path('key')];
    this.#make(JSON.stringify({ node, purpose, address, days, authority }), { cert, key }, () => {
      writeFileSync(
        path('ext'),
        `subjectAltName=IP:${address}\nextendedKeyUsage=${purpose}\nbasicConstraints=CA:${authority}\n`,
      );
      openssl('req', ...NEW_KEY, '-subj', `/CN=${node}`, '-keyout', key, '-out', path('csr'));
      openssl(
        ...['x509', '-req', '-in', path('csr'), '-CA', this.#path('pem'), '-CAkey', this.#path('key')],
        ...['-CAcreateserial', '-days', String(days), '-extfile', path('ext'), '-out', cert],
      );
    });
    return { cert, key, ca: this.#path('pem') };
  }

  #make(what: string, { cert, key }: MadePaths, make: () => void): void {
    const before = this.#made.get(what);
    if (before) {
      writeFileSync(cert, before.cert);
      writeFileSync(key, before.key, { mode: 0o600 });
      return;
    }
    make();
    this.#made.set(what, { cert: readFileSync(cert), key: readFileSync(key) });
  }

  #path(kind: string): string {
    return join(this.#directory, `${this.#name}.${kind}`);
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function openssl(...args: readonly string[]): void {
  const made = spawnSync('openssl', [...args]);
  expect(made.status, made.stderr.toString()).toBe(0);
}
