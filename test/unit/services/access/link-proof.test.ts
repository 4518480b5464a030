import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { LinkSecret } from '../../../../src/services/access/dashboard-links.js';

const identity = { node: 'a', incarnation: 'abcdefg', version: '1', link_version: 1, instance_id: 'i' };
const nonces = { dialling: 'x'.repeat(22), dialled: 'y'.repeat(22) };

let directory: string;
let secretOf: (text: string) => LinkSecret;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'shell-adapter-secret-'));
  secretOf = (text) => {
    const file = join(directory, text.slice(0, 8));
    writeFileSync(file, `${text}\n`);
    return new LinkSecret(file);
  };
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

describe('a proof of the secret', () => {
  it('is accepted by a node with the same secret only', () => {
    const proof = secretOf('a'.repeat(32)).prove('dialling', nonces, identity);
    expect(secretOf('a'.repeat(32)).accepts(proof, 'dialling', nonces, identity)).toBe(true);
    expect(secretOf('b'.repeat(32)).accepts(proof, 'dialling', nonces, identity)).toBe(false);
  });

  it('counts for its end, its connection and its node only', () => {
    const secret = secretOf('c'.repeat(32));
    const proof = secret.prove('dialling', nonces, identity);
    expect(secret.accepts(proof, 'dialled', nonces, identity)).toBe(false);
    expect(secret.accepts(proof, 'dialling', { ...nonces, dialled: 'z'.repeat(22) }, identity)).toBe(false);
    expect(secret.accepts(proof, 'dialling', nonces, { ...identity, node: 'b' })).toBe(false);
  });

  it('needs a secret that is there and long enough', () => {
    expect(() => secretOf('short')).toThrow('at least 32');
    expect(() => new LinkSecret('/nonexistent')).toThrow('cannot be read');
  });
});
