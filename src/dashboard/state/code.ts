import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { useDashboard } from './context.js';

/** Waits before code is asked for again, in milliseconds: a change of the network ends all requests, and is soon over. */
const WAITS_MS = [250, 1000, 3000];

/**
 * Loads code, and asks again when that fails. Browsers keep that a module could not be loaded until the page is loaded again, so that
 * it needs another address: that of the error, with a query.
 * @param load imports a module, which no other one imports: it would be there twice
 * @throws the last error, also when a module fails that is imported by this one
 */
export async function loadCode<Module>(load: () => Promise<Module>): Promise<Module> {
  let attempt = load;
  for (const waitMs of WAITS_MS) {
    try {
      return await attempt();
    } catch (error) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      const address = addressIn(error);
      if (address?.pathname.endsWith('.css')) attempt = () => restoreStyles(address).then(load);
      else if (address) attempt = () => importAgain<Module>(address);
    }
  }
  return attempt();
}

/** The address of this origin that an error names; undefined when the browser does not say it. */
function addressIn(error: unknown): URL | undefined {
  const [found] = /https?:\/\/\S+/.exec(String(error)) ?? [];
  if (found === undefined || !URL.canParse(found)) return undefined;
  const address = new URL(found);
  return address.origin === location.origin ? address : undefined;
}

function importAgain<Module>(address: URL): Promise<Module> {
  address.search = `again=${Date.now()}`;
  return import(/* @vite-ignore */ address.href) as Promise<Module>;
}

/** Puts a style sheet that could not be loaded into the page again. */
async function restoreStyles({ href }: URL): Promise<void> {
  const failed = [...document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')].find(
    (link) => link.href === href,
  );
  if (!failed) return;
  const link = failed.cloneNode() as HTMLLinkElement;
  await new Promise((resolve, reject) => {
    link.addEventListener('load', resolve);
    link.addEventListener('error', () => reject(new Error(`could not load ${href}`)));
    failed.replaceWith(link);
  });
}

const KEY = 'shell-adapter-reloaded-at';
/** Time in which the page is not loaded again by its own code, in milliseconds: what stays missing must not do so for ever. */
const PAUSE_MS = 30_000;

/**
 * Loads the page again, with the view that its address names, unless it has done so just before. A browser keeps that a module could
 * not be loaded, also one that another imports, until then.
 * @returns whether it does
 */
export function reloadOnce(): boolean {
  try {
    const now = Date.now();
    if (now - Number(sessionStorage.getItem(KEY) ?? 0) < PAUSE_MS) return false;
    sessionStorage.setItem(KEY, String(now));
  } catch {
    // A browser that stores nothing: it could not be known that it was done.
    return false;
  }
  location.reload();
  return true;
}

/** Code that a component needs, and whether it could not be loaded. */
interface LoadedCode<T> {
  readonly code: T | undefined;
  readonly isMissing: boolean;
}

/**
 * Loads code that a component needs, while the daemon answers. What fails to load with the connection is asked for again
 * once that is back.
 * @param load imports a module, which no other one imports; is not read again
 */
export function useCode<T>(load: () => Promise<T>): LoadedCode<T> {
  const { connection } = useDashboard();
  const loaded = useSignal<LoadedCode<T>>({ code: undefined, isMissing: false });
  const isConnected = connection.status.value.kind === 'connected';
  useEffect(() => {
    if (!isConnected || loaded.peek().code !== undefined) return;
    loadCode(load).then(
      (code) => {
        loaded.value = { code, isMissing: false };
      },
      () => {
        loaded.value = { code: undefined, isMissing: true };
      },
    );
  }, [isConnected]);
  return loaded.value;
}
