import { describe, expect, it } from 'vitest';

import { passedAnswerHeaders, passedRequestHeaders } from '../../../../src/core/cluster/link-messages.js';

describe('headers on the way to a worker', () => {
  it('keep what the client has sent, but for its tokens and what belongs to the connection', () => {
    const kept = { host: 'gate.example', range: 'bytes=0-1', cookie: 'a=1', 'content-length': '3' };
    const dropped = {
      authorization: 'Bearer secret',
      'x-api-key': 'secret',
      'x-shell-adapter-ticket': 'forged',
      expect: '100-continue',
      connection: 'keep-alive, x-hop',
      'x-hop': '1',
      upgrade: 'h2c',
    };
    expect(passedRequestHeaders({ ...kept, ...dropped })).toEqual(kept);
  });

  it('keep the framing of a body, and the announcement of what follows it', () => {
    const chunked = { 'transfer-encoding': 'gzip, chunked', trailer: 'Repr-Digest' };
    expect(passedRequestHeaders(chunked)).toEqual({ 'transfer-encoding': 'chunked', trailer: 'Repr-Digest' });
    expect(passedRequestHeaders({ trailer: 'Repr-Digest' })).toEqual({});
  });

  it('ask for WebSocket', () => {
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket' };
    expect(passedRequestHeaders({ ...upgrade, 'sec-websocket-version': '13' }, true)).toEqual({
      ...upgrade,
      'sec-websocket-version': '13',
    });
    expect(passedAnswerHeaders({ ...upgrade, 'sec-websocket-accept': 'x' }, true)).toEqual({
      ...upgrade,
      'sec-websocket-accept': 'x',
    });
  });
});

describe('headers on the way back', () => {
  it('leave out what belongs to the connection', () => {
    const answer = { etag: '"1"', 'set-cookie': ['a=1', 'b=2'], 'keep-alive': 'timeout=60', connection: 'keep-alive' };
    expect(passedAnswerHeaders({ ...answer, 'transfer-encoding': 'chunked' })).toEqual({
      etag: '"1"',
      'set-cookie': ['a=1', 'b=2'],
    });
  });
});
