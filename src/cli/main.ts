#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { demoCommand } from './demo.ts';
import { doctorCommand } from './doctor.ts';
import { listCommand, showCommand } from './list.ts';
import { modelsCommand } from './models.ts';
import { reportFailure } from './output.ts';
import { recipeCommand } from './recipe.ts';
import { approveCommand, iterateCommand, resumeCommand } from './resume.ts';
import { answerCommand, chooseCommand, feedbackCommand } from './review.ts';
import { runCommand } from './run.ts';
import { workerCommand } from './worker.ts';

const program = new Command('dialectic')
  .description('Language models debate a brief and leave a folder of planning documents.')
  .version('0.1.0')
  .exitOverride()
  .addCommand(runCommand())
  .addCommand(resumeCommand())
  .addCommand(listCommand())
  .addCommand(showCommand('show'))
  .addCommand(showCommand('export'))
  .addCommand(approveCommand())
  .addCommand(feedbackCommand())
  .addCommand(answerCommand())
  .addCommand(chooseCommand())
  .addCommand(iterateCommand())
  .addCommand(modelsCommand())
  .addCommand(workerCommand())
  .addCommand(recipeCommand())
  .addCommand(doctorCommand())
  .addCommand(demoCommand());
for (const command of program.commands) command.exitOverride();

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else reportFailure(error, process.argv.includes('--json'));
}
