import { limitSettings } from '../../config/derive/limit-settings.js';
import type { Configuration } from '../../config/model/configuration.js';
import type { LimitsInForce } from '../../core/limits/safety-net.js';
import { measureLimits } from '../../engine/limits/measured-limits.js';
import type { GateSettings } from '../../services/gate/gate-options.js';

import { gateSettings } from '../gate/gate-settings.js';

/** The configuration in effect, which a reload replaces, and the settings of the gate and the limits that follow from it. */
export class CurrentSettings {
  #configuration: Configuration;
  #gate: GateSettings;
  #limits: LimitsInForce;

  constructor(configuration: Configuration) {
    this.#configuration = configuration;
    this.#gate = gateSettings(configuration);
    this.#limits = measureLimits(limitSettings(configuration));
  }

  readonly configuration = (): Configuration => this.#configuration;

  readonly gate = (): GateSettings => this.#gate;

  readonly limits = (): LimitsInForce => this.#limits;

  /** Puts another configuration into effect. */
  replace(configuration: Configuration): void {
    this.#gate = gateSettings(configuration);
    this.#limits = measureLimits(limitSettings(configuration));
    this.#configuration = configuration;
  }
}
