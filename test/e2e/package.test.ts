import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { makeFolder } from './cli/support.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What npm says about a package. */
interface Report {
  readonly files: readonly { readonly path: string }[];
}

interface Manifest {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly man: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
const folder = makeFolder();
const installed = join(folder.path, 'node_modules/shell-adapter');
const BIN = join(folder.path, 'node_modules/.bin/shell-adapter');
let published: ReturnType<typeof publish>;
let packed: readonly string[];

/** Lets npm do all of a publication but to send it. */
const publish = () => {
  const options = ['--dry-run', '--json', '--ignore-scripts', '--registry=http://127.0.0.1:9', '--fetch-retries=0'];
  return spawnSync('npm', ['publish', ...options], { cwd: ROOT, encoding: 'utf8' });
};

// The package as npm would install it, with its own dependencies and no others beside it; they are linked, so that the
// test needs no registry.
beforeAll(() => {
  published = publish();
  // npm 10 prints the report itself, npm 11 by the name of the package.
  const printed = JSON.parse(published.stdout) as Partial<Report> & Readonly<Record<string, Report>>;
  const { files } = printed.files === undefined ? printed['shell-adapter']! : (printed as Report);
  packed = files.map(({ path }) => path);
  for (const path of packed) cpSync(join(ROOT, path), join(installed, path));
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(folder.path, 'node_modules', name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(folder.path, 'node_modules', name));
  }
  mkdirSync(join(folder.path, 'node_modules/.bin'));
  symlinkSync(join(installed, manifest.bin['shell-adapter'] ?? ''), BIN);
});
afterAll(() => {
  folder[Symbol.dispose]();
});

const environment = () => ({
  PATH: process.env['PATH'],
  HOME: join(folder.path, 'home'),
  SHELL_ADAPTER_SOCKETIO_PORT: '0',
});

