import { toDialecticError } from '../errors/errors.ts';
import { type SendHttp, sendHttp } from '../platform/http.ts';
import type { ModelsConfig, ProviderConfig } from './config.ts';
import { isConfigured, resolveEndpoint } from './endpoint.ts';
import { askOffered } from './list-models.ts';

/** A provider that was looked for, and what came of it. */
type SoughtProvider = {
  readonly provider: string;
  readonly address: string;
  readonly local: boolean;
  /** Why it cannot be used; null where it answered. */
  readonly problem: string | null;
  /** The models that it would take part with. */
  readonly models: readonly string[];
};

/** Participants for a run whose user named none, and where they were looked for. */
export type Proposal = {
  readonly participants: readonly string[];
  readonly sought: readonly SoughtProvider[];
};

/** A server on this machine answers at once or is not there. */
const LOCAL_MS = 1_000;
const REMOTE_MS = 4_000;
/** A debate needs two voices; more of them cost more than a person expects who named none. */
const PARTICIPANTS = 2;

/**
 * Asks every provider that has a key or an address, and the usual ports of local servers, what they
 * offer, and proposes two participants. Nothing is spent. Providers that the user set up come before
 * local servers, which run whether they are meant or not.
 */
export async function proposeModels(
  config: ModelsConfig,
  send: SendHttp = sendHttp,
): Promise<Proposal> {
  const sought = await Promise.all(
    Object.entries(config.providers)
      .filter(([, provider]) => isConfigured(provider))
      .map(([name, provider]) => seek(name, provider, send)),
  );
  const remote = sought.filter(({ local, models }) => !local && models.length > 0);
  const chosen = remote.length > 0 ? remote : sought.filter(({ models }) => models.length > 0);
  return { participants: takeTurns(chosen.map(({ models }) => models)), sought };
}

async function seek(
  name: string,
  provider: ProviderConfig,
  send: SendHttp,
): Promise<SoughtProvider> {
  const local = provider.local ?? false;
  const place = { provider: name, address: resolveEndpoint(name, provider).baseUrl, local };
  try {
    const offered = await askOffered(name, provider, local ? LOCAL_MS : REMOTE_MS, send);
    const names = pickModels(
      provider,
      offered.map((one) => one.name),
    );
    const problem = names.length > 0 ? null : `${name} offers no model that writes text`;
    return { ...place, problem, models: names.map((model) => `${name}/${model}`) };
  } catch (thrown) {
    return { ...place, problem: toDialecticError(thrown).message, models: [] };
  }
}

/**
 * The families that a hosted provider sells for work like this, without the variants for speech,
 * search and code; their newest version is proposed.
 */
const FAMILIES: readonly RegExp[] = [
  /^(?:openai\/)?gpt-(\d+(?:\.\d+)?)$/,
  /^(?:anthropic\/)?claude-sonnet-(\d+(?:[.-]\d{1,2})?)(?:-\d{8})?$/,
  /^(?:google\/)?gemini-(\d+(?:\.\d+)?)-pro$/,
];
const NO_WRITER = /embed|rerank|whisper|tts|speech|audio|image|vision-only|moderation|guard/i;

/** The models of a provider that fit a debate, the best first. */
function pickModels({ kind }: ProviderConfig, names: readonly string[]): readonly string[] {
  const known = FAMILIES.flatMap((family) => newestOf(family, names));
  // A server of the user's own has what they put there.
  return known.length > 0 || kind !== 'compatible'
    ? known
    : names.filter((name) => !NO_WRITER.test(name)).slice(0, PARTICIPANTS);
}

function newestOf(family: RegExp, names: readonly string[]): string[] {
  const versions = names.flatMap((name) => {
    const version = family.exec(name)?.[1];
    return version === undefined ? [] : [{ name, version: Number(version.replace('-', '.')) }];
  });
  return versions
    .toSorted((a, b) => b.version - a.version)
    .slice(0, 1)
    .map(({ name }) => name);
}

/** One model of each provider in turn, until there are enough; a single one debates with itself. */
function takeTurns(offers: readonly (readonly string[])[]): string[] {
  const longest = Math.max(0, ...offers.map((models) => models.length));
  const turns = Array.from({ length: longest }, (_, turn) =>
    offers.flatMap((models) => models.slice(turn, turn + 1)),
  ).flat();
  const [first] = turns;
  const enough = turns.slice(0, PARTICIPANTS);
  return first !== undefined && enough.length < PARTICIPANTS ? [first, first] : enough;
}
