#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { configCommand } from './config.ts';
import { demoCommand } from './demo.ts';
import { doctorCommand } from './doctor.ts';
import { estimateCommand } from './estimate.ts';
import { evalCommand } from './eval.ts';
import { listCommand, showCommand } from './list.ts';
import { modelsCommand } from './models.ts';
import { noticesCommand } from './notices.ts';
import { reportFailure, tell } from './output.ts';
import { questionsCommand } from './questions.ts';
import { recipeCommand } from './recipe.ts';
import { approveCommand, iterateCommand, resumeCommand } from './resume.ts';
import { answerCommand, chooseCommand, feedbackCommand } from './review.ts';
import { runCommand } from './run.ts';
import { cancelCommand, pauseCommand } from './stop.ts';
import { walletCommand } from './wallet.ts';
import { workerCommand } from './worker.ts';

const packageFile = new URL('../../package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };

const program = new Command('dialectic')
  .description('Language models debate a brief and leave a folder of planning documents.')
  .version(version)
  .exitOverride()
  .configureOutput({ writeErr: (text) => tell(text.trimEnd()) })
  .addCommand(runCommand())
  .addCommand(estimateCommand())
  .addCommand(resumeCommand())
  .addCommand(pauseCommand())
  .addCommand(cancelCommand())
  .addCommand(listCommand())
  .addCommand(showCommand('show'))
  .addCommand(showCommand('export'))
  .addCommand(approveCommand())
  .addCommand(feedbackCommand())
  .addCommand(questionsCommand())
  .addCommand(answerCommand())
  .addCommand(chooseCommand())
  .addCommand(iterateCommand())
  .addCommand(noticesCommand())
  .addCommand(evalCommand())
  .addCommand(modelsCommand())
  .addCommand(configCommand())
  .addCommand(walletCommand())
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
