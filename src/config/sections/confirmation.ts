import { z } from 'zod';
import type { ConfirmationMode } from '../../core/confirmation.js';
import { LLM_PROVIDERS } from '../../core/llm/settings.js';
import { COMMAND_CLASSES, type CommandClass, POLICY_ACTIONS } from '../../core/policy/model.js';
import { type ClassActions, PRESET_NAMES, PRESETS } from '../../core/policy/policy.js';
import {
  choice,
  type Described,
  described,
  duration,
  flag,
  list,
  oneOf,
  optionalText,
  secret,
  text,
} from '../fields.js';

/** The modes by their names in the file, in the order of the documentation. */
const MODES = ['self', 'operator', 'llm'] as const satisfies readonly ConfirmationMode[];

const textsError = 'must be a text or a list of texts';
const texts = z
  .union([text, z.array(text, { error: textsError })], { error: textsError })
  .transform((value) => (typeof value === 'string' ? [value] : value));
const tests = z.array(text, { error: 'must be a list of commands' });

const optional = <S extends z.ZodType>(schema: S, text: string) =>
  described(schema.optional(), { text, fallback: 'none' });

const rule = z.strictObject(
  {
    action: described(oneOf(POLICY_ACTIONS), {
      text: 'The decision about the commands that the rule applies to.',
      fallback: 'none: it is needed',
    }),
    program: optional(texts, 'Names or paths of the program; `*` and `?` are patterns.'),
    args: optional(texts, 'Patterns, each of which matches an argument.'),
    path: optional(texts, 'Patterns, one of which matches a path that the command names.'),
    regex: optional(text, 'A regular expression (RE2) that is found in the command.'),
    reason: optional(text, 'The reason that clients are told.'),
    match: optional(tests, 'Commands that the rule must apply to.'),
    not_match: optional(tests, 'Commands that the rule must not apply to.'),
  },
  { error: 'must be a mapping with an action, and program, args, path or regex' },
);

/** Descriptions of the command classes, for the documentation of their keys. */
const CLASS_TEXTS: Readonly<Record<CommandClass, string>> = {
  read: 'Commands that only read',
  write: 'Commands that change files in the workspace or in /tmp',
  execute: 'Commands that run a program of which no more is known',
  network: 'Commands that communicate with other machines',
  interactive: 'Commands that execute what is typed while they run: shells, interpreters, editors',
  destructive: 'Commands that delete, or overwrite what is not in the workspace',
  privilege: 'Commands that act as another user, or on the machine as a whole',
  persistence: 'Commands that change what runs later, or the system’s files',
  exfiltration: 'Commands that read credentials, or send local data away',
  obfuscated: 'Commands whose effect cannot be determined',
};

const classAction = oneOf([...POLICY_ACTIONS, ...MODES]);
const classes = Object.fromEntries(
  COMMAND_CLASSES.map((name) => [
    name,
    described(classAction.optional(), {
      text: `${CLASS_TEXTS[name]}: an action, or the mode of their confirmation.`,
      fallback: 'that of the preset',
    }),
  ]),
) as Record<CommandClass, Described<z.ZodOptional<typeof classAction>>>;

const reviewer = z.strictObject({
  provider: choice(
    LLM_PROVIDERS,
    'openai',
    'How the model is called: `openai` uses the HTTP API of OpenAI at `base_url`; the others are those of the section `llm`.',
  ),
  shell_provider: optionalText(
    'the first of `llm.fallback` that answers',
    'The tool that is called with the provider `shell`.',
  ),
  base_url: described(
    z
      .url({ protocol: /^https?$/, error: 'must be a URL such as https://example.org/v1' })
      .default('https://api.openai.com/v1'),
    { text: 'The address of the API.', fallback: '`https://api.openai.com/v1`' },
  ),
  model: optionalText(
    'that of the provider',
    'The model. Needed where commands are confirmed by `llm` and the provider is `openai`.',
  ),
  api_key: secret('none', 'The key of the API, best as `${VARIABLE}`.'),
  timeout: duration('seconds', 30, 'How long the model may take. Without an answer in time the command is refused.'),
  cache: duration('seconds', 300, 'How long a verdict of the model also answers identical questions.'),
});

const written = z.strictObject({
  mode: described(oneOf([...MODES, 'off']).default('self'), {
    text: 'How commands that need it are confirmed: `self`, `operator` or `llm`; `off` lets every command run.',
    fallback: '`self`',
  }),
  preset: described(oneOf(PRESET_NAMES).optional(), {
    text: 'The actions of all classes of commands: `permissive`, `balanced` or `strict`.',
    fallback: '`balanced`',
  }),
  classes: z.strictObject(classes).prefault({}),
  rules: list(
    rule,
    'must be a list of rules',
    'Rules for single programs, arguments, paths or texts, each with tests of its own.',
  ),
  expires: duration('seconds', 60, 'How long a command waits for its confirmation.'),
  checkpoint: flag(
    true,
    'Whether a checkpoint is created before a command that may destroy data. If not, the action `checkpoint` means `confirm`.',
  ),
  checkpoint_timeout: duration(
    'seconds',
    5,
    'How long a command with the action `checkpoint` waits for it. If saving takes longer, the command has to be confirmed.',
  ),
  reviewer: reviewer.prefault({}),
});

/** `confirmation`: which commands may run, and how they are confirmed. The output has the effective mode and classes. */
export const confirmationSection = written
  .superRefine((section, context) => {
    const message = reviewerFault(section);
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['reviewer', 'model'], message });
  })
  .transform((section) => {
    const { preset = 'balanced' } = section;
    const given = Object.entries(section.classes).filter(([, action]) => action !== undefined);
    const effective: ClassDecisions = { ...PRESETS[preset], ...Object.fromEntries(given) };
    return { ...section, preset, classes: effective };
  });

type ConfirmationSection = z.output<typeof written>;

/** Decision for each class: an action, or a mode of confirmation. */
type ClassDecisions = Readonly<Record<CommandClass, z.output<typeof classAction>>>;

/** Returns the action for each class, and the modes of the classes that override the mode of all. */
export function splitClasses(decisions: ClassDecisions) {
  const actions = {} as Record<CommandClass, ClassActions[CommandClass]>;
  const modes: Partial<Record<CommandClass, ConfirmationMode>> = {};
  for (const name of COMMAND_CLASSES) {
    const decision = decisions[name];
    if (decision === 'self' || decision === 'operator' || decision === 'llm') modes[name] = decision;
    actions[name] = modes[name] === undefined ? (decision as ClassActions[CommandClass]) : 'confirm';
  }
  return { actions: actions as ClassActions, modes };
}

/** @returns the setting that is missing for a model to confirm commands, where the mode requires one */
function reviewerFault(section: ConfirmationSection): string | undefined {
  const { classes, mode, reviewer } = section;
  const isAsked = mode === 'llm' || (mode !== 'off' && Object.values(classes).includes('llm'));
  return isAsked && reviewer.provider === 'openai' && reviewer.model === undefined
    ? 'is needed, because commands are confirmed by llm'
    : undefined;
}
