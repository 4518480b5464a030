// A gateway and a worker, with certificates of their own and a secret, as a cluster without Redis.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startDaemon } from '../targets.mjs';

const CURVE = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function openssl(directory, ...args) {
  const { status, stderr } = spawnSync('openssl', args, { cwd: directory, encoding: 'utf8' });
  if (status !== 0) throw new Error(`openssl ${args.join(' ')}: ${stderr}`);
}

/** Certificates of an authority of its own, as docs/operate/cluster.md makes them. */
function issue(directory) {
  openssl(directory, 'req', '-x509', ...CURVE, '-subj', '/CN=nodes', '-keyout', 'ca-key.pem', '-out', 'ca.pem');
  for (const [name, usage] of [
    ['gate', 'serverAuth,clientAuth'],
    ['worker-1', 'serverAuth'],
  ]) {
    writeFileSync(join(directory, 'extensions'), `subjectAltName=IP:127.0.0.1\nextendedKeyUsage=${usage}\n`);
    openssl(directory, 'req', ...CURVE, '-subj', `/CN=${name}`, '-keyout', `${name}-key.pem`, '-out', 'request.pem');
    const signing = ['-CA', 'ca.pem', '-CAkey', 'ca-key.pem', '-CAcreateserial', '-extfile', 'extensions'];
    openssl(directory, 'x509', '-req', '-in', 'request.pem', ...signing, '-out', `${name}.pem`);
  }
}

/** A port on which nothing listens at the moment. */
async function freePort() {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address();
  await new Promise((resolve) => holder.close(resolve));
  return port;
}

/** Starts both, connected. @param dist folder of the build */
export async function startPair({ dist } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-bench-'));
  issue(directory);
  writeFileSync(join(directory, 'secret'), randomBytes(32).toString('hex'), { mode: 0o600 });
  const port = await freePort();
  const sections = (role, name) => {
    const at = (file) => join(directory, file);
    const tls = `{ cert: '${at(`${name}.pem`)}', key: '${at(`${name}-key.pem`)}', ca: '${at('ca.pem')}' }`;
    const keys = { enabled: true, role, name, link_port: port, drain_timeout: 1, tls, secret_file: at('secret') };
    const lines = Object.entries(keys).map(([key, value]) => `  ${key}: ${value}\n`);
    return `cluster:\n${lines.join('')}`;
  };
  const common = { dist, logLevel: 'error' };
  const worker = await startDaemon({ ...common, sections: sections('worker', 'worker-1'), takesClients: false });
  const gateway = await startDaemon({ ...common, sections: sections('gateway', 'gate') });
  const connect = () => gateway.request('register_node', { node: 'worker-1', url: `https://127.0.0.1:${port}` });
  await connect();
  return {
    gateway,
    worker,
    linkPort: port,
    /** Where the certificates and the secret are. */
    directory,
    async stop() {
      await gateway.stop();
      await worker.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
