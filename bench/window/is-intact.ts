import { POINTER } from '../../src/generation/guidance.ts';
import type { SentRequest } from '../economy/recording-server.ts';

/** What only the form of a request says, in its own words, behind what it asks for. */
const FORM = /^(?:Write one JSON object with|You have written a part of this JSON object)/;
const GUIDANCE = 'Guidance';
const DELIVER = 'Deliver';

/** A task in its three parts. */
type Task = {
  /** All but the two others. */
  readonly frame: string;
  /** Items of what the stage's plan says, one for each section; none where nothing is said. */
  readonly guidance: readonly string[];
  /** Lines on what is to be delivered, one for each section or field. */
  readonly deliver: readonly string[];
};

/** The task of a request: the first message that names what is to be delivered. */
function readTask({ messages }: SentRequest): Task {
  const asks = messages.find(
    ({ role, content }) => role === 'user' && content.includes('\nDeliverable: '),
  );
  const parts = (asks?.content ?? '').split(/^(?=## )/m);
  const named = (name: string): string => parts.find((one) => titleOf(one) === name) ?? '';
  return {
    frame: parts.filter((one) => ![GUIDANCE, DELIVER].includes(titleOf(one))).join(''),
    guidance: itemsOf(named(GUIDANCE)),
    deliver: named(DELIVER).split('\n'),
  };
}

const titleOf = (part: string): string => /^## (.*)/.exec(part)?.[1]?.trim() ?? '';

/** What stands behind a heading, item by item; a text without items is one. */
const itemsOf = (part: string): string[] =>
  part
    .replace(/^## .*/, '')
    .split(/^(?=- )/m)
    .map((item) => item.trim())
    .filter((item) => item !== '');

/**
 * Whether a request has everything that is never shortened, by the debate without a limit:
 * instructions and request are the same; the task is the same but for the sections that are not asked
 * for; and the guidance in it is whole for the others, or a line that says where it stands.
 */
export function isIntact(request: SentRequest, whole: readonly SentRequest[]): boolean {
  const same = whole.filter(
    ({ stage, documentKey }) => stage === request.stage && documentKey === request.documentKey,
  );
  const [task, tasks] = [readTask(request), same.map(readTask)];
  const items = new Set(tasks.flatMap(({ guidance }) => guidance));
  const lines = new Set(tasks.flatMap(({ deliver }) => deliver));
  const [system, brief] = request.messages;
  const isSame = ({ messages }: SentRequest, at: number): boolean =>
    messages[0]?.content === system?.content &&
    messages[1]?.content === brief?.content &&
    tasks[at]?.frame === task.frame;
  return (
    same.some(isSame) &&
    task.guidance.every((item) => items.has(item) || item === POINTER) &&
    task.deliver.every((line) => lines.has(line) || FORM.test(line))
  );
}
