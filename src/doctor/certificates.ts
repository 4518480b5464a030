import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

import type { Finding } from './finding.js';

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
