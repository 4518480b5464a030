import type { OpenAI } from 'openai';

import type { HttpProviderName, HttpProviderSettings } from '../core/llm/settings.js';

/** Where a service is when nobody says. OpenAI's own address the package knows. */
export const DEFAULT_URLS: Readonly<Partial<Record<HttpProviderName, string>>> = {
  ollama: 'http://127.0.0.1:11434',
  litellm: 'http://127.0.0.1:4000',
};

/** Version of Azure's interface that is spoken when nobody says. */
const AZURE_API_VERSION = '2024-10-21';

/** The package wants a key where a service on this machine wants none. */
const NO_KEY = 'none';

/** A client of a service that speaks OpenAI's protocol. The package is loaded when it is needed first. */
export async function openAiClient(
  name: HttpProviderName,
  { baseUrl, apiKey, model, maxRetries, apiVersion = AZURE_API_VERSION }: HttpProviderSettings,
): Promise<OpenAI> {
  const { AzureOpenAI, OpenAI: Client } = await import('openai');
  const key = apiKey?.reveal() ?? NO_KEY;
  if (name === 'azure') {
    return new AzureOpenAI({ endpoint: baseUrl, apiKey: key, apiVersion, deployment: model, maxRetries });
  }
  const url = baseUrl ?? DEFAULT_URLS[name];
  // Ollama is configured by its root, below which it speaks several protocols.
  const baseURL = name === 'ollama' && url !== undefined ? `${url.replace(/\/(v1\/?)?$/, '')}/v1` : url;
  // Null: the package would look into the environment itself.
  return new Client({ baseURL: baseURL ?? null, apiKey: key, organization: null, project: null, maxRetries });
}
