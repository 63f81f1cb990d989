import type { Command } from 'commander';
import type { RunOptions } from '../api/run-options.ts';
import { checkRun } from '../api/start-run.ts';
import { DialecticError } from '../errors/errors.ts';
import { estimateFirstRun } from '../estimate/estimate-new-run.ts';
import { firstKeyNames, type ModelsConfig } from '../models/config.ts';
import { findPrice, type ModelPrice } from '../models/prices.ts';
import { type Proposal, proposeModels } from '../models/propose-models.ts';
import { toLine } from '../text/clean-text.ts';
import { readConfiguration } from './configuration.ts';
import { agree, type Consent } from './confirm.ts';
import { summariseEstimate } from './estimate-text.ts';
import { tell } from './output.ts';
import { repeatCommand } from './repeat-command.ts';

/**
 * Says who takes part in a run whose options name nobody: those of the configuration; else those that
 * can be reached, with their price, if the person agrees; else nobody, with what helps. The
 * offline author is never taken unasked: it writes by rules and knows nothing of a brief.
 */
export async function nameParticipants(
  run: RunOptions,
  command: Command,
  consent: Consent,
): Promise<RunOptions> {
  if (run.models.length > 0) return run;
  const config = readConfiguration();
  const { participants } = config;
  if (participants) {
    tell(`Participants of the configuration: ${participants.join(', ')}`);
    return { ...run, models: participants };
  }
  const proposal = await proposeModels(config);
  if (proposal.participants.length === 0) throw nothingFound(proposal, config, command);
  const proposed = { ...run, models: proposal.participants };
  await requireAgreement(proposed, config, command, consent);
  return proposed;
}

/** Tells who was found and what the run would cost, and asks where somebody can answer. */
async function requireAgreement(
  run: RunOptions,
  config: ModelsConfig,
  command: Command,
  consent: Consent,
): Promise<void> {
  const lines = await describeProposal(run, config);
  const answer = await agree(`${lines.join('\n')}\nLet them debate this brief?`, consent);
  if (answer === 'agreed') {
    if (consent === 'given') for (const line of lines) tell(line);
    return;
  }
  const options = run.models.flatMap((model) => ['-m', model]);
  const advice = `Name others with -m (dialectic models lists them), or take these with:
  ${repeatCommand(command, options)}`;
  const said = answer === 'refused' ? 'Nothing was started.' : lines.join('\n');
  const details = { models: run.models };
  throw new DialecticError('models_not_chosen', `${said}\n${advice}`, { details });
}

async function describeProposal(run: RunOptions, config: ModelsConfig): Promise<string[]> {
  const planned = (await checkRun(run, config)).run;
  const prices = await Promise.all(
    [...new Set(run.models)].map(async (model) => {
      const isAlone = run.models.every((one) => one === model);
      const price = describePrice(await findPrice(model, config));
      return `  ${model}: ${price}${isAlone ? '; it would debate with itself' : ''}`;
    }),
  );
  const estimate = await estimateFirstRun(planned, config);
  return [
    'No models were named. These can be reached:',
    ...prices.map(toLine),
    summariseEstimate(estimate),
  ];
}

function describePrice(price: ModelPrice | null): string {
  if (price === null) return 'its price is unknown';
  const { input, output } = price.rates;
  if (price.source === 'local') return 'on this machine, no cost';
  return `$${input} in, $${output} out for a million tokens`;
}

function nothingFound(
  { sought }: Proposal,
  config: ModelsConfig,
  command: Command,
): DialecticError {
  const hasServer = config.providers['compatible']?.baseUrl !== undefined;
  const unset = [...firstKeyNames(config), ...(hasServer ? [] : ['DIALECTIC_BASE_URL'])];
  const offline = ['-m', 'offline/builder', '-m', 'offline/skeptic'];
  const lines = [
    'No models were named, and none was found.',
    ...(unset.length > 0 ? [`  Not set: ${unset.join(', ')}`] : []),
    ...sought.map(({ problem }) => toLine(`  ${problem}`)),
    'See a recorded debate with: dialectic demo',
    'The offline author fills the documents by rules, without a model, at no cost:',
    `  ${repeatCommand(command, offline)}`,
  ];
  const action =
    'Store a key with `dialectic keys set openai` (or anthropic, google, openrouter), set one of ' +
    'the variables, or start a local server.';
  const details = { sought, unset };
  return new DialecticError('models_not_found', lines.join('\n'), { action, details });
}
