import { Command } from 'commander';
import { VERSION } from '../platform/version.ts';
import { shareHelp } from './help-text.ts';

/** Every verb in the order of the help; its file is loaded when the verb is called. */
const VERBS: Readonly<Record<string, () => Promise<Command>>> = {
  run: async () => (await import('./run.ts')).runCommand(),
  estimate: async () => (await import('./estimate.ts')).estimateCommand(),
  resume: async () => (await import('./resume.ts')).resumeCommand(),
  replay: async () => (await import('./replay.ts')).replayCommand(),
  pause: async () => (await import('./stop.ts')).pauseCommand(),
  cancel: async () => (await import('./stop.ts')).cancelCommand(),
  watch: async () => (await import('./watch.ts')).watchCommand(),
  list: async () => (await import('./list.ts')).listCommand(),
  project: async () => (await import('./project.ts')).projectCommand(),
  sources: async () => (await import('./sources.ts')).sourcesCommand(),
  show: async () => (await import('./show.ts')).showCommand(),
  open: async () => (await import('./open.ts')).openCommand(),
  export: async () => (await import('./export.ts')).exportCommand(),
  approve: async () => (await import('./resume.ts')).approveCommand(),
  feedback: async () => (await import('./review.ts')).feedbackCommand(),
  questions: async () => (await import('./questions.ts')).questionsCommand(),
  answer: async () => (await import('./review.ts')).answerCommand(),
  choose: async () => (await import('./review.ts')).chooseCommand(),
  iterate: async () => (await import('./resume.ts')).iterateCommand(),
  notices: async () => (await import('./notices.ts')).noticesCommand(),
  eval: async () => (await import('./eval.ts')).evalCommand(),
  models: async () => (await import('./models.ts')).modelsCommand(),
  keys: async () => (await import('./keys.ts')).keysCommand(),
  config: async () => (await import('./config.ts')).configCommand(),
  wallet: async () => (await import('./wallet.ts')).walletCommand(),
  worker: async () => (await import('./worker.ts')).workerCommand(),
  recipe: async () => (await import('./recipe.ts')).recipeCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
  completion: async () => (await import('./completion/completion.ts')).completionCommand(),
  demo: async () => (await import('./demo.ts')).demoCommand(),
};

/**
 * The commands that a command line needs: the verb that it begins with, none for the version, and all
 * of them for the help, for a verb that is misspelt and where no command line is given. A new program
 * keeps nothing of what the last one parsed.
 */
export async function createProgram(parameters: readonly string[] = []): Promise<Command> {
  const program = new Command('dialectic')
    .description('Language models debate a brief and leave a folder of planning documents.')
    .version(VERSION);
  for (const load of verbsFor(parameters[0])) program.addCommand(await load());
  shareHelp(program);
  return program;
}

function verbsFor(first: string | undefined): readonly (() => Promise<Command>)[] {
  if (first === '--version' || first === '-V') return [];
  const verb = first === undefined || !Object.hasOwn(VERBS, first) ? undefined : VERBS[first];
  return verb ? [verb] : Object.values(VERBS);
}
