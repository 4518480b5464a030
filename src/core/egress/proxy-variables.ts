/** Port of the proxy on the loopback of a sandbox with an allow-list. */
export const PROXY_PORT = 3128;

const PROXY = `http://127.0.0.1:${PROXY_PORT}`;

/**
 * Returns the variables by which programs find the proxy. ALL_PROXY names it as an HTTP proxy too, which it is: some HTTP
 * libraries fail at the mere sight of a SOCKS proxy.
 * @param ownHosts hosts that programs reach without the proxy
 */
export function proxyVariables(ownHosts: readonly string[]): Readonly<Record<string, string>> {
  const variables = { http_proxy: PROXY, https_proxy: PROXY, all_proxy: PROXY, no_proxy: ownHosts.join(',') };
  const upper = Object.entries(variables).map(([name, value]) => [name.toUpperCase(), value]);
  // Node.js 24 and later read the other variables only with this one.
  return { ...variables, ...(Object.fromEntries(upper) as typeof variables), NODE_USE_ENV_PROXY: '1' };
}
