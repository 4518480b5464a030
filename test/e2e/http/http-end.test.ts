import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';

import { describe, expect, it } from 'vitest';

import { ClientProcess } from '../../support/network/client-process.js';
import { TestDaemon } from '../../support/daemon.js';

/** Opens a connection and writes to it. */
async function open({ url }: TestDaemon, text: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  if (text !== '') await new Promise((resolve) => socket.write(text, resolve));
  // The daemon cuts it, and may do so while something is unread.
  socket.on('error', () => undefined);
  return socket;
}

describe('the end of the daemon is not held up', () => {
  it('by a connection that is kept alive', async () => {
    await using daemon = await TestDaemon.startCold();
    const agent = new Agent({ keepAlive: true });
    const asking = request(new URL('/healthz', daemon.url), { agent }).end();
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    expect(response.headers.connection).toBe('keep-alive');
    const closed = once(response.socket, 'close');
    response.resume();
    await once(response, 'end');
    expect(await daemon.stop()).toBe(0);
    await closed;
    agent.destroy();
  });

  it.each([
    ['that says nothing', ''],
    ['that has begun a request', 'GET /metrics HTTP/1.1\r\nHost: local'],
    ['that has begun a body', 'POST /socket.io/?EIO=4 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc'],
    [
      'that has asked for another protocol',
      'GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ],
  ])('by a connection %s', async (_, text) => {
    await using daemon = await TestDaemon.startCold();
    const socket = await open(daemon, text);
    const closed = once(socket, 'close');
    expect(await daemon.stop()).toBe(0);
    socket.resume();
    await closed;
  });

  it('by a client that has stopped', async () => {
    await using daemon = await TestDaemon.startCold();
    await using client = await ClientProcess.start(daemon.url, 'echo started; sleep 300');
    client.signal('SIGSTOP');
    const code = await daemon.stop();
    client.signal('SIGCONT');
    expect(code).toBe(0);
  });
});
