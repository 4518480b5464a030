/**
 * Removes the service workers of this origin: another program that had the port before may have left one, which could
 * then change this page. Returns whether there was one; the page is then loaded again.
 */
export async function unregisterServiceWorkers(): Promise<boolean> {
  // Browsers offer them in secure contexts alone: HTTPS, or this machine.
  if (!('serviceWorker' in navigator)) return false;
  const found = await navigator.serviceWorker.getRegistrations();
  if (found.length === 0) return false;
  await Promise.all(found.map((registration) => registration.unregister()));
  location.reload();
  return true;
}
