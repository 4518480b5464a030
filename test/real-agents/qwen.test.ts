import { testAgent } from './suite.js';

testAgent('qwen');
