import { expect, describe, it } from 'vitest';

import { type DaemonAndClient, useDaemon } from '../../support/daemon-and-client.js';
import { WireClient } from '../../support/wire.js';

const MAX_MESSAGE_BYTES = 16 * 1024;
/** Up to here a message is read, to be answered. */
const MAX_FRAME_BYTES = 8 * 1024 * 1024;

let on: DaemonAndClient;
useDaemon(
  (started) => {
    on = started;
  },
  { settings: { socketio: { max_message_bytes: MAX_MESSAGE_BYTES }, confirmation: { mode: 'off' } } },
);

describe.each(['websocket', 'polling'] as const)('a message that is too large, by %s', (transport) => {
  it.each([
    ['a little', MAX_MESSAGE_BYTES],
    ['far', MAX_FRAME_BYTES - 64 * 1024],
  ])('%s is answered, and the connection and its sessions stay', async (_how, size) => {
    await using client = await WireClient.connect(on.daemon.url, [transport]);
    const session = await client.openSession();
    await client.run('x=kept', session);
    const answer = await client.run('cat', session, { stdin: 'x'.repeat(size) });
    expect(answer.error).toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      details: { max_bytes: MAX_MESSAGE_BYTES },
      message: expect.stringMatching(
        /^execute_command takes \d+ bytes, the daemon at most 16384 \(max_message_bytes\)$/,
      ) as string,
    });
    expect(answer.error?.details?.['bytes']).toBeGreaterThan(size);
    expect(await client.run('echo $x', session)).toMatchObject({ stdout: 'kept\n' });
  });

  it('with attachments counts them', async () => {
    await using client = await WireClient.connect(on.daemon.url, [transport]);
    const data = Buffer.alloc(MAX_MESSAGE_BYTES);
    const answer = await client.request('send_input', { command_id: 'x', data });
    expect(answer.error).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    const small = await client.request('send_input', { command_id: 'x', data: data.subarray(1000) });
    expect(small.error).toMatchObject({ code: 'COMMAND_NOT_FOUND' });
  });

  it('without a callback is answered as an event, with its request_id; unknown names too', async () => {
    await using client = await WireClient.connect(on.daemon.url, [transport]);
    client.socket.emit('check_command', { command: 'x'.repeat(MAX_MESSAGE_BYTES), request_id: 7 });
    client.socket.emit('nonsense', 'x'.repeat(MAX_MESSAGE_BYTES));
    const found = (name: string) => client.events.find((event) => event.name === name)?.payload;
    expect(await client.until(() => found('check_command_result'))).toMatchObject({
      request_id: 7,
      error: { code: 'PAYLOAD_TOO_LARGE' },
    });
    expect(await client.until(() => found('nonsense_result'))).toMatchObject({ error: { code: 'PAYLOAD_TOO_LARGE' } });
  });

  it('beyond every bound ends the connection, which is all that ends', async () => {
    const client = await WireClient.connect(on.daemon.url, [transport]);
    const ended = new Promise((resolve) => client.socket.once('disconnect', resolve));
    client.socket.emit('check_command', { command: 'x'.repeat(MAX_FRAME_BYTES) });
    await ended;
    expect(await on.client.run('echo there')).toMatchObject({ stdout: 'there\n' });
  });
});

it('attachments that go on beyond the bound together end the connection', async () => {
  const client = await WireClient.connect(on.daemon.url);
  const ended = new Promise((resolve) => client.socket.once('disconnect', resolve));
  const part = Buffer.alloc(3 * 1024 * 1024);
  client.socket.emit('send_input', { data: [part, part, part] });
  await ended;
  expect(await on.client.run('echo there')).toMatchObject({ stdout: 'there\n' });
});
