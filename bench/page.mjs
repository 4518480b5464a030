// The table of the benchmarks in the documentation: `npm run bench -- --page docs/develop/benchmarks.md`.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

const START = '<!-- measured -->';
const END = '<!-- end of measured -->';

/** Replaces the measured part of a page. */
export function updatePage(path, results) {
  const page = readFileSync(path, 'utf8');
  const [before, rest] = page.split(START);
  const [, after] = rest?.split(END) ?? [];
  if (after === undefined) throw new Error(`${path} has no place for the table: ${START} and ${END}`);
  writeFileSync(path, `${before}${START}\n\n${measured(results)}\n\n${END}${after}`);
}

function measured(results) {
  const model = cpus()[0].model.trim();
  const machine = `${cpus().length} cores (${model}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node.js ${process.version.slice(1)}`;
  const lines = [
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${machine}.`,
    '',
    '| row | floor, p50 | daemon, p50 | daemon, p95 | ratio | target | CPU per command, floor and daemon |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...results.map(line),
    '',
    ...results.flatMap(({ name, extra }) => (extra ? [`- ${name}: ${extra}.`] : [])),
  ];
  return lines.join('\n').trimEnd();
}

function line({ name, target, floor, ours, ratio, cpuUs }) {
  const cpu = cpuUs ? `${cpuUs.floor.toFixed(0)} µs, ${cpuUs.ours.toFixed(0)} µs` : '';
  return `| ${[name, ms(floor.p50), ms(ours.p50), ms(ours.p95), ratio.toFixed(2), target, cpu].join(' | ')} |`;
}

const ms = (time) => (time < 0.1 ? `${(time * 1000).toFixed(0)} µs` : `${time.toFixed(2)} ms`);
