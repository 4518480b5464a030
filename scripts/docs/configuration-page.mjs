// docs/reference/configuration.md: every key of the configuration, with its meaning, unit, default and effect of a reload.
import { configurationSettings, valuesIn, variableName } from '../../dist/config/model/settings.js';
import { markdownTable } from '../../dist/core/markdown.js';
import { code } from './page.mjs';

const INTRODUCTION = `# Configuration keys

Every key of the configuration file, generated from its schema. [Configuration](../operate/configuration.md) explains where
values come from, and [config/shell_adapter.yaml](../../config/shell_adapter.yaml) shows them all in a file.

Times may be fractions. MB and KB are 1024 * 1024 and 1024 bytes. The column "reload" says when a value that SIGHUP makes the
daemon read again takes effect: at once, for sessions opened afterwards, or at the next start of the daemon.
`;

const EFFECTS = { now: 'at once', new_sessions: 'new sessions', restart: 'next start' };

/** Renders the page. */
export const renderConfiguration = () => [INTRODUCTION, ...configurationSettings().keys.map(renderSection)].join('\n');

function renderSection(section) {
  const settings = section.kind === 'group' ? valuesIn(section) : [section];
  const rows = settings.map(({ path, fallback, unit = '', reload, text }) => {
    return [code(path.join('.')), text, unit, fallback, EFFECTS[reload], code(variableName(path))];
  });
  const keys = markdownTable(['key', 'meaning', 'unit', 'default', 'reload', 'environment variable'], rows);
  return [`## ${section.path.join('.')}\n`, `${keys}\n`, ...settings.flatMap(renderEntries)].join('\n');
}

function renderEntries({ path, entry }) {
  if (!entry) return [];
  const rows = valuesIn(entry).map((key) => [code(key.path.join('.')), key.text, key.unit ?? '', key.fallback]);
  const keys = markdownTable(['key', 'meaning', 'unit', 'default'], rows);
  return [`Keys of an entry of ${code(path.join('.'))}:\n\n${keys}\n`];
}
