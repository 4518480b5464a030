/** Share of the runs that a property gets unless all are asked for: enough for a change, in a few seconds for all properties. */
const USUAL_SHARE = 0.1;
/** Fewest runs of a property, if it has as many. */
const FEWEST = 100;

/**
 * How many runs a property gets: all of them with PROPERTY_RUNS=all in the environment, as in CI, else a tenth.
 * @param all number of runs, at least 1
 */
export const propertyRuns = (all: number): number =>
  process.env['PROPERTY_RUNS'] === 'all' ? all : Math.min(all, Math.max(FEWEST, Math.round(all * USUAL_SHARE)));
