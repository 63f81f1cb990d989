import { beforeAll, describe } from 'vitest';
import {
  installProgram,
  interruptFirstRun,
  Newcomer,
  openDocuments,
  pauseForBudget,
  resumeAsAdvised,
  watchDemo,
} from './newcomer.ts';
import { testAtTerminal } from './pseudo-terminal.ts';

let command: string;
beforeAll(async () => {
  command = await installProgram();
});

// `SCREENS=folder npm run test:long -- test/terminal` leaves what the windows showed in the folder.
describe.each([
  { columns: 80, rows: 24 },
  { columns: 50, rows: 15 },
])('a newcomer at $columns by $rows', (size) => {
  let person: Newcomer;
  beforeAll(async () => {
    person = await Newcomer.arrive(command, size);
  });

  testAtTerminal('gets from the brief to a folder by what the screen says', async () => {
    const session = await interruptFirstRun(person);
    await resumeAsAdvised(person, session);
    await openDocuments(person);
  });

  testAtTerminal('learns that the budget is spent, and goes on with more', async () => {
    await pauseForBudget(person);
  });

  testAtTerminal('sees the demonstration', async () => {
    await watchDemo(person);
  });
});
