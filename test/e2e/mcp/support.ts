/** The first message of a client, as JSON. */
export const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});
/** What a client sends with each message. */
export const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
