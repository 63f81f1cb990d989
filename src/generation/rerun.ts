import type { Step } from '../recipe/types.ts';
import type { SessionLane, SessionView } from '../session/read.ts';
import { hideMarkers } from '../sources/markers.ts';
import type { Assembly } from './assemble-request.ts';

/** A passage of a source that a request gives beside the prompt. */
export type GivenPassage = {
  /** The excerpt that it stands in: `S1.e2`, or `S1` where there is one. */
  readonly id: string;
  readonly text: string;
};

/** What was tried for a document since its writer failed to mend its citations. */
export type Rerun = {
  /** The lanes that were asked in place of the document's own, by id; the last one writes now. */
  readonly lanes: readonly string[];
  /** The sources that statements with faults cited. */
  readonly tried: readonly string[];
  /** The passages that each request gave, the current one's last. */
  readonly given: readonly (readonly GivenPassage[])[];
};

export const NO_RERUN: Rerun = { lanes: [], tried: [], given: [] };

/** Each costs a call: a document has at most five calls because of its citations. */
const MOST_RERUNS = 2;

type Asked = Pick<Assembly, 'step' | 'planned'> & { readonly session: Pick<SessionView, 'lanes'> };

/** How often the document may be asked for in the way that its recipe names. */
export const mostReruns = ({ step, session }: Pick<Asked, 'step' | 'session'>): number =>
  mostRerunsOf(step, session.lanes.length);

/** The same for a run with so many participants. */
export function mostRerunsOf({ onUnsupported }: Step, lanes: number): number {
  if (onUnsupported === undefined) return 0;
  return onUnsupported === 'other_lane' ? Math.min(MOST_RERUNS, lanes - 1) : MOST_RERUNS;
}

/** The participant that comes after those that were asked; undefined where all were. */
export function nextLane(
  { session: { lanes }, planned }: Asked,
  { lanes: asked }: Rerun,
): SessionLane | undefined {
  const last = lanes.findIndex(({ id }) => id === (asked.at(-1) ?? planned.laneId));
  const following = [...lanes.slice(last + 1), ...lanes.slice(0, last + 1)];
  return following.find(({ id }) => id !== planned.laneId && !asked.includes(id));
}

/** What a request says of the passages that it gives; empty where it gives none. */
export function describeEvidence(
  { tried, given }: Rerun,
  asData: (text: string) => string,
): string {
  const passages = given.at(-1) ?? [];
  if (passages.length === 0) return '';
  const blocks = passages.map(({ id, text }) => {
    const [source = id] = id.split('.');
    const excerpt = id === source ? '' : ` excerpt="${id}"`;
    return `<source id="${source}"${excerpt}>\n${asData(hideMarkers(text))}\n</source>`;
  });
  const before = [...tried, ...given.slice(0, -1).flatMap((some) => some.map(({ id }) => id))];
  const sofar =
    before.length > 0 ? ` Tried before, without success: ${[...new Set(before)].join(', ')}.` : '';
  return `# Other evidence\n\nThese passages of the sources may support what your last answer could not show, or say what is right. Cite them by their ids.${sofar} What none of them says either is left out, or stated without a figure, a quotation and a citation.\n\n${blocks.join('\n\n')}`;
}
