import { testAgent } from './suite.js';

testAgent('codex');
