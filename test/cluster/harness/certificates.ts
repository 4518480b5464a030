import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
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

/** A certificate authority of a test's own. */
export class CertificateAuthority {
  readonly #directory: string;
  readonly #name: string;

  constructor(directory: string, name = 'ca') {
    this.#directory = directory;
    this.#name = name;
    openssl(
      ...[
        'req',
        '-x509',
        ...NEW_KEY,
        '-days',
        '2',
        '-subj',
        `/CN=${name}`,
        '-addext',
        'basicConstraints=critical,CA:TRUE',
      ],
      ...['-keyout', this.#path('key'), '-out', this.#path('pem')],
    );
  }

  /** Makes a certificate for an address. `authority` makes it one that may issue others. */
  issue(node: string, purpose: Purpose, address = '127.0.0.1', { days = 2, authority = false } = {}): NodeCertificate {
    const path = (kind: string) => join(this.#directory, `${this.#name}-${node}.${kind}`);
    writeFileSync(
      path('ext'),
      `subjectAltName=IP:${address}\nextendedKeyUsage=${purpose}\nbasicConstraints=CA:${authority}\n`,
    );
    openssl('req', ...NEW_KEY, '-subj', `/CN=${node}`, '-keyout', path('key'), '-out', path('csr'));
    openssl(
      ...['x509', '-req', '-in', path('csr'), '-CA', this.#path('pem'), '-CAkey', this.#path('key'), '-CAcreateserial'],
      ...['-days', String(days), '-extfile', path('ext'), '-out', path('pem')],
    );
    return { cert: path('pem'), key: path('key'), ca: this.#path('pem') };
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
