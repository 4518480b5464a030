import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  type CertificateUse,
  type ClusterSurroundings,
  examineCertificate,
  examineCluster,
  type NodeCredentials,
} from '../../../src/doctor/cluster.js';
import { CertificateAuthority, type NodeCertificate } from '../../cluster/harness/certificates.js';
import { canRunRedis, freePort, RedisServer } from '../../cluster/harness/redis.js';

/** Longer than the time in which the end of a certificate is near. */
const LONG = { days: 60 };
const DAY_MS = 86_400_000;

let directory: string;
let authority: CertificateAuthority;
let worker: NodeCertificate;
let gateway: NodeCertificate;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'shell-adapter-doctor-'));
  authority = new CertificateAuthority(directory);
  worker = authority.issue('worker', 'serverAuth', '127.0.0.1', LONG);
  gateway = authority.issue('gateway', 'serverAuth,clientAuth', '127.0.0.1', LONG);
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

const read = ({ cert, key, ca }: NodeCertificate): NodeCredentials => ({
  cert: readFileSync(cert, 'utf8'),
  key: readFileSync(key, 'utf8'),
  ca: readFileSync(ca, 'utf8'),
});

const examine = (
  certificate: NodeCertificate,
  use: Partial<CertificateUse> = {},
  other: Partial<NodeCredentials> = {},
) =>
  examineCertificate(
    { ...read(certificate), ...other },
    { role: 'worker', host: '127.0.0.1', now: Date.now(), ...use },
  );

