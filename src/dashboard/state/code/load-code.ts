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
