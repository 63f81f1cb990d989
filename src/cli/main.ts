#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { demoCommand } from './demo.ts';
import { doctorCommand } from './doctor.ts';
import { reportFailure } from './output.ts';
import { recipeCommand } from './recipe.ts';

const program = new Command('dialectic')
  .description('Language models debate a brief and leave a folder of planning documents.')
  .version('0.1.0')
  .exitOverride()
  .addCommand(doctorCommand())
  .addCommand(demoCommand())
  .addCommand(recipeCommand());
for (const command of program.commands) command.exitOverride();

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else reportFailure(error, process.argv.includes('--json'));
}
