import { test } from 'vitest';
import { runWithFault } from './fault-run.ts';
import { FAULT_CLASSES } from './faults.ts';

const RUNS = 10_000;

test(`${RUNS} runs through five stages: every fault is found, and nothing else`, () => {
  for (let seed = 1; seed <= RUNS; seed++) {
    runWithFault(seed, FAULT_CLASSES[seed % FAULT_CLASSES.length]!);
  }
});
