/** How long each fuzzer runs, in milliseconds. @default 20 s, as in CI */
export const CAMPAIGN_MS = Number(process.env['FUZZ_SECONDS'] ?? 20) * 1000;

/** Most inputs of each fuzzer. @default far more than the time is enough for */
export const MAX_INPUTS = Number(process.env['FUZZ_INPUTS'] ?? 1_000_000_000);

/** What the inputs follow from: the same seed makes the same inputs, as long as the corpus and the generators are the same. */
export const SEED = Number(process.env['FUZZ_SEED'] ?? 1);

/** Beyond the campaign itself: what is in the corpus, and the minimizing of a failure. In milliseconds. */
export const MARGIN_MS = 120_000;
