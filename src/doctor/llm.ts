import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { stripAnsi } from '../core/output/ansi.js';
import type { LlmSettings } from '../core/llm/settings.js';
import type { Finding } from './finding.js';
import { HttpProviders } from '../services/llm/http-providers.js';
import { ShellCatalogue } from '../services/llm/shell-catalogue.js';

const run = promisify(execFile);

/** Some tools take seconds to print their version; one that hangs must not delay the whole examination. */
const VERSION_TIMEOUT_S = 8;

/**
 * Finds the installed tools, queries their versions, and lists the services that are configured. LLM providers are
 * optional, so that none is reported as missing.
 */
export async function examineLlmProviders(
  settings: LlmSettings,
  env: Readonly<Record<string, string>>,
): Promise<readonly Finding[]> {
  const shells = new ShellCatalogue(() => settings, env['PATH'] ?? '');
  const findings = await Promise.all(
    shells.names.map(async (name): Promise<Finding | undefined> => {
      const place = shells.availability(name);
      if (!place.available || place.command === null) return undefined;
      const version = await versionOf(place.command, { ...env, ...shells.environmentOf(shells.find(name)) });
      return {
        name,
        status: version === undefined ? 'warn' : 'ok',
        detail: `${place.command}, ${version ?? NO_VERSION}`,
      };
    }),
  );
  const tools = findings.filter((finding) => finding !== undefined);
  const services = [...new HttpProviders(() => settings).configured].map((name): Finding => ({
    name,
    status: 'ok',
    detail: 'configured, for llm_call',
  }));
  return [...tools, ...services];
}

const NO_VERSION = 'does not tell its version';

async function versionOf(file: string, env: Readonly<Record<string, string>>): Promise<string | undefined> {
  try {
    // timeout(1) ends the whole process group: some tools are two processes, and a signal would reach only the first.
    const running = run('timeout', ['-s', 'KILL', String(VERSION_TIMEOUT_S), file, '--version'], { env });
    // Several tools block on an open stdin pipe.
    running.child.stdin?.end();
    const { stdout } = await running;
    return stripAnsi(stdout).trim().split('\n', 1)[0] || undefined;
  } catch {
    // The tool does not run, has no --version, or takes too long.
    return undefined;
  }
}
