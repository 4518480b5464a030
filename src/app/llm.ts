import { CallLog } from '../llm/call-log.js';
import { CallMeter } from '../llm/call-meter.js';
import { LlmCalls } from '../llm/calls.js';
import { CliRunner } from '../llm/cli-runner.js';
import { Completions } from '../llm/completions/completions.js';
import { HttpProviders } from '../llm/http-providers.js';
import { Providers } from '../llm/providers.js';
import { ShellCatalogue } from '../llm/shell-catalogue.js';
import { ShellProviders } from '../llm/shell-providers.js';

import type { Executions } from '../services/users/executions.js';
import type { ResourceMonitor } from '../services/limits/resource-monitor.js';

import type { RuntimeContext } from './runtime-context.js';
import type { Engine } from './engine.js';
import { outputLimits } from './settings/limits.js';

/** Builds the LLM providers (command-line tools and services) and the models of the HTTP endpoint. */
export function buildLlm(
  { pool, oneShots, scratch, worktrees, spoolDirectory }: Engine,
  { monitor, executions }: { readonly monitor: ResourceMonitor; readonly executions: Executions },
  { configuration, limits, secrets, metrics, closers, node }: RuntimeContext,
): { readonly llm: LlmCalls; readonly completions: Completions } {
  const settings = () => configuration().llm;
  const runner = new CliRunner({
    oneShots,
    spoolDirectory,
    secrets,
    limits: () => ({ ...limits().resources, ...settings().limits }),
    monitor,
    metrics,
  });
  const catalogue = new ShellCatalogue(settings, pool.env['PATH'] ?? '');
  const shells = new ShellProviders({ runner, scratch, catalogue, settings });
  const services = new HttpProviders(settings);
  const meter = new CallMeter(metrics);
  const log = new CallLog(node?.name);
  const providers = new Providers({ shells, services, secrets, meter });
  const workspace = pool.cwd;
  const llm = new LlmCalls({ settings, catalogue, providers, services, executions, meter, log });
  closers.push(() => llm[Symbol.asyncDispose]());
  const completions = new Completions({
    registry: () => settings().models,
    catalogue,
    providers,
    log,
    worktrees,
    workspace,
    secrets,
    output: () => outputLimits(configuration()),
    repeatWindowMs: () => settings().repeatWindowMs,
  });
  closers.push(() => completions[Symbol.asyncDispose]());
  return { llm, completions };
}