describe('the package', () => {
  it('holds what it needs, and nothing of its making', () => {
    for (const path of [
      'dist/main.js',
      'dist/shell-adapter.cjs',
      'dist/index.js',
      'dist/index.d.ts',
      'dist/policy.js',
      'dist/policy.d.ts',
      'dist/client/index.js',
      'skills/shell-adapter/SKILL.md',
      'dist/client/index.d.ts',
      'dist/engine/shells/drivers/driver.bash',
      'dist/engine/shells/drivers/command.ps1',
      'dist/dashboard/index.html',
      'dist/dashboard/index.html.br',
      'config/shell_adapter.yaml',
      'config/seed.yaml',
      'docs/reference/protocol.md',
      'docs/reference/errors.md',
      'docs/reference/warnings.md',
      'scripts/init',
      'man/shell-adapter.1',
      'clients/python/shell_adapter/__init__.py',
      'clients/python/shell_adapter/py.typed',
      'clients/python/examples/openai_tools.py',
      'clients/python/pyproject.toml',
      'completions/shell-adapter.bash',
      'completions/_shell-adapter',
      'completions/shell-adapter.fish',
      'deploy/systemd/shell-adapter.service',
      'deploy/docker/Dockerfile',
      'README.md',
      'CHANGELOG.md',
      'LICENSE',
      'package.json',
    ]) {
      expect(packed).toContain(path);
    }
    expect(
      packed.filter(
        (path) =>
          !/^(?:dist|config|skills|deploy|completions)\/|^clients\/python\/(?:shell_adapter|examples|README\.md$|pyproject\.toml$)|^man\/[\w-]+\.1$|^docs\/.*\.md$|^docs\/pictures\/.*\.png$|^scripts\/init$|^[A-Z]+(?:\.md)?$|^package\.json$/.test(
            path,
          ),
      ),
    ).toEqual([]);
    expect(packed.filter((path) => /^docs\/(?:api|node_modules|\.vitepress)\//.test(path))).toEqual([]);
    expect(packed.filter((path) => /(?:\.test\.|\.map$|\.tsbuildinfo$|\.log$|__pycache__|\.pyc$)/.test(path))).toEqual(
      [],
    );
  });

  it('has its page of the manual in a list: npm links no other form', () => {
    expect(manifest.man).toEqual(['man/shell-adapter.1']);
  });

  it('has the Python client where its guide says', () => {
    const guide = readFileSync(join(installed, 'docs/guide/python.md'), 'utf8');
    const [, place = ''] = /PYTHONPATH=~\/\.local\/lib\/node_modules\/shell-adapter\/(\S+)/.exec(guide) ?? [];
    expect(packed).toContain(`${place}/shell_adapter/__init__.py`);
  });

  it('has pages whose relative links lead into the package', () => {
    const check = join(ROOT, 'scripts/check-markdown.mjs');
    expect(spawnSync(process.execPath, [check, installed], { encoding: 'utf8' }).stdout).toBe('');
  });

  it('has a program that starts where it is installed', () => {
    const version = execFileSync(BIN, ['--version'], { encoding: 'utf8', env: environment() });
    expect(version.trim()).toBe(manifest.version);
  });

  it('can be published: npm finds nothing to correct', () => {
    const { status, stderr } = published;
    expect(status, stderr).toBe(0);
    expect(stderr).not.toMatch(/auto-corrected|error/);
  });

  it('says which packages are missing for traces', () => {
    const { status, stderr } = spawnSync(BIN, ['serve'], {
      cwd: folder.path,
      env: { ...environment(), SHELL_ADAPTER_TRACES_ENABLED: 'true' },
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toContain('npm install @opentelemetry/sdk-trace-node @opentelemetry/exporter-trace-otlp-http');
  });

  it('says which package is missing for a cluster with Redis', () => {
    writeFileSync(join(folder.path, 'secret'), 'x'.repeat(64));
    const cluster = {
      SHELL_ADAPTER_CLUSTER_ENABLED: 'true',
      SHELL_ADAPTER_CLUSTER_SECRET_FILE: join(folder.path, 'secret'),
      SHELL_ADAPTER_CLUSTER_INSECURE_LINKS: 'true',
      SHELL_ADAPTER_CLUSTER_REDIS_URL: 'redis://127.0.0.1:9/0',
    };
    const env = { ...environment(), ...cluster };
    const { status, stderr } = spawnSync(BIN, ['serve'], { cwd: folder.path, env, encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toContain('cluster.redis_url: needs ioredis: npm install ioredis');
  });

  it('runs a daemon from an empty folder, and writes nothing where it is installed', async () => {
    const cwd = join(folder.path, 'empty');
    mkdirSync(cwd);
    const before = readdirSync(installed, { recursive: true }).length;
    const daemon = spawn(BIN, ['serve'], { cwd, env: environment(), stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = once(daemon, 'exit');
    try {
      const [line] = (await Promise.race([once(daemon.stdout, 'data'), ended])) as [Buffer];
      const [, url = ''] = /^listening on (\S+)\n/.exec(line.toString()) ?? [];
      const script = `
        import { connect } from 'shell-adapter/client';
        import { ERROR_CODES, loadConfiguration, startApp } from 'shell-adapter';
        const client = await connect(${JSON.stringify(url)});
        const { stdout, working_directory } = await (await client.openSession()).execute('echo "$((6 * 7))"');
        console.log(stdout.trim(), working_directory, typeof startApp, typeof loadConfiguration, ERROR_CODES.INTERNAL !== '');
        await client.close();`;
      writeFileSync(join(folder.path, 'use.mjs'), script);
      const output = execFileSync(process.execPath, [join(folder.path, 'use.mjs')], { encoding: 'utf8' });
      expect(output).toBe(`42 ${cwd} function function true\n`);
      const viaCli = execFileSync(BIN, ['exec', '--url', url, '-n', 'pwd'], { encoding: 'utf8', env: environment() });
      expect(viaCli).toBe(`${cwd}\n`);
      const page = await (await fetch(url)).text();
      for (const [, asset = ''] of page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)) {
        expect((await fetch(`${url}/${asset}`)).status, asset).toBe(200);
      }
      expect(page).toMatch(/src="\.\/assets\/index-[\w-]+\.js"/);
    } finally {
      daemon.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
    expect(readdirSync(installed, { recursive: true })).toHaveLength(before);
    expect(readdirSync(cwd)).toEqual([]);
    expect(existsSync(join(folder.path, 'home/.local/state/shell-adapter/shell_adapter.log'))).toBe(true);
  });

  it('has a client that needs nothing of Node.js', () => {
    const reached = new Set<string>();
    const visit = (file: string) => {
      if (reached.has(file)) return;
      reached.add(file);
      const text = readFileSync(file, 'utf8');
      for (const [, target = ''] of text.matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)) {
        expect(target, file).not.toMatch(/^node:/);
        if (target.startsWith('.')) visit(join(file, '..', target));
        else expect(['socket.io-client', 'zod']).toContain(target);
      }
    };
    visit(join(installed, 'dist/client/index.js'));
    expect(reached.size).toBeGreaterThan(5);
  });
});
