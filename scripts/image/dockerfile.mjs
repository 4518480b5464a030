// Reads a Dockerfile: its stages with their steps, as far as ours uses the format. Source: the Dockerfile reference.

/** What an image keeps of a stage beside its files; all other instructions are steps. */
const SETTINGS = new Set(['ENV', 'USER', 'WORKDIR', 'VOLUME', 'EXPOSE', 'ENTRYPOINT', 'CMD', 'HEALTHCHECK', 'LABEL']);
const STEPS = new Set(['RUN', 'COPY']);

/**
 * The stages of a Dockerfile. Each has `from`, `name`, and `steps`: instructions with their text, in their order.
 * @throws Error for an instruction that is not known here
 */
export function readDockerfile(text) {
  const defaults = new Map();
  const stages = [];
  for (const line of joinLines(text)) {
    const [, instruction = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (instruction === 'ARG') {
      const [name, value = ''] = rest.split('=');
      defaults.set(name, value);
    } else if (instruction === 'FROM') {
      const [image, , name] = rest.split(/\s+/);
      stages.push({ from: expand(image, defaults), name, steps: [] });
    } else if (SETTINGS.has(instruction) || STEPS.has(instruction)) {
      stages.at(-1).steps.push({ instruction, text: rest });
    } else throw new Error(`the instruction ${instruction} is not known here: ${line}`);
  }
  return stages;
}

/** The lines without comments; those that end in a backslash with what follows. */
function joinLines(text) {
  const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('#'));
  return lines
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

const expand = (text, values) => text.replaceAll(/\$\{(\w+)\}/g, (_, name) => values.get(name) ?? '');

/** The arguments of an instruction in its JSON form, such as `["tini", "--"]`. */
export const readList = (text) => JSON.parse(text.slice(text.indexOf('[')));

/** The variables of an ENV: `NAME=value NAME=value`. */
export const readVariables = (text) =>
  Object.fromEntries([...text.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]));

/** What a COPY copies: `from` is the name of a stage, undefined for the folder that is built from. */
export function readCopy(text) {
  const words = text.split(/\s+/);
  const from = words[0].startsWith('--from=') ? words.shift().slice('--from='.length) : undefined;
  return { from, sources: words.slice(0, -1), target: words.at(-1) };
}

/** The last value of a setting in a stage; undefined without one. */
export const settingOf = (stage, name) => stage.steps.findLast(({ instruction }) => instruction === name)?.text;
