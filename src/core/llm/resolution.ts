import { AdapterError } from '../errors.js';
import { HTTP_PROVIDERS, type HttpProviderName, type LlmProviderName } from './settings.js';

/** A provider that may answer a call. */
export type Candidate =
  | { readonly provider: 'shell'; readonly shellProvider: string }
  | { readonly provider: HttpProviderName; readonly shellProvider: null };

export interface Choice {
  /** The configured default. */
  readonly provider: LlmProviderName;
  readonly fallback: readonly string[];
  readonly shellProviders: readonly string[];
  /** Services that the environment or the configuration defines. */
  readonly configured: ReadonlySet<HttpProviderName>;
}

/** Providers that a client asks for. */
interface RequestedProviders {
  readonly provider?: LlmProviderName | undefined;
  readonly shell_provider?: string | undefined;
}

/**
 * The providers to try, in order, until one answers. The provider of the request comes first, then the configured one.
 * `auto`: a shell provider if one is named, then the configured services (Ollama, Azure, OpenAI, LiteLLM), then the
 * tools of `fallback`.
 * @throws AdapterError INVALID_REQUEST, PROVIDER_NOT_FOUND
 */
export function resolveProviders(
  { provider, shell_provider: named }: RequestedProviders,
  choice: Choice,
): readonly Candidate[] {
  const wanted = provider ?? (named === undefined ? choice.provider : 'shell');
  if (named !== undefined) {
    if (wanted !== 'shell' && wanted !== 'auto') {
      const message = `shell_provider goes with provider shell, not with ${wanted}`;
      throw new AdapterError('INVALID_REQUEST', message, { details: { field: 'shell_provider' } });
    }
    return [shellCandidate(named, choice)];
  }
  const shells = choice.fallback.map((name) => shellCandidate(name, choice));
  if (wanted === 'shell') return shells;
  if (wanted !== 'auto') return [{ provider: wanted, shellProvider: null }];
  const services = HTTP_PROVIDERS.filter((name) => choice.configured.has(name));
  return [...services.map((name): Candidate => ({ provider: name, shellProvider: null })), ...shells];
}

function shellCandidate(name: string, { shellProviders }: Choice): Candidate {
  if (shellProviders.includes(name)) return { provider: 'shell', shellProvider: name };
  throw new AdapterError(
    'PROVIDER_NOT_FOUND',
    `there is no shell provider ${JSON.stringify(name)}; there are ${shellProviders.join(', ')} (llm.shell_providers)`,
    { details: { shell_provider: name, shell_providers: [...shellProviders] } },
  );
}

export const nameOf = ({ provider, shellProvider }: Candidate): string => shellProvider ?? provider;
