import { testAgent } from './suite.js';

testAgent('opencode');
