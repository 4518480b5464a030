import { getEventListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';

import { expect, it } from 'vitest';

import { LOCAL_PRINCIPAL } from '../../../../src/core/principal.js';
import { TICKET_HEADER } from '../../../../src/core/cluster/link-messages.js';
import { Tickets } from '../../../../src/transports/link-server.js';

const requestWith = (ticket: string) => ({
  raw: { headers: { [TICKET_HEADER]: ticket } } as unknown as IncomingMessage,
});

it('a ticket is used once, ends with its link, and leaves nothing there', async () => {
  const tickets = new Tickets();
  const link = new AbortController();
  const admitted = { caller: { principal: LOCAL_PRINCIPAL, sink: undefined }, isEncrypted: false, ended: link.signal };
  const used = tickets.issue(admitted);
  const request = requestWith(used);
  await tickets.authenticate(request);
  expect(tickets.admittedOf(request)).toBe(admitted);
  expect(getEventListeners(link.signal, 'abort')).toEqual([]);
  await expect(tickets.authenticate(requestWith(used))).rejects.toThrow('no valid ticket');
  const late = tickets.issue(admitted);
  link.abort();
  await expect(tickets.authenticate(requestWith(late))).rejects.toThrow('no valid ticket');
});
