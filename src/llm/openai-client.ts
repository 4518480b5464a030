import type { OpenAI } from 'openai';

import type { HttpProviderName, HttpProviderSettings } from '../core/llm/settings.js';
import { boundedFetch } from './bounded-fetch.js';

/** Where a service is when nobody says. OpenAI's own address the package knows. */
export const DEFAULT_URLS: Readonly<Partial<Record<HttpProviderName, string>>> = {
  ollama: 'http://127.0.0.1:11434',
  litellm: 'http://127.0.0.1:4000',
};

/** Version of Azure's interface that is spoken when nobody says. */
const AZURE_API_VERSION = '2024-10-21';

/** The package wants a key where a service on this machine wants none. */
const NO_KEY = 'none';

/** Largest answer of a service that is read, in bytes: as much as of a tool's output. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** A client of a service that speaks OpenAI's protocol. The package is loaded when it is needed first. */
export async function openAiClient(
  name: HttpProviderName,
  { baseUrl, apiKey, model, maxRetries, apiVersion = AZURE_API_VERSION }: HttpProviderSettings,
): Promise<OpenAI> {
  const { AzureOpenAI, OpenAI: Client } = await import('openai');
  const common = {
    apiKey: apiKey?.reveal() ?? NO_KEY,
    maxRetries,
    // It would print what a service has answered.
    logLevel: 'off',
    fetch: boundedFetch(MAX_RESPONSE_BYTES),
  } as const;
  if (name === 'azure') return new AzureOpenAI({ ...common, endpoint: baseUrl, apiVersion, deployment: model });
  const url = baseUrl ?? DEFAULT_URLS[name];
  // Ollama is configured by its root, below which it speaks several protocols.
  const baseURL = name === 'ollama' && url !== undefined ? `${url.replace(/\/(v1\/?)?$/, '')}/v1` : url;
  // Null: the package would look into the environment itself.
  return new Client({ ...common, baseURL: baseURL ?? null, organization: null, project: null });
}
