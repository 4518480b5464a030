import type { Configuration } from '../config/configuration.js';
import type { SecretMask } from '../core/secrets/secret-mask.js';
import { LlmCalls } from '../llm/calls.js';
import { CliRunner } from '../llm/cli-runner.js';
import { Completions } from '../llm/completions.js';
import { HttpProviders } from '../llm/http-providers.js';
import { ShellCatalogue } from '../llm/shell-catalogue.js';
import { ShellProviders } from '../llm/shell-providers.js';

import type { Closers } from './closers.js';
import type { Engine } from './engine.js';
import { commandLimits } from './limits.js';

/** The command-line tools and services that answer as LLMs, and the models of the HTTP endpoint. */
export function buildLlm(
  { pool, oneShots, scratch, worktrees, spoolDirectory }: Engine,
  configuration: () => Configuration,
  secrets: SecretMask,
  closers: Closers,
): { readonly llm: LlmCalls; readonly completions: Completions } {
  const settings = () => configuration().llm;
  const runner = new CliRunner(oneShots, spoolDirectory, secrets);
  const catalogue = new ShellCatalogue(settings, pool.env['PATH'] ?? '');
  const shells = new ShellProviders({ runner, scratch, catalogue, settings });
  const services = new HttpProviders(settings);
  const workspace = pool.cwd;
  const llm = new LlmCalls({ settings, catalogue, shells, services, workspace, secrets });
  closers.push(() => llm[Symbol.asyncDispose]());
  const completions = new Completions({
    registry: () => settings().models,
    catalogue,
    shells,
    worktrees,
    workspace,
    output: () => commandLimits(configuration()).output,
  });
  closers.push(() => completions[Symbol.asyncDispose]());
  return { llm, completions };
}
