import type { ProgramFamily } from '../../family/program-family.js';
import { RUNTIME_OPTIONS } from '../../subject/assignments.js';
import { EXAMPLES } from './examples.js';
import { SPECS } from './table.js';

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
