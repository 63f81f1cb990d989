import { guardStreams } from './guard-streams.ts';
import { runProgram } from './run-program.ts';

const parameters = process.argv.slice(2);
guardStreams(parameters.includes('--json'));
await runProgram(parameters);
