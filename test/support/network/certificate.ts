import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { expect } from 'vitest';

/** Makes a certificate for 127.0.0.1 that signs itself; returns the paths of its files in a directory. */
export function makeCertificate(directory: string): { readonly key: string; readonly cert: string } {
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const made = spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert],
  ]);
  expect(made.status, made.stderr.toString()).toBe(0);
  return { key, cert };
}
