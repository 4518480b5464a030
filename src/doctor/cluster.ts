import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';

import { RedisConnection } from '../cluster/registry/redis-connection.js';
import { LinkSecret } from '../services/access/dashboard-links.js';
import { type Finding, QUIET } from './finding.js';

/** Object identifiers of the purposes of certificates (RFC 5280, 4.2.1.12). */
const PURPOSES = { serverAuth: '1.3.6.1.5.5.7.3.1', clientAuth: '1.3.6.1.5.5.7.3.2' } as const;
/** A certificate that ends sooner is reported, in days. */
const SOON_DAYS = 14;
const DAY_MS = 86_400_000;
const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** What a node shows other nodes, and trusts, in PEM. */
export interface NodeCredentials {
  /** Its certificate, with the chain behind it. */
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** What the certificate of a node is for. */
export interface CertificateUse {
  readonly role: 'node' | 'gateway' | 'worker';
  /** Name or address by which other nodes dial this one; undefined when it is not known, and for a gateway. */
  readonly host: string | undefined;
  /** The time now, in milliseconds since 1970. */
  readonly now: number;
}

type Problem = Required<Pick<Finding, 'status' | 'detail' | 'fix'>>;

const broken = (detail: string, fix: string): Problem => ({ status: 'missing', detail, fix });
const doubtful = (detail: string, fix: string): Problem => ({ status: 'warn', detail, fix });
const AGAIN = 'issue another one, as deploy/cluster/make-secrets does';

/**
 * Why other nodes would refuse a certificate, and what else is wrong with it.
 * @throws Error when something is no PEM
 */
export function examineCertificate({ cert, key, ca }: NodeCredentials, use: CertificateUse): readonly Problem[] {
  const [leaf, ...chain] = certificatesIn(cert);
  if (!leaf) throw new Error('cluster.tls.cert has no certificate');
  const isOwnKey = leaf.checkPrivateKey(createPrivateKey(key));
  const fix = 'set cluster.tls.key to the key with which it was requested';
  return [
    ...(isOwnKey ? [] : [broken('cluster.tls.key is not the key of the certificate', fix)]),
    ...examineTime(leaf, use.now),
    ...examineIssuer(leaf, chain, certificatesIn(ca)),
    ...examinePurposes(leaf, use.role),
    ...examineHost(leaf, use.host),
  ];
}

const certificatesIn = (pem: string): X509Certificate[] =>
  (pem.match(PEM_BLOCK) ?? []).map((block) => new X509Certificate(block));

function examineTime({ validFrom, validTo }: X509Certificate, now: number): Problem[] {
  if (now < Date.parse(validFrom)) return [broken(`it is valid from ${validFrom} on`, 'set the clock, or wait')];
  const leftMs = Date.parse(validTo) - now;
  if (leftMs <= 0) return [broken(`it has expired: ${validTo}`, AGAIN)];
  return leftMs < SOON_DAYS * DAY_MS ? [doubtful(`it ends soon: ${validTo}`, AGAIN)] : [];
}

/** Follows the chain up to one of the authorities. */
function examineIssuer(
  leaf: X509Certificate,
  chain: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): Problem[] {
  const isIssuedBy = (one: X509Certificate) => (other: X509Certificate) =>
    one.checkIssued(other) && one.verify(other.publicKey);
  let current: X509Certificate | undefined = leaf;
  for (let left = chain.length; current && left >= 0; left -= 1) {
    if (authorities.some(isIssuedBy(current))) return [];
    current = chain.find(isIssuedBy(current));
  }
  return [broken('cluster.tls.ca has not issued it', 'give all nodes the same authority, and certificates of it')];
}

/** A worker is dialled, a gateway dials, a node does both. A worker that may also dial is a risk if its key is stolen. */
function examinePurposes({ keyUsage }: X509Certificate, role: CertificateUse['role']): Problem[] {
  const may = (purpose: keyof typeof PURPOSES) =>
    (keyUsage as string[] | undefined)?.includes(PURPOSES[purpose]) ?? true;
  const needed = { worker: ['serverAuth'], gateway: ['clientAuth'], node: ['serverAuth', 'clientAuth'] } as const;
  const lacks = needed[role].filter((purpose) => !may(purpose));
  if (lacks.length > 0) return [broken(`its purposes lack ${lacks.join(' and ')}, which a ${role} needs`, AGAIN)];
  if (role !== 'worker' || !may('clientAuth')) return [];
  const detail = 'it may be used as clientAuth: with what is stolen from this worker, other nodes can be dialled';
  return [doubtful(detail, 'issue one with the purpose serverAuth alone')];
}

function examineHost(leaf: X509Certificate, host: string | undefined): Problem[] {
  if (host === undefined) return [];
  const isFor = isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host);
  if (isFor !== undefined) return [];
  return [broken(`it does not name ${host}, by which other nodes reach this one`, AGAIN)];
}

