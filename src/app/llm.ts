import type { Configuration } from '../config/configuration.js';
import type { SecretMask } from '../core/secrets/secret-mask.js';
import { LlmCalls } from '../llm/calls.js';
import { CliRunner } from '../llm/cli-runner.js';
import { HttpProviders } from '../llm/http-providers.js';
import { ShellCatalogue } from '../llm/shell-catalogue.js';
import { ShellProviders } from '../llm/shell-providers.js';

import type { Closers } from './closers.js';
import type { Engine } from './engine.js';

/** The command-line tools and services that answer as LLMs. */
export function buildLlm(
  { pool, oneShots, scratch, spoolDirectory }: Engine,
  configuration: () => Configuration,
  secrets: SecretMask,
  closers: Closers,
): LlmCalls {
  const settings = () => configuration().llm;
  const runner = new CliRunner(oneShots, spoolDirectory, secrets);
  const catalogue = new ShellCatalogue(settings, pool.env['PATH'] ?? '');
  const shells = new ShellProviders({ runner, scratch, catalogue, settings });
  const services = new HttpProviders(settings);
  const llm = new LlmCalls({ settings, catalogue, shells, services, workspace: pool.cwd, secrets });
  closers.push(() => llm[Symbol.asyncDispose]());
  return llm;
}
