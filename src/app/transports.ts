import type { Configuration } from '../config/configuration.js';
import type { LogFactory } from '../core/log.js';
import type { Services } from '../services/services.js';
import type { PrometheusMetrics } from '../transports/http/prometheus.js';
import { HttpServer } from '../transports/http/server.js';
import { SocketIoServer } from '../transports/socketio/server.js';

import type { Closers } from './closers.js';

/** The port, and what listens on it. Nothing listens yet. */
export function buildTransports(
  services: Services,
  { socketio }: Configuration,
  metrics: PrometheusMetrics | undefined,
  log: LogFactory,
  closers: Closers,
): { readonly http: HttpServer; readonly server: SocketIoServer } {
  const { readiness, access } = services;
  const door = { ...socketio, takesPages: access.takesPages };
  const http = new HttpServer({ readiness, metrics, door, log: log('http'), ...socketio });
  closers.push(() => http[Symbol.asyncDispose]());
  const { server: port, isUnixPeer } = http;
  const server = new SocketIoServer({ services, http: port, isUnixPeer, door, log: log('socketio'), ...socketio });
  closers.push(() => server[Symbol.asyncDispose]());
  return { http, server };
}
