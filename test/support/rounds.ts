/** Whether all rounds are asked for: `scripts/test --thorough`. */
export const IS_THOROUGH = process.env['TEST_ROUNDS'] === 'all';
/** What part of them a test does otherwise: enough for a change, in a tenth of the time. */
const USUAL_SHARE = 0.1;
/** Fewest runs of a property, if it has as many. */
const FEWEST_RUNS = 100;

/**
 * How often a test repeats what goes wrong rarely: always with TEST_ROUNDS=all in the environment, else a tenth.
 * @param all number of rounds, at least 1
 * @param usual number of rounds otherwise, where a tenth does not do
 */
export const rounds = (all: number, usual = Math.ceil(all * USUAL_SHARE)): number => (IS_THOROUGH ? all : usual);

/**
 * How many runs a property gets, likewise.
 * @param all number of runs, at least 1
 */
export const propertyRuns = (all: number): number =>
  rounds(all, Math.min(all, Math.max(FEWEST_RUNS, Math.round(all * USUAL_SHARE))));
