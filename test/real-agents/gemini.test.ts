import { testAgent } from './suite.js';

testAgent('gemini');