describe('the certificate of a node', () => {
  it('is as it has to be for each role', () => {
    expect(examine(worker)).toEqual([]);
    expect(examine(gateway, { role: 'gateway', host: undefined })).toEqual([]);
    expect(examine(gateway, { role: 'node' })).toEqual([]);
  });

  it('lacks a purpose, or has one that helps a thief', () => {
    for (const role of ['gateway', 'node'] as const) {
      expect(examine(worker, { role })).toMatchObject([
        { status: 'missing', detail: `its purposes lack clientAuth, which a ${role} needs` },
      ]);
    }
    expect(examine(gateway)).toMatchObject([
      { status: 'warn', detail: expect.stringContaining('clientAuth') as string },
    ]);
  });

  it('has expired, will soon, or is not valid yet', () => {
    const at = (days: number) => examine(worker, { now: Date.now() + days * DAY_MS });
    expect(at(61)).toMatchObject([{ status: 'missing', detail: expect.stringMatching(/^it has expired/) as string }]);
    expect(at(50)).toMatchObject([{ status: 'warn', detail: expect.stringMatching(/^it ends soon/) as string }]);
    expect(at(-2)).toMatchObject([{ status: 'missing', detail: expect.stringMatching(/^it is valid from/) as string }]);
  });

  it('is of another key, another authority, or for another host', () => {
    const { key } = read(gateway);
    expect(examine(worker, {}, { key })).toMatchObject([
      { status: 'missing', detail: 'cluster.tls.key is not the key of the certificate' },
    ]);
    // The same name does not make it the same authority.
    const ca = readFileSync(
      new CertificateAuthority(mkdtempSync(join(directory, 'other-'))).issue('x', 'serverAuth').ca,
    );
    expect(examine(worker, {}, { ca: String(ca) })).toMatchObject([
      { status: 'missing', detail: 'cluster.tls.ca has not issued it' },
    ]);
    for (const host of ['10.0.0.7', 'worker.example'])
      expect(examine(worker, { host })).toMatchObject([
        { status: 'missing', detail: expect.stringContaining(host) as string },
      ]);
  });

  it('may be issued by an authority between, which is behind it in its file', () => {
    const between = authority.issue('between', 'serverAuth', '127.0.0.1', { ...LONG, authority: true });
    const files = ['key', 'csr', 'ext', 'pem'].map((kind) => join(directory, `leaf.${kind}`));
    const [key, request, extensions, certificate] = files as [string, string, string, string];
    writeFileSync(extensions, 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n');
    const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
    openssl('req', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=leaf', '-keyout', key, '-out', request);
    openssl(
      ...['x509', '-req', '-in', request, '-CA', between.cert, '-CAkey', between.key, '-CAcreateserial'],
      ...['-days', '60', '-extfile', extensions, '-out', certificate],
    );
    const leaf = { cert: certificate, key, ca: worker.ca };
    expect(examine(leaf)).toMatchObject([{ detail: 'cluster.tls.ca has not issued it' }]);
    const cert = readFileSync(certificate, 'utf8') + readFileSync(between.cert, 'utf8');
    expect(examine(leaf, {}, { cert })).toEqual([]);
  });
});

describe('a node of a cluster', () => {
  const nodeWith = (other: Partial<ClusterSurroundings> = {}): ClusterSurroundings => {
    const secretFile = join(directory, 'secret');
    writeFileSync(secretFile, 'x'.repeat(64));
    return {
      role: 'worker',
      linkUrl: undefined,
      linkHost: '127.0.0.1',
      secretFile,
      redisUrl: undefined,
      tls: worker,
      ...other,
    };
  };
  const findings = async (other: Partial<ClusterSurroundings>) => {
    const found = await examineCluster(nodeWith(other));
    return found.map(({ name, status, detail, fix }) => {
      expect(fix === undefined).toBe(status === 'ok');
      return `${status} ${name}: ${detail}`;
    });
  };

  it('is none for a daemon alone', async () => {
    expect(await examineCluster(undefined)).toEqual([]);
  });

  it('has its secret and its certificate', async () => {
    expect(await findings({})).toEqual([
      expect.stringMatching(/^ok cluster secret: .*secret, of the cluster [0-9a-f]{32}$/) as string,
      `ok cluster certificate: ${worker.cert}, as a worker needs it`,
    ]);
    expect(await findings({ secretFile: '/nowhere' })).toContainEqual(
      expect.stringMatching(/^missing cluster secret: .*\/nowhere/),
    );
    expect(await findings({ tls: { ...worker, key: '/nowhere' } })).toContainEqual(
      expect.stringMatching(/^missing cluster certificate: .*\/nowhere/),
    );
    expect(await findings({ tls: undefined })).toContainEqual(expect.stringMatching(/^warn cluster certificate: none/));
  });

  it('is not told to others as every address of a machine', async () => {
    const redisUrl = `redis://127.0.0.1:${await freePort()}/0`;
    const linkHost = '0.0.0.0';
    const isAbout = (found: readonly string[]) => found.filter((text) => text.includes('cluster address'));
    expect(isAbout(await findings({ linkHost, redisUrl }))).toEqual([
      expect.stringMatching(/^missing cluster address: .*0\.0\.0\.0/) as string,
    ]);
    expect(isAbout(await findings({ linkHost, redisUrl, linkUrl: 'https://127.0.0.1:8088' }))).toEqual([]);
    expect(isAbout(await findings({ linkHost, redisUrl, role: 'gateway', tls: gateway }))).toEqual([]);
    expect(isAbout(await findings({ linkHost }))).toEqual([]);
  });

  it.skipIf(!canRunRedis)('reaches Redis, or not', async () => {
    await using redis = await RedisServer.start({ password: 'kept-secret' });
    expect(await findings({ redisUrl: redis.url })).toContain('ok cluster registry: Redis answers');
    const refused = await findings({ redisUrl: redis.url.replace('kept', 'wrong') });
    expect(refused).toContainEqual(expect.stringMatching(/^warn cluster registry: .*WRONGPASS/));
    expect(refused.join('')).not.toContain('wrong-secret');
    await redis.kill();
    expect(await findings({ redisUrl: redis.url })).toContainEqual(
      expect.stringMatching(/^warn cluster registry: .*ECONNREFUSED/),
    );
  });
});
