import type { OpenAI } from 'openai';

import type { HttpProviderName, HttpProviderSettings } from '../core/llm/settings.js';
import { boundedFetch } from './bounded-fetch.js';

/** Default addresses of services. The package knows OpenAI's own address. */
export const DEFAULT_URLS: Readonly<Partial<Record<HttpProviderName, string>>> = {
  ollama: 'http://127.0.0.1:11434',
  litellm: 'http://127.0.0.1:4000',
};

/** Default version of Azure's API. */
const AZURE_API_VERSION = '2024-10-21';

/** The package requires a key, also for local services without one. */
const NO_KEY = 'none';

/** Largest answer of a service, in bytes: the same bound as for a tool's output. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** Creates a client of a service that implements OpenAI's protocol. The package is loaded on first use. */
export async function openAiClient(
  name: HttpProviderName,
  { baseUrl, apiKey, model, maxRetries, apiVersion = AZURE_API_VERSION }: HttpProviderSettings,
): Promise<OpenAI> {
  const { AzureOpenAI, OpenAI: Client } = await import('openai');
  const common = {
    apiKey: apiKey?.reveal() ?? NO_KEY,
    maxRetries,
    // Otherwise the package would log the answers of the service.
    logLevel: 'off',
    fetch: boundedFetch(MAX_RESPONSE_BYTES),
  } as const;
  if (name === 'azure') return new AzureOpenAI({ ...common, endpoint: baseUrl, apiVersion, deployment: model });
  const url = baseUrl ?? DEFAULT_URLS[name];
  // Ollama is configured by its root URL, below which it serves several protocols.
  const baseURL = name === 'ollama' && url !== undefined ? `${url.replace(/\/(v1\/?)?$/, '')}/v1` : url;
  // With undefined, the package would read the environment.
  return new Client({ ...common, baseURL: baseURL ?? null, organization: null, project: null });
}
