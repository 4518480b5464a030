import { z } from 'zod';
import type { ConfirmationMode } from '../../core/confirmation/modes.js';
import { LLM_PROVIDERS } from '../../core/llm/settings.js';
import { COMMAND_CLASSES, type CommandClass, POLICY_ACTIONS } from '../../core/policy/model/classes.js';
import { PRESET_NAMES } from '../../core/policy/decision/presets.js';
import { duration, flag } from './fields.js';

/** The modes by their names in the file, in the order of the documentation. */
const MODES = ['self', 'operator', 'llm'] as const satisfies readonly ConfirmationMode[];

const choice = <const T extends readonly [string, ...string[]]>(names: T) =>
  z.enum(names, { error: `must be one of ${names.join(', ')}` });

const textError = 'must be a text';
const textsError = 'must be a text or a list of texts';
const text = z.string({ error: textError }).min(1, { error: 'must be a text, not an empty one' });
const texts = z
  .union([text, z.array(text, { error: textsError })], { error: textsError })
  .transform((value) => (typeof value === 'string' ? [value] : value));
const tests = z.array(text, { error: 'must be a list of commands' });

const rule = z.strictObject(
  {
    action: choice(POLICY_ACTIONS),
    program: texts.optional(),
    args: texts.optional(),
    path: texts.optional(),
    regex: text.optional(),
    reason: text.optional(),
    match: tests.optional(),
    not_match: tests.optional(),
  },
  { error: 'must be a mapping with an action, and program, args, path or regex' },
);

/** Descriptions of the command classes, for the documentation of their keys. */
const CLASS_TEXTS: Readonly<Record<CommandClass, string>> = {
  read: 'Commands that only look at things',
  write: 'Commands that change files in the workspace or in /tmp',
  execute: 'Commands that run a program of which no more is known',
  network: 'Commands that speak to other machines',
  interactive: 'Commands that execute what is typed while they run: shells, interpreters, editors',
  destructive: 'Commands that delete, or overwrite what is not in the workspace',
  privilege: 'Commands that act as another user, or on the machine as a whole',
  persistence: 'Commands that change what runs later, or the system’s files',
  exfiltration: 'Commands that read credentials, or send local data away',
  obfuscated: 'Commands whose effect cannot be determined',
};

const classAction = choice([...POLICY_ACTIONS, ...MODES]);
const classes = Object.fromEntries(
  COMMAND_CLASSES.map((name) => [
    name,
    classAction
      .optional()
      .describe(`${CLASS_TEXTS[name]}: an action, or who confirms them. Default: what the preset says.`),
  ]),
) as Record<CommandClass, z.ZodOptional<typeof classAction>>;

/** `confirmation`: which commands may run, and how they are confirmed. */
export const confirmationSection = z.strictObject({
  mode: choice([...MODES, 'off'])
    .optional()
    .describe(
      'Who confirms commands that need it: self, operator or llm; off lets every command run. Default: self where preset, classes or rules are set, otherwise off.',
    ),
  preset: choice(PRESET_NAMES)
    .optional()
    .describe('What becomes of each class of commands: permissive, balanced or strict. Default: balanced.'),
  classes: z.strictObject(classes).prefault({}),
  rules: z
    .array(rule, { error: 'must be a list of rules' })
    .default([])
    .describe('Rules for single programs, arguments, paths or texts, each with tests of its own. Default: none.'),
  expires: duration('seconds', 60, 'How long a command waits for its confirmation.'),
  checkpoint: flag(true, 'Whether the workspace is saved before a confirmed command that destroys, or may.'),
  reviewer: z
    .strictObject({
      provider: choice(LLM_PROVIDERS)
        .default('openai')
        .describe(
          'How the model is asked: openai speaks the HTTP API of OpenAI, at base_url; the others are those of the section llm. Default: openai.',
        ),
      shell_provider: text
        .optional()
        .describe('The tool that is asked with the provider shell. Default: the first of llm.fallback that answers.'),
      base_url: z
        .url({ protocol: /^https?$/, error: 'must be a URL such as https://example.org/v1' })
        .default('https://api.openai.com/v1')
        .describe('Where the API is. Default: https://api.openai.com/v1.'),
      model: text
        .optional()
        .describe(
          'The model. Needed where llm is who confirms and the provider is openai. Default: that of the provider.',
        ),
      api_key: text.optional().describe('The key of the API, best as ${VARIABLE}. Default: none.'),
      timeout: duration('seconds', 30, 'How long the model may take. No answer in time means no.'),
    })
    .prefault({}),
});

type ConfirmationSection = z.output<typeof confirmationSection>;

/** The effective mode. Without `mode`, settings about what to confirm imply the mode `self`. */
export function modeOf({ mode, preset, classes, rules }: ConfirmationSection): ConfirmationMode | 'off' {
  const isConfigured = preset !== undefined || Object.keys(classes).length > 0 || rules.length > 0;
  return mode ?? (isConfigured ? 'self' : 'off');
}

/** @returns the setting that is missing for a model to confirm commands, where the mode requires one */
export function reviewerFault(section: ConfirmationSection): string | undefined {
  const { classes, reviewer } = section;
  const mode = modeOf(section);
  const isAsked = mode === 'llm' || (mode !== 'off' && Object.values(classes).includes('llm'));
  return isAsked && reviewer.provider === 'openai' && reviewer.model === undefined
    ? 'is needed, because commands are confirmed by llm'
    : undefined;
}
