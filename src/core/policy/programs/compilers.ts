import type { ProgramExamples, ProgramFamily } from '../program-family.js';
import { RUNTIME_OPTIONS } from '../subject/assignments.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { judgeGivenTexts } from '../subject/listed-files.js';
import { tailOf } from '../subject/options.js';
import { each, type ProgramTable, valued } from '../subject/program-spec.js';
import type { Argument } from '../words/argument.js';

/** Commands of this family, by class. */
const EXAMPLES: ProgramExamples = {
  read: ['go version'],
  execute: ['rustc x.rs', 'cargo test', 'rustup show'],
  exfiltration: ['cargo publish'],
  obfuscated: ['java -javaagent:x y'],
};

/** Options that make compilers run programs or load code of the caller's choice. */
const LOADING =
  /^(?:-wrapper|-fplugin|-fpass-plugin|--?specs|-B|-load|-plugin$|--plugin|-l?linker|-C ?linker|-Clinker|--config)(?:$|[=./,])|^-Wl,-plugin/;

/** `gcc` and similar compilers: judges the files that they write, and the code that they load. */
function judgeCompiler(subject: CommandAnalysis): void {
  const label = subject.program ?? 'it';
  subject.args.forEach((arg, index, args) => {
    const { shape } = arg;
    if (LOADING.test(shape) || /^linker=/.test(shape))
      subject.add('obfuscated', `${label} runs or loads code because of ${arg.text}`);
    if (!shape.startsWith('-') && args[index - 1]?.shape !== '-o') subject.read(arg);
    judgeOutput(subject, arg, args[index + 1]);
  });
}

/** A file that an option names: as a separate word, or attached. Words such as -offload begin in the same way. */
function judgeOutput(subject: CommandAnalysis, arg: Argument, next: Argument | undefined): void {
  const { shape } = arg;
  if (/^-(?:o|MF)$/.test(shape) && next?.value !== undefined) subject.write(next);
  else if (/^-MF./.test(shape)) subject.write(tailOf(arg, '-MF'.length));
  else if (/^-o[^a-z]/.test(shape)) subject.write(tailOf(arg, '-o'.length));
}

/** Options of `go` that run its tools through another program. */
const GO_RUNS = /^--?(?:toolexec|exec|vettool|overlay)(?:=|$)|-extld/;

function judgeGo(subject: CommandAnalysis): void {
  const [subcommand] = subject.args;
  subject.args.forEach((arg, index, args) => {
    if (GO_RUNS.test(arg.shape)) subject.add('obfuscated', `go runs another program: ${arg.text}`);
    const target = args[index + 1];
    if (arg.shape === '-o' && target?.value !== undefined) subject.write(target);
    judgeGoArgument(subject, subcommand?.shape, arg.shape);
  });
}

/** Words that have a meaning after certain subcommands. */
function judgeGoArgument(subject: CommandAnalysis, subcommand: string | undefined, shape: string): void {
  if (subcommand === 'env' && shape === '-w')
    subject.add('persistence', 'go env changes settings that other programs use');
  if (subcommand === 'run' && /^\S+@\S+$/.test(shape))
    subject.add('network', `go fetches a program and runs it: ${shape}`);
}

const JAVA_RUNS = /^-(?:javaagent|agentlib|agentpath)[:=]|^-XX:\+?On(?:OutOfMemory)?Error=/;

/** Compilers, and tools of languages whose programs are built before they run. */
const SPECS: ProgramTable = {
  ...each('gcc cc g++ c++ clang clang++ ld ld.gold ld.lld lld gfortran tcc rustc', {
    class: 'execute',
    operands: 'text',
    judge: judgeCompiler,
  }),
  go: {
    class: 'execute',
    operands: 'text',
    options: valued('-C'),
    judge: judgeGo,
    subcommands: {
      ...each('version help list', { class: 'read', operands: 'text' }),
      env: { class: 'read', operands: 'text' },
      ...each('get install mod', { class: 'network', operands: 'text' }),
    },
  },
  cargo: {
    class: 'execute',
    operands: 'text',
    judge: (subject) => {
      if (subject.args.some(({ shape }) => /^(?:-C)?linker=/.test(shape)))
        subject.add('obfuscated', 'cargo runs a linker that an option names');
    },
    options: {
      '--config': { class: 'obfuscated', reason: 'may make cargo run other programs', value: 'text' },
      ...valued('-C -Z --color --manifest-path'),
    },
    subcommands: {
      ...each('version help tree metadata search', { class: 'read', operands: 'text' }),
      ...each('add update fetch', { class: 'network', operands: 'text' }),
      install: { class: 'network', operands: 'text', options: each('--root', { value: 'write' }) },
      ...each('publish yank owner login', { class: 'exfiltration', reason: 'publishes files', operands: 'text' }),
      ...each('build run test check bench clippy', {
        class: 'execute',
        operands: 'text',
        options: { '--config': { class: 'obfuscated', reason: 'may make cargo run other programs', value: 'text' } },
      }),
    },
  },
  java: {
    class: 'execute',
    operands: 'text',
    judge: (subject) => {
      for (const { shape, text } of subject.args)
        if (JAVA_RUNS.test(shape)) subject.add('obfuscated', `java runs other code: ${text}`);
      judgeGivenTexts(subject);
    },
  },
};

/** Compilers, and tools of languages whose programs are built before they run. */
export const COMPILERS: ProgramFamily = {
  name: 'compilers',
  programs: SPECS,
  traits: { versioned: 'gcc clang java' },
  variables: [
    {
      names: /^GOBIN$/,
      class: 'persistence',
      what: 'installs programs in a directory of the system',
      harmless: /^(?!\/(?:usr|bin|sbin|opt|etc|lib))/,
    },
    {
      names: /^(?:(?:\w*_)?JAVA_(?:TOOL_)?(?:OPTIONS|OPTS)|(?:MAVEN|GRADLE|SBT|CATALINA|JVM)_OPTS)$/i,
      class: 'obfuscated',
      what: 'makes an interpreter run other code',
      harmless: RUNTIME_OPTIONS,
    },
    {
      names: /^(?:GOFLAGS|RUSTFLAGS|CARGO_(?:ENCODED_RUSTFLAGS|BUILD_\w*|TARGET_\w*(?:LINKER|RUNNER)))$/,
      class: 'obfuscated',
      what: 'adds options to a compiler',
      harmless: /^(?!.*(?:exec|vettool|linker|wrapper|plugin))[\w= .,:/+-]*$/,
    },
  ],
  commandVariables:
    /^(?:CC|CXX|CPP|LD|AR|AS|FC|HOSTCC|RUSTC|RUSTDOC|RUSTC(?:_WORKSPACE)?_WRAPPER|CARGO_BUILD_RUSTC\w*)$/,
  examples: EXAMPLES,
};
