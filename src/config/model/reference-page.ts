import { markdownTable } from '../../core/markdown.js';
import type { ReloadEffect } from '../fields.js';
import { listSettings, type Setting, variableName } from './settings.js';

const INTRODUCTION = `# Configuration keys

Every key of the configuration file, generated from its schema. [Configuration](../operate/configuration.md) explains where
values come from, and [config/shell_adapter.yaml](../../config/shell_adapter.yaml) shows them all in a file.

Times may be fractions. MB and KB are 1024 * 1024 and 1024 bytes. The column "reload" says when a value that SIGHUP makes the
daemon read again takes effect: at once, for sessions opened afterwards, or at the next start of the daemon.
`;

const EFFECTS: Readonly<Record<ReloadEffect, string>> = {
  now: 'at once',
  new_sessions: 'new sessions',
  restart: 'next start',
};

/** Renders the page with all keys of the configuration, as Markdown. */
export function renderConfigurationPage(): string {
  const settings = listSettings();
  const sections = [...new Set(settings.map(({ path }) => path[0] ?? ''))];
  return [INTRODUCTION, ...sections.map((name) => renderSection(name, settings))].join('\n');
}

function renderSection(name: string, settings: readonly Setting[]): string {
  const own = settings.filter(({ path }) => path[0] === name);
  const rows = own.map((setting) => {
    const { path, fallback, unit = '', reload, text } = setting;
    return [code(path.join('.')), text, unit, fallback, EFFECTS[reload], code(variableName(path))];
  });
  const keys = markdownTable(['key', 'meaning', 'unit', 'default', 'reload', 'environment variable'], rows);
  const entries = own.filter((setting) => setting.entries.length > 0).map(renderEntries);
  return [`## ${name}\n`, `${keys}\n`, ...entries].join('\n');
}

function renderEntries({ path, entries }: Setting): string {
  const rows = entries.map((entry) => [code(entry.path.join('.')), entry.text, entry.unit ?? '', entry.fallback]);
  return `Keys of an entry of ${code(path.join('.'))}:\n\n${markdownTable(['key', 'meaning', 'unit', 'default'], rows)}\n`;
}

const code = (text: string): string => `\`${text}\``;
