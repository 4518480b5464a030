import { z } from 'zod';
import { adapterSection } from './sections/adapter.js';
import { checkpointsSection } from './sections/checkpoints.js';
import { confirmationSection } from './sections/confirmation.js';
import { httpSection } from './sections/http.js';
import { loggingSection } from './sections/logging.js';
import { socketioSection } from './sections/socketio.js';

/** What the configuration file may hold: the sections, every key with a default. */
export const configurationSchema = z.strictObject({
  adapter: adapterSection.prefault({}),
  checkpoints: checkpointsSection.prefault({}),
  logging: loggingSection.prefault({}),
  socketio: socketioSection.prefault({}),
  confirmation: confirmationSection.prefault({}),
  http: httpSection.prefault({}),
});

/** The configuration as it stands in a file: snake_case, every key optional. */
export type ConfigurationInput = z.input<typeof configurationSchema>;

/** The configuration as the schema leaves it: snake_case, units of the file, defaults filled in. */
export type CheckedConfiguration = z.output<typeof configurationSchema>;
