import type { ProgramExamples } from '../../family/program-family.js';

/** Commands of this family, by class. */
export const EXAMPLES: ProgramExamples = {
  read: ['go version'],
  execute: ['rustc x.rs', 'cargo test', 'rustup show'],
  exfiltration: ['cargo publish'],
  obfuscated: ['java -javaagent:x y'],
};
