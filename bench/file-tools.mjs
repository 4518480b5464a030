// The file tools of MCP beside those of Desktop Commander, on the same tasks: `npm run bench:file-tools`. Both servers run over stdio in
// copies of one folder. Desktop Commander is installed into this user's cache when it is not there. A task may take several calls. With
// SHOW_ANSWERS=1 in the environment, it prints what they answer.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { summarize } from './measure.mjs';

const PEER = '@wonderwhy-er/desktop-commander@0.2.52';
const ROUNDS = 15;
const FILES = 800;
/** Where the long file has what is looked for. */
const MARKED_LINE = 2_500;
/** Characters of a token, about. */
const CHARACTERS = 4;
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

const root = mkdtempSync(join(tmpdir(), 'shell-adapter-file-tools-'));
const cache = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'shell-adapter/peers/desktop-commander-0.2.52',
);

/** The tasks, in the words of both: each gives calls, or asks for the next one after an answer. */
const TASKS = [
  {
    name: 'read the first 100 lines of 5,000',
    ours: [['read_file', { path: 'long.txt', max_lines: 100 }]],
    theirs: (at) => [['read_file', { path: at('long.txt'), offset: 0, length: 100 }]],
    finds: 'line 100 ',
  },
  {
    name: 'read lines 2,490 to 2,510',
    ours: [['read_file', { path: 'long.txt', from_line: 2490, max_lines: 21 }]],
    theirs: (at) => [['read_file', { path: at('long.txt'), offset: 2489, length: 21 }]],
    finds: 'line 2510 ',
  },
  {
    name: 'read a log of 5 MB',
    ours: [['read_file', { path: 'large.log' }]],
    theirs: (at) => [['read_file', { path: at('large.log') }]],
    finds: 'entry 1 ',
  },
  {
    name: `find a word in ${FILES} files`,
    ours: [['search_files', { pattern: 'needle_in_one_file' }]],
    theirs: (at) => [
      ['start_search', { path: at(''), pattern: 'needle_in_one_file', searchType: 'content' }],
      untilFound,
    ],
    finds: 'needle_in_one_file',
  },
  {
    name: 'find a word that is everywhere',
    ours: [['search_files', { pattern: 'export const' }]],
    theirs: (at) => [['start_search', { path: at(''), pattern: 'export const', searchType: 'content' }], untilFound],
    finds: 'export const',
  },
  {
    name: 'change a line',
    ours: [['edit_file', { path: 'edited.txt', old_text: 'value = 1;', new_text: 'value = 2;' }]],
    theirs: (at) => [
      ['edit_block', { file_path: at('edited.txt'), old_string: 'value = 1;', new_string: 'value = 2;' }],
    ],
    before: (folder) => writeFileSync(join(folder, 'edited.txt'), 'first\nvalue = 1;\nlast\n'),
    finds: '',
  },
  {
    name: 'change a text that is not there',
    ours: [['edit_file', { path: 'edited.txt', old_text: 'value = 3;', new_text: 'value = 2;' }]],
    theirs: (at) => [
      ['edit_block', { file_path: at('edited.txt'), old_string: 'value = 3;', new_string: 'value = 2;' }],
    ],
    before: (folder) => writeFileSync(join(folder, 'edited.txt'), 'first\nvalue = 1;\nlast\n'),
    finds: '',
  },
  {
    name: 'write a file of 50 lines',
    ours: [['write_file', { path: 'new/file.txt', content: lines(50) }]],
    theirs: (at) => [
      ['create_directory', { path: at('new') }],
      ['write_file', { path: at('new/file.txt'), content: lines(50) }],
    ],
    finds: '',
  },
];

/** A search of theirs goes on beside: it is asked for until its first results come, or it has ended. */
const untilFound = (text) => {
  const [, id] = /session: (search_\w+)/.exec(text) ?? [];
  const isOver = id === undefined || !/Status: (?:RUNNING|IN PROGRESS)/.test(text) || /^📄/m.test(text);
  return isOver ? undefined : ['get_more_search_results', { sessionId: id }];
};

function lines(count) {
  return Array.from(
    { length: count },
    (_, index) => `line ${index + 1} of a text that is long enough to be one\n`,
  ).join('');
}

