import fc from 'fast-check';

import { type Form, readCorpus, saveFailure } from './corpus.js';
import { CAMPAIGN_MS, MAX_INPUTS, SEED } from './settings.js';

/** Longest time for making a failing input smaller, in milliseconds. */
const MINIMIZING_MS = 30_000;

/** What a fuzzer tries: inputs, and what must hold of each. */
export interface Campaign<T> {
  /** Name of the fuzzer and of its folder in the corpus. */
  readonly name: string;
  readonly form: Form<T>;
  readonly inputs: fc.Arbitrary<T>;
  /** Throws where an input shows a fault. */
  readonly check: (input: T) => Promise<void> | void;
}

/**
 * Tries what is in the corpus, then random inputs until the time is up. An input that shows a fault is made smaller, saved in the corpus,
 * and named in the error, with the seed.
 * @returns how many random inputs were tried
 */
export async function runCampaign<T>(campaign: Campaign<T>): Promise<number> {
  const { name, form, inputs, check } = campaign;
  for (const entry of readCorpus(name, form)) await replay(entry.name, () => check(entry.input));
  let latest = Promise.resolve();
  const property = fc.asyncProperty(inputs, async (input) => {
    latest = Promise.resolve(check(input));
    await latest;
  });
  const limits = { interruptAfterTimeLimit: CAMPAIGN_MS, markInterruptAsFailure: false, endOnFailure: true };
  const found = await fc.check(property, { seed: SEED, numRuns: MAX_INPUTS, ...limits });
  // When the time is up, the check of the last input goes on.
  await latest.catch(() => undefined);
  if (!found.failed) {
    console.log(`${name}: ${found.numRuns} inputs, seed ${SEED}`);
    return found.numRuns;
  }
  throw await failureOf(campaign, property, found);
}

async function replay(name: string, check: () => Promise<void> | void): Promise<void> {
  try {
    await check();
  } catch (error) {
    throw new Error(`${name} of the corpus shows a fault: ${(error as Error).message}`, { cause: error });
  }
}

/** Minimizes the input of a failed campaign, saves it, and gives the error to throw. */
async function failureOf<T>(
  { name, form }: Campaign<T>,
  property: fc.IAsyncPropertyWithHooks<[T]>,
  found: fc.RunDetails<[T]>,
): Promise<Error> {
  const path = found.counterexamplePath ?? '';
  // oxlint-disable-next-line typescript/no-deprecated -- the plugin in its place has a type that cannot be given here
  const smaller = await fc.check(property, { seed: SEED, path, interruptAfterTimeLimit: MINIMIZING_MS });
  const { counterexample, errorInstance } = smaller.failed ? smaller : found;
  const [input] = counterexample!;
  const file = saveFailure(name, form, input);
  const steadiness = smaller.failed ? '' : ' It did not show again: it depends on more than the input.';
  return new Error(
    `input ${found.numRuns} of seed ${SEED} shows a fault: ${(errorInstance as Error).message}\n` +
      `  saved as ${file}; again by: npm run fuzz -- ${name} --seed ${SEED}.${steadiness}`,
    { cause: errorInstance },
  );
}
