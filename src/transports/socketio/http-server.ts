import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server as HttpServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';

/** Time for a client to send its HTTP headers: a slow one must not hold a connection for Node's minute. */
const HEADERS_TIMEOUT_MS = 5000;
const REQUEST_TIMEOUT_MS = 15_000;

/** Paths of a certificate and its key, in PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/**
 * Makes the server below Socket.IO; it does not listen yet.
 * @param tls undefined for plain HTTP
 * @throws the system's error, or that of OpenSSL, when the certificate or its key cannot be used
 */
export function createHttpServer(tls: TlsFiles | undefined, answer: RequestListener): HttpServer {
  const limits = { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS };
  if (!tls) return createServer(limits, answer);
  return createTlsServer({ ...limits, cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, answer);
}
