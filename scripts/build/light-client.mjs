// A plugin of rolldown: Socket.IO's client loads nothing but what a connection by WebSocket needs.

/** These have their code twice: with calls of the package `debug`, and without. */
const WITH_DEBUG = /^(?:socket\.io-client|engine\.io-client|socket\.io-parser)$/;

/** What packages load at their start and rarely need, by the ends of their files' paths. Another version has to be looked at again. */
const REPLACED = {
  // For requests that block.
  '/xmlhttprequest-ssl/lib/XMLHttpRequest.js': [
    "var spawn = require('child_process').spawn;",
    "var spawn = (...args) => require('child_process').spawn(...args);",
  ],
  // An optional package with native code, which is looked for in every folder above.
  '/ws/lib/buffer-util.js': ['if (!process.env.WS_NO_BUFFER_UTIL) {', 'if (false) {'],
};

/** The plugin. It fails the build unless it finds what it replaces. */
export function lightClient() {
  const left = new Set(Object.keys(REPLACED));
  return {
    name: 'light-client',
    async resolveId(id, importer, options) {
      if (!WITH_DEBUG.test(id)) return undefined;
      const found = await this.resolve(id, importer, { ...options, skipSelf: true });
      return found && { ...found, id: found.id.replace('/build/esm-debug/', '/build/esm/') };
    },
    transform(code, id) {
      const file = Object.keys(REPLACED).find((end) => id.endsWith(end));
      if (file === undefined) return undefined;
      const [found, replacement] = REPLACED[file];
      if (code.includes(found)) left.delete(file);
      return code.replace(found, () => replacement);
    },
    buildEnd() {
      if (left.size > 0)
        throw new Error(`${[...left].join(', ')}: the code to replace was not found: look at its new version`);
    },
  };
}
