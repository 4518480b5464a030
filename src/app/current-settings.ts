import type { Configuration } from '../config/model/configuration.js';
import type { GateSettings } from '../services/gate/gate-options.js';

import { gateSettings } from './gate-settings.js';

/** The configuration in effect, which a reload replaces, and the settings of the gate that follow from it. */
export class CurrentSettings {
  #configuration: Configuration;
  #gate: GateSettings;

  constructor(configuration: Configuration) {
    this.#configuration = configuration;
    this.#gate = gateSettings(configuration);
  }

  readonly configuration = (): Configuration => this.#configuration;

  readonly gate = (): GateSettings => this.#gate;

  /** Puts another configuration into effect. */
  replace(configuration: Configuration): void {
    this.#gate = gateSettings(configuration);
    this.#configuration = configuration;
  }
}
