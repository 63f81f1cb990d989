import { DialecticError } from '../errors/errors.ts';
import { ANY } from '../text/liquid-paths.ts';
import { RESOURCE_KINDS, type ResourceKind } from './render-prompt.ts';
import { readerOf } from './text-uses.ts';
import type { Process, Stage } from './types.ts';

/** The resource kinds that a prompt of the process prints or a step takes as input. */
export function readResourceKinds(process: Process): ResourceKind[] {
  const read = new Set(process.stages.flatMap((stage) => kindsOf(process, stage)));
  return RESOURCE_KINDS.filter((kind) => read.has(kind));
}

function kindsOf(process: Process, stage: Stage): string[] {
  const texts = readerOf(process, stage);
  const steps = stage.steps.filter((step) => !step.skip);
  const files = [stage.seedPrompt ?? [], steps.flatMap((step) => step.prompt ?? [])].flat();
  const printed = [...new Set(files)].flatMap((file) => {
    return (texts.read(file).uses ?? []).flatMap(({ path: [root, kind], printed: shown }) => {
      if (root !== 'resources') return [];
      if (kind === ANY) return RESOURCE_KINDS;
      if (!shown) return [];
      return typeof kind === 'string' ? [kind] : RESOURCE_KINDS;
    });
  });
  const taken = steps
    .flatMap((step) => step.inputs)
    .filter((input) => input.type === 'project_resource')
    .flatMap(({ documentKey }) => documentKey ?? RESOURCE_KINDS);
  return [...printed, ...taken];
}

/** Refuses material that no prompt and no step of the process would read. */
export function requireResources(
  process: Process,
  resources: readonly { readonly kind: string }[],
): void {
  if (resources.length === 0) return;
  const read = readResourceKinds(process);
  const lost = resources.find(({ kind }) => !(read as readonly string[]).includes(kind));
  if (!lost) return;
  const known = (RESOURCE_KINDS as readonly string[]).includes(lost.kind);
  const why = known
    ? `No prompt of ${process.key} reads ${lost.kind}`
    : `There is no resource kind ${lost.kind}`;
  const there = read.length > 0 ? `it reads ${read.join(', ')}` : 'it reads no resources';
  const message = `${why}; ${known ? there : there.replace('it', process.key)}.`;
  throw new DialecticError('usage_invalid', message, { details: { kinds: read } });
}

/** Refuses a domain that the process has no overlay for. */
export function requireDomain(process: Process, domain: string | null): void {
  if (domain === null || Object.hasOwn(process.domains, domain)) return;
  const names = Object.keys(process.domains);
  const there = names.length > 0 ? `it has ${names.join(', ')}` : 'it has none';
  const message = `${process.key} has no domain ${domain}; ${there}.`;
  throw new DialecticError('usage_invalid', message, { details: { domains: names } });
}

/** Refuses to stop after a stage that the process does not have. */
export function requireUntil(process: Process, until: string | null): void {
  if (until === null || process.stages.some((stage) => stage.key === until)) return;
  const keys = process.stages.map((stage) => stage.key);
  const message = `No stage ${until}; there are ${keys.join(', ')}.`;
  throw new DialecticError('usage_invalid', message, { details: { stages: keys } });
}
