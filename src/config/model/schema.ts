import { z } from 'zod';
import { adapterSection } from '../sections/adapter.js';
import { auditSection, loggingSection, notifySection, recordingSection, tracesSection } from '../sections/records.js';
import { authSection, httpSection, secretsSection } from '../sections/access.js';
import { checkpointsSection, environmentsSection } from '../sections/checkpoints.js';
import { clusterProblems, clusterSection } from '../sections/cluster.js';
import { confirmationSection } from '../sections/confirmation.js';
import { llmSection } from '../sections/llm.js';
import { sandboxSection } from '../sections/sandbox.js';
import { isLoopback, socketioSection } from '../sections/socketio.js';

/**
 * Schema of the configuration file. Each key carries its facts: meaning, unit, default, effect of a reload. The types
 * and values of the code, the reference page, `config show` and reloads are derived from it.
 */
export const configurationSchema = z
  .strictObject({
    adapter: adapterSection.prefault({}),
    checkpoints: checkpointsSection.prefault({}),
    logging: loggingSection.prefault({}),
    socketio: socketioSection,
    auth: authSection.prefault({}),
    confirmation: confirmationSection.prefault({}),
    sandbox: sandboxSection,
    llm: llmSection.prefault({}),
    audit: auditSection,
    recording: recordingSection.prefault({}),
    environments: environmentsSection,
    secrets: secretsSection.prefault({}),
    http: httpSection,
    notify: notifySection.prefault({}),
    traces: tracesSection,
    cluster: clusterSection,
  })
  .superRefine(({ adapter, cluster }, context) => {
    if (adapter.detach && cluster.enabled) {
      const message =
        'cannot be true with cluster.enabled: sessions of a cluster outlive its gateways, and end with their worker';
      context.addIssue({ code: 'custom', path: ['adapter', 'detach'], message });
    }
    for (const { key, message } of clusterProblems(cluster)) {
      context.addIssue({ code: 'custom', path: ['cluster', key], message });
    }
  })
  .superRefine(({ socketio: { host, tls, insecure_transport: isInsecure }, auth }, context) => {
    if (isLoopback(host)) return;
    const refuse = (path: string[], message: string) => {
      context.addIssue({ code: 'custom', path, message });
    };
    if (auth.mode === 'none') refuse(['auth', 'mode'], `may not be none: other machines reach the daemon at ${host}`);
    if (tls.cert !== undefined || isInsecure) return;
    const message = `is an address that other machines reach: give tls.cert and tls.key, or insecure_transport: true`;
    refuse(['socketio', 'host'], message);
  });

/** The configuration as written in a file: every key optional. */
export type ConfigurationInput = z.input<typeof configurationSchema>;

/** The configuration after validation, with the names and units of the file. */
export type CheckedConfiguration = z.output<typeof configurationSchema>;