function makeFolder(name) {
  const folder = join(root, name);
  mkdirSync(join(folder, 'src'), { recursive: true });
  for (let file = 0; file < FILES; file += 1) {
    const word = file === FILES - 7 ? 'needle_in_one_file' : `word_${file}`;
    writeFileSync(join(folder, 'src', `file-${file}.ts`), `export const ${word} = ${file};\n${lines(40)}`);
  }
  const long = Array.from({ length: 5000 }, (_, n) => `line ${n + 1} ${n + 1 === MARKED_LINE ? 'marked' : 'plain'}\n`);
  writeFileSync(join(folder, 'long.txt'), long.join(''));
  const log = Array.from(
    { length: 60_000 },
    (_, n) => `2026-01-01 00:00:00 entry ${n + 1} of a log with lines like this one, all alike\n`,
  );
  writeFileSync(join(folder, 'large.log'), log.join(''));
  return folder;
}

/** A daemon that `mcp --start` starts needs a port that is known. */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function connect(command, args, cwd, env = {}) {
  const client = new Client({ name: 'bench', version: '1' });
  const transport = new StdioClientTransport({ command, args, cwd, env: { ...process.env, ...env }, stderr: 'ignore' });
  await client.connect(transport);
  return client;
}

/** Carries a task out; gives the time, the calls, and the characters of the answers. */
async function carryOut(client, steps) {
  const start = performance.now();
  let text = '';
  let characters = 0;
  let calls = 0;
  const call = async ([name, args]) => {
    const { content } = await client.callTool({ name, arguments: args });
    text = content.map((part) => part.text ?? '').join('\n');
    characters += text.length;
    calls += 1;
    if (process.env.SHOW_ANSWERS !== undefined) console.log(`--- ${name}\n${text.slice(0, 600)}`);
  };
  let all = '';
  for (const step of steps) {
    if (typeof step !== 'function') await call(step);
    else for (let next = step(text); next !== undefined && calls < 50; next = step(text)) await call(next);
    all += text;
  }
  return { ms: performance.now() - start, calls, characters, text: all };
}

if (!existsSync(join(cache, 'node_modules/.bin/desktop-commander'))) {
  mkdirSync(cache, { recursive: true });
  execFileSync('npm', ['install', '--prefix', cache, '--ignore-scripts', '--no-audit', '--no-fund', PEER], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
const ourFolder = makeFolder('ours');
const theirFolder = join(root, 'theirs');
cpSync(ourFolder, theirFolder, { recursive: true });
const config = join(root, 'config.yaml');
writeFileSync(
  config,
  JSON.stringify({
    adapter: { workspace_directory: ourFolder, state_directory: join(root, 'state') },
    logging: { log_file_path: join(root, 'log') },
    socketio: { port: await freePort() },
    confirmation: { mode: 'off' },
  }),
);
const ours = await connect(
  process.execPath,
  [MAIN, 'mcp', '--start', '--tools', 'files', '--config', config],
  ourFolder,
);
const theirs = await connect(join(cache, 'node_modules/.bin/desktop-commander'), [], theirFolder, { HOME: root });
try {
  const sizeOf = async (client, names) => {
    const { tools } = await client.listTools();
    const chosen = names === undefined ? tools : tools.filter(({ name }) => names.includes(name));
    return Math.ceil(JSON.stringify(chosen).length / CHARACTERS);
  };
  const rows = [];
  for (const { name, ours: steps, theirs: theirSteps, before, finds } of TASKS) {
    const results = { ours: [], theirs: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      before?.(ourFolder);
      before?.(theirFolder);
      results.ours.push(await carryOut(ours, steps));
      results.theirs.push(
        await carryOut(
          theirs,
          theirSteps((path) => join(theirFolder, path)),
        ),
      );
    }
    const cells = Object.values(results).flatMap((all) => {
      const { calls, characters, text } = all.at(-1);
      const found = text.includes(finds) ? '' : ' (not found)';
      return [
        String(calls),
        `${Math.ceil(characters / CHARACTERS)}${found}`,
        `${summarize(all.map(({ ms }) => ms)).p50.toFixed(1)} ms`,
      ];
    });
    rows.push([name, ...cells]);
  }
  console.log(`| task | calls | tokens | p50 | calls, Desktop Commander | tokens | p50 |`);
  console.log(`| --- | ---: | ---: | ---: | ---: | ---: | ---: |`);
  for (const row of rows) console.log(`| ${row.join(' | ')} |`);
  console.log(
    `tools of --tools files: ${await sizeOf(ours)} tokens; all of Desktop Commander: ${await sizeOf(theirs)}`,
  );
} finally {
  await ours.close();
  await theirs.close();
  execFileSync(process.execPath, [MAIN, 'stop', '--config', config], { stdio: 'ignore' });
  rmSync(root, { recursive: true, force: true });
}
