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
