import { readDockerfile, readVariables, settingOf } from '../../../scripts/image/dockerfile.mjs';
import type { Configuration } from '../../../src/config/model/configuration.js';
import { readConfiguration, skipRuleTests } from '../../../src/config/read/read.js';
import type { Variables } from '../../support/deploy/compose.js';
import { read } from '../../support/deploy/files.js';

const image = readDockerfile(read('deploy/docker/Dockerfile')).at(-1)!;
const imageVariables = readVariables(settingOf(image, 'ENV') ?? '');
/** As make-secrets writes it. */
const REDIS = { SHELL_ADAPTER_CLUSTER_REDIS_URL: 'redis://gateway:0123@redis:6379/0' };

/** Reads variables as a node in the image does: unknown names, and values that a key does not take, are errors. */
export const nodeConfiguration = (env: Variables, file?: string): Configuration =>
  readConfiguration({ env: { ...imageVariables, ...REDIS, ...env }, cwd: '/workspace', file }, skipRuleTests);

/** The files that a node reads to know others. */
export const secretsOf = ({ cluster: { tls, secretFile } }: Configuration): readonly string[] =>
  [tls.cert, tls.key, tls.ca, secretFile].map((path) => path ?? 'missing').sort();
