import { readFileSync } from 'node:fs';

import { RedisConnection } from '../cluster/registry/redis/connection.js';
import type { Log } from '../core/logging/log.js';
import { LinkSecret } from '../services/access/link-proof.js';
import { type CertificateUse, examineCertificate } from './certificates.js';
import type { Finding } from './finding.js';

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

const noop = () => undefined;
/** Nothing is reported but what the examination finds. */
const QUIET: Log = { debug: noop, info: noop, warn: noop, error: noop };
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
    const connection = await RedisConnection.open({ url, prefix: '', onError: noop, log: QUIET });
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
