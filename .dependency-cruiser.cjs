// Imports go one way: core <- engine <- services <- transports <- app <- main. The client and the CLI stand outside:
// the client may use core alone (it runs in a browser), the CLI may use the client, config, core and app.
// The dashboard is a page in a browser, and uses the client alone.
// Config, logging and the engine share what src/files does with files; it knows nothing else.
const layer = (name, from, allowed) => ({
  name,
  severity: 'error',
  from: { path: from },
  to: { path: '^src/', pathNot: allowed },
});

module.exports = {
  forbidden: [
    { name: 'no-folder-cycles', severity: 'error', scope: 'folder', from: {}, to: { circular: true } },
    // An `import type` in a circle has no effect at run time.
    {
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    layer('core-imports-core-only', '^src/core/', ['^src/core/']),
    { name: 'core-is-pure', severity: 'error', from: { path: '^src/core/' }, to: { dependencyTypes: ['core'] } },
    {
      name: 'program-families-are-independent',
      severity: 'error',
      from: { path: '^src/core/policy/programs/([a-z]+)[^/]*\\.ts$', pathNot: '/programs\\.ts$' },
      to: { path: '^src/core/policy/programs/', pathNot: '^src/core/policy/programs/$1' },
    },
    layer('files-import-nothing', '^src/files/', ['^src/files/']),
    layer('config-imports-core', '^src/config/', ['^src/(core|files|config)/']),
    layer('logging-imports-config', '^src/logging/', ['^src/(core|files|config|logging)/']),
    layer('engine-imports-core', '^src/engine/', ['^src/(core|files|engine)/']),
    layer('services-import-engine', '^src/services/', ['^src/core/', '^src/engine/', '^src/services/']),
    layer('traces-serve-app', '^src/traces/', ['^src/(core|traces)/']),
    layer('cluster-serves-services', '^src/cluster/', ['^src/(core|engine|services|cluster)/']),
    layer('transports-import-services', '^src/transports/', ['^src/core/', '^src/services/', '^src/transports/']),
    layer('client-imports-core', '^src/client/', ['^src/(core|client)/']),
    {
      name: 'client-is-browser-safe',
      severity: 'error',
      from: { path: '^src/client/' },
      to: { dependencyTypes: ['core'] },
    },
    layer('dashboard-uses-the-client', '^src/dashboard/', ['^src/(core|client|dashboard)/']),
    {
      name: 'dashboard-is-browser-safe',
      severity: 'error',
      from: { path: '^src/dashboard/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'nobody-imports-the-dashboard',
      severity: 'error',
      from: { pathNot: '^src/dashboard/' },
      to: { path: '^src/dashboard/' },
    },
    layer('doctor-examines-what-runs', '^src/doctor/', [
      '^src/(core|engine|services|doctor)/',
      '^src/cluster/registry/',
    ]),
    layer('app-knows-no-cli', '^src/app/', [
      '^src/(core|config|engine|services|cluster|transports|traces|logging|doctor|app)/',
    ]),
    layer('cli-stands-outside', '^src/cli/', [
      '^src/(core|config|cli|client|doctor)/',
      '^src/policy\\.ts$',
      '^src/(app/(app|detach)|cluster/holder-directory|logging/logging)\\.ts$',
      '^src/services/access/token-files',
      '^src/engine/audit/(files|verify)',
      '^src/engine/platform/(choose-platform|linux/process-table)',
      '^src/engine/files/(open-file|write-content)',
      '^src/engine/system/(find-user|local-files|promises)',
      '^src/services/http-exchange',
      '^src/transports/access\\.ts$',
      // An MCP server is the same one over standard input as over HTTP.
      '^src/transports/mcp/(mcp-server|start-directory|tool-call)',
    ]),
    { name: 'nobody-imports-main', severity: 'error', from: {}, to: { path: '^src/main\\.ts$' } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node'] },
  },
};
