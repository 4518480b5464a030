// The floor: the barest Socket.IO relay to bash that one could write, in a process of its own. No trimming, no limits,
// no separate stderr, no exactness: only what the transport and the shell cost anyway.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';

import { spawn as spawnOnTerminal } from 'node-pty';
import { Server } from 'socket.io';

const http = createServer((request, response) => {
  const path = /^\/v1\/files\/(.*)$/.exec(request.url)?.[1];
  if (path !== undefined) void copyFile(decodeURIComponent(path), request, response);
});
const io = new Server(http, { perMessageDeflate: false, serveClient: false });

/** A bare bash on pipes: the command, then a marker, until the marker comes back. */
class BareShell {
  #output = '';
  #waiting;
  #bash = spawn('bash', ['--noprofile', '--norc'], { stdio: ['pipe', 'pipe', 'ignore'] });
  #marker = randomBytes(8).toString('hex');

  constructor() {
    this.#bash.stdout.setEncoding('utf8').on('data', (text) => {
      this.#output += text;
      const end = this.#output.indexOf(this.#marker);
      if (end === -1) return;
      const stdout = this.#output.slice(0, end);
      this.#output = '';
      this.#waiting(stdout);
    });
  }

  run(command) {
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#bash.stdin.write(`${command}\necho ${this.#marker}\n`);
    });
  }

  close() {
    this.#bash.kill('SIGKILL');
  }
}

/** Copies a file between the disk and the connection, with nothing else. */
async function copyFile(path, request, response) {
  if (request.method === 'GET') await pipeline(createReadStream(path), response);
  else await pipeline(request, createWriteStream(path));
  response.end();
}

io.on('connection', (socket) => {
  const shells = [];
  socket.on('open', (_, done) => done({ shell: shells.push(new BareShell()) - 1 }));
  socket.on('run', async ({ shell, command }, done) => done({ stdout: await shells[shell].run(command) }));
  socket.on('spawn', ({ command }, done) => {
    let stdout = '';
    const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
    child.on('close', (exit_code) => done({ stdout, exit_code }));
  });
  socket.on('count', ({ command }, done) => {
    let bytes = 0;
    const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.on('data', (chunk) => (bytes += chunk.length));
    child.on('close', () => done({ bytes }));
  });
  socket.on('terminal', (_, done) => {
    const pty = spawnOnTerminal('bash', ['--noprofile', '--norc'], { cols: 200, rows: 50 });
    pty.onData((data) => {
      if (!data.includes('READY')) return;
      done({});
      pty.kill('SIGKILL');
    });
    pty.write('echo REA"DY"\n');
  });
  socket.on('disconnect', () => shells.forEach((shell) => shell.close()));
});

http.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${http.address().port}`));
process.on('SIGTERM', () => process.exit(0));
