import type { ProgramFamily } from '../program-catalog.js';
import { RUNTIME_OPTIONS } from '../subject/assignments.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { judgeGivenTexts } from '../subject/listed-files.js';
import { tailOf } from '../subject/options.js';
import type { Argument } from '../words/argument.js';

const ENTRIES = String.raw`
gcc cc g++ c++ clang clang++ ld ld.gold ld.lld lld gfortran tcc rustc <text>: execute
  when /^(?:-wrapper|-fplugin|-fpass-plugin|--?specs|-B|-load|-plugin$|--plugin|-l?linker|-C ?linker|-Clinker|--config)(?:$|[=.\/,])|^-Wl,-plugin|^linker=/ ! obfuscated \
      {it} runs or loads code because of {word}
  rule compiler
  is versioned of gcc clang
  e.g. rustc x.rs: execute
go <text>: execute
  -C = text
  when /^--?(?:toolexec|exec|vettool|overlay)(?:=|$)|-extld/ ! obfuscated go runs another program: {word}
  rule go
  version help list: read
  env: read
    -w ! persistence changes settings that other programs use
  run: execute
    when /^\S+@\S+$/ ! network go fetches a program and runs it: {word}
  get install mod: network
  e.g. go version: read
cargo <text>: execute
  --config = text ! obfuscated may make cargo run other programs
  -C -Z --color --manifest-path = text
  when /^(?:-C)?linker=/ ! obfuscated cargo runs a linker that an option names
  version help tree metadata search: read
  add update fetch: network
  install: network
    --root = write
  publish yank owner login: exfiltration publishes files
  build run test check bench clippy: execute
    --config = text ! obfuscated may make cargo run other programs
  e.g. cargo test: execute; cargo publish: exfiltration
java <text>: execute
  when /^-(?:javaagent|agentlib|agentpath)[:=]|^-XX:\+?On(?:OutOfMemory)?Error=/ ! obfuscated java runs other code: {word}
  rule givenTexts
  is versioned
  e.g. java -javaagent:x y: obfuscated
`;

/** `gcc` and similar compilers: judges the files that they read and write. */
function judgeCompiler(subject: CommandAnalysis): void {
  subject.args.forEach((arg, index, args) => {
    if (!arg.shape.startsWith('-') && args[index - 1]?.shape !== '-o') subject.read(arg);
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

function judgeGo(subject: CommandAnalysis): void {
  subject.args.forEach(({ shape }, index, args) => {
    const target = args[index + 1];
    if (shape === '-o' && target?.value !== undefined) subject.write(target);
  });
}

export const COMPILERS: ProgramFamily = {
  name: 'compilers',
  entries: ENTRIES,
  rules: { judges: { compiler: judgeCompiler, go: judgeGo, givenTexts: judgeGivenTexts } },
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
};
