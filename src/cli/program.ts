import { Command } from 'commander';
import { VERSION } from '../platform/version.ts';
import { completionCommand } from './completion/completion.ts';
import { configCommand } from './config.ts';
import { demoCommand } from './demo.ts';
import { doctorCommand } from './doctor.ts';
import { estimateCommand } from './estimate.ts';
import { evalCommand } from './eval.ts';
import { keysCommand } from './keys.ts';
import { listCommand, showCommand } from './list.ts';
import { modelsCommand } from './models.ts';
import { noticesCommand } from './notices.ts';
import { projectCommand } from './project.ts';
import { questionsCommand } from './questions.ts';
import { recipeCommand } from './recipe.ts';
import { replayCommand } from './replay.ts';
import { approveCommand, iterateCommand, resumeCommand } from './resume.ts';
import { answerCommand, chooseCommand, feedbackCommand } from './review.ts';
import { runCommand } from './run.ts';
import { cancelCommand, pauseCommand } from './stop.ts';
import { walletCommand } from './wallet.ts';
import { watchCommand } from './watch.ts';
import { workerCommand } from './worker.ts';

/** All commands, with what each takes; a new one keeps what the last one parsed. */
export function createProgram(): Command {
  return new Command('dialectic')
    .description('Language models debate a brief and leave a folder of planning documents.')
    .version(VERSION)
    .addCommand(runCommand())
    .addCommand(estimateCommand())
    .addCommand(resumeCommand())
    .addCommand(replayCommand())
    .addCommand(pauseCommand())
    .addCommand(cancelCommand())
    .addCommand(watchCommand())
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
    .addCommand(keysCommand())
    .addCommand(configCommand())
    .addCommand(walletCommand())
    .addCommand(workerCommand())
    .addCommand(recipeCommand())
    .addCommand(doctorCommand())
    .addCommand(completionCommand())
    .addCommand(demoCommand());
}
