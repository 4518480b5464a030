import { runsCommands } from '../config/derive/examined-cluster.js';
import { examinedSettings } from '../config/derive/examined-settings.js';
import { examineMachine } from '../doctor/doctor.js';
import { examineLlmProviders } from '../doctor/llm.js';
import { examineUsers } from '../doctor/users.js';
import { Machine } from '../services/machine/machine.js';

import type { RuntimeContext } from './runtime-context.js';

/** Builds the examination of the machine: the checks of `shell-adapter doctor`, without those of a daemon elsewhere. */
export const buildMachine = ({ configuration, version }: RuntimeContext): Machine =>
  new Machine(async () => {
    const current = configuration();
    const { childEnvironment: env, adapter, llm, file = 'defaults' } = current;
    const isRunning = runsCommands(current);
    const [machine, providers, users] = await Promise.all([
      examineMachine({ env, defaultShell: adapter.shell, platform: adapter.platform, ...examinedSettings(current) }),
      isRunning ? examineLlmProviders({ settings: llm, env }) : [],
      isRunning ? examineUsers({ stateDirectory: adapter.stateDirectory, path: env['PATH'] ?? '' }) : [],
    ]);
    return [
      { name: 'version', status: 'ok', detail: `shell-adapter ${version}` },
      ...machine,
      ...providers,
      { name: 'configuration', status: 'ok', detail: file },
      ...users,
    ];
  });