/** A node of a cluster, by its configuration. */
export interface ClusterSurroundings {
  readonly role: CertificateUse['role'];
  readonly linkUrl: string | undefined;
  readonly linkHost: string;
  readonly secretFile: string;
  /** Undefined where workers are registered at each gateway. */
  readonly redisUrl: string | undefined;
  /** Paths; undefined for links without TLS. */
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string } | undefined;
}

/** Addresses that stand for all of a machine: no other node can dial them. */
const ANY = new Set(['0.0.0.0', '::']);

/** Checks what a node needs to be found and accepted by others. Undefined for a daemon alone. */
export async function examineCluster(node: ClusterSurroundings | undefined): Promise<readonly Finding[]> {
  if (!node) return [];
  return [
    examineSecret(node),
    ...examineLinks(node),
    ...examineAddress(node),
    ...(node.redisUrl === undefined ? [] : [await examineRegistry(node.redisUrl)]),
  ];
}

function examineSecret({ secretFile }: ClusterSurroundings): Finding {
  const name = 'cluster secret';
  try {
    return { name, status: 'ok', detail: `${secretFile}, of the cluster ${new LinkSecret(secretFile).clusterId}` };
  } catch (error) {
    return {
      name,
      status: 'missing',
      detail: (error as Error).message,
      fix: 'copy the secret of the other nodes there',
    };
  }
}

function examineLinks({ tls, role, linkUrl, linkHost }: ClusterSurroundings): Finding[] {
  const name = 'cluster certificate';
  if (!tls) {
    const detail = 'none: links have no TLS (cluster.insecure_links), and the secret alone keeps others out';
    return [{ name, status: 'warn', detail, fix: 'set cluster.tls, unless the network itself encrypts' }];
  }
  const host = linkUrl === undefined ? linkHost : new URL(linkUrl).hostname.replace(/^\[(.*)\]$/, '$1');
  const use = { role, host: role === 'gateway' || ANY.has(host) ? undefined : host, now: Date.now() };
  try {
    const credentials = { cert: readText(tls.cert), key: readText(tls.key), ca: readText(tls.ca) };
    const problems = examineCertificate(credentials, use);
    if (problems.length === 0) return [{ name, status: 'ok', detail: `${tls.cert}, as a ${role} needs it` }];
    return problems.map(({ detail, ...rest }) => ({ name, ...rest, detail: `${tls.cert}: ${detail}` }));
  } catch (error) {
    return [{ name, status: 'missing', detail: (error as Error).message, fix: 'set cluster.tls to files in PEM' }];
  }
}

const readText = (file: string): string => readFileSync(file, 'utf8');

/** Other nodes learn the address from Redis. */
function examineAddress({ role, linkUrl, linkHost, redisUrl }: ClusterSurroundings): Finding[] {
  if (role === 'gateway' || redisUrl === undefined || linkUrl !== undefined || !ANY.has(linkHost)) return [];
  const detail = `other nodes are told to dial ${linkHost} (cluster.link_host), which leads each to itself`;
  return [
    { name: 'cluster address', status: 'missing', detail, fix: 'set cluster.link_url to where they reach this node' },
  ];
}

async function examineRegistry(url: string): Promise<Finding> {
  const name = 'cluster registry';
  try {
    const connection = await RedisConnection.open({ url, prefix: '', onError: () => undefined, log: QUIET });
    const { problem } = connection;
    await connection[Symbol.asyncDispose]();
    if (problem === undefined) return { name, status: 'ok', detail: 'Redis answers' };
    const fix = 'see that Redis runs, and that cluster.redis_url has its address and password';
    return { name, status: 'warn', detail: `Redis does not answer: ${problem}`, fix };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return { name, status: 'missing', detail: 'cluster.redis_url needs ioredis', fix: 'npm install ioredis' };
  }
}
