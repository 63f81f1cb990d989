import { Command, CommanderError } from 'commander';
import { VERSION } from '../platform/version.ts';
import { configCommand } from './config.ts';
import { demoCommand } from './demo.ts';
import { doctorCommand } from './doctor.ts';
import { estimateCommand } from './estimate.ts';
import { evalCommand } from './eval.ts';
import { listCommand, showCommand } from './list.ts';
import { modelsCommand } from './models.ts';
import { noticesCommand } from './notices.ts';
import { reportFailure, tell } from './output.ts';
import { projectCommand } from './project.ts';
import { questionsCommand } from './questions.ts';
import { recipeCommand } from './recipe.ts';
import { replayCommand } from './replay.ts';
import { approveCommand, iterateCommand, resumeCommand } from './resume.ts';
import { answerCommand, chooseCommand, feedbackCommand } from './review.ts';
import { runCommand } from './run.ts';
import { cancelCommand, pauseCommand } from './stop.ts';
import { walletCommand } from './wallet.ts';
import { workerCommand } from './worker.ts';

/**
 * Carries out one command and sets the process's exit code. Each call builds the commands anew,
 * since they keep the options that they have parsed.
 */
export async function runProgram(parameters: readonly string[]): Promise<void> {
  const program = createProgram();
  throwFailures(program);
  try {
    await program.parseAsync(parameters, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else reportFailure(error, parameters.includes('--json'));
  }
}

/** Commander would end the process by itself; a command does not hand this setting to its verbs. */
function throwFailures(command: Command): void {
  command.exitOverride().configureOutput({ writeErr: (text) => tell(text.trimEnd()) });
  for (const verb of command.commands) throwFailures(verb);
}

function createProgram(): Command {
  return new Command('dialectic')
    .description('Language models debate a brief and leave a folder of planning documents.')
    .version(VERSION)
    .addCommand(runCommand())
    .addCommand(estimateCommand())
    .addCommand(resumeCommand())
    .addCommand(replayCommand())
    .addCommand(pauseCommand())
    .addCommand(cancelCommand())
    .addCommand(listCommand())
    .addCommand(projectCommand())
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
}
