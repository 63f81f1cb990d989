import { DialecticError } from '../errors/errors.ts';
import { nearestName } from '../text/nearest-name.ts';

/** A participant: its number, from 1, and its model. */
type Participant = { readonly ordinal: number; readonly model: string };

/**
 * Finds a participant by its number, its model, the model without its provider, or number and model as
 * the screen shows them.
 */
export function requireParticipant<P extends Participant>(
  participants: readonly P[],
  wanted: string,
): P {
  const plain = wanted.trim().toLowerCase();
  const found = participants.filter((one) => namesOf(one).includes(plain));
  const [participant] = found;
  if (participant && found.length === 1) return participant;
  const candidates = found.length > 0 ? found : participants;
  const lines = candidates.map(({ ordinal, model }) => `  ${ordinal}  ${model}`).join('\n');
  if (participant) {
    const message = `${wanted} names ${found.length} participants. Take the number of one:\n${lines}`;
    throw new DialecticError('usage_invalid', message, {
      details: { candidates: found.map(({ ordinal }) => ordinal) },
    });
  }
  // A wrong number is like every other number.
  const isNumber = /^\d+$/.test(plain);
  const nearest = isNumber ? undefined : nearestName(plain, participants.flatMap(namesOf));
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  throw new DialecticError(
    'usage_invalid',
    `${wanted} takes no part in this run.${hint} The participants are:\n${lines}`,
  );
}

function namesOf({ ordinal, model }: Participant): string[] {
  const full = model.toLowerCase();
  const short = full.slice(full.lastIndexOf('/') + 1);
  return [`${ordinal}`, full, short, `${ordinal} ${full}`, `${ordinal} ${short}`];
}
