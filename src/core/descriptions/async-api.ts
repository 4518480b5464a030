import { type RequestName, requests } from '../protocol/requests.js';
import { type EventName, events } from '../protocol/results.js';
import { FAILURE_SCHEMAS } from './open-api.js';
import { type JsonSchema, type ProtocolSchemas, protocolSchemas } from './schemas.js';

const DESCRIPTION = `The wire protocol over Socket.IO 4, at the default namespace. A request is an event with one payload and an acknowledgement,
which gets the answer; without one the answer is the event \`NAME_result\`, with the \`request_id\` of the request.

A field that may be absent may also be null. Bytes are binary attachments.`;

const CHANNEL = { $ref: '#/channels/namespace' };

/** Where the daemon is. */
export interface ServerPlace {
  /** Name or address, and port. */
  readonly host: string;
  readonly isEncrypted: boolean;
}

const requestNames = Object.keys(requests) as RequestName[];
const eventNames = Object.keys(events) as EventName[];

/** Describes requests and events over Socket.IO, as AsyncAPI 3. */
export function asyncApiDocument(version: string, place: ServerPlace): JsonSchema {
  const protocol = protocolSchemas({ target: 'draft-7', bytes: { type: 'string', format: 'binary' } });
  const messages = messagesOf(protocol);
  const inChannel = Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]);
  return {
    asyncapi: '3.0.0',
    info: { title: 'shell-adapter', version, description: DESCRIPTION, license: { name: 'MIT' } },
    defaultContentType: 'application/json',
    servers: { daemon: serverAt(place) },
    channels: { namespace: { address: '/', messages: Object.fromEntries(inChannel) as JsonSchema } },
    operations: Object.fromEntries([...requestNames.map(receiving), ...eventNames.map(sending)]),
    components: {
      messages,
      schemas: { ...protocol.schemas, ...FAILURE_SCHEMAS },
      securitySchemes: {
        token: { type: 'apiKey', in: 'password', description: '`auth: { token }` of the handshake' },
      },
    },
  };
}

const serverAt = ({ host, isEncrypted }: ServerPlace) => ({
  host,
  protocol: isEncrypted ? 'wss' : 'ws',
  description: 'Socket.IO, over WebSocket or long-polling',
  security: [{ $ref: '#/components/securitySchemes/token' }],
});

/** The messages, by name: requests, answers and events. */
function messagesOf({ inputOf, outputOf, eventOf }: ProtocolSchemas): Readonly<Record<string, JsonSchema>> {
  const asked = requestNames.map((name) => ({
    name,
    summary: requests[name].summary,
    payload: inputOf(name),
    examples: [{ payload: requests[name].example }],
  }));
  const answers = requestNames.map((name) => ({
    name: `${name}_result`,
    summary: `The answer to \`${name}\`.`,
    payload: { anyOf: [outputOf(name), { $ref: '#/components/schemas/Failure' }] },
  }));
  const sent = eventNames.map((name) => ({ name, summary: events[name].summary, payload: eventOf(name) }));
  return Object.fromEntries([...asked, ...answers, ...sent].map((message) => [message.name, message]));
}

const messageOf = (name: string) => ({ $ref: `#/channels/namespace/messages/${name}` });

const receiving = (name: RequestName): readonly [string, JsonSchema] => [
  name,
  {
    action: 'receive',
    channel: CHANNEL,
    summary: requests[name].summary,
    messages: [messageOf(name)],
    reply: { channel: CHANNEL, messages: [messageOf(`${name}_result`)] },
  },
];

const sending = (name: EventName): readonly [string, JsonSchema] => [
  `send_${name}`,
  { action: 'send', channel: CHANNEL, summary: events[name].summary, messages: [messageOf(name)] },
];
