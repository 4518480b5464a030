import { DRIVER_NAMES, type DriverName } from '../../../core/llm/settings.js';
import { claude } from './claude.js';
import { codex } from './codex.js';
import { cursorAgent } from './cursor-agent.js';
import type { CliDriver } from './driver.js';
import { gemini } from './gemini.js';
import { opencode } from './opencode.js';
import { qwen } from './qwen.js';

/** All tools with a driver. A new one needs a file beside this one, a line here, and its name in `DRIVER_NAMES`. */
export const DRIVERS: Readonly<Record<DriverName, CliDriver>> = {
  claude,
  gemini,
  'cursor-agent': cursorAgent,
  opencode,
  codex,
  qwen,
};

/** Returns the driver with this name. */
export const driverNamed = (name: string): CliDriver | undefined =>
  DRIVER_NAMES.filter((known) => known === name).map((known) => DRIVERS[known])[0];
