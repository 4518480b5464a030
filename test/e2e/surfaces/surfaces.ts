import { type AdapterClient, ClientError, connect, ConfirmationRequiredError } from '../../../src/client/index.js';
import { TOOLS } from '../../../src/core/tools/tools.js';
import type { RequestName } from '../../../src/core/protocol/requests.js';
import { McpClient } from '../../support/network/mcp.js';
import { askRest } from '../../support/network/rest.js';
import { WireClient } from '../../support/wire.js';

/** An answer with bytes as text, or an error. */
export type Answered = Readonly<Record<string, unknown>>;

type Fields = Readonly<Record<string, unknown>>;

/** A way to make requests of the protocol. */
export interface Surface extends AsyncDisposable {
  readonly ask: (name: RequestName, payload: Fields) => Promise<Answered>;
  /** Whether it has the request, with these fields. */
  readonly has: (name: RequestName, payload?: Fields) => boolean;
}

const all = () => true;

async function wire(url: string): Promise<Surface> {
  const client = await WireClient.connect(url);
  return {
    has: all,
    ask: async (name, payload) => withText({ ...(await client.request(name, payload)) }),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

async function rest(url: string): Promise<Surface> {
  return Promise.resolve({
    has: all,
    ask: async (name, payload) => withText((await askRest(url, name, payload)).body),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}

async function mcp(url: string): Promise<Surface> {
  const client = await McpClient.connect(url, { over: 'http', mode: 'auto' });
  const toolOf = (name: RequestName) => TOOLS.find(({ request }) => request === name);
  return {
    has: (name, payload = {}) =>
      toolOf(name) !== undefined &&
      Object.keys(forModels(payload)).every((field) => Object.hasOwn(toolOf(name)?.schema.properties ?? {}, field)),
    ask: async (name, payload) => (await client.call(toolOf(name)?.name ?? name, { ...forModels(payload) })).answer,
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

/** The tools know text alone, and make the directories that are missing. */
const forModels = (fields: Fields): Fields => {
  const { data, ...rest } = Object.fromEntries(Object.entries(fields).filter(([name]) => !LEFT_OUT.has(name)));
  return { ...rest, ...(data !== undefined && { [rest['path'] === undefined ? 'data' : 'content']: data }) };
};

const LEFT_OUT: ReadonlySet<string> = new Set(['encoding', 'create_directories']);

async function typedClient(url: string): Promise<Surface> {
  const client = await connect(url);
  return {
    has: all,
    ask: async (name, payload) => {
      try {
        return withText({ ...(await callMethod(client, name, payload)) });
      } catch (error) {
        if (error instanceof ConfirmationRequiredError)
          return { ...error.confirmation, status: 'confirmation_required' };
        if (error instanceof ClientError) return { error: { code: error.code, message: error.message } };
        throw error;
      }
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** Calls the method for a request, where there is one. */
async function callMethod(client: AdapterClient, name: RequestName, payload: Fields): Promise<object> {
  const { path = '', to = '', pattern = '', data = '', session_id: id, ...others } = payload as Record<string, string>;
  const rest: object = others;
  const files = id === undefined ? client.files : client.filesOf(id);
  const methods: Partial<Record<RequestName, () => Promise<object>>> = {
    read_file: () => files.read(path, rest),
    write_file: () => files.write(path, data, rest),
    edit_file: () => files.edit(path, { old_text: '', new_text: '', ...rest }),
    list_directory: () => files.list(path, rest),
    stat_path: () => files.stat(path, rest),
    make_directory: () => files.makeDirectory(path, rest),
    move_path: () => files.move(path, to, rest),
    remove_path: () => files.remove(path, rest),
    find_files: () => files.find(pattern, { ...rest, path }),
    search_files: () => files.search(pattern, { ...rest, path }),
    send_input: () => inSession(client, id, (session) => session.sendInput(data, rest)),
    read_screen: () => inSession(client, id, (session) => session.readScreen()),
  };
  return (methods[name] ?? (() => client.request(name, payload)))();
}

async function inSession<T>(
  client: AdapterClient,
  id = '',
  act: (session: Awaited<ReturnType<AdapterClient['attachSession']>>) => Promise<T>,
): Promise<T> {
  const session = await client.attachSession(id);
  try {
    return await act(session);
  } finally {
    await session.detach();
  }
}

/** `data` as text, however the surface has bytes. */
function withText(answer: Fields): Fields {
  const { data } = answer;
  if (data instanceof Uint8Array) return { ...answer, data: Buffer.from(data).toString() };
  const { base64 } = (typeof data === 'object' && data !== null ? data : {}) as { readonly base64?: string };
  return base64 === undefined ? answer : { ...answer, data: Buffer.from(base64, 'base64').toString() };
}

/** All ways but Python, whose tests are its own, and the command line, which has no request for request. */
export const SURFACES: readonly (readonly [string, (url: string) => Promise<Surface>])[] = [
  ['Socket.IO', wire],
  ['the typed client', typedClient],
  ['REST', rest],
  ['MCP', mcp],
];
