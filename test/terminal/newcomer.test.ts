import { beforeAll } from 'vitest';
import {
  installProgram,
  interruptFirstRun,
  Newcomer,
  openDocuments,
  resumeAsAdvised,
} from './newcomer.ts';
import { testAtTerminal } from './pseudo-terminal.ts';

let command: string;
beforeAll(async () => {
  command = await installProgram();
});

testAtTerminal('a newcomer gets from the brief to a folder by what the screen says', async () => {
  const person = await Newcomer.arrive(command, { columns: 80, rows: 24 });
  const session = await interruptFirstRun(person);
  await resumeAsAdvised(person, session);
  await openDocuments(person);
});
