import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';

import { afterEach, expect, it } from 'vitest';

import { PatientRequests } from '../../../../src/transports/http/http-requests.js';

const server = createServer({ requestTimeout: 60, headersTimeout: 60, connectionsCheckingInterval: 10 });
const patient = new PatientRequests();
let timedOut = 0;
server.on('clientError', (_error, connection) => {
  timedOut += 1;
  connection.destroy();
});
patient.attach(server);

afterEach(() => server.close());

it('a request that may take its time outlives the time-out of the server, any other does not', async () => {
  server.on('request', (request, response) => {
    const hurry = request.url === '/slow' ? patient.begin(request.socket) : () => undefined;
    void text(request).then((body) => {
      hurry();
      response.end(body);
    }, hurry);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const begin = (path: string) => {
    const connection = connect(port, '127.0.0.1');
    connection.write(`PUT ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\nconnection: close\r\n\r\nab`);
    return connection;
  };
  const slow = begin('/slow');
  const answered = text(slow);
  // The other one, begun later, has timed out: so the first is late, too.
  await once(begin('/').resume(), 'close');
  expect(timedOut).toBe(1);
  slow.write('cd');
  expect(await answered).toMatch(/^HTTP\/1.1 200[^]*abcd/);
  expect(timedOut).toBe(1);
});
