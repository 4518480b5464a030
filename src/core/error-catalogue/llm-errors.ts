import { defineErrors } from './entry.js';

/** Error codes of LLM calls. A run of a tool may have changed files even when it fails. */
export const LLM_ERRORS = defineErrors({
  PROVIDER_NOT_FOUND: {
    meaning: 'There is no LLM provider of that name: `details` lists the existing ones.',
    status: 404,
    retry: 'changed',
    next: 'Take a name from `details` or from `list_llm_providers`.',
  },
  LLM_UNAVAILABLE: {
    meaning:
      'The LLM provider is not available: its tool is not installed or is switched off, or its service is not configured or not reachable.',
    status: 503,
    retry: 'changed',
    next: 'Install the tool or switch it on; check `base_url` and the network for a service.',
  },
  LLM_AUTH: {
    meaning: 'Authentication with the LLM provider failed: its tool is not logged in, or its key is missing or wrong.',
    status: 500,
    retry: 'changed',
    next: 'Log in to the tool as the user of the daemon, or set its key in the configuration.',
  },
  LLM_RATE_LIMITED: {
    meaning: 'The LLM provider accepts no more calls for now, or too many calls already wait for it.',
    status: 429,
    retry: 'later',
    next: 'Wait, then ask again. If `details` has `exit_code`, the tool has run: first look at what it has changed.',
  },
  LLM_MODEL_NOT_FOUND: {
    meaning: 'The LLM provider has no such model.',
    status: 500,
    retry: 'changed',
    next: 'Name another model, or none for the default of the provider.',
  },
  LLM_PROMPT_TOO_LARGE: {
    meaning: 'The messages are larger than the LLM provider accepts: `details` has the limit.',
    status: 400,
    retry: 'changed',
    next: 'Send shorter messages, or put large text into files that the tool can read.',
  },
  LLM_TIMEOUT: {
    meaning: 'The LLM provider did not answer in time. Everything that its tool had started has been ended.',
    status: 504,
    retry: 'check',
    next: 'Give more time with `timeout_ms`. A tool that waits for a login never answers.',
  },
  LLM_LIMIT_EXCEEDED: {
    meaning:
      'The run of a tool exceeded a limit of the section `llm` and was ended: `details` has `killed_by`, `limit` and `resource_usage`.',
    status: 500,
    retry: 'check',
    next: 'Raise the limit in the section `llm`.',
  },
  LLM_EMPTY: {
    meaning: 'The LLM provider gave an empty answer.',
    status: 500,
    retry: 'check',
    next: 'Ask again, or ask another provider.',
  },
  LLM_FAILED: {
    meaning: 'The LLM provider failed: `details.detail` is what it said.',
    status: 500,
    retry: 'check',
    next: 'Read `details.detail`.',
  },
  LLM_CANCELLED: {
    meaning: 'The call was cancelled. Everything that a tool had started for it has been ended.',
    status: 500,
    retry: 'check',
    next: 'Ask again if the answer is still needed.',
  },
});
