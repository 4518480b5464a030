import { describe, expect, it, vi } from 'vitest';

import { LOCAL_PRINCIPAL } from '../../../src/core/principal.js';
import { NO_AUDIT } from '../../../src/core/audit-events.js';
import { AdapterError } from '../../../src/core/errors.js';
import type { Log } from '../../../src/core/log.js';
import { NO_METRICS } from '../../../src/core/metrics.js';
import { SecretMask } from '../../../src/core/secrets.js';
import { NO_TRACES } from '../../../src/core/traces.js';
import type { Caller } from '../../../src/services/registry/caller.js';
import { NO_CLUSTER } from '../../../src/services/cluster-port.js';
import { RequestAudit } from '../../../src/services/audit.js';
import type { Services } from '../../../src/services/services.js';
import { dispatch } from '../../../src/transports/dispatch.js';

const CALLER: Caller = { principal: LOCAL_PRINCIPAL, sink: undefined };

const makeLog = () => ({
  debug: vi.fn<Log['debug']>(),
  info: vi.fn<Log['info']>(),
  warn: vi.fn<Log['warn']>(),
  error: vi.fn<Log['error']>(),
});

/** Services of which only the metadata is asked, and does this. */
const servicesThat = (describe: () => unknown, isClosing = false): Services =>
  ({
    metadata: { describe },
    metrics: NO_METRICS,
    traces: NO_TRACES,
    requestAudit: new RequestAudit(NO_AUDIT),
    secrets: new SecretMask(),
    quotas: { countRequest: () => undefined },
    cluster: NO_CLUSTER,
    isClosing: () => isClosing,
  }) as unknown as Services;

const ask = (services: Services, log = makeLog()) => dispatch({ services, log }, 'shell_metadata', {}, CALLER);

const fault = () => new TypeError("Cannot read properties of undefined (reading 'x')");

describe('F32: a fault in a handler', () => {
  it.each([
    [
      'thrown',
      () => {
        throw fault();
      },
    ],
    ['rejected', () => Promise.reject(fault())],
    [
      'rejected later',
      async () => {
        await Promise.resolve();
        throw fault();
      },
    ],
  ])('F32: %s: the client gets INTERNAL, the log the details', async (_, describe) => {
    const log = makeLog();
    const reply = await ask(servicesThat(describe), log);
    expect(reply).toMatchObject({ error: { code: 'INTERNAL' } });
    expect(log.error).toHaveBeenCalledOnce();
    expect(JSON.stringify(log.error.mock.calls)).toContain('shell_metadata');
    expect(JSON.stringify(log.error.mock.calls)).toContain('dispatch.test');
  });

  it.each([
    ['a text', 'just text'],
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['an object', { a: 1 }],
  ])('F32: %s thrown instead of an error: INTERNAL too', async (_, thrown) => {
    const reply = await ask(
      servicesThat(() => {
        // oxlint-disable-next-line typescript/only-throw-error -- what a library may do
        throw thrown;
      }),
    );
    expect(reply).toMatchObject({ error: { code: 'INTERNAL' } });
  });

  it('F32: the next request is not affected', async () => {
    const answers = [
      () => {
        throw fault();
      },
      () => ({ fine: true }),
    ];
    const services = servicesThat(() => answers.shift()?.());
    expect(await ask(services)).toMatchObject({ error: { code: 'INTERNAL' } });
    expect(await ask(services)).toEqual({ fine: true });
  });
});

describe('errors that are expected', () => {
  it('one of the catalogue goes to the client as it is, and not to the log', async () => {
    const log = makeLog();
    const error = new AdapterError('SESSION_BUSY', 'busy', { details: { queued: 2 } });
    const reply = await ask(
      servicesThat(() => Promise.reject(error)),
      log,
    );
    expect(reply).toEqual({ error: { code: 'SESSION_BUSY', message: 'busy', details: { queued: 2 } } });
    expect(log.error).not.toHaveBeenCalled();
  });

  it.each(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOSPC'])(
    '%s of the system is RESOURCE_EXHAUSTED',
    async (code) => {
      const reply = await ask(servicesThat(() => Promise.reject(Object.assign(new Error(code), { code }))));
      expect(reply).toMatchObject({ error: { code: 'RESOURCE_EXHAUSTED', details: { errno: code } } });
    },
  );

  it('while the daemon ends, work is refused and questions are answered', async () => {
    const services = servicesThat(() => ({}), true);
    expect(await ask(services)).toMatchObject({ error: { code: 'SHUTTING_DOWN' } });
  });
});
